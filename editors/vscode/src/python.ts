/** The interpreter selected in Microsoft's Python extension, when that is installed. */

import { extensions, workspace, type Disposable, type Event, type Uri } from 'vscode';

const PYTHON_EXTENSION = 'ms-python.python';

/** The part of the extension's public API that is used here. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: Event<unknown>;
  };
}

export function hasPythonExtension(): boolean {
  return extensions.getExtension(PYTHON_EXTENSION) !== undefined;
}

/**
 * In an untrusted workspace nothing is selected: the selection is often `.venv/bin/python` of that very workspace, a
 * program that came with it.
 */
export async function selectedInterpreter(): Promise<string | undefined> {
  const environments = workspace.isTrusted ? (await pythonApi())?.environments : undefined;
  if (environments === undefined) {
    return undefined;
  }
  const active = environments.getActiveEnvironmentPath(workspace.workspaceFolders?.[0]?.uri);
  return (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
}

export async function onDidSelectInterpreter(listener: () => void): Promise<Disposable | undefined> {
  return (await pythonApi())?.environments.onDidChangeActiveEnvironmentPath(listener);
}

async function pythonApi(): Promise<PythonApi | undefined> {
  try {
    const api = (await extensions.getExtension<PythonApi>(PYTHON_EXTENSION)?.activate()) as PythonApi | undefined;
    return api?.environments === undefined ? undefined : api;
  } catch {
    return undefined; // An extension that fails to start is its own problem; PATH is still there.
  }
}
