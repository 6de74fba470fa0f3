// One feature of a person: its value, whether it may change, what it may become, and how hard that is.

import { effortControl } from "./effort.js";
import { element, sign } from "./element.js";
import { isUnusual, NO_NUMBER } from "./person.js";
import { plain, time } from "./words.js";

/** The most short categories shown side by side; more are a list to choose from. */
const FEW = { values: 3, letters: 26 };

/** Why a feature does not change by itself, where it can change at all. */
const FIXED = { "with-time": "moves with time", follows: "follows from others" };

/** A field, with what can be done to it. */
export function field(person, feature, place, changed) {
  const { name } = feature;
  const ids = {
    control: `field-${place}`,
    hint: `hint-${place}`,
    problem: `problem-${place}`,
    limit: `limit-${place}`,
  };
  const entered = (text, typing) => {
    person.cells.set(name, text);
    person.edited.add(name);
    hint.show();
    changed({ typing });
  };
  const value = valueControl(feature, ids, entered);
  const hint = hintLine(person, feature, ids.hint);
  const problem = element("p", { class: "problem", id: ids.problem, hidden: true });
  const limit = feature.changeable ? limitEditor(person, feature, ids.limit, changed) : null;
  const lock = feature.changeable ? lockButton(person, feature, changed) : null;
  const opener = limit && limitButton(feature, limit);
  const tools = feature.changeable
    ? element("span", { class: "tools" }, opener.root, lock.root)
    : element("span", { class: "fixed", title: "No way changes this by itself" }, FIXED[feature.change] ?? "fixed");
  const label = value.isGroup
    ? element("span", { class: "name", id: `${ids.control}-name` }, name)
    : element("label", { class: "name", for: ids.control }, name);
  const root = element(
    "div",
    { class: "field" },
    element("div", { class: "field-head" }, label, tools),
    value.root,
    hint.root,
    problem,
    limit?.root,
  );
  return {
    root,
    control: value.control,
    show() {
      value.show(person.cells.get(name));
      hint.show();
      lock?.show();
      limit?.show();
      opener?.show();
      root.classList.toggle("locked", person.locks.has(name));
    },
    problem(words) {
      root.classList.toggle("wrong", words !== null);
      problem.hidden = words === null;
      problem.textContent = words ?? "";
      if (words === null) value.control.removeAttribute("aria-invalid");
      else value.control.setAttribute("aria-invalid", "true");
    },
  };
}

function valueControl(feature, ids, entered) {
  const described = { "aria-describedby": `${ids.hint} ${ids.problem}` };
  if (!feature.values) return numberControl(feature, ids, described, entered);
  const letters = feature.values.reduce((sum, one) => sum + (one.label ?? one.value).length, 0);
  const few = feature.values.length <= FEW.values && letters <= FEW.letters && !feature.missing;
  return few ? choices(feature, ids, entered) : list(feature, ids, described, entered);
}

function numberControl(feature, ids, described, entered) {
  const control = element("input", {
    id: ids.control,
    type: "number",
    inputmode: "decimal",
    step: feature.kind === "discrete" ? 1 : "any",
    placeholder: feature.missing ? "unknown" : null,
    required: !feature.missing,
    ...described,
    // A number field with letters has no value: it is wrong, not blank.
    oninput: () => entered(control.validity.badInput ? NO_NUMBER : control.value, true),
  });
  const root = element(
    "div",
    { class: "number" },
    control,
    feature.unit && element("span", { class: "unit" }, feature.unit),
  );
  const show = (text) => {
    if (control.value !== text && text !== NO_NUMBER) control.value = text;
  };
  return { root, control, show };
}

function list(feature, ids, described, entered) {
  const option = (one) => element("option", { value: one.value }, one.label ?? one.value);
  const blank = element("option", { value: "" }, feature.missing ? "unknown" : "choose …");
  const control = element(
    "select",
    {
      id: ids.control,
      required: !feature.missing,
      ...described,
      onchange: () => entered(control.value, false),
    },
    blank,
    feature.values.map(option),
  );
  const show = (text) => {
    control.value = text;
    // A category that the model does not know is shown as it is, and refused by the service.
    if (control.value !== text) {
      control.append(element("option", { value: text }, text));
      control.value = text;
    }
    blank.hidden = !feature.missing && text !== "";
  };
  return { root: control, control, show };
}

function choices(feature, ids, entered) {
  const inputs = feature.values.map((one) =>
    element("input", {
      type: "radio",
      name: ids.control,
      value: one.value,
      onchange: () => entered(one.value, false),
    }),
  );
  const root = element(
    "div",
    {
      class: "choices",
      role: "radiogroup",
      "aria-labelledby": `${ids.control}-name`,
      "aria-describedby": ids.problem,
    },
    inputs.map((input, place) =>
      element("label", {}, input, element("span", {}, feature.values[place].label ?? input.value)),
    ),
  );
  const show = (text) => {
    for (const input of inputs) input.checked = input.value === text;
  };
  return { root, control: inputs[0], show, isGroup: true };
}

/** How long a change of a feature takes, in words. */
function duration({ takes, unit, values }) {
  const months = Math.ceil(takes.months);
  if (takes.per === null) return `takes ${time(months)}`;
  return values ? `takes ${time(months)} a step` : `takes ${time(months)} per ${plain(takes.per)} ${unit ?? ""}`.trim();
}

