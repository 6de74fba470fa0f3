// The parts that are only printed: the person, and their locks and limits.

import { byId, element } from "./element.js";
import { cellWords, limitWords } from "./words.js";

/** Updates the letter before it is printed. */
export function writeLetter(schema, person) {
  byId("letter-title").textContent = schema.title;
  byId("letter-date").textContent = new Date().toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
  });
  const line = (feature) =>
    element(
      "div",
      {},
      element("dt", {}, feature.name),
      element("dd", {}, cellWords(feature, person.cells.get(feature.name))),
    );
  const held = schema.features.filter(
    (feature) => person.locks.has(feature.name) || person.limits.has(feature.name),
  );
  const words = (feature) =>
    person.locks.has(feature.name)
      ? `${feature.name} stays as it is`
      : `${feature.name} may become ${limitWords(feature, person.limits.get(feature.name))}`;
  byId("letter").replaceChildren(
    element("h2", {}, "The person"),
    element("dl", {}, schema.features.map(line)),
    ...(held.length > 0 ? [element("p", {}, `What was asked for: ${held.map(words).join("; ")}.`)] : []),
  );
}
