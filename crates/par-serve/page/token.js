// Asks for the token of the service, once for all requests that wait for it.

import { byId } from "./element.js";

const WRONG = "That was not it. Whoever runs this service can tell you the token.";

let waiting = null;

/** The token. The page needs one, so the dialog does not close without it. */
export function askForToken(wrong) {
  waiting ??= new Promise((resolve) => {
    const dialog = byId("token-dialog");
    const field = byId("token");
    if (wrong) byId("token-words").textContent = WRONG;
    field.value = "";
    const stay = (event) => event.preventDefault();
    dialog.addEventListener("cancel", stay);
    const done = (event) => {
      event.preventDefault();
      // A header cannot hold other characters.
      if (!/^[\x21-\x7e]+$/.test(field.value.trim())) {
        byId("token-words").textContent = WRONG;
        return;
      }
      byId("token-form").removeEventListener("submit", done);
      dialog.removeEventListener("cancel", stay);
      dialog.close();
      waiting = null;
      resolve(field.value.trim());
    };
    byId("token-form").addEventListener("submit", done);
    dialog.showModal();
    field.focus();
  });
  return waiting;
}
