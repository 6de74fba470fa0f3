// A service and a browser for a file of tests. `PAR_BINARY` and `PAR_MODEL` say which; `PAR_CHROMIUM` which browser.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

function needed(name) {
  const value = process.env[name];
  if (!value)
    throw new Error(
      `${name} is not set: it names the ${name === "PAR_MODEL" ? "model that is served" : "program `par`"}`,
    );
  return value;
}

export const binary = () => needed("PAR_BINARY");
export const model = () => needed("PAR_MODEL");

/** German Credit as the repository has it; the model is one of it. */
export const GERMAN_CREDIT = new URL("../../par-data/data/german_credit.csv", import.meta.url);

/** Starts `par serve`, on a free port by default, with a model under its own name or under several. */
export async function serve({ file = model(), names = [], port = 0, options = [] } = {}) {
  const models = names.length === 0 ? [file] : names.map((name) => `${name}=${file}`);
  const child = spawn(binary(), ["serve", ...models, "--listen", `127.0.0.1:${port}`, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (text) => {
    complaints += text;
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /listening on (http:\/\/\S+)/.exec(line);
      if (found) resolve(found[1].replace(/\/$/, ""));
    });
    ended.then(() => reject(new Error(`the service ended: ${complaints}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { address, stop };
}

/** A browser that records the requests of its pages to other sites, and their errors. */
export async function browse(address) {
  const executablePath = process.env.PAR_CHROMIUM || "/usr/bin/chromium";
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
  const elsewhere = [];
  const complaints = [];
  /** A page of its own, without anything stored. `expected` are errors that a test causes. */
  const open = async ({
    path = "/",
    width = 1280,
    height = 900,
    theme = "light",
    expected = null,
    ...more
  } = {}) => {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: theme,
      acceptDownloads: true,
      ...more,
    });
    const page = await context.newPage();
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${address}/`) && !url.startsWith(`blob:${address}/`)) elsewhere.push(url);
    });
    const complain = (text) => {
      if (!expected?.test(text)) complaints.push(text);
    };
    page.on(
      "console",
      (message) => ["error", "warning"].includes(message.type()) && complain(message.text()),
    );
    page.on("pageerror", (error) => complain(String(error)));
    page.setDefaultTimeout(15_000);
    await page.goto(address + path);
    return page;
  };
  const check = () => {
    assert.deepEqual(elsewhere.splice(0), [], "no requests to other sites");
    assert.deepEqual(complaints.splice(0), [], "the console is quiet");
  };
  return { open, check, close: () => browser.close() };
}

/** Waits until the page shows an answer. */
export async function answered(page) {
  await page.locator("#decision .scale").waitFor();
  await page.locator("#ways .card, #ways .no-way, .verdict.enough").first().waitFor();
}

/** A person whom the model denies, as a row of the table. */
export const APPLICANT = {
  "Status of existing checking account": "A12",
  Duration: "48",
  "Credit history": "A32",
  Purpose: "A43",
  "Credit amount": "5951",
  "Savings account/bonds": "A61",
  "Present employment since": "A73",
  "Installment rate in percentage of disposable income": "2",
  "Personal status and sex": "A92",
  "Other debtors / guarantors": "A101",
  "Present residence since": "2",
  Property: "A121",
  Age: "22",
  "Other installment plans": "A143",
  Housing: "A152",
  "Number of existing credits at this bank": "1",
  Job: "A173",
  "Number of people being liable to provide maintenance for": "1",
  Telephone: "A191",
  "foreign worker": "A201",
};

/** Acts, and waits until the answers that follow are shown. */
export async function afterwards(page, act) {
  const told = page.waitForResponse(
    (response) =>
      response.url().includes("/v1/recourse") && response.request().postDataJSON().method === "exact",
  );
  await act();
  await told;
  await page.waitForFunction(() => performance.getEntriesByName("answer").length > 0);
  await page.waitForTimeout(60);
}

/** The field of a feature. */
export const field = (page, name) =>
  page
    .locator(".field")
    .filter({ has: page.locator(".name", { hasText: new RegExp(`^${name.replace(/[/]/g, "\\/")}$`) }) });

/** Enters a person field by field, as a user would. */
export async function enter(page, row) {
  await page.getByRole("button", { name: "Enter a person" }).click();
  for (const [name, value] of Object.entries(row)) {
    const control = field(page, name);
    const list = control.locator("> select");
    const number = control.locator(".number input");
    if (await list.count()) await list.selectOption(value);
    else if (await number.count()) await number.fill(value);
    else await control.locator(`.choices input[value="${value}"]`).check();
  }
  await answered(page);
}

/** Opens the page with a person entered. */
export async function openWith(browser, row, options) {
  const page = await browser.open(options);
  await answered(page);
  await page.getByRole("button", { name: "Enter a person" }).click();
  await page.evaluate((row) => {
    for (const one of document.querySelectorAll(".field")) {
      const value = row[one.querySelector(".name").textContent];
      const choice = one.querySelector(`.choices input[value="${value}"]`);
      const control = choice ?? one.querySelector(":scope > select, .number input");
      if (choice) choice.checked = true;
      else control.value = value;
      control.dispatchEvent(new Event(control.type === "number" ? "input" : "change", { bubbles: true }));
    }
  }, row);
  await answered(page);
  await page.locator("#points input").first().waitFor();
  return page;
}
