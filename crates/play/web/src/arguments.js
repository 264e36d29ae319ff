// Arguments of a definition: sliders for numbers, boxes for truth values, fields for all else.

import { make } from "./dom.js";

/** The range of a slider around a value. */
function rangeOf(kind, value) {
  if (kind === "int") return { min: Math.min(0, 2 * value), max: Math.max(10, 2 * value), step: 1 };
  const reach = Math.max(5, 2 * Math.abs(value));
  return { min: -reach, max: reach, step: reach / 500 };
}

/** Fills a form with the parameters of a definition; `changed` is called with each new value. */
export function showArguments(form, parameters, values, changed) {
  form.replaceChildren();
  form.hidden = parameters.length === 0;
  parameters.forEach((parameter, k) => {
    const id = `argument-${k}`;
    const set = (text) => {
      values.set(parameter.name, text);
      changed();
    };
    const label = make("label", { for: id }, [make("b", {}, [parameter.name]), ` : ${parameter.type}`]);
    const control = controls(id, parameter, values.get(parameter.name), set);
    form.append(make("div", { class: "argument" }, [label, ...control]));
  });
}

function controls(id, parameter, text, set) {
  const number = Number(text);
  const isNumber = (parameter.type === "real" || parameter.type === "int") && Number.isFinite(number) && text.trim() !== "";
  if (isNumber) return slider(id, parameter, number, text, set);
  if (parameter.type === "bool") {
    const box = make("input", { id, type: "checkbox" });
    box.checked = text === "true";
    box.addEventListener("change", () => set(String(box.checked)));
    return [box];
  }
  const field = make("input", { id, type: "text", class: "json", spellcheck: "false", autocomplete: "off" });
  field.value = text;
  field.addEventListener("input", () => set(field.value));
  return [field];
}

function slider(id, parameter, number, text, set) {
  const { min, max, step } = rangeOf(parameter.type, number);
  const name = parameter.name;
  const range = make("input", { id, type: "range", min, max, step });
  range.value = number;
  const field = make("input", { type: "text", inputmode: "decimal", class: "number", "aria-label": `${name}, exact value` });
  field.value = text;
  range.addEventListener("input", () => {
    const value = Number(range.value);
    field.value = String(parameter.type === "int" ? value : Number(value.toPrecision(6)));
    set(field.value);
  });
  field.addEventListener("input", () => {
    const value = Number(field.value);
    if (field.value.trim() !== "" && Number.isFinite(value)) {
      // The slider reaches every value that is typed.
      const reach = rangeOf(parameter.type, value);
      range.min = Math.min(range.min, reach.min);
      range.max = Math.max(range.max, reach.max);
      range.value = value;
    }
    set(field.value);
  });
  return [range, field];
}
