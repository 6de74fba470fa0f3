// Starts the page: which model, which view.

import * as api from "./api.js";
import { byId, element } from "./element.js";
import { ManyPeople } from "./many.js";
import { clearNotice, isNoticed, problemWords, showNews, showNotice } from "./notice.js";
import { OnePerson } from "./one.js";
import { stopWatching, watch } from "./watch.js";
import { clock, titled } from "./words.js";

let one = null;
let many = null;
/** Counts starts, so that late answers to an earlier one are ignored. */
let turns = 0;

/** Shows a model: the one of that name, or the first. After one that was replaced, with the same person and the same table. */
async function begin(name = null, { wasReplaced = false } = {}) {
  const turn = ++turns;
  stopWatching();
  let chosen;
  let schema;
  let version;
  try {
    const names = await api.models();
    if (turn !== turns) return;
    chosen = names.includes(name) ? name : null;
    [schema, version] = await api.schema(chosen);
    if (turn !== turns) return;
    offerModels(names, chosen ?? names[0]);
  } catch (problem) {
    if (turn !== turns) return;
    showNotice(problem, () => begin(name, { wasReplaced }));
    return;
  }
  clearNotice();
  api.choose(chosen, version);
  schema.title = titled(schema.title ?? schema.model);
  byId("model-title").textContent = schema.title;
  byId("card-link").hidden = api.isGuarded();
  byId("card-link").href = chosen === null ? "v1/model" : `v1/model?model=${encodeURIComponent(chosen)}`;
  const earlier = { one, many, options: many?.options() };
  one?.stop();
  many?.stop();
  one = new OnePerson(schema);
  many = new ManyPeople(schema, openPerson);
  watch(schema.model, { gone, back, lost: () => replaced(chosen) });
  api.onReplaced(() => replaced(chosen));
  route(false);
  if (!wasReplaced) {
    await one.offerPeople(1);
    return;
  }
  showNews(`The model was replaced at ${clock(new Date())}. What is shown now comes from the new one.`);
  many.continueFrom(earlier.many, earlier.options);
  await one.continueFrom(earlier.one);
}

/** The model that is shown was replaced: its answers go. */
function replaced(name) {
  const why = "The model was replaced; the new one is being asked.";
  for (const view of [one, many]) {
    view.stop();
    view.outdate(why);
  }
  begin(name, { wasReplaced: true });
}

/** The service is gone: marks what is shown as its last answer. */
function gone(problem, look) {
  const why = `${problemWords(problem)} It is asked again until it answers.`;
  for (const view of [one, many]) view.outdate(why);
  // A notice that is shown already tries again by itself.
  if (!isNoticed()) showNotice(problem, look);
}

/** The service is back, with the same model. */
function back() {
  many.renew();
  one.ask();
}

/** Opens a person of the table in the first view. */
function openPerson(row, options) {
  one.open(row, options);
  location.hash = "#person";
}

function offerModels(names, chosen) {
  byId("models").hidden = names.length < 2;
  byId("model").replaceChildren(
    ...names.map((name) => element("option", { value: name, selected: name === chosen }, name)),
  );
  byId("model").onchange = () => begin(byId("model").value);
}

/** Shows the view that the address names. */
function route(moves = true) {
  const table = location.hash === "#table";
  byId("person-view").hidden = table;
  byId("table-view").hidden = !table;
  const current = { "to-person": !table, "to-table": table };
  for (const [id, here] of Object.entries(current)) {
    if (here) byId(id).setAttribute("aria-current", "page");
    else byId(id).removeAttribute("aria-current");
  }
  document.title = table ? "A table of people" : "From denied to accepted";
  if (!moves) return;
  window.scrollTo(0, 0);
  byId(table ? "table-title" : "person-title").focus({ preventScroll: true });
}

window.addEventListener("hashchange", () => route());
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});
begin();
