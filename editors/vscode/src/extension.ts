/** Starts and stops the server: on activation, on command, and when what decides about it changes. */

import { commands, window, workspace, type ExtensionContext } from 'vscode';
import { onDidSelectInterpreter } from './python';
import { Session } from './session';
import { NEEDS_RESTART } from './settings';
import { ShapesPanel } from './shapes';

let session: Session | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const output = window.createOutputChannel('torchlint', { log: true });
  const current = new Session(context.extensionPath, output);
  session = current;
  const shapes = new ShapesPanel(current);
  const restart = () => current.restart();
  // Once more when trust is granted: only then does the Python extension wake up.
  const start = async () => {
    await restart();
    const selection = await onDidSelectInterpreter(() => current.restartIfSelectionChanged());
    context.subscriptions.push(...(selection ? [selection] : []));
  };
  context.subscriptions.push(
    output,
    current.status,
    shapes,
    commands.registerCommand('torchlint.restart', restart),
    commands.registerCommand('torchlint.showOutput', () => output.show()),
    commands.registerCommand('torchlint.showShapes', () => shapes.show()),
    commands.registerCommand('torchlint.fixAll', () =>
      commands.executeCommand('editor.action.codeAction', { kind: 'source.fixAll.torchlint', apply: 'first' }),
    ),
    workspace.onDidGrantWorkspaceTrust(start),
    workspace.onDidChangeConfiguration((event) => {
      if (NEEDS_RESTART.some((name) => event.affectsConfiguration(name))) {
        void restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
