// Cuts a CSV file into parts between records. The service reads the cells.

const QUOTE = 34;
const COMMA = 44;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Where each record begins and ends, and its cells. Quotes count at the start of a cell; empty lines are not records. */
function* records(text) {
  let start = 0;
  let count = 1;
  let cellStart = true;
  let quoted = false;
  let closed = -1;
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    if (quoted) {
      if (code !== QUOTE) continue;
      quoted = false;
      closed = place;
    } else if (code === QUOTE && (cellStart || closed === place - 1)) {
      // A doubled quote closes and opens again, with the same result.
      quoted = true;
      cellStart = false;
    } else if (code === LINE_FEED || code === CARRIAGE_RETURN) {
      if (place > start) yield [start, place, count];
      start = place + 1;
      count = 1;
      cellStart = true;
    } else {
      cellStart = code === COMMA;
      if (cellStart) count += 1;
    }
  }
  if (text.length > start) yield [start, text.length, count];
}

/** The cells of one record. */
export function cells(record) {
  const found = [];
  let cell = "";
  let quoted = false;
  for (let place = 0; place < record.length; place += 1) {
    const letter = record[place];
    if (quoted && letter === '"' && record[place + 1] === '"') {
      cell += letter;
      place += 1;
    } else if (quoted) {
      if (letter === '"') quoted = false;
      else cell += letter;
    } else if (letter === '"' && cell === "") {
      quoted = true;
    } else if (letter === ",") {
      found.push(cell);
      cell = "";
    } else {
      cell += letter;
    }
  }
  return [...found, cell];
}

/**
 * A table in parts of at most `size` records, each with the header, and the number of its first record from 1.
 * A record with more or fewer cells than the header would end a part for the service, so it is left out and reported.
 */
export function cut(text, size) {
  const whole = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const parts = [];
  const uneven = [];
  let header = null;
  let width = 0;
  let lines = [];
  let total = 0;
  const close = () => {
    if (lines.length === 0) return;
    parts.push({
      first: total - lines.length + 1,
      records: lines.length,
      text: `${header}\n${lines.join("\n")}\n`,
    });
    lines = [];
  };
  for (const [start, end, count] of records(whole)) {
    const record = whole.slice(start, end);
    if (header === null) {
      [header, width] = [record, count];
      continue;
    }
    if (count !== width) {
      close();
      total += 1;
      uneven.push({ number: total, words: `expected ${width} cells, found ${count}` });
      continue;
    }
    lines.push(record);
    total += 1;
    if (lines.length === size) close();
  }
  close();
  return {
    columns: header === null ? [] : cells(header).map((name) => name.trim()),
    parts,
    uneven,
    records: total,
  };
}
