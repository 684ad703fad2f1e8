/** The panel of shapes beside a file: it draws, and follows what is typed. */

import { openFile, PYTHON, runCommand, scenario } from '../harness.mjs';
import { waitForLine } from '../text.mjs';

await scenario('shapes-panel', { settings: { 'torchlint.interpreter': PYTHON } }, async ({ page, step }) => {
  // A webview is a frame in a frame.
  const panel = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');

  await step('a command shows the shapes', async () => {
    await openFile(page, 'train.py');
    await waitForLine(page, 'x: (B, 100) = F.relu');
    await runCommand(page, 'torchlint: Show Shapes');
    await panel.getByText('Linear(').first().waitFor();
  });

  await step('what is typed is drawn', async () => {
    await page.locator('.view-line', { hasText: 'nn.Linear(30, 5)' }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.type('self.head = nn.Linear(20, 5)');
    await panel.getByText('Linear(20, 5)').first().waitFor();
  });
});
