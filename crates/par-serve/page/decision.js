// The decision: accepted or denied, how surely, and where that lies between 0 and 100 %.

import { element, sign } from "./element.js";
import { margin, percent } from "./words.js";

/** A bar from 0 to 100 %, with a gate at the threshold and, if given, a mark where the person came from. */
export function bar(probability, threshold, from = null) {
  const accepted = probability >= threshold;
  const part = (name, property, share) => {
    const made = element("span", { class: name });
    made.style[property] = `${100 * share}%`;
    return made;
  };
  return element(
    "div",
    { class: `bar ${accepted ? "enough" : "short"}`, "aria-hidden": "true" },
    part("fill", "width", probability),
    part("gate", "left", threshold),
    from !== null && part("from", "left", from),
  );
}

/** Whether the person is accepted as they are. */
export const isAccepted = (answer) => answer.status === "accepted" || answer.status === "unverified_accepted";

/** The decision in words. */
export function decision(schema, answer) {
  const { probability, threshold } = answer;
  const accepted = isAccepted(answer);
  const how = margin(probability, threshold);
  const chance = percent(probability, threshold);
  const gate = element("span", { class: "gate-name" }, `${percent(threshold)} needed`);
  gate.style.left = `${100 * threshold}%`;
  if (threshold > 0.75) gate.classList.add("left");
  return [
    element(
      "h2",
      { id: "decision-title", class: accepted ? "verdict enough" : "verdict" },
      element("span", { class: "seal" }, sign(accepted ? "accepted" : "denied")),
      accepted ? "Accepted" : "Denied",
    ),
    element(
      "p",
      { class: "sure" },
      `The model gives this person `,
      element("b", {}, chance),
      ` for “${schema.label.accepted}” and accepts from ${percent(threshold)} on: `,
      accepted ? `${how}. Nothing has to change.` : `${how}.`,
    ),
    element("div", { class: "scale" }, bar(probability, threshold), gate),
    ...(answer.warnings ?? []).map((warning) => element("p", { class: "quiet small" }, `Warning: ${warning}.`)),
    answer.status.startsWith("unverified") &&
      element(
        "p",
        { class: "quiet small" },
        "This comes from a surrogate of the classifier; the classifier itself was not run.",
      ),
  ].filter(Boolean);
}
