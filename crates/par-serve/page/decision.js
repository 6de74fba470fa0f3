// The decision: accepted or denied, how surely, and where that lies between 0 and 100 %.

import { element, sign } from "./element.js";
import { margin, percent, sentence } from "./words.js";

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

/** How the score compares with the threshold. Policies can deny a score that is enough. */
function comparison({ probability, threshold, status }) {
  const accepted = isAccepted({ status });
  if (!accepted && probability >= threshold) return "enough, but not all that is required.";
  return `${margin(probability, threshold)}.${accepted ? " Nothing has to change." : ""}`;
}

/** The decision in words. `fill` is called with the name of an unknown feature that would decide. */
export function decision(schema, answer, fill) {
  const { probability, threshold } = answer;
  const accepted = isAccepted(answer);
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
      comparison(answer),
    ),
    element("div", { class: "scale" }, bar(probability, threshold), gate),
    ...(answer.broken_policies ?? []).map((policy) =>
      element("p", { class: "required" }, element("b", {}, "Required, and not met: "), sentence(policy)),
    ),
    ...(answer.if_known ?? []).map((one) => advice(one, fill)),
    ...(answer.warnings ?? []).map((warning) => element("p", { class: "quiet small" }, `Warning: ${warning}.`)),
    answer.status.startsWith("unverified") &&
      element(
        "p",
        { class: "quiet small" },
        "This comes from a surrogate of the classifier; the classifier itself was not run.",
      ),
  ].filter(Boolean);
}

/** An unknown value that would decide: to say it may be all that is needed. */
function advice({ feature, values }, fill) {
  return element(
    "p",
    { class: "advice" },
    element("b", {}, `${feature} is unknown. `),
    `If it is ${values}, nothing has to change. `,
    element(
      "button",
      { type: "button", class: "bare", onclick: () => fill(feature) },
      "Fill it in",
      element("span", { class: "unseen" }, `: ${feature}`),
    ),
  );
}
