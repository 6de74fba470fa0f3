// Small models of a small table, made in a moment.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { binary } from "./service.mjs";

const QUICK = fileURLToPath(new URL("../testdata/quick.toml", import.meta.url));

/** The features: a number, a category, and a number that may be unknown. */
export const NAMES = ["score", "level", "count"];
/** Names of properties that every object of JavaScript has. */
export const INHERITED = ["__proto__", "constructor", "toString"];

/** A person whom a model of the table denies. */
export const DENIED = ["1", "low", "2"];

/** The table: the higher the first column, the likelier is acceptance. */
export function people(count, names = NAMES) {
  const row = (place) => [place % 10, ["low", "high"][place % 2], (place * 7) % 5];
  const rows = Array.from({ length: count }, (_, place) => row(place));
  const lines = rows.map((cells, place) => [`p${place}`, ...cells, cells[0] > 5 ? "yes" : "no"].join(","));
  return [`id,${names.join(",")},decision`, ...lines].join("\n");
}

/** Fits a model in a folder and returns its file; `options` are further ones of `par fit`. */
export function fit(folder, name, threshold, names = NAMES, options = []) {
  const file = (ending) => join(folder, `${name}.${ending}`);
  const feature = (name, more) => `[[feature]]\nname = "${name}"\n${more}\n`;
  writeFileSync(file("csv"), people(400, names));
  writeFileSync(
    file("toml"),
    [
      '[columns]\nid = "id"\n[label]\ncolumn = "decision"\nclasses = ["no", "yes"]\nfavourable = "yes"\n',
      feature(names[0], 'kind = "discrete"'),
      feature(names[1], 'kind = "nominal"\nvalues = ["low", "high"]'),
      feature(names[2], 'kind = "discrete"\nmissing = true'),
    ].join("\n"),
  );
  execFileSync(
    binary(),
    [
      "fit",
      file("csv"),
      "--schema",
      file("toml"),
      "--config",
      QUICK,
      "--threshold",
      threshold,
      "--out",
      file("par"),
      ...options,
    ],
    { stdio: "pipe" },
  );
  return file("par");
}
