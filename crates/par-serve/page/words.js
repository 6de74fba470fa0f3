// Numbers and values in words.

/** `14:03:07`, a time of today. */
export const clock = (date) => date.toLocaleTimeString("en-GB");

/** `27 %`; one more digit where rounding would hide on which side of `beside` it lies. */
export function percent(share, beside = null) {
  const value = 100 * share;
  if (beside !== null && share !== beside && Math.round(value) === Math.round(100 * beside)) {
    return `${value.toFixed(Math.abs(share - beside) < 0.0005 ? 3 : 1)} %`;
  }
  if (value > 0 && value < 0.5) return "under 1 %";
  if (value < 100 && value >= 99.5) return "over 99 %";
  return `${Math.round(value)} %`;
}

/** `1 change`, `2 changes`. */
export function count(number, thing) {
  return `${grouped(number)} ${thing}${number === 1 ? "" : "s"}`;
}

/** `1,234`. */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number as a person writes it: at most two decimals, none without need. */
export function plain(number) {
  return String(Number(number.toFixed(2)));
}

/** A time: `6 months`, `1 year`, `2 years and 1 month`; `at once` if it is none. */
export function time(months) {
  if (months === 0) return "at once";
  const [years, rest] = [Math.floor(months / 12), months % 12];
  if (years === 0) return count(rest, "month");
  return rest === 0 ? count(years, "year") : `${count(years, "year")} and ${count(rest, "month")}`;
}

/** What a way costs: `2 changes · effort 4.5 · 6 months`. */
export function cost({ changes, effort, months }) {
  return [
    count(changes.length ?? changes, "change"),
    Number.isFinite(effort) && `effort ${effort.toFixed(1)}`,
    months > 0 && time(months),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** A sentence: a capital at its start, a full stop at its end. */
export function sentence(words) {
  return words ? `${words.charAt(0).toUpperCase()}${words.slice(1)}.` : "";
}

/** How common a way is among the accepted, given what the person cannot change. */
export function commonness(percentile) {
  const whole = Math.floor(100 * percentile);
  const among =
    percentile >= 1
      ? "More common than all accepted people"
      : whole < 1
        ? "Rarer than nearly all accepted people"
        : `More common than ${whole} % of accepted people`;
  return `${among}, given what cannot change`;
}

/** How far a probability is from the threshold, on its side of it. */
export function margin(probability, threshold) {
  const distance = probability - threshold;
  if (distance >= 0.25) return "more than enough";
  if (distance >= 0.1) return "clearly enough";
  if (distance >= 0) return "just enough";
  if (distance > -0.1) return "a little too low";
  return distance > -0.25 ? "clearly too low" : "far too low";
}

/** A cell as a person reads it: the label of a category, a number with its unit. */
export function cellWords(feature, cell) {
  const text = (cell ?? "").trim();
  if (text === "") return "unknown";
  const value = feature.values?.find((one) => one.value === text);
  if (value) return value.label ?? value.value;
  return feature.unit ? `${text} ${feature.unit}` : text;
}

/** The values that a limit allows; if they are most of the categories, those it does not. */
export function limitWords(feature, limit) {
  if (limit.among) {
    const named = (values) => values.map((value) => cellWords(feature, value)).join(" or ");
    const others = feature.values.map((one) => one.value).filter((value) => !limit.among.includes(value));
    return others.length < limit.among.length ? `anything but ${named(others)}` : named(limit.among);
  }
  const [low, high] = limit.between;
  const unit = feature.unit ? ` ${feature.unit}` : "";
  if (low === null) return `at most ${high}${unit}`;
  return high === null ? `at least ${low}${unit}` : `${low} to ${high}${unit}`;
}

/** Names in a row: `A`, `A and B`, `A, B and C`. */
export function listed(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** `german_credit` as a title; names with spaces keep them. */
export function titled(name) {
  const words = /\s/.test(name) ? name : name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
