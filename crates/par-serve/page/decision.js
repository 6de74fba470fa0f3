// The decision: accepted or denied, how surely, and where that lies between 0 and 100 %, or among all predictions.

import { element, sign } from "./element.js";
import { scale } from "./score.js";
import { sentence } from "./words.js";

/** A bar of all scores, with a gate at the threshold and, if given, a mark where the person came from. */
export function bar(schema, score, threshold, from = null) {
  const { reaches, share } = scale(schema);
  const accepted = reaches(score, threshold);
  const part = (name, property, share) => {
    const made = element("span", { class: name });
    made.style[property] = `${100 * share}%`;
    return made;
  };
  return element(
    "div",
    { class: `bar ${accepted ? "enough" : "short"}`, "aria-hidden": "true" },
    part("fill", "width", share(score)),
    part("gate", "left", share(threshold)),
    from !== null && part("from", "left", share(from)),
  );
}

/** Whether the person is accepted as they are. */
export const isAccepted = (answer) => answer.status === "accepted" || answer.status === "unverified_accepted";

/** How the score compares with the threshold. Policies can deny a score that is enough. */
function comparison(schema, { probability, threshold, status }) {
  const { compared, reaches } = scale(schema);
  const accepted = isAccepted({ status });
  if (!accepted && reaches(probability, threshold)) return "enough, but not all that is required.";
  return `${compared(probability, threshold)}.${accepted ? " Nothing has to change." : ""}`;
}

/** What the model says of a person, up to the comparison. */
function said(schema, { probability, threshold }) {
  const { words, needed } = scale(schema);
  const score = element("b", {}, words(probability, threshold));
  if (schema.number) return [`The model predicts `, score, `, ${needed(threshold).replace(/ needed$/, " is needed")}: `];
  return [
    `The model gives this person `,
    score,
    ` for “${schema.label.accepted}” and accepts from ${words(threshold)} on: `,
  ];
}

/** The decision in words. `fill` is called with the name of an unknown feature that would decide. */
export function decision(schema, answer, fill) {
  const { probability, threshold } = answer;
  const accepted = isAccepted(answer);
  const { needed, share } = scale(schema);
  const gate = element("span", { class: "gate-name" }, needed(threshold));
  gate.style.left = `${100 * share(threshold)}%`;
  if (share(threshold) > 0.75) gate.classList.add("left");
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
      ...said(schema, answer),
      comparison(schema, answer),
    ),
    element("div", { class: "scale" }, bar(schema, probability, threshold), gate),
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
