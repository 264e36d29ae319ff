// Elements.

/** An element with attributes and children. */
export function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A choice of one of several words, as radio buttons in a group. */
export function choice(legend, options, chosen, set) {
  const group = make("fieldset", { class: "choice" }, [make("legend", {}, [legend])]);
  const name = `choice-${legend}`;
  for (const [value, title] of options) {
    const radio = make("input", { type: "radio", name, value });
    radio.checked = value === chosen;
    radio.addEventListener("change", () => set(value));
    group.append(make("label", {}, [radio, make("span", {}, [title])]));
  }
  return group;
}

/** A list to choose from. */
export function select(title, options, chosen, set) {
  const id = `select-${title.toLowerCase()}`;
  const list = make("select", { id });
  for (const [value, text] of options) list.append(new Option(text, value, false, value === chosen));
  list.addEventListener("change", () => set(list.value));
  return make("span", {}, [make("label", { for: id }, [title]), " ", list]);
}

/** A button that copies a text. */
export function copier(text) {
  const button = make("button", { type: "button", class: "copy" }, ["Copy"]);
  button.addEventListener("click", async () => {
    await copy(text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

/** Copies a text; pages that may not use the clipboard select it in a field. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { class: "outside" });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
