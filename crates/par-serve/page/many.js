// The second view: everybody of a table, in short, by groups and one by one.

import { answers, PART, tidyTable } from "./batch.js";
import { cut } from "./csv.js";
import { byId, element } from "./element.js";
import { Everybody } from "./everybody.js";
import { groupTable } from "./comparison.js";
import { isDenied, median } from "./groups.js";
import { clearNotice, showNotice } from "./notice.js";
import { count, grouped, listed, percent } from "./words.js";

/** More rows that could not be read are counted, not listed. */
const UNREAD_SHOWN = 100;
/** Results are shown anew at most so often while they come in. */
const SHOW_MS = 400;

const KINDS = {
  accepted: "accepted",
  unverified_accepted: "accepted",
  found: "found",
  unverified: "found",
  not_found: "none",
};

export class ManyPeople {
  /** `open` shows somebody in the first view. */
  constructor(schema, open) {
    this.schema = schema;
    this.table = null;
    this.running = null;
    this.answers = [];
    this.everybody = new Everybody(schema, (answer) =>
      open(this.row(answer), { locks: this.asked.locks, budget: this.asked.budget }),
    );
    this.fillOptions();
    byId("file").value = "";
    byId("file").onchange = () => this.choose(byId("file").files[0]);
    byId("options").onsubmit = (event) => {
      event.preventDefault();
      this.start();
    };
    byId("cancel").onclick = () => this.running?.abort();
    byId("download").onclick = () => this.download();
    byId("group-by").onchange = () => this.showGroups();
    byId("results").hidden = true;
    byId("file-about").textContent = "";
    byId("go").disabled = true;
    this.listenForDrops();
  }

  fillOptions() {
    const changeable = this.schema.features.filter((feature) => feature.changeable);
    const numbers = Array.from({ length: Math.min(8, changeable.length) }, (_, place) => place + 1);
    byId("table-budget").replaceChildren(
      element("option", { value: "" }, "automatic"),
      ...numbers.map((number) => element("option", { value: number }, number)),
    );
    const box = (feature) =>
      element(
        "label",
        {},
        element("input", { type: "checkbox", value: feature.name }),
        element("span", {}, feature.name),
      );
    byId("locks").replaceChildren(...changeable.map(box));
    byId("locks").onchange = () => {
      const locks = this.locks().length;
      byId("locks-count").textContent = locks === 0 ? "" : ` (${locks})`;
    };
    byId("locks-count").textContent = "";
    byId("group-by").replaceChildren(
      ...this.schema.features.map((feature, place) => element("option", { value: place }, feature.name)),
    );
  }

  locks() {
    return [...byId("locks").querySelectorAll("input:checked")].map((box) => box.value);
  }

  listenForDrops() {
    const drop = byId("drop");
    const over = (event, here) => {
      event.preventDefault();
      drop.classList.toggle("over", here);
    };
    drop.ondragover = (event) => over(event, true);
    drop.ondragleave = (event) => over(event, false);
    drop.ondrop = (event) => {
      over(event, false);
      this.choose(event.dataTransfer.files[0]);
    };
  }

  /** Reads a file and says whether it can be answered. */
  async choose(file) {
    if (!file) return;
    this.stop();
    this.table = null;
    byId("go").disabled = true;
    const about = (words) => {
      byId("file-about").textContent = words;
    };
    let table;
    try {
      table = cut(await file.text(), PART);
    } catch {
      about(`${file.name} cannot be read.`);
      return;
    }
    const absent = this.schema.features.filter(
      (feature) => !feature.missing && !table.columns.includes(feature.name),
    );
    if (table.records === 0) about(`${file.name} has no rows.`);
    else if (absent.length > 0)
      about(
        `${file.name} has no column ${listed(absent.map((feature) => `“${feature.name}”`))}. Columns are separated by commas and named in the first line.`,
      );
    else {
      about(`${file.name}: ${table.records === 1 ? "1 person" : `${grouped(table.records)} people`}.`);
      this.table = table;
      this.name = file.name;
      byId("go").disabled = false;
    }
  }

  /** Nothing is under way any more. */
  stop() {
    this.running?.abort();
    this.running = null;
    this.progress(null);
  }

  async start() {
    if (!this.table) return;
    this.stop();
    const running = new AbortController();
    this.running = running;
    this.asked = {
      method: byId("method").value,
      count: Number(byId("count").value),
      budget: byId("table-budget").value === "" ? null : Number(byId("table-budget").value),
      locks: this.locks(),
    };
    this.answered = this.table;
    const parts = Array.from(this.table.parts, () => []);
    let done = this.table.uneven.length;
    let shown = performance.now();
    const uneven = this.table.uneven.map(({ number, words }) =>
      this.kept({ status: "error", reason: words }, number),
    );
    const gather = () => {
      this.answers = [...parts.flat(), ...uneven].sort((one, other) => one.number - other.number);
      this.show();
    };
    this.progress(0, this.table.records);
    try {
      await answers(this.table, this.asked, running.signal, (number, part) => {
        if (this.running !== running) return;
        const { first } = this.answered.parts[number];
        parts[number] = part.map((answer, place) => this.kept(answer, first + place));
        done += part.length;
        this.progress(done, this.table.records);
        if (performance.now() - shown > SHOW_MS) {
          gather();
          shown = performance.now();
        }
      });
      clearNotice();
    } catch (problem) {
      if (this.running !== running) return;
      running.abort();
      if (problem.name !== "AbortError") showNotice(problem, () => this.start());
    }
    if (this.running !== running) return;
    gather();
    this.running = null;
    this.progress(null);
    const { records } = this.table;
    const answered = this.answers.filter((answer) => answer.kind !== "error").length;
    byId("file-about").textContent =
      `${this.name}: ${answered === records ? `all ${grouped(answered)} answered` : `${grouped(answered)} of ${grouped(records)} answered`}.`;
  }

