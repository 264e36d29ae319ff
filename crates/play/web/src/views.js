// The views of a definition: each has controls, a job, and a way to show the answer.

import { choice, copier, make, select } from "./dom.js";
import { colored } from "./language.js";

const MODES = [["reverse", "Reverse"], ["forward", "Forward"]];
const OF = [["value", "The value"], ["grad", "Value and gradient"], ["vjp", "Reverse derivative"], ["jvp", "Forward derivative"]];
const STAGES = [
  ["combinators", "Combinators"], ["linear", "Linear target (Appendix A)"], ["applied", "Applied target (Appendix C)"],
  ["shared", "Applied, primal once"],
];
const DERIVED = STAGES.slice(1);
const FORMS = [["schedule", "Schedule"], ["core", "Core"], ["anf", "Array program"], ["loops", "Loops"]];

/** A text with its colors, and a button that copies it. */
function code(text, language, title) {
  const block = make("pre", { class: "code", tabindex: "0", role: "region", "aria-label": title });
  colored(block, text, language);
  const head = make("div", { class: "title" }, [make("span", { "aria-hidden": "true" }, [title]), copier(() => text)]);
  return make("div", { class: "block" }, [head, block]);
}

/** A list of names and values. */
function table(rows) {
  const list = make("dl", { class: "values" });
  for (const [name, value, kind] of rows) {
    list.append(make("dt", { class: kind }, [name]), make("dd", { class: kind }, [make("pre", {}, [value])]));
  }
  return list;
}

const equations = (clauses) => clauses.map(({ left, right }) => `${left} = ${right}`).join("\n");

/** A term of a derivative below its judgement. */
function judged(context, { linear, type, term }) {
  const variables = (all) => all.map((one) => `${one.name} : ${one.type}`).join(", ");
  const zones = [variables(context), ...(linear ? [variables([linear])] : [])].filter((zone) => zone !== "");
  return `${zones.join("; ")} |- ${type}\n${term}`.trimStart();
}

function titleOf({ components }, k) {
  if (components.length === 1) return "Primal and linear function";
  return k === 0 ? "Primal" : "Linear function";
}

/**
 * The views by name. `options` holds the choices of a view; `again` does its job once more after a
 * choice, `change` shows the last answer once more, and `mark` marks places of the program.
 */
