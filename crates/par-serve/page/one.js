// The first view: one person, the decision, the ways forward.

import * as api from "./api.js";
import { decision, isAccepted } from "./decision.js";
import { byId, element } from "./element.js";
import { Form } from "./form.js";
import { showFrontier } from "./frontier.js";
import { writeLetter } from "./letter.js";
import { clearNotice, problemWords, showNotice } from "./notice.js";
import { Person, problemFeature } from "./person.js";
import { heldChips, noWay, wayCards } from "./ways.js";
import { clock, count, listed, percent } from "./words.js";

/** How many ways are asked for. */
const WAYS = 3;
/** How many made-up people are offered. */
const PEOPLE = 8;
/** Between keys that follow each other at once nobody wants an answer. */
const TYPING_MS = 40;
/** So long the refined answer waits for the exact one, so that cards do not change twice. */
const EXACT_MS = 30;
/** More changes are not offered. */
const MOST_CHANGES = 8;

export class OnePerson {
  constructor(schema) {
    this.schema = schema;
    this.person = new Person(schema);
    this.seed = 1;
    this.turn = 0;
    this.isOver = false;
    /** The answer that is shown, what it was asked with, and when it came. */
    this.shown = null;
    this.asking = new AbortController();
    this.form = new Form(this.person, (how) => this.changed(how));
    this.fillBudget();
    this.renew();
    byId("others").onclick = () => this.offerPeople(this.seed + 1);
    byId("enter").onclick = () => this.enter();
    byId("budget").onchange = () => {
      this.person.budget = byId("budget").value === "" ? null : Number(byId("budget").value);
      this.changed({ typing: false });
    };
    byId("print").onclick = () => window.print();
    window.onbeforeprint = () => writeLetter(schema, this.person);
    byId("form").onsubmit = (event) => event.preventDefault();
    this.watchPocket();
  }

  /** Another model takes its place. */
  stop() {
    this.isOver = true;
    this.turn += 1;
    this.asking.abort();
    clearTimeout(this.timer);
  }

  fillBudget() {
    const most = Math.min(MOST_CHANGES, this.schema.features.filter((feature) => feature.changeable).length);
    const numbers = Array.from({ length: most }, (_, place) => place + 1);
    byId("budget").replaceChildren(
      element("option", { value: "" }, "automatic"),
      ...numbers.map((number) => element("option", { value: number }, number)),
    );
  }

  /** The same person, now that another version of the model is there; the people who are offered are its own. */
  async continueFrom(earlier) {
    this.person.continueFrom(earlier.person);
    this.seed = earlier.seed;
    this.changed({ typing: false });
    await this.offerPeople(this.seed, false);
  }

  /** Offers made-up people and, unless somebody else is looked at, shows the first. */
  async offerPeople(seed, shows = true) {
    const { turn } = this;
    let people;
    try {
      people = await api.people(PEOPLE, seed);
    } catch (problem) {
      if (turn === this.turn) showNotice(problem, () => this.offerPeople(seed, shows));
      return;
    }
    if (this.isOver) return;
    clearNotice();
    this.seed = seed;
    const legend = byId("people").querySelector("legend");
    const option = ({ row, probability }, place) =>
      element(
        "label",
        {},
        element("input", { type: "radio", name: "made-up", value: place, onchange: () => this.take(row) }),
        element(
          "span",
          {},
          element("b", {}, `Person ${place + 1}`),
          element("span", { class: "quiet" }, percent(probability, this.schema.threshold)),
        ),
      );
    byId("people").replaceChildren(legend, ...people.map(option));
    // Meanwhile somebody else may be looked at.
    if (!shows || turn !== this.turn) return;
    const first = byId("people").querySelector("input");
    if (first === null) {
      this.enter();
      return;
    }
    first.checked = true;
    this.take(people[0].row);
  }

  /** Shows somebody: a made-up person, or a row of a table with what was asked for all. */
  take(row, { locks = [], budget = null } = {}) {
    this.person.fill(row);
    for (const name of locks) this.person.locks.add(name);
    this.person.budget = budget;
    this.changed({ typing: false });
  }

