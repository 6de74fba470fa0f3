// The answers one by one: sorted, filtered, and a page at a time, so that a hundred thousand stay light.

import { byId, element, sign } from "./element.js";
import { scale } from "./score.js";
import { grouped, percent, time } from "./words.js";

const PAGE = 50;

const KIND_WORDS = { accepted: "Accepted", found: "Denied", none: "Denied, no way", error: "Not read" };
const SHOWN = {
  all: "everybody",
  found: "denied, with a way",
  none: "denied, without a way",
  accepted: "accepted",
  error: "could not be read",
};

const COLUMNS = [
  { name: "Person", value: (answer) => answer.number },
  { name: "Decision", value: (answer) => Object.keys(KIND_WORDS).indexOf(answer.kind) },
  { name: "Now", value: (answer) => answer.probability },
  { name: "Changes", value: (answer) => answer.changes },
  { name: "Effort", value: (answer) => answer.effort },
  { name: "Time", value: (answer) => answer.months },
  { name: "First way", value: null },
  { name: "Commonness", value: (answer) => answer.percentile },
];

export class Everybody {
  constructor(schema, open) {
    this.schema = schema;
    this.open = open;
    this.answers = [];
    this.sort = { column: 0, falls: false };
    this.page = 0;
    byId("show").onchange = () => {
      this.page = 0;
      this.draw();
    };
    byId("show").replaceChildren(
      ...Object.entries(SHOWN).map(([kind, words]) => element("option", { value: kind }, words)),
    );
  }

  show(answers) {
    this.answers = answers;
    const numbers = new Map();
    for (const answer of answers) numbers.set(answer.kind, (numbers.get(answer.kind) ?? 0) + 1);
    for (const option of byId("show").options) {
      const number = option.value === "all" ? answers.length : (numbers.get(option.value) ?? 0);
      option.textContent = `${SHOWN[option.value]} (${grouped(number)})`;
    }
    this.draw();
  }

  /** The filtered answers, sorted. Missing values come last in both directions. */
  chosen() {
    const kind = byId("show").value;
    const shown = kind === "all" ? [...this.answers] : this.answers.filter((answer) => answer.kind === kind);
    const { value } = COLUMNS[this.sort.column];
    const sense = this.sort.falls ? -1 : 1;
    return shown.sort((one, other) => {
      const [left, right] = [value(one), value(other)];
      if (left === null || right === null)
        return (left === null) - (right === null) || one.number - other.number;
      return sense * (left - right) || one.number - other.number;
    });
  }

  draw() {
    const chosen = this.chosen();
    const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
    this.page = Math.min(this.page, pages - 1);
    const rows = chosen.slice(this.page * PAGE, (this.page + 1) * PAGE);
    const body = rows.map((answer) => this.line(answer));
    if (rows.length === 0)
      body.push(element("tr", {}, element("td", { colspan: COLUMNS.length, class: "quiet" }, "Nobody.")));
    byId("answers").replaceChildren(
      element(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answers" },
        element(
          "table",
          { class: "everybody" },
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              COLUMNS.map((column, place) => this.head(column, place)),
            ),
          ),
          element("tbody", {}, body),
        ),
      ),
      this.pager(chosen.length, pages),
    );
  }

  head(column, place) {
    if (column.value === null) return element("th", { scope: "col", class: "words" }, column.name);
    const here = this.sort.column === place;
    const turn = () => {
      this.sort = { column: place, falls: here && !this.sort.falls };
      this.page = 0;
      this.draw();
      byId(`sort-${place}`).focus();
    };
    return element(
      "th",
      { scope: "col", "aria-sort": here ? (this.sort.falls ? "descending" : "ascending") : null },
      element(
        "button",
        { type: "button", id: `sort-${place}`, class: "bare sort", onclick: turn },
        column.name,
        element("span", { "aria-hidden": "true", class: "sense" }, here ? (this.sort.falls ? "↓" : "↑") : ""),
      ),
    );
  }

  line(answer) {
    const readable = answer.kind !== "error";
    const open = () => this.open(answer);
    const name = readable
      ? element(
          "button",
          { type: "button", class: "bare open", "aria-label": `Open person ${answer.id}` },
          answer.id,
        )
      : answer.id;
    return element(
      "tr",
      { class: readable ? `opens ${answer.kind}` : answer.kind, onclick: readable ? open : null },
      element("th", { scope: "row" }, name),
      element(
        "td",
        {},
        element(
          "span",
          { class: `kind ${answer.kind}` },
          sign(answer.kind === "accepted" ? "accepted" : "denied"),
          KIND_WORDS[answer.kind],
        ),
      ),
      element("td", { "data-name": "now" }, answer.probability === null ? "–" : scale(this.schema).words(answer.probability)),
      element("td", { "data-name": "changes" }, answer.changes ?? "–"),
      element("td", { "data-name": "effort" }, answer.effort === null ? "–" : answer.effort.toFixed(1)),
      element("td", { "data-name": "time" }, answer.months === null ? "–" : time(answer.months)),
      element("td", { class: "words" }, answer.words),
      element(
        "td",
        { "data-name": "commonness" },
        answer.percentile === null ? "–" : percent(answer.percentile),
      ),
    );
  }

  pager(number, pages) {
    const turn = (page, id) => {
      this.page = page;
      this.draw();
      byId(id).focus();
    };
    const first = this.page * PAGE + 1;
    const last = Math.min(number, first + PAGE - 1);
    return element(
      "div",
      { class: "pager" },
      element(
        "button",
        {
          type: "button",
          id: "page-back",
          "aria-disabled": String(this.page === 0),
          onclick: () => this.page > 0 && turn(this.page - 1, "page-back"),
        },
        "Previous",
      ),
      element(
        "span",
        { role: "status" },
        number === 0 ? "nobody" : `${grouped(first)} to ${grouped(last)} of ${grouped(number)}`,
      ),
      element(
        "button",
        {
          type: "button",
          id: "page-on",
          "aria-disabled": String(this.page >= pages - 1),
          onclick: () => this.page < pages - 1 && turn(this.page + 1, "page-on"),
        },
        "Next",
      ),
    );
  }
}
