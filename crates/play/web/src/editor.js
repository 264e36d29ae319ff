// The editor: CodeMirror with the language server that other editors use.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, lintKeymap, setDiagnosticsEffect } from "@codemirror/lint";
import {
  LSPClient, formatKeymap, hoverTooltips, serverCompletion, serverDiagnostics, signatureHelp,
} from "@codemirror/lsp-client";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
} from "@codemirror/view";

import { colors, lambada } from "./language.js";
import { connect } from "./server.js";

const ALLOWED = new Set("A B BLOCKQUOTE BR CODE EM H1 H2 H3 H4 HR I LI OL P PRE SPAN STRONG UL".split(" "));

/** HTML of documentation, which may come with a program from anywhere: elements for text only. */
function sanitized(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const element of [...parsed.body.querySelectorAll("*")]) {
    if (!ALLOWED.has(element.tagName)) {
      element.replaceWith(element.textContent);
      continue;
    }
    for (const { name, value } of [...element.attributes]) {
      const link = element.tagName === "A" && name === "href" && /^https:\/\//.test(value);
      if (!link && name !== "class") element.removeAttribute(name);
    }
  }
  return parsed.body.innerHTML;
}

/** The marked places of the program, until its text changes. */
const setMarks = StateEffect.define();
const marks = StateField.define({
  create: () => Decoration.none,
  update(found, { docChanged, effects }) {
    const set = effects.find((effect) => effect.is(setMarks));
    return set ? set.value : docChanged ? Decoration.none : found;
  },
  provide: (field) => EditorView.decorations.from(field),
});
const marked = Decoration.mark({ class: "marked" });

/** The position of a line and a column, which counts characters from 1. */
function position(doc, line, column) {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return from + [...text].slice(0, column - 1).join("").length;
}

const RETRY = 1500;

/**
 * Makes the editor in an element. `changed` is called after each change of the text, `problems`
 * with the list of problems.
 */
export function makeEditor(parent, { changed, problems, lost }) {
  const client = new LSPClient({
    extensions: [serverDiagnostics(), serverCompletion(), hoverTooltips({ hoverTime: 250 }), signatureHelp()],
    sanitizeHTML: sanitized,
    highlightLanguage: (name) => (name === "lambada" ? lambada : null),
    timeout: 10_000,
  });
  const served = new Compartment();
  let quiet = false;

  const report = (view) => {
    const found = [];
    forEachDiagnostic(view.state, (one, from, to) => {
      found.push({ ...one, from, to, line: view.state.doc.lineAt(from).number });
    });
    problems(found);
  };
  const listener = EditorView.updateListener.of((update) => {
    if (update.docChanged && !quiet) changed();
    const judged = update.transactions.some((one) => one.effects.some((effect) => effect.is(setDiagnosticsEffect)));
    if (judged) report(update.view);
  });
  const extensions = [
    lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), history(), drawSelection(),
    indentOnInput(), bracketMatching(), closeBrackets(), autocompletion(), lintGutter(),
    lambada, syntaxHighlighting(colors), marks,
    EditorState.tabSize.of(2), EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "Program", spellcheck: "false" }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, ...formatKeymap]),
    listener,
  ];
  const view = new EditorView({ parent });

  const listen = () =>
    connect(
      (transport) => client.connect(transport),
      (error) => {
        client.disconnect();
        lost(error);
        setTimeout(listen, RETRY);
      },
    );
  listen();

  return {
    view,
    text: () => view.state.doc.toString(),
    /** Shows a program; `uri` says to the language server what it may import. */
    show(text, uri) {
      quiet = true;
      view.dispatch({ effects: served.reconfigure([]) });
      view.setState(EditorState.create({ doc: text, extensions: [extensions, served.of(client.plugin(uri, "lambada"))] }));
      quiet = false;
      problems([]);
    },
    /** Marks places, of lines and columns, and shows the first one. */
    mark(places) {
      const { doc } = view.state;
      const ranges = places
        .map((p) => [position(doc, p.line, p.column), position(doc, p.end_line, p.end_column)])
        .filter(([from, to]) => from < to)
        .sort((a, b) => a[0] - b[0]);
      const set = Decoration.set(ranges.map(([from, to]) => marked.range(from, to)), true);
      // The view of a person who types stays.
      const scroll = ranges.length > 0 && !view.hasFocus ? [EditorView.scrollIntoView(ranges[0][0], { y: "nearest" })] : [];
      view.dispatch({ effects: [setMarks.of(set), ...scroll] });
    },
    /** Moves the cursor to a place. */
    select(from, to) {
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
      view.focus();
    },
  };
}
