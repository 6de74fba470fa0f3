// Checks regularly that the service runs with the model that is shown, so that no outdated answer looks current.

import * as api from "./api.js";

/** The time between checks, while the page is visible. */
const LOOK_MS = 5000;

let stop = () => {};

/**
 * Watches the model of that name, instead of any before. `gone` gets the problem and a function that checks again;
 * `back` is called when the service is there again with the same model, `lost` when it is there without it.
 */
export function watch(name, { gone, back, lost }) {
  stop();
  let isOver = false;
  let isGone = false;
  let looking = false;
  const look = async () => {
    if (looking || isOver || document.visibilityState === "hidden") return;
    looking = true;
    let problem = null;
    try {
      await api.ready(name, AbortSignal.timeout(LOOK_MS));
    } catch (met) {
      problem = met;
    }
    looking = false;
    // The listener for replaced models was called already.
    if (isOver || problem instanceof api.Replaced) return;
    if (problem?.status === 404) {
      lost();
    } else if (problem !== null) {
      isGone = true;
      gone(problem, look);
    } else if (isGone) {
      isGone = false;
      back();
    }
  };
  const timer = setInterval(look, LOOK_MS);
  document.addEventListener("visibilitychange", look);
  stop = () => {
    isOver = true;
    clearInterval(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

/** Stops the checks. */
export const stopWatching = () => stop();
