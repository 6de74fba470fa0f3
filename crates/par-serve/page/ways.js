// Ways forward as cards; or why there is none, and which wishes to lift.

import { bar } from "./decision.js";
import { effortControl } from "./effort.js";
import { element, sign } from "./element.js";
import { scale } from "./score.js";
import { commonness, cost, count, limitWords, listed, plain, sentence } from "./words.js";

const ORDER = ["First way", "Second way", "Third way"];
const VIRTUES = {
  least_effort: "least effort",
  soonest: "soonest",
  surest: "surest",
  most_common: "most common",
  fewest_changes: "fewest changes",
  lasting: "lasting",
};

/** What would do as well as the new value, or `null`. */
function enough(change) {
  if (change.least !== undefined) {
    return `at ${change.least < Number(change.to) ? "least" : "most"} ${plain(change.least)}`;
  }
  return change.lowest < change.highest ? `${plain(change.lowest)} to ${plain(change.highest)} would do` : null;
}

/** What a value is now and what it could be, with what would do as well. */
const becomes = (change) =>
  element(
    "span",
    { class: "change-words" },
    element("span", { class: "was" }, change.from_words || "unknown"),
    sign("arrow"),
    element("span", { class: "unseen" }, "to"),
    element("b", {}, change.to_words),
    enough(change) && element("span", { class: "alone range" }, enough(change)),
  );

/** A change, with what the person can say to it: that they cannot make it, or how hard it is (`wishes`). */
export function changeItem(change, wishes, alone = null) {
  return element(
    "li",
    { class: "change" },
    element("span", { class: "change-name" }, change.feature),
    change.counter_offer && element("span", { class: "offer" }, "counter-offer of the lender"),
    change.harm && element("span", { class: "harm" }, "a change for the worse"),
    becomes(change),
    alone !== null && element("span", { class: "alone" }, `brings ${alone} by itself`),
    wishes && reply(change, wishes),
  );
}

function reply(change, wishes) {
  const feature = wishes.feature(change.feature);
  return element(
    "span",
    { class: "reply" },
    element(
      "button",
      { type: "button", class: "bare cannot", onclick: () => wishes.lock(change.feature) },
      sign("lock"),
      change.counter_offer ? "I cannot accept this" : "I cannot change this",
      element("span", { class: "unseen" }, `: ${change.feature}`),
    ),
    feature &&
      effortControl(feature, wishes.effort(change.feature), (word) => wishes.weigh(change.feature, word)).root,
  );
}

/** The changes of a way as steps, the one that brings most by itself first; then their consequences. */
function steps(schema, answer, way, wishes) {
  const several = way.changes.length > 1;
  const { reaches, words } = scale(schema);
  const isMore = (one, other) => other === null || (one !== null && reaches(one, other));
  const order = [...way.changes].sort((one, other) =>
    (one.alone ?? null) === (other.alone ?? null) ? 0 : isMore(one.alone ?? null, other.alone ?? null) ? -1 : 1,
  );
  const alone = (change) =>
    several && Number.isFinite(change.alone) ? words(change.alone, answer.threshold) : null;
  const consequence = (change) =>
    element("li", { class: "change consequence" }, element("span", {}, `then ${change.feature} `), becomes(change));
  return element(
    several ? "ol" : "ul",
    { class: "changes" },
    order.map((change) => changeItem(change, wishes, alone(change))),
    (way.consequences ?? []).map(consequence),
  );
}

