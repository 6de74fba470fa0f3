// The calm message for what stands in the way of everything: a service that is gone, or too busy.

import { Refused, Unreachable } from "./api.js";
import { byId, element } from "./element.js";

let timer = null;

/** Nothing stands in the way any more. */
export function clearNotice() {
  clearTimeout(timer);
  byId("notice").hidden = true;
  byId("notice").replaceChildren();
}

/** Says what happened and offers to try again; what passes by itself is tried again by itself. */
export function showNotice(problem, retry) {
  clearTimeout(timer);
  let words = problem.message;
  let wait = null;
  if (problem instanceof Unreachable) {
    words = "The service does not answer. What is shown may be out of date.";
    wait = 5;
  } else if (problem instanceof Refused && problem.status === 503) {
    words = "The service has a lot to do at the moment.";
    wait = problem.retryAfter ?? 2;
  } else if (problem instanceof Refused && problem.status === 504) {
    words = "This takes the service too long.";
  }
  const said = words.charAt(0).toUpperCase() + words.slice(1);
  const button = element("button", { type: "button", onclick: () => retry() }, "Try again");
  const box = byId("notice");
  // The same words are not said again: they are read out loud.
  if (box.hidden || box.firstChild?.textContent !== said) box.replaceChildren(element("p", {}, said), button);
  else box.lastChild.replaceWith(button);
  box.hidden = false;
  if (wait !== null) timer = setTimeout(retry, 1000 * wait);
}
