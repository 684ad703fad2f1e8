/** Open a file, see problems and shapes, read why, apply a fix. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, openFile, PYTHON, runCommand, scenario } from '../harness.mjs';
import { hover, openQuickFixes, waitForLine, waitForNoLine, waitForSquiggles } from '../text.mjs';

await scenario('first-day', { settings: { 'torchlint.interpreter': PYTHON } }, async ({ page, folder, step }) => {
  await step('problems are underlined', async () => {
    await openFile(page, 'train.py');
    await waitForSquiggles(page, 2);
  });

  await step('shapes stand in the text', async () => {
    await waitForLine(page, 'x: (B, 100) = F.relu');
    await page.getByText('(B, 1, 28, 28) → (B, 10)').first().waitFor(); // above forward, where it moves the lines below
  });

  await step('a problem explains itself', async () => {
    assert.match(await hover(page, 'F.softmax(logits', 'softmax'), /TL101/);
    assert.match(await hover(page, 'self.head(features)', 'self.head'), /30.*20|20.*30/s);
  });

  await step('a tensor shows its shape', async () => {
    assert.match(await hover(page, 'torch.relu(self.body(x))', 'features'), /20\).*float32/s);
  });

  await step('a quick fix is offered', () => openQuickFixes(page, 'F.softmax(logits', 'softmax'));

  await step('the fix repairs the line', async () => {
    await page.keyboard.press('Enter');
    await waitForLine(page, 'F.cross_entropy(logits, labels)');
    await page.keyboard.press('Control+S');
    await eventually(() => readFileSync(join(folder, 'train.py'), 'utf8').includes('F.cross_entropy(logits, labels)'));
    await waitForSquiggles(page, 1);
  });

  await step('a restarted server finds the same', async () => {
    await runCommand(page, 'torchlint: Restart Server');
    await waitForSquiggles(page, 0);
    await waitForSquiggles(page, 1);
    await waitForLine(page, '(B, 100)');
  });

  await step('shapes can be switched off', async () => {
    mkdirSync(join(folder, '.vscode'));
    writeFileSync(join(folder, '.vscode/settings.json'), '{ "torchlint.shapeHints": false }');
    await waitForNoLine(page, '(B, 100)');
  });
});
