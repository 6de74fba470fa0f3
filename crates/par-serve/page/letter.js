// The parts that are only printed: the person, and their wishes.

import { byId, element } from "./element.js";
import { cellWords, count, limitWords } from "./words.js";

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
  const { budget, within, maxEffort, noHarm, lasting, slack } = person.wishes;
  const asked = [
    ...held.map(words),
    ...[...person.efforts].map(([name, word]) => `${name} is ${word} to change`),
    budget !== null && `at most ${count(budget, "change")}`,
    within !== null && `within ${within}`,
    maxEffort !== null && `an effort of at most ${maxEffort}`,
    noHarm && schema.features.some((feature) => feature.improves) && "nothing gets worse",
    lasting && "a way should last when the model is retrained",
    slack && "one change may fall a step short",
  ].filter(Boolean);
  byId("letter").replaceChildren(
    element("h2", {}, "The person"),
    element("dl", {}, schema.features.map(line)),
    ...(asked.length > 0 ? [element("p", {}, `What was asked for: ${asked.join("; ")}.`)] : []),
  );
}
