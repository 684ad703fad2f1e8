/** The part of the Python extension's API that torchlint uses: TEST_PYTHONS, one selected after the other. */

const vscode = require('vscode');

exports.activate = () => {
  const interpreters = process.env.TEST_PYTHONS.split(':');
  const changed = new vscode.EventEmitter();
  vscode.commands.registerCommand('python.setInterpreter', () => {
    interpreters.push(interpreters.shift());
    changed.fire({});
  });
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path: interpreters[0] }),
      resolveEnvironment: async ({ path }) => ({ executable: { uri: vscode.Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
