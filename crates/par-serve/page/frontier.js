// What more changes would buy: the best way for each number of changes, drawn by the service and as a list.

import { byId, element } from "./element.js";
import { changeItem } from "./ways.js";
import { scale } from "./score.js";
import { commonness, cost, count } from "./words.js";

/** What is best, by the problem that the first way solves. */
const BEST = {
  least_effort: {
    about: "This is the way of least effort for each number of changes, among those that are plausible and sure.",
    better: "anything takes less effort",
    proved: "no other plausible and sure way with as many changes takes less effort",
  },
  likeliest: {
    about: "This is the most common way for each number of changes, given its effort.",
    better: "anything is more common",
    proved: "no other way with as many changes leads to anybody more common for its effort",
  },
};

/** Whether the search for a proof goes on, or was given up; `null` where it is done. */
const SEARCH_WORDS = {
  runs: ({ better }) => `Whether ${better} is still being looked for.`,
  ended: ({ better }) => `Whether ${better} could not be decided in time.`,
};

/** Shows the frontier of an answer, or hides the previous one. */
export function showFrontier(schema, answer, replies, search = null) {
  const section = byId("frontier");
  const points = answer?.frontier ?? [];
  section.hidden = points.length === 0;
  if (section.hidden) return;
  byId("plot").replaceChildren(...drawing(answer.plot));
  const offered = points.findIndex((point) => point.changes === answer.ways[0]?.changes.length);
  const place = Math.max(0, offered);
  const all = points.every((point) => point.gap === 0);
  const best = BEST[answer.ways[0]?.solves] ?? BEST.likeliest;
  byId("frontier-about").textContent = best.about;
  byId("proof").textContent = SEARCH_WORDS[search]?.(best) ?? (all ? `It is proved: ${best.proved}.` : "");
  const show = (chosen) => {
    const point = points[chosen];
    const offered = (name) => schema.features.some((one) => one.name === name && one.who === "lender");
    const changes = point.sentences
      .map((sentence) => change(schema, sentence))
      .map((one) => ({ ...one, counter_offer: offered(one.feature) }));
    byId("point-detail").replaceChildren(
      element("h3", {}, `With ${count(point.changes, "change")}`),
      element(
        "ul",
        { class: "changes" },
        changes.map((one) => changeItem(one, replies)),
      ),
    );
    for (const [number, mark] of byId("plot").querySelectorAll(".mark.exact").entries()) {
      mark.classList.toggle("chosen", number === chosen);
    }
  };
  const option = (point, number) =>
    element(
      "label",
      { class: "point" },
      element("input", {
        type: "radio",
        name: "point",
        value: number,
        checked: number === place,
        onchange: () => show(number),
      }),
      element(
        "span",
        {},
        element("b", {}, cost(point)),
        element(
          "span",
          { class: "quiet" },
          `${scale(schema).words(point.probability, answer.threshold)} · ${commonness(point.percentile).toLowerCase()}`,
        ),
        !all && element("span", { class: "quiet" }, proof(point.gap, best)),
      ),
    );
  byId("points").replaceChildren(
    element(
      "fieldset",
      { class: "points" },
      element("legend", { class: "unseen" }, "Number of changes"),
      points.map(option),
    ),
  );
  show(place);
}

function proof(gap, { better, proved }) {
  if (gap === null || gap === undefined) return "";
  return gap <= 0 ? `proved: ${proved}` : `not proved: perhaps ${better}`;
}

/** The picture, as elements. It comes from our own service and has no script; the policy would refuse a style in it. */
function drawing(plot) {
  if (!plot) return [];
  const svg = new DOMParser().parseFromString(plot, "text/html").querySelector("svg");
  svg?.querySelectorAll("style, script").forEach((one) => one.remove());
  return svg ? [document.importNode(svg, true)] : [];
}

/** `Duration: 48 months → 21 to 24 months`, taken apart at the name of the feature, which may itself hold a colon. */
export function change(schema, sentence) {
  const names = schema.features
    .map((feature) => feature.name)
    .filter((name) => sentence.startsWith(`${name}: `));
  const feature = names.sort((one, other) => other.length - one.length)[0] ?? "";
  const [from, ...to] = sentence.slice(feature === "" ? 0 : feature.length + 2).split(" → ");
  return { feature, from_words: from, to_words: to.join(" → ") };
}
