// The first view: one person, the decision, the ways forward.

import * as api from "./api.js";
import { decision, isAccepted } from "./decision.js";
import { byId, element } from "./element.js";
import { Form } from "./form.js";
import { showFrontier } from "./frontier.js";
import { writeLetter } from "./letter.js";
import { clearNotice, problemWords, showNotice } from "./notice.js";
import { Person, problemFeature, usualWishes } from "./person.js";
import { scale } from "./score.js";
import { heldChips, noWay, wayCards } from "./ways.js";
import { WishControls } from "./wishes.js";
import { clock, count, listed } from "./words.js";

/** The number of ways in a request. */
const WAYS = 3;
/** How many made-up people are offered. */
const PEOPLE = 8;
/** The pause in typing, in milliseconds, after which a request is sent. */
const TYPING_MS = 40;
/** How long the refined answer waits for the exact one, so that cards do not change twice. */
const EXACT_MS = 30;

export class OnePerson {
  constructor(schema) {
    this.schema = schema;
    this.person = new Person(schema);
    this.seed = 1;
    this.turn = 0;
    this.isOver = false;
    /** The answer that is shown, its request, and when it came. */
    this.shown = null;
    this.asking = new AbortController();
    this.form = new Form(this.person, (how) => this.changed(how));
    this.wishControls = new WishControls(schema, "", (how) => {
      this.person.wishes = this.wishControls.read();
      this.changed(how);
    });
    this.renew();
    byId("others").onclick = () => this.offerPeople(this.seed + 1);
    byId("enter").onclick = () => this.enter();
    byId("print").onclick = () => window.print();
    window.onbeforeprint = () => writeLetter(schema, this.person);
    byId("form").onsubmit = (event) => event.preventDefault();
    this.watchPocket();
  }

  /** Shows another model. */
  stop() {
    this.isOver = true;
    this.turn += 1;
    this.asking.abort();
    clearTimeout(this.timer);
  }

  /** Takes the person over to another version of the model; the offered people are those of the new one. */
  async continueFrom(earlier) {
    this.person.continueFrom(earlier.person);
    this.seed = earlier.seed;
    this.changed({ typing: false });
    await this.offerPeople(this.seed, false);
  }

