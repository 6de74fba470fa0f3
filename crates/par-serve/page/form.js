// The details of a person: a field for each feature, with its lock and its limit.

import { byId, element } from "./element.js";
import { field } from "./field.js";

/** From this number of features on there is a filter, and changed or locked ones come first. */
const MANY = 26;

export class Form {
  /** `changed` is called with the person changed already; `typing` says that more may follow at once. */
  constructor(person, changed) {
    this.person = person;
    this.root = byId("form");
    this.fields = new Map();
    person.schema.features.forEach((feature, place) => {
      this.fields.set(feature.name, field(person, feature, place, changed));
    });
    this.root.replaceChildren(...[...this.fields.values()].map((one) => one.root));
    this.many = person.schema.features.length >= MANY;
    byId("filter-row").hidden = !this.many;
    byId("filter").value = "";
    byId("filter").oninput = () => this.filter();
    this.filter();
  }

  /** Shows the person as they are now. */
  show() {
    for (const one of this.fields.values()) one.show();
  }

  /** Hides features that do not match the filter. */
  filter() {
    const wanted = byId("filter").value.trim().toLowerCase();
    let shown = 0;
    for (const [name, one] of this.fields) {
      one.root.hidden = !name.toLowerCase().includes(wanted);
      if (!one.root.hidden) shown += 1;
    }
    byId("filter-none").hidden = shown > 0;
  }

  /** Of many features, puts changed or locked ones first; never while the user types. */
  arrange(changing) {
    if (!this.many || this.root.contains(document.activeElement)) return;
    const { locks, limits, efforts, edited } = this.person;
    const first = (name) => [changing, locks, limits, efforts, edited].some((names) => names.has(name));
    const names = [...this.fields.keys()];
    const order = [...names.filter(first), ...names.filter((name) => !first(name))];
    this.root.append(...order.map((name) => this.fields.get(name).root));
  }

  /** Shows problems at their fields; an empty list clears all. */
  problems(list) {
    const words = new Map(list);
    for (const [name, one] of this.fields) one.problem(words.get(name) ?? null);
    const first = [...this.fields.values()].find((one) => one.root.classList.contains("wrong"));
    if (first && !this.root.contains(document.activeElement)) first.root.scrollIntoView({ block: "nearest" });
  }

  /** Scrolls to a field and focuses it. */
  focus(name) {
    byId("sheet").open = true;
    this.fields.get(name)?.control.focus();
  }
}
