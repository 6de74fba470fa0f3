// One person: their values and wishes. Knows nothing of the page.

/** The value of a number field whose text is not a number. */
export const NO_NUMBER = "no number";

/** What every way has to keep, unless the user says otherwise. */
export const usualWishes = () => ({
  budget: null,
  within: null,
  maxEffort: null,
  noHarm: true,
  lasting: false,
  slack: false,
});

/** The wishes as options of a request. */
export const wishOptions = ({ budget, within, maxEffort, noHarm, lasting, slack }) => ({
  budget,
  within,
  max_effort: maxEffort,
  no_harm: noHarm,
  robust: lasting,
  slack,
});

export class Person {
  constructor(schema) {
    this.schema = schema;
    this.clear();
  }

  /** An empty person: every cell is blank, without locks, limits or efforts of their own. */
  clear() {
    this.cells = new Map(this.schema.features.map((feature) => [feature.name, ""]));
    this.locks = new Set();
    this.limits = new Map();
    /** How hard changes are for this person, by word. */
    this.efforts = new Map();
    this.wishes = usualWishes();
    this.edited = new Set();
  }

  /** Takes over a row, as JSON or as text. */
  fill(row) {
    this.clear();
    for (const name of this.cells.keys()) this.cells.set(name, String(cellOf(row, name)));
    // A table has its own words for a number that is missing.
    for (const feature of this.wrong()) if (feature.missing) this.cells.set(feature.name, "");
  }

  /** Takes over values and wishes of a person from another version of the model. */
  continueFrom(earlier) {
    this.fill(Object.fromEntries(earlier.cells));
    for (const feature of this.schema.features.filter((one) => one.changeable)) {
      const { name, values } = feature;
      if (earlier.locks.has(name)) this.locks.add(name);
      if (earlier.efforts.has(name)) this.efforts.set(name, earlier.efforts.get(name));
      const limit = earlier.limits.get(name);
      const fits = limit?.among
        ? limit.among.every((value) => values?.some((one) => one.value === value))
        : limit && !values;
      if (fits) this.limits.set(name, limit);
    }
    this.wishes = { ...earlier.wishes, lasting: earlier.wishes.lasting && this.schema.versions > 0 };
  }

  /** Lets a feature change again, to any value. */
  release(name) {
    this.locks.delete(name);
    this.limits.delete(name);
  }

  /** The required features without a value. */
  blanks() {
    return this.schema.features.filter(
      (feature) => !feature.missing && this.cells.get(feature.name).trim() === "",
    );
  }

  /** The features whose text is not a number. */
  wrong() {
    return this.schema.features.filter(
      (feature) =>
        !feature.values &&
        this.cells.get(feature.name) !== "" &&
        !Number.isFinite(Number(this.cells.get(feature.name))),
    );
  }

  /** The row as the service reads it: numbers for numbers, texts for categories, nothing for what is unknown. */
  row() {
    const known = this.schema.features
      .map((feature) => [feature, this.cells.get(feature.name).trim()])
      .filter(([, text]) => text !== "");
    // Not by assignment: a feature may be called `__proto__`.
    return Object.fromEntries(
      known.map(([feature, text]) => [feature.name, feature.values ? text : Number(text)]),
    );
  }

  /** The request, without the method of the search. */
  request() {
    const limit = Object.fromEntries([...this.limits].filter(([name]) => !this.locks.has(name)));
    const effort = Object.fromEntries(this.efforts);
    return { row: this.row(), lock: [...this.locks], limit, effort, ...wishOptions(this.wishes) };
  }
}

/** The cell of a row from JSON; blank if it is absent, also under names that every object has. */
export const cellOf = (row, name) => (Object.hasOwn(row, name) ? (row[name] ?? "") : "");

/** Whether a number lies outside the range in training. */
export function isUnusual(feature, text) {
  const number = Number(text);
  if (feature.values || text.trim() === "" || !Number.isFinite(number)) return false;
  return number < feature.low || number > feature.high;
}

/** The feature that a JSON pointer of a problem is about: `/row/A~1B`, `/rows/0/A~1B`, `/limit/A~1B`. */
export function problemFeature(path) {
  const steps = path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (steps[0] === "rows") return steps[2] ?? null;
  return ["row", "limit", "effort"].includes(steps[0]) ? (steps[1] ?? null) : null;
}
