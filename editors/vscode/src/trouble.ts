/** What to tell the user when there is no server to start, and the button that mends it. */

import { commands, ProcessExecution, Task, tasks, TaskScope, window } from 'vscode';
import { problem } from './messages';
import type { Program } from './launch';
import type { Answer } from './probe';
import { hasPythonExtension } from './python';

const INSTALL = 'Install';
const SELECT = 'Select Interpreter';
const SETTINGS = 'Open Settings';
const REQUIREMENT = 'torchlint[server]';

/** Shows the problem and returns at once: a notification may stay open for hours. */
export function offerHelp(program: Program, answer: Exclude<Answer, { state: 'ready' }>): void {
  const buttons = [
    ...(answer.state === 'lacking' ? [INSTALL] : []),
    ...(program.kind === 'interpreter' && hasPythonExtension() ? [SELECT] : []),
    SETTINGS,
  ];
  void window.showWarningMessage(problem(program, answer), ...buttons).then((button) => {
    if (button === INSTALL && answer.state === 'lacking') {
      void install(program.command, answer.hasPip);
    } else if (button === SELECT) {
      void commands.executeCommand('python.setInterpreter');
    } else if (button === SETTINGS) {
      void commands.executeCommand('workbench.action.openSettings', 'torchlint.');
    }
  });
}

/** In a task, so that the user sees what happens; environments made by uv have no pip. */
async function install(python: string, hasPip: boolean): Promise<void> {
  const execution = hasPip
    ? new ProcessExecution(python, ['-m', 'pip', 'install', REQUIREMENT])
    : new ProcessExecution('uv', ['pip', 'install', '--python', python, REQUIREMENT]);
  const task = new Task({ type: 'torchlint' }, TaskScope.Workspace, 'install', 'torchlint', execution);
  const running = await tasks.executeTask(task);
  const watch = tasks.onDidEndTaskProcess((event) => {
    if (event.execution === running) {
      watch.dispose();
      if (event.exitCode === 0) {
        void commands.executeCommand('torchlint.restart');
      }
    }
  });
}
