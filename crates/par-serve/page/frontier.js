// What more changes would buy: the most common way for each number of changes, drawn by the service and as a list to choose from.

import { byId, element } from "./element.js";
import { changeItem } from "./ways.js";
import { commonness, count, percent } from "./words.js";

/** Whether the search for a proof goes on, or was given up; `null` where it is done. */
const SEARCH_WORDS = {
  runs: "Whether nothing is more common is still being looked for.",
  ended: "Whether nothing is more common could not be proved in time.",
};

/** Shows the frontier of an answer, or hides the previous one. */
export function showFrontier(schema, answer, lock, search = null) {
  const section = byId("frontier");
  const points = answer?.frontier ?? [];
  section.hidden = points.length === 0;
  if (section.hidden) return;
  byId("plot").replaceChildren(...drawing(answer.plot));
  const offered = points.findIndex((point) => point.changes === answer.ways[0]?.changes.length);
  const place = Math.max(0, offered);
  const all = points.every((point) => point.gap === 0);
  byId("proof").textContent =
    SEARCH_WORDS[search] ??
    (all ? "It is proved: no other way with as many changes leads to anybody more common." : "");
  const show = (chosen) => {
    const point = points[chosen];
    const changes = point.sentences.map((sentence) => change(schema, sentence));
    byId("point-detail").replaceChildren(
      element("h3", {}, `With ${count(point.changes, "change")}`),
      element(
        "ul",
        { class: "changes" },
        changes.map((one) => changeItem(one, lock)),
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
        element("b", {}, count(point.changes, "change")),
        element(
          "span",
          { class: "quiet" },
          `${percent(point.probability, answer.threshold)} · ${commonness(point.percentile).toLowerCase()}`,
        ),
        !all && element("span", { class: "quiet" }, proof(point.gap)),
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

function proof(gap) {
  if (gap === null || gap === undefined) return "";
  return gap <= 0
    ? "proved: nothing more common with as many changes"
    : "not proved: something more common may exist";
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