export const views = {
  result: {
    title: "Result",
    defaults: {},
    controls: () => [],
    task: (entry, values) => ({ kind: "value", entry, values }),
    answer: "value",
    show: ({ value, gradient }) => [
      table([
        ["value", value, "primal"],
        ...gradient.map(([name, text]) => [`∂/∂${name}`, text, "slope"]),
      ]),
    ],
  },
  derivative: {
    title: "Derivative",
    defaults: { mode: "reverse" },
    controls: (options, again) => [choice("Mode", MODES, options.mode, (mode) => again({ mode }))],
    task: (entry, _, { mode }) => ({ kind: "derivative", entry, mode }),
    answer: "text",
    show: (text) => [code(text, "lambada", "Source")],
  },
  stages: {
    title: "Stages",
    defaults: { mode: "reverse", stage: "linear" },
    controls: (options, again) => [
      select("Stage", STAGES, options.stage, (stage) => again({ stage })),
      choice("Mode", MODES, options.mode, (mode) => again({ mode })),
    ],
    task: (entry, _, { mode, stage }) => ({ kind: "stage", entry, mode, stage }),
    answer: "text",
    show: (text, options) => [code(text, "lambada", STAGES.find(([name]) => name === options.stage)[1])],
  },
  steps: {
    title: "Steps",
    defaults: { mode: "reverse", stage: "linear", step: 0 },
    controls: (options, again) => [
      select("Stage", DERIVED, options.stage, (stage) => again({ stage, step: 0 })),
      choice("Mode", MODES, options.mode, (mode) => again({ mode })),
    ],
    task: (entry, _, { mode, stage }) => ({ kind: "steps", entry, mode, stage }),
    answer: "derivation",
    show({ program, steps }, options, change, _, mark) {
      const at = Math.min(options.step, steps.length - 1);
      const step = steps[at];
      mark(step.places);
      const move = (title, to) => {
        const button = make("button", { type: "button", "data-move": title }, [title]);
        button.disabled = to < 0 || to >= steps.length;
        button.addEventListener("click", () => change({ step: to }));
        return button;
      };
      const slider = make("input", { type: "range", min: 1, max: steps.length, step: 1, "aria-label": "Step" });
      slider.value = at + 1;
      slider.addEventListener("input", () => change({ step: Number(slider.value) - 1 }));
      const bar = make("div", { class: "bar" }, [
        move("Previous", at - 1), move("Next", at + 1), slider,
        make("span", { "aria-live": "polite" }, [`Step ${at + 1} of ${steps.length}`]),
      ]);
      const head = step.name ? `${step.name} = ${step.part}` : step.part;
      const { name, item, paper } = step.rule;
      const rule = make("p", { class: "rule" }, [
        make("b", {}, [name]), " ", make("span", { class: "item" }, [item]), ` ${paper}`,
      ]);
      const parts = step.parts.map((number) => {
        const button = make("button", { type: "button", class: "part" }, [`Step ${number}`]);
        button.addEventListener("click", () => change({ step: number - 1 }));
        return button;
      });
      if (parts.length > 0) rule.append(make("span", { class: "parts" }, [" of ", ...parts]));
      return [
        code(program, "lambada", "In the source language of the paper"), bar,
        code(`${head} : ${step.type}`, "lambada", `Part ${at + 1}`), rule,
        code(equations(step.clause), "lambada", "Clause"),
        ...(step.here.length > 0 ? [code(equations(step.here), "lambada", "Here")] : []),
        ...step.components.map((component, k) => code(judged(step.context, component), "lambada", titleOf(step, k))),
      ];
    },
  },
  schedule: {
    title: "Schedule",
    defaults: { of: "grad", form: "schedule" },
    controls: (options, again) => [
      select("Form", FORMS, options.form, (form) => again({ form })),
      select("Of", OF, options.of, (of) => again({ of })),
    ],
    task: (entry, _, { of, form }) => ({ kind: "show", entry, form, of }),
    answer: "text",
    show: (text, { form }) => [code(text, form === "core" ? "lambada" : "plain", FORMS.find(([name]) => name === form)[1])],
  },
  c: {
    title: "C",
    defaults: { of: "grad" },
    controls: (options, again) => [select("Of", OF, options.of, (of) => again({ of }))],
    task: (entry, _, { of }) => ({ kind: "show", entry, form: "c", of }),
    answer: "text",
    show: (text) => [code(text, "c", "C")],
  },
  plot: {
    title: "Plot",
    defaults: { parameter: null, low: "-5", high: "5", slopes: true },
    controls(options, again, definition) {
      const numbers = (definition.parameters ?? []).filter(({ type }) => type === "real" || type === "int");
      const names = numbers.map(({ name }) => [name, name]);
      const across = parameterOf(options, definition) ?? "";
      const shown = [select("Along", [...names, ["", "the index of an array"]], across, (parameter) => again({ parameter }))];
      for (const [key, title] of across === "" ? [] : [["low", "from"], ["high", "to"]]) {
        const field = make("input", { type: "text", inputmode: "decimal", class: "number" });
        field.value = options[key];
        field.addEventListener("change", () => again({ [key]: field.value }));
        shown.push(make("label", {}, [`${title} `, field]));
      }
      const box = make("input", { type: "checkbox" });
      box.checked = options.slopes;
      box.addEventListener("change", () => again({ slopes: box.checked }));
      shown.push(make("label", {}, [box, " derivative"]));
      return shown;
    },
    task(entry, values, options, definition) {
      const parameter = parameterOf(options, definition);
      const range = parameter && { parameter, low: Number(options.low), high: Number(options.high) };
      return { kind: "plot", entry, values, range: range || null, slopes: options.slopes };
    },
    answer: "picture",
    show(svg, options, _, definition) {
      const across = parameterOf(options, definition) ?? "the index";
      const slopes = options.slopes ? " and its derivative" : "";
      const image = make("img", {
        class: "plot", alt: `${definition.name}${slopes} along ${across}`,
        src: `data:image/svg+xml,${encodeURIComponent(svg)}`,
      });
      return [image];
    },
  },
};

/** The parameter along which to draw: the chosen one, else the first number. */
function parameterOf(options, definition) {
  const numbers = (definition.parameters ?? []).filter(({ type }) => type === "real" || type === "int");
  if (options.parameter === "") return null;
  const chosen = numbers.find(({ name }) => name === options.parameter);
  return (chosen ?? numbers.find(({ type }) => type === "real") ?? numbers[0])?.name ?? null;
}