  /** Offers made-up people and, unless another person is shown, shows the first. */
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
          element("span", { class: "quiet" }, scale(this.schema).words(probability, this.schema.threshold)),
        ),
      );
    byId("people").replaceChildren(legend, ...people.map(option));
    // Another person may be shown by now.
    if (!shows || turn !== this.turn) return;
    const first = byId("people").querySelector("input");
    if (first === null) {
      this.enter();
      return;
    }
    first.checked = true;
    this.take(people[0].row);
  }

  /** Shows a made-up person, or a row of a table with the options of the table. */
  take(row, { locks = [], wishes = usualWishes() } = {}) {
    this.person.fill(row);
    for (const name of locks) this.person.locks.add(name);
    this.person.wishes = wishes;
    this.changed({ typing: false });
  }

  /** Shows a person of the table. */
  open(row, options) {
    for (const input of byId("people").querySelectorAll("input")) input.checked = false;
    this.take(row, options);
  }

  /** Shows an empty form. */
  enter() {
    for (const input of byId("people").querySelectorAll("input")) input.checked = false;
    this.person.clear();
    this.changed({ typing: false });
    this.form.focus(this.schema.features[0].name);
  }

  /** Shows the change at once, and requests the answer. */
  changed({ typing }) {
    this.form.show();
    this.wishControls.show(this.person.wishes);
    byId("held").replaceChildren(...heldChips(this.schema, this.person, this.replies()));
    clearTimeout(this.timer);
    this.started = performance.now();
    if (typing) this.timer = setTimeout(() => this.ask(), TYPING_MS);
    else this.ask();
  }

  /** What a person can say to a change and to their own wishes. */
  replies() {
    const { person, schema } = this;
    const changed = () => {
      this.changed({ typing: false });
      this.keepFocus();
    };
    return {
      feature: (name) => schema.features.find((one) => one.name === name && one.changeable),
      effort: (name) => person.efforts.get(name) ?? null,
      lock: (name) => {
        person.locks.add(name);
        changed();
      },
      weigh: (name, word) => {
        if (word === null) person.efforts.delete(name);
        else person.efforts.set(name, word);
        changed();
      },
      release: (name) => {
        person.release(name);
        changed();
      },
      releaseAll: () => {
        for (const held of [person.locks, person.limits, person.efforts]) held.clear();
        changed();
      },
    };
  }

  /** A pressed button may be gone with its answer: moves the focus to the ways. */
  keepFocus() {
    this.focusLater = true;
  }

  /** Requests refined ways, then exact ones. The old answer stays until a new one is there. */
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
      this.showProblems(wrong.map((feature) => [feature.name, "Please enter a number."]));
      return;
    }
    const request = this.person.request();
    this.sent = JSON.stringify(request);
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
    const atFields = (problem.problems ?? [])
      .map((one) => [problemFeature(one.path), one])
      .filter(([name]) => this.form.fields.has(name));
    if (problem.status === 422 && atFields.length > 0) {
      this.showProblems(atFields.map(([name, one]) => [name, `Expected ${one.expected}; found ${one.found}.`]));
    } else {
      this.outdate(problemWords(problem));
      showNotice(problem, () => this.ask());
    }
  }

  /** Greys the answer and says why it is not current. */
  outdate(why) {
    if (this.shown === null) return;
    const { at, sent, answer } = this.shown;
    const other = sent === JSON.stringify(this.person.request()) ? "" : ", to other details";
    byId("outdated").textContent =
      `This is the answer of ${clock(at)}${other}, and may be out of date. ${why}`;
    byId("outdated").hidden = false;
    byId("answer").classList.add("old");
    this.pocketWords(answer, true);
  }

  /** The answer is current. */
  renew() {
    byId("outdated").hidden = true;
    byId("answer").classList.remove("old");
  }

  /** Shows problems at their fields; the answer is not current. */
  showProblems(problems) {
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
    // `best_at` compares the ways of one answer, so answers are not mixed.
    const answer = exact && !failed && (exact.ways.length > 0 || refined.ways.length === 0) ? exact : refined;
    this.shown = { answer, sent: this.sent, at: new Date() };
    this.renew();
    byId("decision").replaceChildren(
      ...decision(this.schema, answer, (name) => this.form.focus(name)),
    );
    byId("ways-section").hidden = isAccepted(answer);
    byId("letter").hidden = false;
    const replies = this.replies();
    byId("ways").replaceChildren(
      ...(isAccepted(answer)
        ? []
        : [
            answer.ways.length > 0
              ? wayCards(this.schema, answer, replies)
              : noWay(this.schema, this.person, answer, (...what) => this.lift(...what)),
          ]),
    );
    if (exact && !failed) showFrontier(this.schema, exact, replies);
    else showFrontier(this.schema, refined, replies, failed ? "ended" : "runs");
    this.form.arrange(new Set(answer.ways.flatMap((way) => way.changes.map((change) => change.feature))));
    this.pocketWords(answer);
    const verdict = `${isAccepted(answer) ? "Accepted" : "Denied"}, ${scale(this.schema).words(answer.probability, answer.threshold)}.`;
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

  /** Lifts obstacles, and allows so many changes if a number is given. */
  lift(obstacles, changes = this.person.wishes.budget) {
    const { person } = this;
    const lifted = {
      max_effort: { maxEffort: null },
      within: { within: null },
      no_harm: { noHarm: false },
      robust: { lasting: false },
      slack: { slack: false },
    };
    person.wishes = { ...person.wishes, budget: changes };
    for (const { kind, feature } of obstacles) {
      if (feature !== null) person.release(feature);
      else Object.assign(person.wishes, lifted[kind]);
    }
    this.changed({ typing: false });
    this.keepFocus();
  }

  /** Says which fields of a new person are still empty. */
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
            ` · ${scale(this.schema).words(answer.probability, answer.threshold)}${isOld ? " · out of date" : ""}`,
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
