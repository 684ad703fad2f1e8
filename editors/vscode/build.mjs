/** Bundles the extension into one file, next to the licences of what went into it. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const { metafile } = await build({
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  bundle: true,
  external: ['vscode'],
  platform: 'node',
  target: 'node20',
  minify: true,
  metafile: true,
});

const packages = Object.keys(metafile.inputs).flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
const notices = [...new Set(packages)].sort().map((folder) => {
  const licence = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (licence === undefined) {
    throw new Error(`${folder} comes without a licence`);
  }
  return `${folder.replace(/^.*node_modules\//, '')}\n\n${readFileSync(join(folder, licence), 'utf8').trim()}\n`;
});
writeFileSync('dist/NOTICES.txt', notices.join(`\n${'-'.repeat(80)}\n\n`));
