// Groups side by side, with small bars.

import { element } from "./element.js";
import { groups, measures, SMALL } from "./groups.js";
import { count, grouped, percent, plain } from "./words.js";

/** The columns that count people. */
const COUNTED = ["Group", "People", "Denied", "Of them with a way"];

/** The groups of a feature as a table, with everybody below. */
export function groupTable(answers, feature, cell) {
  const found = groups(answers, feature, cell);
  const most = (name) => Math.max(1, ...found.map((group) => group[name] ?? 0));
  const everybody = { name: "Everybody", ...measures(answers.filter((answer) => answer.kind !== "error")) };
  const small = found.some((group) => group.people < SMALL);
  const line = (group) =>
    element(
      "tr",
      { class: group.people < SMALL ? "few" : null },
      element("th", { scope: "row" }, group.name, group.people < SMALL && element("small", {}, "few people")),
      element("td", {}, grouped(group.people)),
      share(group.denied, group.people, "people"),
      share(group.found, group.denied, "denied"),
      measure(
        group.changes,
        group.changes === null ? "–" : plain(group.changes),
        group.changes / most("changes"),
        group.found,
      ),
      measure(
        group.effort,
        group.effort === null ? "–" : plain(group.effort),
        group.effort / most("effort"),
        group.found,
      ),
      measure(
        group.percentile,
        group.percentile === null ? "–" : percent(group.percentile),
        group.percentile,
        group.found,
      ),
    );
  return element(
    "div",
    {},
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `Groups by ${feature.name}` },
      element(
        "table",
        { class: "groups" },
        element(
          "thead",
          {},
          element(
            "tr",
            {},
            [...COUNTED, ...["Changes", "Effort", "Commonness"].map((name) => `${name}, mean`)].map((name) =>
              element("th", { scope: "col" }, name),
            ),
          ),
        ),
        element("tbody", {}, found.map(line)),
        element("tfoot", {}, line(everybody)),
      ),
    ),
    element(
      "p",
      { class: "quiet small" },
      "Changes, effort and commonness are of each denied person’s first way. Commonness is the share of accepted people who are no more common.",
      small && ` Groups of fewer than ${SMALL} people are greyed: their figures say little.`,
    ),
  );
}

function share(part, whole, things) {
  if (whole === 0) return element("td", {}, "–");
  return measure(
    part,
    percent(part / whole),
    part / whole,
    null,
    `${grouped(part)} of ${grouped(whole)} ${things}`,
  );
}

function measure(value, words, length, over, title = null) {
  const bar = element("span", { class: "share", "aria-hidden": "true" });
  bar.style.width = value === null ? "0" : `${100 * Math.min(1, length)}%`;
  const note = title ?? (value === null ? null : `over ${count(over, "way")}`);
  return element(
    "td",
    { title: note },
    element("span", { class: "share-words" }, words),
    element("span", { class: "share-track" }, bar),
  );
}
