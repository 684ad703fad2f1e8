/** The interpreter selected in the Python extension decides, also when another one is selected. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { withBareEnvironment } from '../environments.mjs';
import { openFile, PYTHON, scenario } from '../harness.mjs';
import { waitForSquiggles } from '../text.mjs';

const here = import.meta.dirname;
const extension = join(here, '../../dist/python-extension.vsix');
const vsce = join(here, '../../node_modules/.bin/vsce');
execFileSync(vsce, ['package', '--allow-missing-repository', '--skip-license', '--out', extension], {
  cwd: join(here, '../python-extension'),
  stdio: ['ignore', 'ignore', 'inherit'],
});

await withBareEnvironment(async (bare) => {
  process.env.TEST_PYTHONS = `${bare}:${PYTHON}`;
  const options = { extensions: [extension] };
  await scenario('python-extension', options, async ({ page, step }) => {
    await step('the selected interpreter lacks torchlint', async () => {
      await openFile(page, 'train.py');
      await page.getByText(`torchlint is not installed for ${bare} (chosen by the Python extension)`).first().waitFor();
    });

    await step('selecting another one starts the server', async () => {
      await page.getByRole('button', { name: 'Select Interpreter' }).first().click();
      await waitForSquiggles(page, 2);
    });
  });
});
