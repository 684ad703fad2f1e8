/** The language client: how the server is started, and which documents it is told about. */

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { LogOutputChannel } from 'vscode';
import {
  LanguageClient,
  RevealOutputChannelOn,
  type Executable,
  type LanguageClientOptions,
} from 'vscode-languageclient/node';
import { serverCommand, spawnOptions, type Program } from './launch';
import { readSettings } from './settings';

export function createClient(program: Program, folder: string, output: LogOutputChannel): LanguageClient {
  const server: Executable = {
    ...serverCommand(program, readSettings().arguments),
    options: spawnOptions(folder),
  };
  output.info(`starting: ${[server.command, ...(server.args ?? [])].join(' ')}`);
  const options: LanguageClientOptions = {
    documentSelector: ['file', 'untitled', 'vscode-notebook-cell'].map((scheme) => ({ scheme, language: 'python' })),
    outputChannel: output,
    // The server logs to stderr; what is an error there, it says itself.
    stdioOptions: { stdout: logLines, stderr: logLines },
    revealOutputChannelOn: RevealOutputChannelOn.Never,
  };
  return new LanguageClient('torchlint', 'torchlint', server, options);
}

function logLines(stream: Readable, output: LogOutputChannel): void {
  createInterface(stream).on('line', (line) => output.info(line));
}
