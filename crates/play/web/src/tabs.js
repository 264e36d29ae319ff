// Tabs with one stop for the Tab key; arrows, Home and End move between them.

import { make } from "./dom.js";

/** Makes the tabs; `chosen` is called with the name of a new one. */
export function makeTabs(list, panel, tabs, chosen) {
  const buttons = tabs.map(([name, title]) => {
    const button = make("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": panel.id, "data-name": name,
    }, [title]);
    button.addEventListener("click", () => choose(name));
    return button;
  });
  list.append(...buttons);
  const mark = (name) => {
    for (const button of buttons) {
      const is = button.dataset.name === name;
      button.setAttribute("aria-selected", String(is));
      button.tabIndex = is ? 0 : -1;
      if (is) panel.setAttribute("aria-labelledby", button.id);
    }
  };
  const choose = (name) => {
    mark(name);
    chosen(name);
  };
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    const last = buttons.length - 1;
    const to = {
      ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last,
    }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    buttons[to].focus();
    choose(buttons[to].dataset.name);
  });
  return { mark };
}
