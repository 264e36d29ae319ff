// Starts `lambada lsp`, shows the results of its commands, and keeps derivatives in step with
// their source.

const vscode = require("vscode");
const { LanguageClient, State } = require("vscode-languageclient/node");

/** Scheme of the documents that show derivatives. */
const DERIVATIVE = "lambada-derivative";

let client;
let results;

/** The derivative of a definition: `source` is the address of its document. */
class Derivatives {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
    this.last = new Map();
  }

  address(source, definition, mode) {
    const query = JSON.stringify({ source, definition, mode });
    return vscode.Uri.from({ scheme: DERIVATIVE, path: `/${definition}_${mode}.lam`, query });
  }

  async provideTextDocumentContent(uri) {
    const { source, definition, mode } = JSON.parse(uri.query);
    const key = uri.toString();
    try {
      const params = { textDocument: { uri: source }, definition, mode };
      const { text } = await client.sendRequest("lambada/derivative", params);
      this.last.set(key, text);
      return text;
    } catch (error) {
      // While the source is broken, the last derivative stays.
      const why = String(error.message || error).replace(/^/gm, "-- ");
      const last = this.last.get(key);
      return last ? `-- of the last program without errors\n${last}` : `${why}\n`;
    }
  }

  /** Derives again those of a document. */
  refresh(document) {
    for (const shown of vscode.workspace.textDocuments) {
      if (shown.uri.scheme === DERIVATIVE) {
        const { source } = JSON.parse(shown.uri.query);
        if (source === document.uri.toString()) this.changed.fire(shown.uri);
      }
    }
  }
}

function startServer(context) {
  const command = vscode.workspace.getConfiguration("lambada").get("path", "lambada");
  const server = { command, args: ["lsp"] };
  const options = {
    documentSelector: [{ language: "lambada" }],
    initializationOptions: { showsResults: true },
    middleware: { executeCommand },
  };
  client = new LanguageClient("lambada", "Lambada", { run: server, debug: server }, options);
  client.start();
  context.subscriptions.push({ dispose: () => client.stop() });
}

let derivatives;

/** Shows the results of the server's commands, after asking for values of parameters. */
async function executeCommand(command, args, next) {
  if (command === "lambada.derivative") {
    const [source, definition, mode] = args;
    return showDerivative(source, definition, mode || "reverse");
  }
  const [source, definition, ...values] = args;
  if (command === "lambada.gradient" && values.length === 0) {
    const prompt = `Values of the parameters of ${definition}, in JSON: x=1.5 ys=[1,2,3]`;
    const typed = await vscode.window.showInputBox({ prompt });
    if (typed === undefined) return;
    values.push(...typed.split(/\s+(?=[A-Za-z_]\w*=)/).filter((word) => word.length > 0));
  }
  results.show(true);
  results.appendLine(`${command.replace("lambada.", "")} ${definition} ${values.join(" ")}`);
  try {
    const text = await next(command, [source, definition, ...values]);
    results.appendLine(text);
    return text;
  } catch (error) {
    results.appendLine(String(error.message || error));
  }
}

async function showDerivative(source, definition, mode) {
  const uri = derivatives.address(source, definition, mode);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.languages.setTextDocumentLanguage(document, "lambada");
  const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false };
  await vscode.window.showTextDocument(document, options);
}

/** The definition around the cursor. */
function definitionAtCursor() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "lambada") return undefined;
  for (let line = editor.selection.active.line; line >= 0; line--) {
    const found = /^def\s+(?:rec\s+)?([\p{L}_][\p{L}\p{N}_']*)/u.exec(
      editor.document.lineAt(line).text,
    );
    if (found) return { source: editor.document.uri.toString(), definition: found[1] };
  }
  return undefined;
}

function activate(context) {
  results = vscode.window.createOutputChannel("Lambada", "lambada");
  derivatives = new Derivatives();
  startServer(context);
  let waiting;
  context.subscriptions.push(
    results,
    vscode.workspace.registerTextDocumentContentProvider(DERIVATIVE, derivatives),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.languageId !== "lambada" || document.uri.scheme === DERIVATIVE) return;
      clearTimeout(waiting);
      waiting = setTimeout(() => derivatives.refresh(document), 150);
    }),
    vscode.commands.registerCommand("lambada.restart", () =>
      client.state === State.Running ? client.restart() : client.start(),
    ),
    vscode.commands.registerCommand("lambada.forwardDerivative", () => {
      const at = definitionAtCursor();
      return at && showDerivative(at.source, at.definition, "forward");
    }),
  );
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
