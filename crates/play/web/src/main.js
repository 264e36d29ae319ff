// The page: a program at the left, views of one of its definitions at the right.

import "./style.css";

import { showArguments } from "./arguments.js";
import { copy, make } from "./dom.js";
import { makeEditor } from "./editor.js";
import { fragment, packed, unpacked, writeFragment } from "./link.js";
import { Refused, job, open, shelf, takeToken } from "./server.js";
import { makeTabs } from "./tabs.js";
import { views } from "./views.js";

const START = `-- A program. Change it: problems, values and derivatives follow.

--| A wave that fades away.
def wave (x : real) (speed : real) (fade : real) : real =
  exp (-fade * x * x) * sin (speed * x)

--| The mean squared distance of a line from points.
def loss [n] (slope : real) (offset : real) (xs : [n]real) (ys : [n]real) : real =
  mean (for (x, y) in zip xs ys => (slope * x + offset - y) ** 2)
`;

const PAUSE = 250; // ms without a key before the program is looked at
const SLOW = 200; // ms before the page says that it waits

const $ = (id) => document.getElementById(id);

const state = {
  place: { origin: "text", path: "program.lam" },
  definitions: [],
  entry: null,
  view: "result",
  /** Values by definition and parameter. */
  values: new Map(),
  options: Object.fromEntries(Object.entries(views).map(([name, view]) => [name, { ...view.defaults }])),
  /** The answer that is shown. */
  answer: null,
};

function notice(text) {
  $("notice").hidden = !text;
  $("notice").textContent = text ?? "";
}

let timer = null;

/** The editor, once the page has begun. */
let editor = null;

const begun = () =>
  makeEditor($("editor"), {
    changed() {
      clearTimeout(timer);
      timer = setTimeout(refresh, PAUSE);
    },
    problems: showProblems,
    lost: (error) => error instanceof Refused && notice(error.message),
  });


