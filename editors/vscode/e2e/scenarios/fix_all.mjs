/** All safe fixes at once: by command, and by saving for those who set it so. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, openFile, PYTHON, runCommand, scenario } from '../harness.mjs';
import { waitForLine, waitForNoLine, waitForProblems } from '../text.mjs';

const files = { 'clean.py': 'import torch\n\nzeros = torch.zeros(3)  # noqa: TL101\n' };
const settings = {
  'torchlint.interpreter': PYTHON,
  'editor.codeActionsOnSave': { 'source.fixAll.torchlint': 'explicit' },
};

await scenario('fix-all', { files, settings }, async ({ page, folder, step }) => {
  await step('a comment that silences nothing is a problem', async () => {
    await openFile(page, 'clean.py');
    await waitForLine(page, '# noqa');
    await waitForProblems(page, 1);
  });

  await step('the command removes it', async () => {
    await runCommand(page, 'torchlint: Fix All Safe Problems');
    await waitForNoLine(page, '# noqa');
    await waitForProblems(page, 0);
  });

  await step('so does saving', async () => {
    await page.keyboard.press('Control+Z');
    await waitForLine(page, '# noqa');
    await waitForProblems(page, 1);
    // Again and again: the editor does not wait for fixes when the machine is busy.
    await eventually(async () => {
      await page.keyboard.press('Control+S');
      return !readFileSync(join(folder, 'clean.py'), 'utf8').includes('noqa');
    }, 3_000);
  });
});
