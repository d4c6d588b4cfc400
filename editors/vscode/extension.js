// Starts `tt-layout lsp` for dumps.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = function () {
  const [command, ...args] = vscode.workspace.getConfiguration("tt-layout").get("command");
  client = new LanguageClient(
    "tt-layout",
    "tt-layout",
    { command, args },
    { documentSelector: [{ language: "mlir" }], initializationOptions: { pictures: true } },
  );
  return client.start();
};

exports.deactivate = function () {
  return client && client.stop();
};