function showProblems(found) {
  const list = document.querySelector("#problems ul");
  list.replaceChildren();
  const errors = found.filter(({ severity }) => severity === "error").length;
  const rest = found.length - errors;
  const counted = (count, noun) => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`]);
  const text = [...counted(errors, "error"), ...counted(rest, "warning")].join(", ");
  if ($("count").textContent !== (text || "No problems")) $("count").textContent = text || "No problems";
  for (const { severity, message, from, to, line } of found) {
    const [title, ...more] = message.split("\n");
    const button = make("button", { type: "button", class: severity }, [
      make("b", {}, [`Line ${line}`]), ` ${title}`, ...more.map((words) => make("small", {}, [words])),
    ]);
    button.addEventListener("click", () => editor.select(from, to));
    list.append(make("li", {}, [button]));
  }
}

const program = () => ({ ...state.place, text: editor.text() });
const definition = () => state.definitions.find(({ name }) => name === state.entry);

function valuesOf(name) {
  if (!state.values.has(name)) state.values.set(name, new Map());
  return state.values.get(name);
}

/** Does a job, says so if it takes long, and hands on an answer that is still wanted. */
async function asked(lane, task, use) {
  const waits = setTimeout(() => ($("busy").textContent = "Working …"), SLOW);
  try {
    const answer = await job(lane, program(), task);
    if (!answer.superseded) use(answer);
    notice(null);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    notice(error.message);
  } finally {
    clearTimeout(waits);
    $("busy").textContent = "";
  }
}

/** Looks at the program: its definitions, and then the view. */
function refresh() {
  return asked("outline", { kind: "outline" }, ({ outline, ...failed }) => {
    if (!outline) {
      round += 1; // Answers about the program before are not wanted any more.
      running = false;
      return showAnswer(failed);
    }
    state.definitions = outline;
    if (!definition()) {
      const runs = outline.filter(({ parameters }) => parameters);
      state.entry = (runs.find(({ result }) => result === "real") ?? runs[0] ?? outline[0])?.name ?? null;
    }
    showDefinitions();
    run();
  });
}

function showDefinitions() {
  const list = $("entry");
  list.replaceChildren(...state.definitions.map(({ name }) => new Option(name, name, false, name === state.entry)));
  const one = definition();
  $("signature").textContent = one ? one.scheme : "";
  $("doc").hidden = !one?.doc;
  $("doc").textContent = one?.doc ?? "";
  const parameters = one?.parameters ?? [];
  const values = valuesOf(state.entry);
  for (const { name, value } of parameters) if (!values.has(name)) values.set(name, value);
  const shape = JSON.stringify([state.entry, parameters.map(({ name, type }) => [name, type])]);
  // A form that stays keeps the focus of whoever drags a slider.
  if ($("arguments").dataset.shape !== shape) {
    $("arguments").dataset.shape = shape;
    showArguments($("arguments"), parameters, values, valuesChanged);
  }
}

const valuesChanged = () => (state.view === "result" || state.view === "plot") && run({ waits: true });

/**
 * Does the job of the view. While one runs, the newest values wait for its end; a new program,
 * definition or view does not wait, and what was begun for the old one is dropped.
 */
let round = 0;
let running = false;
let wanted = false;
async function run({ waits = false } = {}) {
  wanted = true;
  if (running && waits) return;
  const own = ++round;
  running = true;
  try {
    while (wanted && own === round) {
      wanted = false;
      await view(() => own === round);
    }
  } finally {
    if (own === round) running = false;
  }
}

async function view(isWanted) {
  const one = definition();
  if (!one) return showAnswer({ problems: "The program has no definition.\n" });
  if (!one.parameters) return showAnswer({ problems: `${one.problem}\n` });
  const { task } = views[state.view];
  const values = one.parameters.map(({ name }) => [name, valuesOf(one.name).get(name)]);
  const use = (answer) => isWanted() && showAnswer(answer);
  await asked("view", task(one.name, values, state.options[state.view], one), use);
}

/** Controls and answer of the view. */
function showAnswer(answer) {
  state.answer = answer;
  const { controls, show, answer: kind } = views[state.view];
  const options = state.options[state.view];
  const one = definition() ?? { name: "", parameters: [] };
  const again = (change) => {
    Object.assign(options, change);
    keepingFocus(() => showControls());
    run();
  };
  const showControls = () => bar.replaceChildren(...controls(options, again, one));
  const bar = make("div", { class: "bar controls" });
  showControls();
  const change = (changes) => {
    Object.assign(options, changes);
    keepingFocus(() => showAnswer(state.answer));
  };
  const text = answer.problems ?? answer.stopped;
  editor.mark([]);
  const shown = text !== undefined
    ? [make("pre", { class: answer.stopped ? "stopped" : "wrong", role: "alert" }, [text.trimEnd()])]
    : show(answer[kind], options, change, one, editor.mark);
  keepingFocus(() => $("panel").replaceChildren(...(bar.childElementCount ? [bar] : []), ...shown));
  // A stop for the Tab key, where nothing inside is one.
  $("panel").tabIndex = focusable().length === 0 ? 0 : -1;
}

/** The place of the focus in the panel, so that new elements can have it. */
function keepingFocus(change) {
  const at = focusable().indexOf(document.activeElement);
  change();
  if (at < 0 || $("panel").contains(document.activeElement)) return;
  // A button that has become disabled gives the focus to the one before it.
  const before = focusable().slice(0, at + 1).reverse();
  before.find((element) => !element.disabled)?.focus({ preventScroll: true });
}

const focusable = () => [...$("panel").querySelectorAll("input, select, button, pre[tabindex]")];

/** Opens a program. */
async function show(place, text, uri = `play:/${place.origin}/${place.path}`) {
  state.place = place;
  state.entry = null;
  state.values.clear();
  editor.show(text, uri);
  document.title = `${place.path} – Lambada playground`;
  await refresh();
}

async function fill() {
  const { folder, files, more, examples, book } = await shelf();
  const list = $("programs");
  const group = (label, options) => list.append(make("optgroup", { label }, options));
  list.append(new Option("A first program", "text"));
  const option = (origin) => (path) => new Option(path, `${origin}:${path}`);
  if (folder !== null) {
    const all = files.map(option("folder"));
    if (more) all.push(Object.assign(new Option("… more programs are not listed"), { disabled: true }));
    if (all.length === 0) all.push(Object.assign(new Option("no programs"), { disabled: true }));
    group(`Folder ${folder}`, all);
  }
  group("Examples", examples.map(option("examples")));
  list.addEventListener("change", async () => {
    const [origin, path] = list.value.split(/:(.*)/s);
    if (origin === "text") return show({ origin, path: "program.lam" }, START);
    try {
      const place = { origin, path };
      await show(place, await open(place));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      notice(error.message);
    }
  });
  let part = null;
  const pages = document.querySelector("#book nav > div");
  for (const { part: next, title, address } of book) {
    if (next !== part) {
      part = next;
      pages.append(make("h2", {}, [part]), make("ul"));
    }
    const link = make("a", { href: address, target: "_blank", rel: "noopener" }, [title]);
    pages.lastElementChild.append(make("li", {}, [link]));
  }
  const licenses = make("a", { href: "./licenses.txt", target: "_blank" }, ["Licenses of this page's libraries"]);
  pages.parentElement.append(make("p", {}, [licenses]));
  return { folder, files };
}

async function copyLink() {
  const values = Object.fromEntries(valuesOf(state.entry));
  const { entry, view, place, options } = state;
  const text = await packed({ place, text: editor.text(), entry, values, view, options: options[view] });
  const map = new URLSearchParams({ program: text });
  writeFragment(map);
  await copy(location.href);
  $("link").textContent = "Copied";
  setTimeout(() => ($("link").textContent = "Copy link"), 1500);
}

/** Shows the program that a link holds. */
async function follow(text) {
  const held = await unpacked(text);
  if (!held) {
    notice("The link holds no program, or only a part of it.");
    return false;
  }
  const known = ["text", "folder", "examples"].includes(held.place?.origin) && typeof held.place.path === "string";
  // Links of before there was a view of steps.
  if (held.view === "stages" && held.options?.stage === "steps") {
    held.view = "steps";
    held.options = { mode: held.options.mode };
  }
  if (held.view in views) {
    state.view = held.view;
    Object.assign(state.options[held.view], held.options);
    tabs.mark(state.view);
  }
  const place = known ? held.place : { origin: "text", path: "program.lam" };
  await show(place, held.text);
  if (state.definitions.some(({ name }) => name === held.entry)) {
    state.entry = held.entry;
    const values = valuesOf(held.entry);
    for (const [name, value] of Object.entries(held.values ?? {})) values.set(name, String(value));
    delete $("arguments").dataset.shape;
    showDefinitions();
    await run();
  }
  return true;
}

const tabs = makeTabs($("tabs"), $("panel"), Object.entries(views).map(([name, { title }]) => [name, title]), (name) => {
  state.view = name;
  run();
});

async function begin() {
  const map = fragment();
  takeToken(map);
  writeFragment(map);
  tabs.mark(state.view);
  editor = begun();
  $("entry").addEventListener("change", () => {
    state.entry = $("entry").value;
    showDefinitions();
    run();
  });
  $("arguments").addEventListener("submit", (event) => event.preventDefault());
  $("link").addEventListener("click", copyLink);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") $("book").open = false;
  });
  window.addEventListener("hashchange", () => {
    const text = fragment().get("program");
    if (text) follow(text);
  });
  try {
    const { folder, files } = await fill();
    const held = map.get("program");
    if (held && (await follow(held))) return;
    if (folder !== null && files.length > 0) {
      const place = { origin: "folder", path: files[0] };
      $("programs").value = `folder:${files[0]}`;
      return await show(place, await open(place));
    }
    await show(state.place, START);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    notice(error.message);
  }
}

begin();
