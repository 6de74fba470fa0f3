// What the service is asked. Addresses are relative, so that it may stand behind any prefix.

import { askForToken } from "./token.js";

/** The service refused: what it says, and where. */
export class Refused extends Error {
  constructor(status, body, retryAfter) {
    super(body.error ?? `the service answered with ${status}`);
    this.status = status;
    this.problems = body.problems ?? [];
    this.retryAfter = retryAfter;
  }
}

/** The service did not answer at all. */
export class Unreachable extends Error {}

const TOKEN = "par-token";
let model = null;

/** The model that is asked from now on. */
export function choose(name) {
  model = name;
}

/** The token, for the tab; where a browser stores nothing, for as long as the page is open. */
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

/** Whether the service asked for a token: its addresses are then no links, which could not bring it. */
export const isGuarded = () => token.get() !== null;

async function send(
  path,
  {
    query = [],
    body = null,
    type = "application/json",
    accept = "application/json",
    signal,
    any = false,
  } = {},
) {
  const parameters = new URLSearchParams(query);
  if (model !== null && !any) parameters.set("model", model);
  const address = parameters.size > 0 ? `${path}?${parameters}` : path;
  let again = false;
  for (;;) {
    const headers = { Accept: accept };
    if (body !== null) headers["Content-Type"] = type;
    if (token.get() !== null) headers.Authorization = `Bearer ${token.get()}`;
    let response;
    try {
      response = await fetch(address, {
        method: body === null ? "GET" : "POST",
        headers,
        body,
        signal,
        cache: "no-store",
      });
    } catch (problem) {
      if (problem.name === "AbortError") throw problem;
      throw new Unreachable("the service does not answer");
    }
    if (response.ok) return response;
    if (response.status === 401) {
      token.set(await askForToken(again));
      again = true;
      continue;
    }
    const told = await response.json().catch(() => ({}));
    throw new Refused(response.status, told, Number(response.headers.get("Retry-After")) || null);
  }
}

const json = async (response) => (await response).json();

export const models = async (signal) => (await json(send("v1/models", { any: true, signal }))).models;
export const schema = (signal) => json(send("v1/schema", { signal }));

/** Made-up people whom the model denies. */
export const people = async (count, seed, signal) =>
  (await json(send("v1/people", { query: { count, seed }, signal }))).people;

/** The answer to one person. */
export const recourse = async (request, signal) =>
  (await json(send("v1/recourse", { body: JSON.stringify(request), signal }))).answers[0];

/** The answers to a part of a table, as text: an answer a line, or a CSV table. */
export const batch = async (text, query, accept, signal) =>
  (await send("v1/recourse/batch", { query, body: text, type: "text/csv", accept, signal })).text();
