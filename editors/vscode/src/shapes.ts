/** The panel beside a file that shows the shapes of its forwards, and follows what is typed. */

import { basename } from 'node:path';
import { type Disposable, type TextDocument, ViewColumn, type WebviewPanel, window, workspace } from 'vscode';
import type { Session } from './session';
import { notice } from './pages';

/** Milliseconds without a key before the page is drawn again. */
const QUIET = 500;

export class ShapesPanel implements Disposable {
  private panel: WebviewPanel | undefined;
  private document: TextDocument | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly typing = workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    if (document === this.document && contentChanges.length > 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.draw(), QUIET);
    }
  });

  constructor(private readonly session: Session) {}

  async show(): Promise<void> {
    const document = window.activeTextEditor?.document;
    if (document?.languageId !== 'python') {
      void window.showInformationMessage('torchlint: open a Python file to see its shapes.');
      return;
    }
    this.document = document;
    if (this.panel === undefined) {
      const place = { viewColumn: ViewColumn.Beside, preserveFocus: true };
      this.panel = window.createWebviewPanel('torchlint.shapes', 'Shapes', place, { enableScripts: false });
      this.panel.onDidDispose(() => {
        this.panel = this.document = undefined;
      });
    }
    this.panel.title = `Shapes: ${basename(document.fileName)}`;
    this.panel.reveal(undefined, true);
    await this.draw();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.typing.dispose();
    this.panel?.dispose();
  }

  /** While the text is half typed, the last page that could be drawn stays. */
  private async draw(): Promise<void> {
    const { document, panel } = this;
    if (document === undefined || panel === undefined) {
      return;
    }
    const version = document.version;
    const { page, reason } = await this.session.shapes(document.uri.toString());
    if (panel !== this.panel || document !== this.document || document.version !== version) {
      return;
    }
    if (page || !panel.webview.html) {
      panel.webview.html = page || notice(reason);
    }
  }
}