  /** Somebody of the table, who is none of the made-up people. */
  open(row, asked) {
    for (const input of byId("people").querySelectorAll("input")) input.checked = false;
    this.take(row, asked);
  }

  /** A blank sheet. */
  enter() {
    for (const input of byId("people").querySelectorAll("input")) input.checked = false;
    this.person.clear();
    this.changed({ typing: false });
    this.form.focus(this.schema.features[0].name);
  }

  /** Shows what changed at once, and asks for the answer. */
  changed({ typing }) {
    this.form.show();
    const option = byId("budget").querySelector(`option[value="${this.person.budget ?? ""}"]`);
    if (option) byId("budget").value = option.value;
    byId("held").replaceChildren(...heldChips(this.schema, this.person, (names) => this.release(names)));
    clearTimeout(this.timer);
    this.started = performance.now();
    if (typing) this.timer = setTimeout(() => this.ask(), TYPING_MS);
    else this.ask();
  }

  release(names, budget = this.person.budget) {
    for (const name of names) {
      this.person.locks.delete(name);
      this.person.limits.delete(name);
    }
    this.person.budget = budget;
    this.changed({ typing: false });
    this.keepFocus();
  }

  lock(name) {
    this.person.locks.add(name);
    this.changed({ typing: false });
    this.keepFocus();
  }

  /** A button that was pressed may be gone with the answer it stood in; the keyboard goes on at the ways. */
  keepFocus() {
    this.focusLater = true;
  }

  /** Asks for refined ways, then for the exact ones. The old answer stays until a new one is there. */
  async ask() {
    const turn = ++this.turn;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    const blanks = this.person.blanks();
    if (blanks.length > 0) {
      this.showBlanks(blanks);
      return;
    }
    const wrong = this.person.wrong();
    if (wrong.length > 0) {
      this.complain(wrong.map((feature) => [feature.name, "Please enter a number."]));
      return;
    }
    const request = this.person.request();
    this.asked = JSON.stringify(request);
    const current = () => turn === this.turn;
    const busy = setTimeout(() => byId("answer").setAttribute("aria-busy", "true"), 200);
    try {
      const refined = await api.recourse({ ...request, method: "refine", count: WAYS }, signal);
      if (!current()) return;
      clearNotice();
      this.form.problems([]);
      if (isAccepted(refined)) {
        this.show(refined, null);
        return;
      }
      const exact = api
        .recourse({ ...request, method: "exact", count: WAYS, plot: true }, signal)
        .catch((problem) => ({ problem }));
      const early = await Promise.race([exact, new Promise((resolve) => setTimeout(resolve, EXACT_MS))]);
      if (!current()) return;
      if (early === undefined) this.show(refined, null);
      this.show(refined, await exact, current);
    } catch (problem) {
      if (current()) this.failed(problem);
    } finally {
      clearTimeout(busy);
      if (current()) byId("answer").removeAttribute("aria-busy");
    }
  }

  failed(problem) {
    if (problem.name === "AbortError" || problem instanceof api.Replaced) return;
    const told = (problem.problems ?? [])
      .map((one) => [problemFeature(one.path), one])
      .filter(([name]) => this.form.fields.has(name));
    if (problem.status === 422 && told.length > 0) {
      this.complain(told.map(([name, one]) => [name, `Expected ${one.expected}; found ${one.found}.`]));
    } else {
      this.outdate(problemWords(problem));
      showNotice(problem, () => this.ask());
    }
  }

  /** Greys the answer and says why it is not the one to the person as they stand. */
  outdate(why) {
    if (this.shown === null) return;
    const { at, asked, answer } = this.shown;
    const other = asked === JSON.stringify(this.person.request()) ? "" : ", to other details";
    byId("outdated").textContent =
      `This is the answer of ${clock(at)}${other}, and may be out of date. ${why}`;
    byId("outdated").hidden = false;
    byId("answer").classList.add("old");
    this.pocketWords(answer, true);
  }

  /** What is shown is of now. */
  renew() {
    byId("outdated").hidden = true;
    byId("answer").classList.remove("old");
  }

  /** Says at the fields what is wrong; what is shown is of before. */
  complain(problems) {
    this.form.problems(problems);
    byId("sheet").open = true;
    const words = `Please look at ${listed(problems.map(([name]) => name))}.`;
    this.say(words);
    this.outdate(words);
  }

