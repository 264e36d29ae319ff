// Colors for `%%lambada` cells in JupyterLab 4 and Notebook 7.
//
// Written by hand as the container of modules that they load: nothing is built. The modules of CodeMirror and JupyterLab are those that the page has already.
(() => {
  "use strict";

  /** The reserved words. A test compares them with those of the lexer. */
  const KEYWORDS = [
    "def", "rec", "let", "in", "if", "then", "else", "match", "for", "loop", "do", "while", "with", "type", "import",
    "accumulate", "checkpoint", "true", "false", "not", "and",
  ];

  /** The types that are written in small letters. */
  const TYPES = ["real", "int", "bool"];

  /** A piece of a line. No token goes over the end of a line, so lines can be read one by one, in any order. What is left are signs. */
  const TOKEN = new RegExp(
    [
      "(?<comment>--.*)",
      '(?<string>"[^"]*"?)',
      String.raw`(?<number>\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?)`,
      String.raw`(?<word>[\p{L}_][\p{L}\p{N}_]*'*)`,
      String.raw`(?:(?!--)[^\s"\p{L}\p{N}_])+`,
      String.raw`\S`,
    ].join("|"),
    "gu",
  );

  const KINDS = ["comment", "string", "number", "keyword", "type", "plain"];

  const FIRST_LINE = /^%%lambada(?!\S)/;

  /** Code of Python, which is what the cells of such a notebook are in. Text cells may speak of `%%lambada`, too. */
  const CODE = /^text\/x-i?python$/;

  /** What a match of `TOKEN` is, one of `KINDS`. */
  function kindOf({ groups }) {
    if (groups.word !== undefined) {
      if (KEYWORDS.includes(groups.word)) return "keyword";
      return TYPES.includes(groups.word) || /^\p{Lu}/u.test(groups.word) ? "type" : "plain";
    }
    return ["comment", "string", "number"].find((kind) => groups[kind] !== undefined) ?? "plain";
  }

  /** The tokens of a text: what each is and what it says. */
  function tokens(text) {
    return text.split("\n").flatMap((line) => Array.from(line.matchAll(TOKEN), (match) => [kindOf(match), match[0]]));
  }

  /** What the extension does to an editor. */
  function highlighting({ Prec }, { Decoration, EditorView, MatchDecorator, ViewPlugin }, model) {
    const marks = Object.fromEntries(
      ["magic", ...KINDS].map((kind) => [kind, Decoration.mark({ class: `lambada-${kind}` })]),
    );

    // It looks only at what is in view, and after a change only at the lines that have changed.
    const decorator = new MatchDecorator({
      regexp: TOKEN,
      maxLength: 10000,
      decorate(add, from, to, match, view) {
        const magic = view.state.doc.line(1);
        if (from > magic.to) return add(from, to, marks[kindOf(match)]);
        // The first line is the magic and the name to bind. A match ends with the word, so `%%` comes alone.
        const word = FIRST_LINE.exec(magic.text)?.[0].length ?? 0;
        return add(from, to, to <= word ? marks.magic : marks.plain);
      },
    });

    const isLambada = (view) =>
      CODE.test(model?.mimeType ?? "text/x-python") && FIRST_LINE.test(view.state.doc.line(1).text);

    const plugin = ViewPlugin.fromClass(
      class {
        constructor(view) {
          this.active = isLambada(view);
          this.decorations = this.active ? decorator.createDeco(view) : Decoration.none;
        }

        update(update) {
          const active = isLambada(update.view);
          if (active && this.active) {
            this.decorations = decorator.updateDeco(update, this.decorations);
          } else if (active !== this.active) {
            this.decorations = active ? decorator.createDeco(update.view) : Decoration.none;
          }
          this.active = active;
        }
      },
      { decorations: (value) => value.decorations },
    );

    // The editor still takes the cell for Python and marks it so. The marks of highest precedence are the innermost, so each style says all that those of Python do.
    const style = (variable, more) => ({
      color: `var(${variable})`,
      fontStyle: "normal",
      fontWeight: "normal",
      textDecoration: "none",
      ...more,
    });
    const theme = EditorView.baseTheme({
      ".lambada-magic": style("--jp-mirror-editor-meta-color"),
      ".lambada-comment": style("--jp-mirror-editor-comment-color", { fontStyle: "italic" }),
      ".lambada-string": style("--jp-mirror-editor-string-color"),
      ".lambada-number": style("--jp-mirror-editor-number-color"),
      ".lambada-keyword": style("--jp-mirror-editor-keyword-color", { fontWeight: "bold" }),
      ".lambada-type": style("--jp-mirror-editor-def-color"),
      ".lambada-plain": style("--jp-content-font-color1"),
    });
    return [Prec.highest(plugin), theme];
  }

  /** What JupyterLab activates. */
  function plugin(state, view, { EditorExtensionRegistry, IEditorExtensionRegistry }) {
    return {
      id: "lambada:highlighting",
      description: "Colors for %%lambada cells.",
      autoStart: true,
      requires: [IEditorExtensionRegistry],
      activate: (_, registry) =>
        registry.addExtension({
          name: "lambada:highlighting",
          factory: ({ model }) => EditorExtensionRegistry.createImmutableExtension(highlighting(state, view, model)),
        }),
    };
  }

  /** Is a version, such as `6.39.4`, newer than another? */
  function newer(a, b) {
    return a.localeCompare(b, "en", { numeric: true }) > 0;
  }

  let scope;

  /** A module that the page shares: the copy that is in use, or the newest. */
  async function shared(name) {
    const copies = Object.entries(scope?.[name] ?? {});
    if (copies.length === 0) throw new Error(`lambada: this page does not share ${name}`);
    const better = ([a, x], [b, y]) => (!x.loaded !== !y.loaded ? Boolean(x.loaded) : newer(a, b));
    const [, copy] = copies.reduce((best, next) => (better(next, best) ? next : best));
    return (await copy.get())();
  }

  const modules = {
    "./extension": async () => {
      const names = ["@codemirror/state", "@codemirror/view", "@jupyterlab/codemirror"];
      const extension = { default: plugin(...(await Promise.all(names.map(shared)))) };
      return Object.defineProperty(extension, "__esModule", { value: true });
    },
    // For tests.
    "./tokens": async () => ({ KEYWORDS, TYPES, tokens }),
  };

  const container = {
    init(given) {
      scope = given;
    },
    async get(name) {
      if (!Object.hasOwn(modules, name)) throw new Error(`lambada: there is no module ${name}`);
      const module = await modules[name]();
      return () => module;
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB.lambada = container;
})();
