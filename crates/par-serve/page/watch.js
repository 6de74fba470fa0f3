// Looks from time to time whether the service is there with the model that is shown, so that no answer looks current
// that no longer is.

import * as api from "./api.js";

/** Between looks, while the page is seen. */
const LOOK_MS = 5000;

let stop = () => {};

/**
 * Watches over the model of that name, instead of any before. `gone` gets the problem and a function that looks again;
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
    // Of a model that was replaced, whoever listens for that has heard.
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

/** Nothing is watched over any more. */
export const stopWatching = () => stop();
