// The message about a service that is gone or overloaded.

import { Replaced, Unreachable } from "./api.js";
import { byId, element } from "./element.js";

let timer = null;

/** Hides the message. */
export function clearNotice() {
  clearTimeout(timer);
  byId("notice").hidden = true;
  byId("notice").replaceChildren();
}

/** Whether the message is shown. */
export const isNoticed = () => !byId("notice").hidden;

/** The message for an error, and after how many seconds to try again. */
function messageOf(problem) {
  if (problem instanceof Unreachable) return ["The service does not answer.", 5];
  if (problem.code === "shutting_down") return ["The service is being shut down.", problem.retryAfter ?? 2];
  if (problem.status === 503) return ["The service has a lot to do at the moment.", problem.retryAfter ?? 2];
  if (problem.status === 504) return ["This takes the service too long.", null];
  const words = problem.message;
  return [`${words.charAt(0).toUpperCase()}${words.slice(1)}`, null];
}

/** The message for an error. */
export const problemWords = (problem) => messageOf(problem)[0];

/** Shows an error and offers to try again; tries again by itself if that may help. */
export function showNotice(problem, retry) {
  if (problem instanceof Replaced) return;
  clearTimeout(timer);
  const [words, wait] = messageOf(problem);
  const button = element("button", { type: "button", onclick: () => retry() }, "Try again");
  const box = byId("notice");
  // The same words are not set again: screen readers would repeat them.
  if (box.hidden || box.firstChild?.textContent !== words)
    box.replaceChildren(element("p", {}, words), button);
  else box.lastChild.replaceWith(button);
  box.hidden = false;
  if (wait !== null) timer = setTimeout(retry, 1000 * wait);
}

/** Shows a note until it is closed. */
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
