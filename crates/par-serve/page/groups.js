// Groups of people compared: by a category, or by the quarters of a number.

import { plain } from "./words.js";

/** Figures of fewer people say little. */
export const SMALL = 10;

/** Whether the person is denied, with a way or without. */
export const isDenied = (answer) => answer.kind === "found" || answer.kind === "none";

/** The groups of answers by a feature, each with its name and its people. Quarters are of the table's own numbers. */
export function groups(answers, feature, cell) {
  const read = answers.filter((answer) => answer.kind !== "error");
  const name = feature.values ? categories(feature) : quarters(feature, read.map(cell));
  const order = [...name.order, "unknown"];
  const found = new Map(order.map((one) => [one, []]));
  for (const answer of read) {
    const group = name.of(cell(answer));
    if (!found.has(group)) found.set(group, []);
    found.get(group).push(answer);
  }
  return [...found]
    .filter(([, people]) => people.length > 0)
    .map(([group, people]) => ({ name: group, ...measures(people) }));
}

/** The figures of a group. Means are over people with a way; absent if there are none. */
export function measures(people) {
  const denied = people.filter(isDenied);
  const found = denied.filter((answer) => answer.kind === "found");
  const mean = (value) =>
    found.length === 0 ? null : found.reduce((sum, answer) => sum + value(answer), 0) / found.length;
  return {
    people: people.length,
    denied: denied.length,
    found: found.length,
    changes: mean((answer) => answer.changes),
    effort: mean((answer) => answer.effort),
    percentile: mean((answer) => answer.percentile),
  };
}

function categories(feature) {
  const labels = new Map(feature.values.map((one) => [one.value, one.label ?? one.value]));
  return {
    order: [...labels.values()],
    of: (cell) => (cell === "" ? "unknown" : (labels.get(cell) ?? cell)),
  };
}

function quarters(feature, cells) {
  const numbers = cells
    .filter((cell) => cell !== "")
    .map(Number)
    .filter(Number.isFinite)
    .sort((one, other) => one - other);
  const at = (share) => numbers[Math.ceil(share * numbers.length) - 1];
  const ends = numbers.length === 0 ? [] : [...new Set([at(0.25), at(0.5), at(0.75), at(1)])];
  const unit = feature.unit ? ` ${feature.unit}` : "";
  const words = (end, place) => {
    if (ends.length === 1) return `${plain(end)}${unit}`;
    if (place === 0) return `up to ${plain(end)}${unit}`;
    return place === ends.length - 1
      ? `over ${plain(ends[place - 1])}${unit}`
      : `over ${plain(ends[place - 1])}, up to ${plain(end)}${unit}`;
  };
  const order = ends.map(words);
  const of = (cell) => {
    const number = Number(cell);
    const place = ends.findIndex((end) => number <= end);
    return cell === "" || place < 0 ? "unknown" : order[place];
  };
  return { order, of };
}

/** The median, absent if there are no numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  const half = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
