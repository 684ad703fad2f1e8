/** Asks a program, before it becomes the server, whether it is there and has what the server needs. */

import { execFile } from 'node:child_process';
import { spawnOptions, type Program } from './launch';

export type Answer =
  | { state: 'ready'; python?: string; torchlint: string; torch?: string }
  | { state: 'absent'; reason: string }
  | { state: 'old'; python: string }
  | { state: 'lacking'; what: 'torchlint' | 'server'; python: string; hasPip: boolean };

const OLDEST_PYTHON = [3, 10] as const;
const PATIENCE_MS = 30_000;

// Runs on any Python 3, however old, so that the answer can be "too old".
const QUESTION = `
import json, sys
answer = {"python": "%d.%d.%d" % sys.version_info[:3]}
try:
    from importlib.metadata import version
    for name in ("torchlint", "pygls", "torch", "pip"):
        try:
            answer[name] = version(name)
        except Exception:
            pass
except ImportError:
    pass
print(json.dumps(answer))
`;

export async function probe(program: Program, folder: string): Promise<Answer> {
  try {
    if (program.kind === 'executable') {
      const output = await run(program.command, ['--version'], folder);
      return { state: 'ready', torchlint: output.match(/\d+(\.\w+)+/)?.[0] ?? 'of unknown version' };
    }
    return understand(await run(program.command, ['-c', QUESTION], folder));
  } catch (error) {
    return { state: 'absent', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The last line counts: a sitecustomize may have printed before. */
export function understand(output: string): Answer {
  const found = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<string, string>;
  const python = found.python ?? '';
  const [major = 0, minor = 0] = python.split('.').map(Number);
  if (major < OLDEST_PYTHON[0] || (major === OLDEST_PYTHON[0] && minor < OLDEST_PYTHON[1])) {
    return { state: 'old', python };
  }
  if (!found.torchlint || !found.pygls) {
    return { state: 'lacking', what: found.torchlint ? 'server' : 'torchlint', python, hasPip: Boolean(found.pip) };
  }
  return { state: 'ready', python, torchlint: found.torchlint, torch: found.torch };
}

function run(command: string, args: string[], folder: string): Promise<string> {
  const { cwd, env } = spawnOptions(folder);
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, timeout: PATIENCE_MS, windowsHide: true };
    const child = execFile(command, args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
    child.stdin?.end();
  });
}
