"use strict";
// One step at a time, with its places in the program marked; arrow keys move.
const steps = [...document.querySelectorAll("#steps > li")];
const source = document.getElementById("source");
const lines = source.textContent.split("\n").map((line) => [...line]);
const moves = document.getElementById("moves");

function mark(places) {
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1) + line.length + 1);
  const ranges = places.map(([line, column, endLine, endColumn]) =>
    [starts[line - 1] + column - 1, starts[endLine - 1] + endColumn - 1]).sort((a, b) => a[0] - b[0]);
  const text = lines.flatMap((line) => [...line, "\n"]);
  source.replaceChildren();
  let at = 0;
  for (const [from, to] of ranges) {
    if (to <= at) continue;
    source.append(text.slice(at, Math.max(at, from)).join(""));
    const piece = document.createElement("mark");
    piece.textContent = text.slice(Math.max(at, from), to).join("");
    source.append(piece);
    at = to;
  }
  source.append(text.slice(at, -1).join(""));
  const first = source.querySelector("mark");
  if (!first) return;
  const top = first.offsetTop - source.offsetTop;
  if (top < source.scrollTop || top > source.scrollTop + source.clientHeight - 40) source.scrollTop = top - 40;
}

const button = (title, act) => {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = title;
  element.addEventListener("click", act);
  moves.append(element);
  return element;
};

let at = 0;
const previous = button("Previous", () => show(at - 1));
const next = button("Next", () => show(at + 1));
const all = button("All steps", () => {
  const single = document.getElementById("steps").classList.toggle("single");
  all.setAttribute("aria-pressed", String(!single));
  if (!single) steps[at].scrollIntoView();
});
all.setAttribute("aria-pressed", "false");
const told = document.createElement("span");
told.setAttribute("aria-live", "polite");
moves.append(told);

function show(k) {
  if (k < 0 || k >= steps.length) return;
  at = k;
  steps.forEach((step, j) => step.classList.toggle("current", j === k));
  previous.disabled = k === 0;
  next.disabled = k + 1 === steps.length;
  told.textContent = `Step ${k + 1} of ${steps.length}`;
  const places = steps[k].dataset.places;
  mark(places ? places.split(",").map((place) => place.split(" ").map(Number)) : []);
  if (!document.getElementById("steps").classList.contains("single")) steps[k].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("pre")) return;
  if (event.key === "ArrowRight") show(at + 1);
  else if (event.key === "ArrowLeft") show(at - 1);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(steps.length - 1);
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#step-"]');
  if (!link) return;
  event.preventDefault();
  const k = steps.findIndex((step) => `#${step.id}` === link.getAttribute("href"));
  if (k >= 0) { show(k); steps[k].focus(); }
});
if (steps.length > 0) {
  moves.hidden = false;
  document.getElementById("steps").classList.add("single");
  show(0);
}