/** The range of a number in training, and how a feature may change. */
function hintLine(person, feature, id) {
  const root = element("p", { class: "hint", id });
  const range = feature.values ? null : `${plain(feature.low)} to ${plain(feature.high)}`;
  const rules = person.schema.rules.filter((rule) => rule.if_increases === feature.name);
  const ways = [
    feature.changeable && feature.monotone === "increasing" && "can only rise",
    feature.changeable && feature.monotone === "decreasing" && "can only fall",
    ...rules.map((rule) => `rises only if ${rule.must_increase} does`),
    feature.changeable && feature.who === "lender" && "the lender can offer another",
    feature.changeable && feature.takes && duration(feature),
  ];
  const show = () => {
    const unusual = isUnusual(feature, person.cells.get(feature.name));
    const seen = range && (unusual ? `unusual: the model has seen ${range}` : `seen: ${range}`);
    root.classList.toggle("unusual", unusual);
    root.textContent = [seen, ...ways].filter(Boolean).join(" · ");
    root.hidden = root.textContent === "";
  };
  return { root, show };
}

function lockButton(person, feature, changed) {
  const turn = () => {
    if (!person.locks.delete(feature.name)) person.locks.add(feature.name);
    changed({ typing: false });
  };
  const root = element("button", { type: "button", class: "bare sign-button", onclick: turn });
  const show = () => {
    const locked = person.locks.has(feature.name);
    root.setAttribute("aria-pressed", String(locked));
    root.setAttribute("aria-label", `Keep ${feature.name} as it is`);
    root.title = locked ? "Kept as it is" : "Keep it as it is";
    root.replaceChildren(sign(locked ? "lock" : "unlock"));
  };
  return { root, show };
}

function limitButton(feature, limit) {
  const root = element("button", {
    type: "button",
    class: "bare sign-button",
    "aria-expanded": "false",
    "aria-controls": limit.root.id,
    "aria-label": `Limit what ${feature.name} may become, and say how hard that is`,
    title: "Limit what it may become, and say how hard that is",
    onclick: () => {
      limit.root.hidden = !limit.root.hidden;
      root.setAttribute("aria-expanded", String(!limit.root.hidden));
    },
  });
  root.append(sign("limit"));
  const show = () => root.classList.toggle("on", limit.isSet());
  return { root, show };
}

function limitEditor(person, feature, id, changed) {
  const { name } = feature;
  const set = (limit, typing) => {
    if (limit === null) person.limits.delete(name);
    else person.limits.set(name, limit);
    note.show();
    changed({ typing });
  };
  const note = {
    root: element("p", { class: "hint" }),
    show() {
      note.root.textContent = person.limits.has(name) ? "Or it stays as it is." : "No limit.";
    },
  };
  const inner = feature.values ? amongEditor(person, feature, set) : betweenEditor(person, feature, set);
  const effort = effortControl(feature, null, (word) => {
    if (word === null) person.efforts.delete(name);
    else person.efforts.set(name, word);
    changed({ typing: false });
  });
  const root = element(
    "fieldset",
    { class: "limit", id, hidden: true },
    element("legend", {}, element("span", { class: "unseen" }, `${name} `), "may become"),
    inner.root,
    note.root,
    effort.root,
  );
  const show = () => {
    inner.show(person.limits.get(name));
    effort.control.value = person.efforts.get(name) ?? "";
    note.show();
  };
  return { root, show, isSet: () => person.limits.has(name) || person.efforts.has(name) };
}

function betweenEditor(person, feature, set) {
  const change = () => {
    const [low, high] = [from, to].map((input) => (input.value === "" ? null : Number(input.value)));
    const empty = low !== null && high !== null && low > high;
    for (const input of [from, to]) input.setAttribute("aria-invalid", String(empty));
    if (!empty) set(low === null && high === null ? null : { between: [low, high] }, true);
  };
  const input = (label, placeholder) =>
    element("input", {
      type: "number",
      step: "any",
      "aria-label": `${feature.name}, ${label}`,
      placeholder,
      oninput: change,
    });
  const from = input("at least", plain(feature.low));
  const to = input("at most", plain(feature.high));
  const root = element(
    "div",
    { class: "between" },
    element("span", {}, "from"),
    from,
    element("span", {}, "to"),
    to,
    feature.unit && element("span", { class: "unit" }, feature.unit),
  );
  const show = (limit) => {
    const [low, high] = limit?.between ?? [null, null];
    if (document.activeElement !== from) from.value = low ?? "";
    if (document.activeElement !== to) to.value = high ?? "";
  };
  return { root, show };
}

function amongEditor(person, feature, set) {
  const change = (event) => {
    const among = boxes.filter((box) => box.checked).map((box) => box.value);
    // For no change at all there is the lock.
    if (among.length === 0) event.target.checked = true;
    else set(among.length === boxes.length ? null : { among }, false);
  };
  const boxes = feature.values.map((one) =>
    element("input", { type: "checkbox", value: one.value, checked: true, onchange: change }),
  );
  const label = (box, place) =>
    element("label", {}, box, element("span", {}, feature.values[place].label ?? box.value));
  const root = element("div", { class: "checks" }, boxes.map(label));
  const show = (limit) => {
    for (const box of boxes) box.checked = !limit || limit.among.includes(box.value);
  };
  return { root, show };
}
