// Requests to the service. Addresses are relative, so that it works behind any prefix.

import { askForToken } from "./token.js";

/** A refusal of the service: its message and its problems. */
export class Refused extends Error {
  constructor(status, body, retryAfter) {
    super(body.error ?? `the service answered with ${status}`);
    this.status = status;
    this.code = body.code ?? null;
    this.problems = body.problems ?? [];
    this.retryAfter = retryAfter;
  }
}

/** The service did not answer, or broke off. */
export class Unreachable extends Error {}

/** Another model answered than the one that is shown. Only the listener for that has to act. */
export class Replaced extends Error {}

const TOKEN = "par-token";
let model = null;
/** The version of the model that is shown; answers of another are refused. */
let version = null;
let replaced = () => {};

/** Sets the model that is shown, and its version. */
export function choose(name, itsVersion) {
  model = name;
  version = itsVersion;
}

/** `act` is called when another model answers than the one that is shown. */
export function onReplaced(act) {
  replaced = act;
}

/** The token, stored for the tab; if the browser stores nothing, for as long as the page is open. */
const token = {
  kept: null,
  get() {
    try {
      return sessionStorage.getItem(TOKEN) ?? this.kept;
    } catch {
      return this.kept;
    }
  },
  set(value) {
    this.kept = value;
    try {
      sessionStorage.setItem(TOKEN, value);
    } catch {
      // It is kept above.
    }
  },
};

/** Whether the service needs a token: links to its addresses could not send it. */
export const isGuarded = () => token.get() !== null;

/** Sends a request and returns what `read` makes of the response. */
async function send(
  path,
  {
    query = [],
    body = null,
    type = "application/json",
    accept = "application/json",
    signal,
    any = false,
    read = (response) => response.json(),
  } = {},
) {
  const shown = any ? null : version;
  const parameters = new URLSearchParams(query);
  if (model !== null && !any) parameters.set("model", model);
  const address = parameters.size > 0 ? `${path}?${parameters}` : path;
  let again = false;
  for (;;) {
    const headers = { Accept: accept };
    if (body !== null) headers["Content-Type"] = type;
    if (token.get() !== null) headers.Authorization = `Bearer ${token.get()}`;
    const method = body === null ? "GET" : "POST";
    const response = await reached(fetch(address, { method, headers, body, signal, cache: "no-store" }));
    if (response.ok) {
      expectShown(shown, response.headers.get("X-Model-Version"));
      return reached(read(response));
    }
    if (response.status === 401) {
      token.set(await askForToken(again));
      again = true;
      continue;
    }
    const refusal = await response.json().catch(() => ({}));
    throw new Refused(response.status, refusal, Number(response.headers.get("Retry-After")) || null);
  }
}

/** Reads a response; one that breaks off counts as a service that is gone. */
async function reached(sent) {
  try {
    return await sent;
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Unreachable("the service does not answer");
  }
}

/** Checks that the version which answered is the one that was shown at the request. */
function expectShown(shown, answering) {
  if (shown === null || answering === null || answering === shown) return;
  if (shown === version) replaced();
  throw new Replaced("the model was replaced");
}

export const models = async (signal) => (await send("v1/models", { any: true, signal })).models;

/** Whether the service has the model that is shown, under its name. */
export const ready = (name, signal) => send(`v2/models/${encodeURIComponent(name)}/ready`, { signal });

/** The features of a model, and its version. */
export const schema = (name) =>
  send("v1/schema", {
    any: true,
    query: name === null ? [] : { model: name },
    read: async (response) => [await response.json(), response.headers.get("X-Model-Version")],
  });

/** Made-up people whom the model denies. */
export const people = async (count, seed, signal) =>
  (await send("v1/people", { query: { count, seed }, signal })).people;

/** The answer to one person. */
export const recourse = async (request, signal) =>
  (await send("v1/recourse", { body: JSON.stringify(request), signal })).answers[0];

/** The answers to a part of a table, as text: an answer a line, or a CSV table. */
export const batch = (text, query, accept, signal) =>
  send("v1/recourse/batch", {
    query,
    body: text,
    type: "text/csv",
    accept,
    signal,
    read: (response) => response.text(),
  });
