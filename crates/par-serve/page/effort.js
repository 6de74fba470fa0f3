// How hard a change is for this person: a word instead of the schema's.

import { element } from "./element.js";

/** The words, with their weights. */
export const EFFORTS = { easy: 1, some: 2, hard: 4, "very hard": 8 };

/** How hard a feature is to change by the schema, in words. */
function usual(feature) {
  const weight = feature?.effort?.weight;
  return Object.keys(EFFORTS).find((word) => EFFORTS[word] === weight) ?? null;
}

/** A list to choose from, and its label. `set` gets a word, or null for what the schema says. */
export function effortControl(feature, chosen, set) {
  const word = usual(feature);
  const control = element(
    "select",
    {
      "aria-label": `How hard it is for you to change ${feature.name}`,
      onchange: () => set(control.value === "" ? null : control.value),
    },
    element("option", { value: "" }, word === null ? "as usual" : `usual (${word})`),
    Object.keys(EFFORTS).map((one) => element("option", { value: one, selected: one === chosen }, one)),
  );
  return { root: element("label", { class: "hard" }, element("span", {}, "For you:"), control), control };
}
