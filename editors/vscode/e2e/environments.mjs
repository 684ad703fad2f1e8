/** Python environments to be wrong with, and a pip that needs no network. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PYTHON } from './harness.mjs';

// "Installs" by showing the environment of PYTHON, whatever was asked for.
const PIP = `
import pathlib, sys
assert sys.argv[1:] == ["install", "torchlint[server]"], sys.argv
pathlib.Path(__file__).parents[1].joinpath("installed.pth").write_text(%s)
print("Successfully installed torchlint")
`;

/** Calls `use` with the interpreter of a new environment that has nothing but that pip. */
export async function withBareEnvironment(use) {
  const folder = mkdtempSync(join(tmpdir(), 'torchlint-bare-'));
  try {
    execFileSync(PYTHON, ['-m', 'venv', '--without-pip', folder]);
    const interpreter = join(folder, 'bin/python');
    const ask = (python, code) => execFileSync(python, ['-c', code], { encoding: 'utf8', cwd: folder }).trim();
    const site = ask(interpreter, 'import sysconfig; print(sysconfig.get_path("purelib"))');
    const paths = ask(PYTHON, 'import sys; print("\\n".join(path for path in sys.path[1:] if "lib/python3" not in path or "site-packages" in path))');
    mkdirSync(join(site, 'pip-1.dist-info'));
    writeFileSync(join(site, 'pip-1.dist-info/METADATA'), 'Metadata-Version: 2.1\nName: pip\nVersion: 1\n');
    mkdirSync(join(site, 'pip'));
    writeFileSync(join(site, 'pip/__main__.py'), PIP.replace('%s', JSON.stringify(`${paths}\n`)));
    await use(interpreter);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
