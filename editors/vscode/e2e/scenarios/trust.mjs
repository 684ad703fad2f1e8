/** A workspace nobody trusts names its own interpreter: it must not be started, until the user trusts it. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { withBareEnvironment } from '../environments.mjs';
import { eventually, openFile, runCommand, scenario } from '../harness.mjs';

const files = {
  '.vscode/settings.json': JSON.stringify({ 'torchlint.interpreter': '${workspaceFolder}/python' }),
  python: '#!/bin/sh\ntouch "$(dirname "$0")/started"\nexit 1\n',
};

await withBareEnvironment(async (bare) => {
  process.env.PATH = `${dirname(bare)}${delimiter}${process.env.PATH}`;
  await scenario('trust', { files, trusted: false }, async ({ page, folder, step }) => {
    const started = join(folder, 'started');

    await step('the interpreter of an untrusted workspace stays unstarted', async () => {
      await openFile(page, 'train.py');
      await page.getByText('Restricted Mode').first().waitFor();
      const message = page.locator('.notification-toast', { hasText: 'torchlint is not installed for python3 (chosen by PATH)' }).first();
      await message.waitFor();
      await runCommand(page, 'Notifications: Clear All Notifications');
      await message.waitFor({ state: 'hidden' });
      await runCommand(page, 'torchlint: Restart Server');
      await message.waitFor();
      assert.equal(existsSync(started), false);
    });

    await step('trust starts it', async () => {
      await runCommand(page, 'Workspaces: Manage Workspace Trust');
      await page.getByRole('button', { name: 'Trust', exact: true }).first().click();
      await page.getByText('cannot be started').first().waitFor();
      await eventually(() => existsSync(started));
    });
  });
});
