// Begins: which model, which view.

import * as api from "./api.js";
import { byId, element } from "./element.js";
import { ManyPeople } from "./many.js";
import { clearNotice, showNotice } from "./notice.js";
import { OnePerson } from "./one.js";
import { titled } from "./words.js";

let one = null;
let many = null;
/** Counts beginnings: an answer to an earlier one is late. */
let turns = 0;

async function begin(name = null) {
  const turn = ++turns;
  let schema;
  try {
    const names = await api.models();
    if (turn !== turns) return;
    api.choose(name);
    schema = await api.schema();
    if (turn !== turns) return;
    offerModels(names, name ?? names[0]);
  } catch (problem) {
    if (turn !== turns) return;
    showNotice(problem, () => begin(name));
    return;
  }
  clearNotice();
  schema.title = titled(schema.title ?? schema.model);
  byId("model-title").textContent = schema.title;
  byId("card-link").hidden = api.isGuarded();
  byId("card-link").href = name === null ? "v1/model" : `v1/model?model=${encodeURIComponent(name)}`;
  one?.stop();
  many?.stop();
  one = new OnePerson(schema);
  many = new ManyPeople(schema, openPerson);
  route(false);
  await one.offerPeople(1);
}

/** Somebody of the table, in the first view. */
function openPerson(row, asked) {
  one.open(row, asked);
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
