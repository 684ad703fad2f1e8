/** One scenario: a project folder, an editor on it, named steps with a picture of each. */

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEditor, PATIENCE } from './editor.mjs';

const here = import.meta.dirname;
const pictures = join(here, '../dist/e2e');

/** The Python that has torchlint and its server. */
export const PYTHON = process.env.PYTHON ?? join(here, '../../../.venv/bin/python');

/**
 * `files` are written next to a copy of `project/`. A step that fails leaves a picture, and fails the run; an editor
 * that is closed takes its folder along.
 */
export async function scenario(name, { files = {}, settings = {}, trusted = true, extensions = [] }, play) {
  mkdirSync(pictures, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'torchlint-project-'));
  cpSync(join(here, 'project'), folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o755 });
  }
  const editor = await openEditor({
    folder,
    extensions: [join(here, '../torchlint.vsix'), ...extensions],
    settings,
    trusted,
  });
  const step = async (title, action) => {
    const picture = (state) =>
      editor.page.screenshot({ path: join(pictures, `${name}-${title.replaceAll(' ', '-')}${state}.png`) });
    const start = Date.now();
    try {
      await action();
    } catch (error) {
      await picture('-FAILED');
      console.error(outputOfExtension(editor.profile));
      await runCommand(editor.page, 'Problems: Focus on Problems View').then(() => picture('-FAILED-problems'), () => {});
      throw new Error(`${name}: ${title}`, { cause: error });
    }
    await picture('');
    console.log(`ok  ${name}: ${title} (${Date.now() - start} ms)`);
  };
  try {
    await play({ page: editor.page, folder, step });
  } finally {
    await editor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the extension and the server wrote into their output channel. */
function outputOfExtension(profile) {
  const files = readdirSync(profile, { recursive: true }).filter((path) => path.endsWith('torchlint.log'));
  return files.map((path) => readFileSync(join(profile, path), 'utf8')).join('');
}

export async function openFile(page, name) {
  await page.keyboard.press('Control+P');
  await page.keyboard.type(name);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.tab.active', { hasText: name }).waitFor();
}

export async function runCommand(page, title) {
  await page.keyboard.press('F1');
  await page.keyboard.type(title);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().waitFor();
  await page.keyboard.press('Enter');
}

/** For what can be seen outside the browser only, such as files; asks again after a pause. */
export async function eventually(holds, pause = 100) {
  for (const start = Date.now(); !(await holds()); ) {
    if (Date.now() - start > PATIENCE) {
      throw new Error(`never true: ${holds}`);
    }
    await sleep(pause);
  }
}
