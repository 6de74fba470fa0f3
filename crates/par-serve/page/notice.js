// The calm message for what stands in the way of everything: a service that is gone, or too busy.

import { Replaced, Unreachable } from "./api.js";
import { byId, element } from "./element.js";

let timer = null;

/** Nothing stands in the way any more. */
export function clearNotice() {
  clearTimeout(timer);
  byId("notice").hidden = true;
  byId("notice").replaceChildren();
}

/** Whether something stands in the way. */
export const isNoticed = () => !byId("notice").hidden;

/** What stands in the way, and after how many seconds it may have passed by itself. */
function told(problem) {
  if (problem instanceof Unreachable) return ["The service does not answer.", 5];
  if (problem.code === "shutting_down") return ["The service is being shut down.", problem.retryAfter ?? 2];
  if (problem.status === 503) return ["The service has a lot to do at the moment.", problem.retryAfter ?? 2];
  if (problem.status === 504) return ["This takes the service too long.", null];
  const words = problem.message;
  return [`${words.charAt(0).toUpperCase()}${words.slice(1)}`, null];
}

/** What stands in the way, in words. */
export const problemWords = (problem) => told(problem)[0];

/** Says what happened and offers to try again; what passes by itself is tried again by itself. */
export function showNotice(problem, retry) {
  if (problem instanceof Replaced) return;
  clearTimeout(timer);
  const [words, wait] = told(problem);
  const button = element("button", { type: "button", onclick: () => retry() }, "Try again");
  const box = byId("notice");
  // The same words are not said again: they are read out loud.
  if (box.hidden || box.firstChild?.textContent !== words)
    box.replaceChildren(element("p", {}, words), button);
  else box.lastChild.replaceWith(button);
  box.hidden = false;
  if (wait !== null) timer = setTimeout(retry, 1000 * wait);
}

/** Says what has changed, until it is closed. */
export function showNews(words) {
  const close = () => {
    byId("news").hidden = true;
  };
  byId("news").replaceChildren(
    element("p", {}, words),
    element("button", { type: "button", onclick: close }, "Close"),
  );
  byId("news").hidden = false;
}
