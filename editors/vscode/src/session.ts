/** The one server of a window, and what the status says about it. */

import type { LogOutputChannel } from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import { createClient } from './client';
import { programs, type Program } from './launch';
import { problem } from './messages';
import { probe, type Answer } from './probe';
import { selectedInterpreter } from './python';
import { readSettings } from './settings';
import { Status } from './status';
import { offerHelp } from './trouble';

export class Session {
  readonly status = new Status();
  private client: LanguageClient | undefined;
  private selected: string | undefined;
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly folder: string,
    private readonly output: LogOutputChannel,
  ) {}

  /** One at a time: a restart that overtakes another would leave two servers behind. */
  restart(): Promise<void> {
    return this.enqueue(async () => {
      await this.halt();
      await this.start();
    });
  }

  /** The Python extension speaks of a change also while it starts, or when a setting decides anyway. */
  restartIfSelectionChanged(): Promise<void> {
    return this.enqueue(async () => {
      if ((await selection()) !== this.selected) {
        await this.halt();
        await this.start();
      }
    });
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.halt());
  }

  /** The page of shapes of a file, or why there is none. */
  async shapes(uri: string): Promise<{ page: string; reason: string }> {
    if (!this.client?.isRunning()) {
      return { page: '', reason: 'the server is not running' };
    }
    try {
      return await this.client.sendRequest('torchlint/shapes', { uri });
    } catch (error) {
      this.output.warn('no page of shapes', error);
      return { page: '', reason: 'the server did not answer; the output says why' };
    }
  }

  private enqueue(step: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(step).catch((error) => {
      this.output.error(error);
      this.status.failed(String(error));
    });
    return this.queue;
  }

  private async start(): Promise<void> {
    if (!readSettings().enable) {
      this.status.off();
      return;
    }
    this.status.starting();
    const { program, answer } = await this.choose();
    if (answer.state !== 'ready') {
      this.output.error(problem(program, answer), answer);
      this.status.failed(problem(program, answer));
      offerHelp(program, answer);
      return;
    }
    const client = createClient(program, this.folder, this.output);
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.status.running(program, answer);
      } else if (newState === State.Stopped && client === this.client) {
        this.status.failed('The server has stopped; the output says why.');
      }
    });
    await client.start();
  }

  /** The first program that is ready, else the first that at least exists: its trouble is the one worth telling. */
  private async choose(): Promise<{ program: Program; answer: Answer }> {
    this.selected = await selection();
    const asked: { program: Program; answer: Answer }[] = [];
    for (const program of programs({ ...readSettings(), selected: this.selected, platform: process.platform })) {
      const answer = await probe(program, this.folder);
      if (answer.state === 'ready') {
        return { program, answer };
      }
      asked.push({ program, answer });
    }
    const best = asked.find(({ answer }) => answer.state !== 'absent') ?? asked[0];
    if (best === undefined) {
      throw new Error('there is no program to try'); // programs() never answers with none
    }
    return best;
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (!client?.needsStop()) {
      return;
    }
    try {
      await client.dispose();
    } catch (error) {
      this.output.warn('the server did not stop in time and was killed', error); // What follows does not need it.
    }
  }
}

/** The interpreter of the Python extension, where it decides. */
async function selection(): Promise<string | undefined> {
  const { path, interpreter } = readSettings();
  return path || interpreter ? undefined : selectedInterpreter();
}
