/** Which program is started: what the user set, then what is selected, then PATH. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand, programs, serverCommand, spawnOptions, type Choices } from '../src/launch';

const NOTHING: Choices = { path: '', interpreter: '', selected: undefined, platform: 'linux' };

function commands(choices: Partial<Choices>): string[] {
  return programs({ ...NOTHING, ...choices }).map(({ command }) => command);
}

test('a setting outranks the selected interpreter, and has no alternative', () => {
  assert.deepEqual(commands({ path: '/bin/torchlint', interpreter: '/a/python', selected: '/b/python' }), [
    '/bin/torchlint',
  ]);
  assert.deepEqual(commands({ interpreter: '/a/python', selected: '/b/python' }), ['/a/python']);
  assert.deepEqual(commands({ selected: '/b/python' }), ['/b/python']);
});

test('PATH is searched last, python first on Windows', () => {
  assert.deepEqual(commands({}), ['python3', 'python']);
  assert.deepEqual(commands({ platform: 'win32' }), ['python', 'py']);
});

test('an interpreter runs the module, an executable the command, both with the extra arguments last', () => {
  const [interpreter] = programs({ ...NOTHING, interpreter: '/a/python' });
  const [executable] = programs({ ...NOTHING, path: '/bin/torchlint' });
  assert.ok(interpreter && executable);
  assert.deepEqual(serverCommand(interpreter, ['--x']).args, ['-m', 'torchlint', 'server', '--x']);
  assert.deepEqual(serverCommand(executable, ['--x']).args, ['server', '--x']);
});

test('the server does not start in the folder of the project', () => {
  assert.equal(spawnOptions('/extension').cwd, '/extension');
  assert.equal(spawnOptions('/extension').env.PYTHONSAFEPATH, '1');
});

test('settings may name the workspace folder and the home folder', () => {
  const places = { workspaceFolder: '/w$&', home: '/home/me' };
  assert.equal(expand('${workspaceFolder}/.venv/bin/python', places), '/w$&/.venv/bin/python');
  assert.equal(expand('~/bin/python', places), '/home/me/bin/python');
  assert.equal(expand('~', places), '/home/me');
  assert.equal(expand('~other/python', places), '~other/python');
  assert.equal(expand('${workspaceFolder}/x', { ...places, workspaceFolder: undefined }), '${workspaceFolder}/x');
});
