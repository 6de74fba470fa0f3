// The second view: all people of a table, in summary, by groups and one by one.

import { answers, PART, tidyTable } from "./batch.js";
import { cut } from "./csv.js";
import { byId, element } from "./element.js";
import { Everybody } from "./everybody.js";
import { groupTable } from "./comparison.js";
import { isDenied, median } from "./groups.js";
import { clearNotice, showNotice } from "./notice.js";
import { cellOf } from "./person.js";
import { WishControls } from "./wishes.js";
import { clock, count, grouped, listed, percent } from "./words.js";

/** The most rows that could not be read which are listed; more are counted. */
const UNREAD_SHOWN = 100;
/** The shortest time between updates while results come in. */
const SHOW_MS = 400;

const KINDS = {
  accepted: "accepted",
  unverified_accepted: "accepted",
  found: "found",
  unverified: "found",
  not_found: "none",
};

/** A change in a line of the table, with a mark where it is for the worse. */
const changeWords = (change) => (change.harm ? `${change.sentence} (for the worse)` : change.sentence);

export class ManyPeople {
  /** `open` shows a person in the first view. */
  constructor(schema, open) {
    this.schema = schema;
    this.table = null;
    this.running = null;
    this.answers = [];
    /** Counts files, so that one that is read late does not replace one chosen after it. */
    this.files = 0;
    this.everybody = new Everybody(schema, (answer) =>
      open(this.row(answer), { locks: this.sentOptions.locks, wishes: this.sentOptions.wishes }),
    );
    this.fillOptions();
    byId("file").value = "";
    byId("file").onchange = () => {
      const [file] = byId("file").files;
      // So that the same file can be chosen again after it was changed.
      byId("file").value = "";
      this.choose(file);
    };
    byId("options").onsubmit = (event) => {
      event.preventDefault();
      this.start();
    };
    byId("cancel").onclick = () => this.running?.abort();
    byId("download").onclick = () => this.download();
    byId("group-by").onchange = () => this.showGroups();
    this.forget();
    this.say("");
    this.listenForDrops();
  }

  fillOptions() {
    const changeable = this.schema.features.filter((feature) => feature.changeable);
    // They are read when the table is answered.
    this.wishControls = new WishControls(this.schema, "table-", () => {});
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

  /** The options of all rows, as set on the page. */
  options() {
    return {
      method: byId("method").value,
      count: Number(byId("count").value),
      locks: this.locks(),
      wishes: this.wishControls.read(),
    };
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

  /** The note about the file. */
  say(words) {
    byId("file-about").textContent = words;
  }

  /** Reads a file, clears what was shown of an earlier one, and says whether it can be answered. */
  async choose(file) {
    if (!file) return;
    this.forget();
    this.files += 1;
    const number = this.files;
    this.say(`${file.name} is being read.`);
    let table = null;
    try {
      table = cut(await file.text(), PART);
    } catch {
      // The message follows below.
    }
    if (number !== this.files) return;
    if (table === null) this.say(`${file.name} cannot be read.`);
    else this.offer(file.name, table);
  }

  /** Offers to answer a table, if it has all features of the model. */
  offer(name, table) {
    const absent = this.schema.features.filter(
      (feature) => !feature.missing && !table.columns.includes(feature.name),
    );
    if (table.records === 0) this.say(`${name} has no rows.`);
    else if (absent.length > 0)
      this.say(
        `${name} has no column ${listed(absent.map((feature) => `“${feature.name}”`))}. Columns are separated by commas and named in the first line.`,
      );
    else {
      this.say(`${name}: ${table.records === 1 ? "1 person" : `${grouped(table.records)} people`}.`);
      this.table = table;
      this.name = name;
      byId("go").disabled = false;
    }
  }

  /** Clears the table and its answers. */
  forget() {
    this.table = null;
    this.sentOptions = null;
    this.answers = [];
    this.stop();
    this.show();
    this.renew();
    byId("go").disabled = true;
  }

  /** Takes the table over to another version of the model, and answers it again if it was answered. */
  continueFrom({ table, name, sentOptions }, { wishes, locks }) {
    this.wishControls.show(wishes);
    for (const box of byId("locks").querySelectorAll("input")) box.checked = locks.includes(box.value);
    byId("locks").onchange();
    if (table === null) return;
    this.offer(name, table);
    if (sentOptions !== null) this.start();
  }

  /** Greys the results and says why they may not be what the service would answer now. */
  outdate(why) {
    if (this.answers.length === 0) return;
    byId("results-outdated").textContent =
      `These are the answers of ${clock(this.at)}, and may be out of date. ${why}`;
    byId("results-outdated").hidden = false;
    byId("results").classList.add("old");
  }

  /** The answers are current. */
  renew() {
    byId("results-outdated").hidden = true;
    byId("results").classList.remove("old");
  }

  /** Nothing is in flight any more. */
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
    this.outdate("Everybody is being answered again.");
    this.sentOptions = this.options();
    this.answered = this.table;
    const parts = Array.from(this.table.parts, () => []);
    let done = this.table.uneven.length;
    let shown = performance.now();
    const uneven = this.table.uneven.map(({ number, words }) =>
      this.kept({ status: "error", reason: words }, number),
    );
    const gather = () => {
      this.answers = [...parts.flat(), ...uneven].sort((one, other) => one.number - other.number);
      this.at = new Date();
      this.renew();
      this.show();
    };
    this.progress(0, this.table.records);
    try {
      await answers(this.table, this.sentOptions, running.signal, (number, part) => {
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
    this.say(
      `${this.name}: ${answered === records ? `all ${grouped(answered)} answered` : `${grouped(answered)} of ${grouped(records)} answered`}.`,
    );
  }

  /** The parts of an answer that are kept: a table may have a hundred thousand. Equal texts are kept once. */
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
      effort: way?.effort ?? null,
      months: way?.months ?? null,
      words: once(
        way
          ? way.changes.map(changeWords).join("; ")
          : (answer.remedy ?? answer.reason_words ?? answer.reason ?? ""),
      ),
      cells: this.schema.features.map((feature) => once(cellOf(answer.row ?? {}, feature.name))),
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
    const effort = median(found.map((answer) => answer.effort));
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
      tile(effort === null ? "–" : effort.toFixed(1), "effort, median"),
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

  /** Requests the tidy table, so that the file is what `par recourse` would have written. */
  async download() {
    const button = byId("download");
    const words = button.textContent;
    const { answered, sentOptions, name } = this;
    let parts = 0;
    button.disabled = true;
    try {
      const pieces = await tidyTable(answered, sentOptions, new AbortController().signal, () => {
        parts += 1;
        button.textContent = `Preparing, ${percent(parts / answered.parts.length)}`;
      });
      const address = URL.createObjectURL(new Blob(pieces, { type: "text/csv" }));
      element("a", { href: address, download: `${name.replace(/\.[^.]*$/, "")}-recourse.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      clearNotice();
    } catch (problem) {
      showNotice(problem, () => this.download());
    }
    button.textContent = words;
    button.disabled = false;
  }
}
