/** An interpreter without torchlint: one sentence, and a button that mends it. */

import { withBareEnvironment } from '../environments.mjs';
import { openFile, scenario } from '../harness.mjs';
import { waitForProblems } from '../text.mjs';

await withBareEnvironment(async (interpreter) => {
  const settings = { 'torchlint.interpreter': interpreter };
  await scenario('missing', { settings }, async ({ page, step }) => {
    await step('the message names the interpreter and offers to install', async () => {
      await openFile(page, 'train.py');
      await page.getByText(`torchlint is not installed for ${interpreter}`).first().waitFor();
      await page.getByRole('button', { name: 'Open Settings' }).first().waitFor();
    });

    await step('installing starts the server', async () => {
      await page.getByRole('button', { name: 'Install', exact: true }).first().click();
      await waitForProblems(page, 2);
    });
  });
});
