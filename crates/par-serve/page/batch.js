// Sends a table in parts, a few at a time, and takes the answers in the order of its rows.

import * as api from "./api.js";
import { wishOptions } from "./person.js";

/** Records of a part. */
export const PART = 500;
/** Parts in flight at the same time. */
const ABREAST = 2;
/** How often a part is sent again when the service is overloaded. */
const TRIES = 6;

/** The options of all rows, as parameters of the address. */
function query({ method, count, locks, wishes }) {
  const pairs = Object.entries({ method, count, ...wishOptions(wishes) });
  return [...pairs.filter(([, value]) => value !== null), ...locks.map((name) => ["lock", name])];
}

/** Sends all parts; `take` gets each part's text with its number, in any order. */
async function sendParts(table, options, accept, signal, take) {
  let next = 0;
  const send = async () => {
    while (next < table.parts.length) {
      const number = next;
      next += 1;
      const part = table.parts[number];
      take(
        number,
        await patiently(
          () => api.batch(part.text, [...query(options), ["first", part.first]], accept, signal),
          signal,
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: ABREAST }, send));
}

async function patiently(send, signal) {
  for (let tried = 1; ; tried += 1) {
    try {
      return await send();
    } catch (problem) {
      if (problem.status !== 503 || tried === TRIES) throw problem;
      const wait = 1000 * (problem.retryAfter ?? 1);
      await new Promise((resolve, reject) => {
        setTimeout(resolve, wait);
        signal.addEventListener("abort", () => reject(new DOMException("cancelled", "AbortError")), {
          once: true,
        });
      });
    }
  }
}

/** The answers of a table. `take` gets a part's number and its answers. */
export function answers(table, options, signal, take) {
  return sendParts(table, options, "application/x-ndjson", signal, (number, text) => {
    const lines = text.split("\n").filter((line) => line !== "");
    const answered = lines.map((line) => JSON.parse(line));
    // A part that breaks off ends with the reason, which holds for all rows that are left.
    const last = answered.at(-1);
    while (answered.length < table.parts[number].records)
      answered.push({ status: "error", reason: last?.reason ?? "not answered" });
    take(number, answered);
  });
}

/** The tidy table of all answers, as pieces of text with one header. `took` is called after every part. */
export async function tidyTable(table, options, signal, took) {
  const pieces = Array(table.parts.length);
  await sendParts(table, options, "text/csv", signal, (number, text) => {
    pieces[number] = number === 0 ? text : withoutHeader(text);
    took();
  });
  return pieces;
}

/** The header of a tidy table is one line, unless a feature's name holds a line feed, which is then quoted. */
function withoutHeader(text) {
  let quoted = false;
  for (let place = 0; place < text.length; place += 1) {
    if (text[place] === '"') quoted = !quoted;
    else if (text[place] === "\n" && !quoted) return text.slice(place + 1);
  }
  return "";
}