/** The cards of an answer's ways, each with what it is best at and what it costs. */
export function wayCards(schema, answer, wishes) {
  const { words } = scale(schema);
  const card = (way, place) =>
    element(
      "article",
      { class: place === 0 ? "card first" : "card", "aria-labelledby": `way-${place}` },
      element(
        "header",
        {},
        element("h3", { id: `way-${place}` }, ORDER[place] ?? `Way ${place + 1}`),
        element(
          "span",
          { class: "badges" },
          virtues(answer, way).map((virtue) => element("span", { class: "badge" }, virtue)),
        ),
      ),
      element("p", { class: "cost" }, cost(way)),
      steps(schema, answer, way, wishes),
      element(
        "div",
        { class: "then" },
        element(
          "p",
          {},
          element("b", {}, words(way.probability, answer.threshold)),
          ` then, ${words(answer.probability, answer.threshold)} now`,
        ),
        bar(schema, way.probability, answer.threshold, answer.probability),
        way.has_margin === false &&
          element("p", { class: "close" }, "Close to the threshold: a small difference could undo it."),
        element("p", { class: "quiet" }, commonness(way.percentile), "."),
        way.lasting_words && element("p", { class: "quiet" }, sentence(way.lasting_words)),
        // Later ways are optimal among those without a change of the earlier ones: true, but no help.
        place === 0 && way.optimal === true && element("p", { class: "quiet" }, sentence(way.proof)),
      ),
    );
  return element(
    "div",
    {},
    answer.price_of_lasting && element("p", { class: "price" }, sentence(answer.price_of_lasting)),
    element("div", { class: "cards" }, answer.ways.map(card)),
  );
}

/** What a way is best at, if there are others to compare it with. */
function virtues(answer, way) {
  const isAlone = answer.ways.length === 1 && (answer.frontier ?? []).length <= 1;
  return isAlone ? [] : (way.best_at ?? []).map((virtue) => VIRTUES[virtue] ?? virtue);
}

/** Why there is no way, with a button for every wish of the person that stands in it. */
export function noWay(schema, person, answer, lift) {
  const feature = (name) => schema.features.find((one) => one.name === name);
  const explain = {
    lock: (name) => `“${name}” is kept as it is.`,
    limit: (name) =>
      person.limits.has(name)
        ? `“${name}” may only become ${limitWords(feature(name), person.limits.get(name))}.`
        : `“${name}” is limited.`,
    max_effort: (_, words) => `An effort of ${person.wishes.maxEffort} is too little: ${words}.`,
    within: (_, words) => `A time of ${person.wishes.within} is too short: ${words}.`,
    no_harm: () => "Nothing may get worse.",
    robust: () => "A way should last when the model is retrained.",
    slack: () => "One change may fall a step short.",
  };
  const lifting = {
    lock: "Let it change",
    limit: "Lift the limit",
    max_effort: "Allow any effort",
    within: "Allow any time",
    no_harm: "Allow it",
    robust: "Do without that",
    slack: "Leave no room",
  };
  const obstacle = (one) =>
    element(
      "li",
      {},
      element("span", {}, explain[one.kind](one.feature, one.words)),
      element(
        "button",
        { type: "button", onclick: () => lift([one]) },
        lifting[one.kind],
        one.feature !== null && element("span", { class: "unseen" }, `: ${one.feature}`),
      ),
    );
  // What the schema forbids is never shown to the applicant.
  const obstacles = (answer.obstacles ?? []).filter((one) => lifting[one.kind]);
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

/** The most locks, limits and efforts listed; more are counted, and the form has all. */
const CHIPS = 6;

/** The locks, limits and efforts, each with a button that lifts it. */
export function heldChips(schema, person, { release, weigh, releaseAll }) {
  const feature = (name) => schema.features.find((one) => one.name === name);
  const chip = (words, action, lift) =>
    element(
      "li",
      {},
      element(
        "button",
        { type: "button", class: "chip", title: action, onclick: lift },
        words,
        element("span", { class: "unseen" }, ` (${action})`),
        sign("remove"),
      ),
    );
  const limits = [...person.limits].filter(([name]) => !person.locks.has(name));
  const chips = {
    "Kept as it is": [...person.locks].map((name) => chip(name, "let it change again", () => release(name))),
    Limited: limits.map(([name, limit]) =>
      chip(`${name}: ${limitWords(feature(name), limit)}`, "lift the limit", () => release(name)),
    ),
    "For you": [...person.efforts].map(([name, word]) =>
      chip(`${name}: ${word}`, "as usual", () => weigh(name, null)),
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
  const held = person.locks.size + limits.length + person.efforts.size;
  const lines = Object.entries(chips)
    .filter(([, all]) => all.length > 0)
    .map(line);
  if (held > 1)
    lines
      .at(-1)
      .lastChild.append(
        element(
          "li",
          {},
          element(
            "button",
            { type: "button", class: "chip all", onclick: releaseAll },
            "Let go of all",
          ),
        ),
      );
  return lines;
}
