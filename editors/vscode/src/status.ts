/** The entry in the language status of Python files: running with what, or why not. */

import { languages, LanguageStatusSeverity, type Disposable } from 'vscode';
import type { Program } from './launch';
import type { Answer } from './probe';

export class Status implements Disposable {
  private readonly item = languages.createLanguageStatusItem('torchlint', { language: 'python' });

  constructor() {
    this.item.name = 'torchlint';
    this.item.command = { title: 'Show Output', command: 'torchlint.showOutput' };
  }

  starting(): void {
    this.show('torchlint is starting', '', LanguageStatusSeverity.Information, true);
  }

  running(program: Program, answer: Extract<Answer, { state: 'ready' }>): void {
    const torch = answer.torch ? `torch ${answer.torch}` : 'no torch: text rules only';
    const details = program.kind === 'interpreter' ? `Python ${answer.python}, ${torch}` : program.command;
    this.show(`torchlint ${answer.torchlint}`, details, LanguageStatusSeverity.Information);
  }

  off(): void {
    this.show('torchlint is off', 'torchlint.enable', LanguageStatusSeverity.Information);
  }

  failed(reason: string): void {
    this.show('torchlint is not running', reason, LanguageStatusSeverity.Error);
  }

  dispose(): void {
    this.item.dispose();
  }

  private show(text: string, detail: string, severity: LanguageStatusSeverity, busy = false): void {
    Object.assign(this.item, { text, detail, severity, busy });
  }
}