  /** What is kept of an answer: a table may have a hundred thousand. Equal texts are kept once. */
  kept(answer, number) {
    this.texts ??= new Map();
    const once = (text) => {
      if (!this.texts.has(text)) this.texts.set(text, text);
      return this.texts.get(text);
    };
    const way = answer.ways?.[0];
    return {
      number,
      id: answer.id || `row ${number}`,
      kind: KINDS[answer.status] ?? "error",
      probability: answer.probability ?? null,
      percentile: way?.percentile ?? null,
      changes: way?.changes.length ?? null,
      words: once(
        way
          ? way.changes.map((change) => change.sentence).join("; ")
          : (answer.remedy ?? answer.reason_words ?? answer.reason ?? ""),
      ),
      cells: this.schema.features.map((feature) => once(answer.row?.[feature.name] ?? "")),
    };
  }

  row(answer) {
    return Object.fromEntries(
      this.schema.features.map((feature, place) => [feature.name, answer.cells[place]]),
    );
  }

  progress(done, total) {
    byId("progress").hidden = done === null;
    byId("cancel").hidden = done === null;
    byId("go").disabled = done !== null;
    byId("go").textContent = this.answers.length > 0 || done !== null ? "Answer again" : "Answer everybody";
    if (done === null) return;
    byId("bar").value = done / total;
    byId("progress-words").textContent = `${grouped(done)} of ${grouped(total)} people`;
  }

  show() {
    byId("results").hidden = this.answers.length === 0;
    const read = this.answers.filter((answer) => answer.kind !== "error");
    const denied = read.filter(isDenied);
    const found = denied.filter((answer) => answer.kind === "found");
    const middle = median(found.map((answer) => answer.changes));
    const tile = (number, words, share = null) =>
      element(
        "div",
        {},
        element("dt", {}, words),
        element("dd", {}, number, share !== null && element("small", {}, ` ${share}`)),
      );
    const of = (part, whole) => (whole === 0 ? null : percent(part / whole));
    byId("summary").replaceChildren(
      tile(grouped(read.length), read.length === 1 ? "person" : "people"),
      tile(grouped(denied.length), "denied", of(denied.length, read.length)),
      tile(grouped(found.length), "of them with a way", of(found.length, denied.length)),
      tile(grouped(denied.length - found.length), "of them without"),
      tile(middle === null ? "–" : String(middle), "changes, median"),
    );
    this.showUnread();
    this.showGroups();
    this.everybody.show(this.answers);
  }

  showUnread() {
    const unread = this.answers.filter((answer) => answer.kind === "error");
    const section = byId("unread");
    section.hidden = unread.length === 0;
    if (unread.length === 0) return;
    const more = unread.length - UNREAD_SHOWN;
    section.replaceChildren(
      element("h2", { id: "unread-title" }, `${count(unread.length, "row")} could not be read`),
      element(
        "ul",
        { class: "unread" },
        unread
          .slice(0, UNREAD_SHOWN)
          .map((answer) =>
            element("li", {}, element("b", {}, `Row ${grouped(answer.number)}`), ` ${answer.words}`),
          ),
      ),
      ...(more > 0
        ? [
            element(
              "p",
              { class: "quiet" },
              `And ${grouped(more)} more; choose “could not be read” below to see them.`,
            ),
          ]
        : []),
    );
  }

  showGroups() {
    const place = Number(byId("group-by").value);
    byId("groups").replaceChildren(
      groupTable(this.answers, this.schema.features[place], (answer) => answer.cells[place]),
    );
  }

  /** Asks again for the tidy table, so that the file is what `par recourse` would have written. */
  async download() {
    const button = byId("download");
    const words = button.textContent;
    let parts = 0;
    button.disabled = true;
    try {
      const pieces = await tidyTable(this.answered, this.asked, new AbortController().signal, () => {
        parts += 1;
        button.textContent = `Preparing, ${percent(parts / this.answered.parts.length)}`;
      });
      const address = URL.createObjectURL(new Blob(pieces, { type: "text/csv" }));
      element("a", { href: address, download: `${this.name.replace(/\.[^.]*$/, "")}-recourse.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      clearNotice();
    } catch (problem) {
      showNotice(problem, () => this.download());
    }
    button.textContent = words;
    button.disabled = false;
  }
}
