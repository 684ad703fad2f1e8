/** Which program becomes the server, and with which command line. Knows nothing of VS Code. */

export interface Program {
  kind: 'interpreter' | 'executable';
  command: string;
  /** Who chose it, for messages: "selected in the Python extension". */
  chosenBy: string;
}

export interface Choices {
  path: string;
  interpreter: string;
  /** The interpreter the Python extension has selected, if that extension is there and may be believed. */
  selected: string | undefined;
  platform: NodeJS.Platform;
}

/**
 * The programs to try, best first. What the user set comes first and alone: falling through to another environment
 * would lint with another torch than the one asked for. Only the search on PATH has alternatives.
 */
export function programs({ path, interpreter, selected, platform }: Choices): Program[] {
  if (path) {
    return [{ kind: 'executable', command: path, chosenBy: 'the setting torchlint.path' }];
  }
  if (interpreter) {
    return [{ kind: 'interpreter', command: interpreter, chosenBy: 'the setting torchlint.interpreter' }];
  }
  if (selected) {
    return [{ kind: 'interpreter', command: selected, chosenBy: 'the Python extension' }];
  }
  // On Windows `python3` is often a stub that opens the shop.
  const names = platform === 'win32' ? ['python', 'py'] : ['python3', 'python'];
  return names.map((command) => ({ kind: 'interpreter', command, chosenBy: 'PATH' }));
}

export interface CommandLine {
  command: string;
  args: string[];
}

export function serverCommand(program: Program, extra: readonly string[]): CommandLine {
  const start = program.kind === 'interpreter' ? ['-m', 'torchlint', 'server'] : ['server'];
  return { command: program.command, args: [...start, ...extra] };
}

/**
 * Python puts the current folder first on its path: a `random.py` or `types.py` in the user's project would break
 * the server, and one in a project nobody trusts would run. So the server starts elsewhere, in `folder`, and newer
 * Pythons are told not to look there either.
 */
export function spawnOptions(folder: string): { cwd: string; env: Record<string, string> } {
  return { cwd: folder, env: { PYTHONSAFEPATH: '1' } };
}

export function expand(text: string, places: { workspaceFolder: string | undefined; home: string }): string {
  const atHome = text.replace(/^~(?=$|[/\\])/, () => places.home);
  return places.workspaceFolder === undefined
    ? atHome
    : atHome.replaceAll('${workspaceFolder}', () => places.workspaceFolder as string);
}
