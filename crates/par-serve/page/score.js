// Scores in words and as places of a bar: probabilities, or predicted numbers in the unit of the label.

import { grouped, margin, percent } from "./words.js";

const probability = {
  words: percent,
  share: (score) => score,
  reaches: (score, threshold) => score >= threshold,
  compared: margin,
  needed: (threshold) => `${percent(threshold)} needed`,
};

/** The scale of a model's scores, by its schema. */
export function scale(schema) {
  return schema.number ? predicted(schema.number) : probability;
}

function predicted({ side, unit, decimals, low, high }) {
  const reaches = (score, threshold) => (side === "at_most" ? score <= threshold : score >= threshold);
  const amount = (number, digits) => {
    const [whole, fraction] = number.toFixed(digits).split(".");
    const text = fraction ? `${grouped(whole)}.${fraction}` : grouped(whole);
    return unit ? `${text} ${unit}` : text;
  };
  /** More digits where rounding would hide on which side of `beside` it lies. */
  const words = (score, beside = null) => {
    const hides = (digits) =>
      beside !== null && reaches(Number(score.toFixed(digits)), beside) !== reaches(score, beside);
    let digits = decimals;
    while (digits < decimals + 6 && hides(digits)) digits += 1;
    return amount(score, digits);
  };
  const exact = (threshold) => amount(threshold, Math.max(0, (String(threshold).split(".")[1] ?? "").length));
  const side_words = side === "at_most" ? "at most" : "at least";
  return {
    words,
    share: (score) => (high > low ? Math.min(1, Math.max(0, (score - low) / (high - low))) : 0.5),
    reaches,
    compared: (score, threshold) => (reaches(score, threshold) ? "enough" : "not enough"),
    needed: (threshold) => `${side_words} ${exact(threshold)} needed`,
  };
}
