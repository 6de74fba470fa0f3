// The controls of both views for what every way has to keep: the most changes, time and effort, no harm, and what it must withstand.

import { byId, element } from "./element.js";
import { usualWishes } from "./person.js";

/** The most changes that are offered. */
const MOST_CHANGES = 8;
/** The times that are offered. */
const TIMES = ["1 month", "3 months", "6 months", "1 year", "2 years"];

export class WishControls {
  /** `prefix` is that of the ids of a view's controls; `changed` is called with the wishes. */
  constructor(schema, prefix, changed) {
    this.budget = byId(`${prefix}budget`);
    this.within = byId(`${prefix}within`);
    this.maxEffort = byId(`${prefix}max-effort`);
    this.noHarm = byId(`${prefix}no-harm`);
    this.lasting = byId(`${prefix}lasting`);
    this.slack = byId(`${prefix}slack`);
    const changeable = schema.features.filter((feature) => feature.changeable);
    const numbers = Array.from({ length: Math.min(MOST_CHANGES, changeable.length) }, (_, place) => place + 1);
    const options = (any, values) => [
      element("option", { value: "" }, any),
      ...values.map((value) => element("option", { value }, value)),
    ];
    this.budget.replaceChildren(...options("automatic", numbers));
    this.within.replaceChildren(...options("any", TIMES));
    // Where nothing takes time, nothing is called better, or there is one version, there is nothing to ask for.
    this.within.closest("label").hidden = !changeable.some((feature) => feature.takes);
    this.noHarm.closest("label").hidden = !changeable.some((feature) => feature.improves);
    this.hasVersions = schema.versions > 0;
    this.lasting.closest("label").hidden = !this.hasVersions;
    this.show(usualWishes());
    for (const control of [this.budget, this.within, this.noHarm, this.lasting, this.slack])
      control.onchange = () => changed({ typing: false });
    this.maxEffort.oninput = () => {
      this.maxEffort.setAttribute("aria-invalid", String(!this.isEffort()));
      if (this.isEffort()) changed({ typing: true });
    };
  }

  /** Whether the most effort is blank or a number above 0. */
  isEffort() {
    const { value, validity } = this.maxEffort;
    return !validity.badInput && (value === "" || Number(value) > 0);
  }

  /** The wishes as set on the page. */
  read() {
    const { budget, within, maxEffort, noHarm, lasting, slack } = this;
    return {
      budget: budget.value === "" ? null : Number(budget.value),
      within: within.value === "" ? null : within.value,
      maxEffort: maxEffort.value === "" || !this.isEffort() ? null : Number(maxEffort.value),
      noHarm: noHarm.checked,
      lasting: lasting.checked,
      slack: slack.checked,
    };
  }

  show({ budget, within, maxEffort, noHarm, lasting, slack }) {
    const choose = (select, value) => {
      if ([...select.options].some((option) => option.value === String(value ?? "")))
        select.value = value ?? "";
    };
    choose(this.budget, budget);
    choose(this.within, within);
    if (document.activeElement !== this.maxEffort) this.maxEffort.value = maxEffort ?? "";
    this.maxEffort.removeAttribute("aria-invalid");
    this.noHarm.checked = noHarm;
    this.lasting.checked = lasting && this.hasVersions;
    this.slack.checked = slack;
  }
}
