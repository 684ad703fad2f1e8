/** Those settings under `torchlint.` that decide about the server's start. The others go to the server as they are. */

import { homedir } from 'node:os';
import { workspace } from 'vscode';
import { expand } from './launch';

export interface Settings {
  enable: boolean;
  interpreter: string;
  path: string;
  arguments: string[];
}

/** Changing one of these needs another server. */
export const NEEDS_RESTART = ['enable', 'interpreter', 'path', 'arguments'].map((name) => `torchlint.${name}`);

export function readSettings(): Settings {
  const section = workspace.getConfiguration('torchlint');
  const places = { workspaceFolder: workspace.workspaceFolders?.[0]?.uri.fsPath, home: homedir() };
  return {
    enable: section.get('enable', true),
    interpreter: expand(section.get('interpreter', '').trim(), places),
    path: expand(section.get('path', '').trim(), places),
    arguments: section.get<string[]>('arguments', []).map((argument) => expand(argument, places)),
  };
}
