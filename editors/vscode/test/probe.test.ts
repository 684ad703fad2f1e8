/** What an interpreter answers, and the sentence made of it. Runs the `python3` on PATH. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Program } from '../src/launch';
import { problem } from '../src/messages';
import { probe, understand } from '../src/probe';

const PYTHON: Program = { kind: 'interpreter', command: 'python3', chosenBy: 'PATH' };

test('a complete environment is ready, also when something printed before the answer', () => {
  assert.deepEqual(understand('hello\n{"python": "3.11.2", "torchlint": "0.1.0", "pygls": "2.0", "torch": "2.13.0"}\n'), {
    state: 'ready',
    python: '3.11.2',
    torchlint: '0.1.0',
    torch: '2.13.0',
  });
});

test('what is missing is told apart: torchlint, its server extra, a newer Python', () => {
  const bare = understand('{"python": "3.12.1", "pip": "24.0"}');
  assert.deepEqual(bare, { state: 'lacking', what: 'torchlint', python: '3.12.1', hasPip: true });
  const noServer = understand('{"python": "3.12.1", "torchlint": "0.1.0"}');
  assert.deepEqual(noServer, { state: 'lacking', what: 'server', python: '3.12.1', hasPip: false });
  const old = understand('{"python": "3.9.18", "torchlint": "0.1.0", "pygls": "2.0"}');
  assert.deepEqual(old, { state: 'old', python: '3.9.18' });
  assert.ok(bare.state === 'lacking' && noServer.state === 'lacking' && old.state === 'old');
  assert.match(problem(PYTHON, bare), /not installed for python3 \(chosen by PATH\)/);
  assert.match(problem(PYTHON, noServer), /torchlint\[server\]/);
  assert.match(problem(PYTHON, old), /3\.10 or newer.*3\.9\.18/);
});

test('a program that is not there, or is no Python, is absent', async () => {
  const missing = await probe({ ...PYTHON, command: '/no/such/python' }, tmpdir());
  assert.equal(missing.state, 'absent');
  assert.equal((await probe({ ...PYTHON, command: process.execPath }, tmpdir())).state, 'absent');
  assert.equal((await probe({ ...PYTHON, kind: 'executable', command: '/no/torchlint' }, tmpdir())).state, 'absent');
});

test('a real interpreter answers, whatever files lie in the folder of the process', async () => {
  const project = mkdtempSync(join(tmpdir(), 'torchlint-'));
  const before = process.cwd();
  try {
    writeFileSync(join(project, 'json.py'), 'raise SystemExit("the user\'s json.py was run")\n');
    process.chdir(project);
    assert.notEqual((await probe(PYTHON, before)).state, 'absent');
  } finally {
    process.chdir(before);
    rmSync(project, { recursive: true });
  }
});
