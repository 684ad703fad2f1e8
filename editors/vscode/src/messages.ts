/** The sentences for what can be wrong with a program. Knows nothing of VS Code. */

import type { Program } from './launch';
import type { Answer } from './probe';

export function problem({ command, chosenBy }: Program, answer: Exclude<Answer, { state: 'ready' }>): string {
  const where = `${command} (chosen by ${chosenBy})`;
  switch (answer.state) {
    case 'absent':
      return `torchlint: ${where} cannot be started.`;
    case 'old':
      return `torchlint needs Python 3.10 or newer; ${where} is ${answer.python}.`;
    case 'lacking':
      return answer.what === 'torchlint'
        ? `torchlint is not installed for ${where}.`
        : `torchlint is installed for ${where}, but without what the editor needs: torchlint[server].`;
  }
}
