// Colors of Lambada, and of C.

import { HighlightStyle, StreamLanguage } from "@codemirror/language";
import { c } from "@codemirror/legacy-modes/mode/clike";
import { highlightCode, tags } from "@lezer/highlight";

const KEYWORDS = new Set(
  "def rec let in if then else match for loop do while with type import accumulate checkpoint not and as pseudo".split(" "),
);
const TYPES = new Set(["real", "int", "bool"]);
const ATOMS = new Set(["true", "false"]);

export const lambada = StreamLanguage.define({
  name: "lambada",
  startState: () => ({ defines: false }),
  languageData: {
    commentTokens: { line: "--" },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
  },
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match(/--\|.*/)) return "docComment";
    if (stream.match(/--.*/)) return "comment";
    if (stream.match(/"[^"]*"?/)) return "string";
    if (stream.match(/[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?/)) return "number";
    const word = stream.match(/[A-Za-z_][A-Za-z0-9_']*/);
    if (word) {
      const text = word[0];
      const named = state.defines;
      state.defines = text === "def" || (named && text === "rec");
      if (KEYWORDS.has(text)) return "keyword";
      if (TYPES.has(text)) return "typeName";
      if (ATOMS.has(text)) return "atom";
      if (named) return "definition";
      if (/^[A-Z]/.test(text)) return "constructor";
      return "variableName";
    }
    if (stream.match(/->|=>|\|>|>>|\*\*|\/\/|==|!=|<=|>=|&&|\|\||\+=|[-+*/%@<>=|\\]/)) return "operator";
    stream.next();
    return "punctuation";
  },
  tokenTable: {
    definition: tags.definition(tags.variableName),
    constructor: tags.tagName,
    docComment: tags.docComment,
  },
});

const cLanguage = StreamLanguage.define(c);

/** Colors by class, which the style sheet sets for light and dark pages. */
export const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.modifier], class: "hl-keyword" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], class: "hl-comment" },
  { tag: tags.docComment, class: "hl-doc" },
  { tag: [tags.string, tags.meta], class: "hl-string" },
  { tag: [tags.number, tags.atom, tags.bool], class: "hl-number" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], class: "hl-type" },
  { tag: tags.definition(tags.variableName), class: "hl-definition" },
  { tag: tags.tagName, class: "hl-constructor" },
  { tag: tags.operator, class: "hl-operator" },
  { tag: tags.variableName, class: "hl-name" },
]);

/** A text with colors, as children of an element. */
export function colored(element, text, language = "lambada") {
  element.replaceChildren();
  const parser = { lambada, c: cLanguage }[language]?.parser;
  if (!parser) {
    element.textContent = text;
    return;
  }
  const add = (code, classes) => {
    if (!classes) return element.append(code);
    const span = document.createElement("span");
    span.className = classes;
    span.textContent = code;
    element.append(span);
  };
  highlightCode(text, parser.parse(text), colors, add, () => element.append("\n"));
}
