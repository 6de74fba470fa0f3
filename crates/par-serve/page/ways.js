// Ways forward as cards; or why there is none, and which locks and limits to lift.

import { bar } from "./decision.js";
import { element, sign } from "./element.js";
import { commonness, count, limitWords, listed, percent } from "./words.js";

const ORDER = ["First way", "Second way", "Third way"];
const VIRTUES = { fewest_changes: "fewest changes", most_common: "most common", surest: "surest" };

/** A change: what it is now and what it could be. `lock` is called when the person cannot make it. */
export function changeItem(change, lock) {
  return element(
    "li",
    { class: "change" },
    element("span", { class: "change-name" }, change.feature),
    element(
      "span",
      { class: "change-words" },
      element("span", { class: "was" }, change.from_words || "unknown"),
      sign("arrow"),
      element("span", { class: "unseen" }, "to"),
      element("b", {}, change.to_words),
    ),
    lock &&
      element(
        "button",
        { type: "button", class: "bare cannot", onclick: () => lock(change.feature) },
        sign("lock"),
        "I cannot change this",
        element("span", { class: "unseen" }, `: ${change.feature}`),
      ),
  );
}

/** The cards of an answer's ways, each with what it is best at. */
export function wayCards(answer, lock) {
  const card = (way, place) =>
    element(
      "article",
      { class: place === 0 ? "card first" : "card", "aria-labelledby": `way-${place}` },
      element(
        "header",
        {},
        element("h3", { id: `way-${place}` }, ORDER[place] ?? `Way ${place + 1}`),
        element("span", { class: "badge" }, count(way.changes.length, "change")),
        virtues(answer, way).map((virtue) => element("span", { class: "badge" }, virtue)),
      ),
      element(
        "ul",
        { class: "changes" },
        way.changes.map((change) => changeItem(change, lock)),
      ),
      element(
        "div",
        { class: "then" },
        element(
          "p",
          {},
          element("b", {}, `${percent(way.probability, answer.threshold)}`),
          ` then, ${percent(answer.probability, answer.threshold)} now`,
        ),
        bar(way.probability, answer.threshold, answer.probability),
        element("p", { class: "quiet" }, commonness(way.percentile), "."),
        // Later ways are optimal among those without a change of the earlier ones: true, but no help.
        place === 0 &&
          way.optimal === true &&
          element("p", { class: "quiet" }, "Proved: nothing is more common with as few changes."),
      ),
    );
  return element("div", { class: "cards" }, answer.ways.map(card));
}

/** What a way is best at, if there are others to compare it with. */
function virtues(answer, way) {
  const isAlone = answer.ways.length === 1 && (answer.frontier ?? []).length <= 1;
  return isAlone ? [] : (way.best_at ?? []).map((virtue) => VIRTUES[virtue] ?? virtue);
}

/** Why there is no way, with a button for every lock and limit of the person. */
export function noWay(schema, person, answer, lift) {
  const feature = (name) => schema.features.find((one) => one.name === name);
  const explain = {
    lock: (name) => `“${name}” is kept as it is.`,
    limit: (name) =>
      person.limits.has(name)
        ? `“${name}” may only become ${limitWords(feature(name), person.limits.get(name))}.`
        : `“${name}” is limited.`,
  };
  const lifting = { lock: "Let it change", limit: "Lift the limit" };
  const obstacle = (one) =>
    element(
      "li",
      {},
      element("span", {}, explain[one.kind](one.feature)),
      element(
        "button",
        { type: "button", onclick: () => lift([one]) },
        lifting[one.kind],
        element("span", { class: "unseen" }, `: ${one.feature}`),
      ),
    );
  // What the schema forbids is never shown to the applicant.
  const obstacles = (answer.obstacles ?? []).filter((one) => one.feature !== null && lifting[one.kind]);
  const held = [...person.locks, ...person.limits.keys()];
  return element(
    "div",
    { class: "panel no-way" },
    element("h3", {}, "There is no way within these limits"),
    element("p", {}, sentence(answer.reason_words ?? answer.reason)),
    obstacles.length > 0 &&
      element(
        "p",
        {},
        obstacles.length === 1 ? "This stands in the way:" : "All of this together stands in the way:",
      ),
    obstacles.length > 0 && element("ul", { class: "obstacles" }, obstacles.map(obstacle)),
    answer.needs_changes !== null &&
      answer.needs_changes !== undefined &&
      element(
        "p",
        { class: "lift" },
        `It takes ${count(answer.needs_changes, "change")}. `,
        element(
          "button",
          { type: "button", class: "primary", onclick: () => lift([], answer.needs_changes) },
          `Allow ${count(answer.needs_changes, "change")}`,
        ),
      ),
    obstacles.length > 1 &&
      element(
        "p",
        { class: "lift" },
        element(
          "button",
          { type: "button", class: "primary", onclick: () => lift(obstacles) },
          "Lift all of this",
        ),
      ),
    obstacles.length === 0 &&
      (answer.needs_changes ?? null) === null &&
      held.length > 0 &&
      element(
        "p",
        { class: "quiet" },
        `To let go of what is held at the moment (${listed([...new Set(held)])}) was not found to help.`,
      ),
  );
}

function sentence(words) {
  return words ? `${words.charAt(0).toUpperCase()}${words.slice(1)}.` : "";
}

/** The most locks and limits listed; more are counted, and the form has all. */
const CHIPS = 6;

/** The locks and limits, each with a button that lifts it. `release` takes the names of features. */
export function heldChips(schema, person, release) {
  const feature = (name) => schema.features.find((one) => one.name === name);
  const chip = (words, action, names) =>
    element(
      "li",
      {},
      element(
        "button",
        { type: "button", class: "chip", title: action, onclick: () => release(names) },
        words,
        element("span", { class: "unseen" }, ` (${action})`),
        sign("remove"),
      ),
    );
  const limits = [...person.limits].filter(([name]) => !person.locks.has(name));
  const chips = {
    "Kept as it is": [...person.locks].map((name) => chip(name, "let it change again", [name])),
    Limited: limits.map(([name, limit]) =>
      chip(`${name}: ${limitWords(feature(name), limit)}`, "lift the limit", [name]),
    ),
  };
  const line = ([title, all]) =>
    element(
      "div",
      { class: "held" },
      element("span", { class: "quiet" }, title),
      element(
        "ul",
        {},
        all.slice(0, CHIPS),
        all.length > CHIPS && element("li", { class: "quiet" }, `and ${all.length - CHIPS} more`),
      ),
    );
  const held = [...person.locks, ...limits.map(([name]) => name)];
  const lines = Object.entries(chips)
    .filter(([, all]) => all.length > 0)
    .map(line);
  if (held.length > 1)
    lines
      .at(-1)
      .lastChild.append(
        element(
          "li",
          {},
          element(
            "button",
            { type: "button", class: "chip all", onclick: () => release(held) },
            "Let go of all",
          ),
        ),
      );
  return lines;
}