  /** Shows an answer: the exact one, as far as it is there, and the refined one. */
  show(refined, exact, current = () => true) {
    if (!current()) return;
    const failed = exact?.problem ?? null;
    if (failed?.name === "AbortError") return;
    // What each way is best at is said among the ways of one answer, so answers are not mixed.
    const answer = exact && !failed && (exact.ways.length > 0 || refined.ways.length === 0) ? exact : refined;
    this.shown = { answer, asked: this.asked, at: new Date() };
    this.renew();
    byId("decision").replaceChildren(...decision(this.schema, answer));
    byId("ways-section").hidden = isAccepted(answer);
    byId("letter").hidden = false;
    const lock = (name) => this.lock(name);
    byId("ways").replaceChildren(
      ...(isAccepted(answer)
        ? []
        : [
            answer.ways.length > 0
              ? wayCards(answer, lock)
              : noWay(this.schema, this.person, answer, (...what) => this.lift(...what)),
          ]),
    );
    if (exact && !failed) showFrontier(this.schema, exact, lock);
    else showFrontier(this.schema, refined, lock, failed ? "ended" : "runs");
    this.form.arrange(new Set(answer.ways.flatMap((way) => way.changes.map((change) => change.feature))));
    this.pocketWords(answer);
    const verdict = `${isAccepted(answer) ? "Accepted" : "Denied"}, ${percent(answer.probability, answer.threshold)}.`;
    this.say(
      isAccepted(answer)
        ? verdict
        : `${verdict} ${answer.ways.length > 0 ? `${count(answer.ways.length, "way")} forward.` : "No way within these limits."}`,
    );
    if (this.focusLater && (document.activeElement === document.body || document.activeElement === null))
      byId("ways-title").focus();
    this.focusLater = false;
    performance.measure("answer", { start: this.started });
  }

  /** Lifts what stands in the way. */
  lift(obstacles, changes = this.person.budget) {
    this.release(
      obstacles.map((one) => one.feature),
      changes,
    );
  }

  /** Somebody is being entered: what is still to be filled in. */
  showBlanks(blanks) {
    const go = () => this.form.focus(blanks[0].name);
    byId("decision").replaceChildren(
      element("h2", { id: "decision-title", class: "verdict waiting" }, "A new person"),
      element(
        "p",
        { class: "sure" },
        `${count(blanks.length, "detail")} to fill in. The answer follows by itself.`,
      ),
      element("p", {}, element("button", { type: "button", onclick: go }, `Go on with ${blanks[0].name}`)),
    );
    byId("ways-section").hidden = true;
    this.say(`${count(blanks.length, "detail")} to fill in.`);
    showFrontier(this.schema, null);
    this.form.problems([]);
    this.pocketWords(null);
    this.shown = null;
    this.renew();
  }

  say(words) {
    if (byId("spoken").textContent !== words) byId("spoken").textContent = words;
  }

  pocketWords(answer, isOld = false) {
    byId("pocket").replaceChildren(
      answer === null
        ? "Not all filled in yet"
        : element(
            "span",
            {},
            element("b", {}, isAccepted(answer) ? "Accepted" : "Denied"),
            ` · ${percent(answer.probability, answer.threshold)}${isOld ? " · out of date" : ""}`,
          ),
      element(
        "span",
        {},
        answer?.ways.length > 0 ? `see ${count(answer.ways.length, "way")}` : "see the answer",
      ),
    );
  }

  /** On a narrow screen the decision goes along while details are changed. */
  watchPocket() {
    const pocket = byId("pocket");
    const wide = window.matchMedia("(min-width: 62rem)");
    const sheet = byId("sheet");
    const unfold = () => {
      sheet.open = wide.matches;
    };
    unfold();
    wide.onchange = unfold;
    const seen = new IntersectionObserver(([entry]) => {
      pocket.hidden = wide.matches || entry.isIntersecting || entry.boundingClientRect.top < 0;
    });
    seen.observe(byId("decision"));
    pocket.onclick = () => byId("answer").scrollIntoView({ block: "start" });
  }
}
