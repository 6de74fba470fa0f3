// The page shows current answers, or says that they are not.

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DENIED, fit, INHERITED, NAMES, people } from "./fitted.mjs";
import { answered, browse, field, serve } from "./service.mjs";

/** Longer than the time between checks of the service, on a busy machine. */
const LOOKED = { timeout: 30_000 };

let folder;
let lenient;
let strict;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "par-page-"));
  lenient = fit(folder, "lenient", "0.5");
  strict = fit(folder, "strict", "0.7");
  if (process.env.PAR_SCREENSHOTS) mkdirSync(process.env.PAR_SCREENSHOTS, { recursive: true });
});
after(() => folder && rmSync(folder, { recursive: true }));

/** A service of its own, with a browser that expects connections to break. */
async function visit(act, file = lenient) {
  let service = await serve({ file });
  const browser = await browse(service.address);
  const port = new URL(service.address).port;
  const stop = () => service.stop();
  const start = async () => {
    service = await serve({ file, port });
  };
  try {
    const open = (path = "/") => browser.open({ path, expected: /Failed to load resource/ });
    await act({ open, stop, start });
    browser.check();
  } finally {
    await browser.close();
    await service.stop();
  }
}

/** Enters the person whom both models deny. */
async function enterDenied(page, [number, category, unknown] = NAMES) {
  await answered(page);
  await page.getByRole("button", { name: "Enter a person" }).click();
  await field(page, number).locator("input").first().fill(DENIED[0]);
  await field(page, category).locator(`.choices input[value="${DENIED[1]}"]`).check();
  await field(page, unknown).locator("input").first().fill(DENIED[2]);
  await page.waitForLoadState("networkidle");
  await page.locator("#ways .card").first().waitFor();
}

async function chooseTable(page, name, count, names = NAMES) {
  await page.locator("#locks label").first().waitFor({ state: "attached" });
  await page.setInputFiles("#file", {
    name,
    mimeType: "text/csv",
    buffer: Buffer.from(people(count, names)),
  });
}

async function answerTable(page, name, count, names = NAMES) {
  await chooseTable(page, name, count, names);
  await page.getByRole("button", { name: /Answer/ }).click();
  await page.locator("#file-about", { hasText: `${name}: all ${count} answered` }).waitFor();
}

async function picture(page, name) {
  if (process.env.PAR_SCREENSHOTS)
    await page.screenshot({ path: join(process.env.PAR_SCREENSHOTS, `${name}.png`), fullPage: true });
}

test("features may be called as what every object of JavaScript has", () =>
  visit(
    async ({ open }) => {
      const page = await open();
      const asked = page.waitForRequest((request) => request.url().includes("/v1/recourse"));
      await answered(page);
      assert.deepEqual(Object.keys((await asked).postDataJSON().row).sort(), [...INHERITED].sort());
      const retold = page.waitForRequest(
        (request) => request.url().includes("/v1/recourse") && request.postDataJSON().row[INHERITED[0]] === 1,
      );
      await enterDenied(page, INHERITED);
      await retold;
      assert.match(await page.locator("#decision").innerText(), /Denied/);
      // An unknown value is left out, not looked up among the properties of every object.
      const unknown = page.waitForRequest(
        (request) =>
          request.url().includes("/v1/recourse") &&
          !Object.hasOwn(request.postDataJSON().row, INHERITED[2]) &&
          Object.hasOwn(request.postDataJSON().row, INHERITED[0]),
      );
      await field(page, INHERITED[2]).locator("input").first().fill("");
      await unknown;
      // A limit and a lock work under such a name.
      const locked = page.waitForRequest(
        (request) =>
          request.url().includes("/v1/recourse") && request.postDataJSON().lock.includes(INHERITED[0]),
      );
      await field(page, INHERITED[0])
        .getByRole("button", { name: `Keep ${INHERITED[0]} as it is` })
        .click();
      await locked;
      // In a table too, and from there back to one person.
      await page.goto(`${new URL(page.url()).origin}/#table`);
      await answerTable(page, "people.csv", 40, INHERITED);
      assert.equal(await page.locator("#answers .kind.error").count(), 0);
      await page.locator("#show").selectOption("found");
      await page.getByRole("button", { name: "Open person" }).first().click();
      await page.locator("#decision", { hasText: "Denied" }).waitFor();
      assert.match(await field(page, INHERITED[0]).locator("input").first().inputValue(), /^[0-5]$/);
    },
    fit(folder, "inherited", "0.5", INHERITED),
  ));

test("when the service is gone the answer is greyed and says so, until it is back", () =>
  visit(async ({ open, stop, start }) => {
    const page = await open();
    await enterDenied(page);
    await stop();
    await page.locator("#outdated").waitFor(LOOKED);
    assert.match(
      await page.locator("#outdated").innerText(),
      /^This is the answer of \d\d:\d\d:\d\d, and may be out of date\. The service does not answer\./,
    );
    await page.waitForFunction(() => getComputedStyle(document.querySelector("#decision")).opacity === "0.55");
    assert.match(await page.locator("#notice").innerText(), /The service does not answer\./);
    await picture(page, "person-gone");
    await field(page, NAMES[0]).locator("input").first().fill("2");
    await page.locator("#outdated", { hasText: "to other details" }).waitFor();
    await page.emulateMedia({ media: "print" });
    assert.ok(await page.locator("#outdated").isVisible(), "a letter says so too");
    await page.emulateMedia({ media: null });
    await start();
    await page.locator("#outdated").waitFor({ state: "hidden", ...LOOKED });
    await page.locator("#notice").waitFor({ state: "hidden", ...LOOKED });
    assert.equal(await page.locator("#answer.old").count(), 0);
  }));

test("when the service is gone the answers of a table are greyed, until it is back", () =>
  visit(async ({ open, stop, start }) => {
    const page = await open("/#table");
    await answerTable(page, "people.csv", 40);
    await stop();
    await page.locator("#results-outdated").waitFor(LOOKED);
    assert.match(
      await page.locator("#results-outdated").innerText(),
      /^These are the answers of .*, and may be out of date\. The service does not answer\./,
    );
    await picture(page, "table-gone");
    await start();
    await page.locator("#results-outdated").waitFor({ state: "hidden", ...LOOKED });
    assert.equal(await page.locator("#results.old").count(), 0);
  }));

test("when the model is replaced the same person is answered again, with a note", async () => {
  const file = join(folder, "served.par");
  copyFileSync(lenient, file);
  await visit(async ({ open }) => {
    const page = await open();
    await enterDenied(page);
    await field(page, NAMES[2])
      .getByRole("button", { name: `Keep ${NAMES[2]} as it is` })
      .click();
    assert.match(await page.locator("#decision").innerText(), /accepts from 50 % on/);
    const table = await open("/#table");
    await answerTable(table, "people.csv", 40);

    const again = table.waitForRequest((request) => request.url().includes("/v1/recourse/batch"), LOOKED);
    copyFileSync(strict, `${file}.new`);
    renameSync(`${file}.new`, file);
    await page.locator("#decision", { hasText: "accepts from 70 % on" }).waitFor(LOOKED);
    assert.match(await page.locator("#news").innerText(), /The model was replaced at \d\d:\d\d:\d\d\./);
    assert.equal(await field(page, NAMES[0]).locator("input").first().inputValue(), DENIED[0]);
    assert.equal(
      await field(page, NAMES[2]).locator("[aria-pressed]").getAttribute("aria-pressed"),
      "true",
      "what was locked stays locked",
    );
    assert.equal(await page.locator("#people input").count(), 8);
    await picture(page, "person-replaced");
    await page.getByRole("button", { name: "Close" }).click();
    assert.ok(await page.locator("#news").isHidden());

    await again;
    await table.locator("#file-about", { hasText: "people.csv: all 40 answered" }).waitFor();
    assert.ok(await table.locator("#news").isVisible());
    assert.ok(await table.locator("#results-outdated").isHidden());
  }, file);
});

test("a new file shows nothing of the one before", () =>
  visit(async ({ open }) => {
    const page = await open("/#table");
    await answerTable(page, "first.csv", 40);
    await chooseTable(page, "second.csv", 30);
    await page.locator("#file-about", { hasText: "second.csv: 30 people." }).waitFor();
    assert.ok(await page.locator("#results").isHidden());
    assert.equal(await page.locator("#answers .open").count(), 0);
    await picture(page, "table-new-file");
    // Nor does a file that cannot be answered.
    await answerTable(page, "second.csv", 30);
    await page.setInputFiles("#file", {
      name: "third.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("a\n1\n"),
    });
    await page.locator("#file-about", { hasText: "third.csv has no column" }).waitFor();
    assert.ok(await page.locator("#results").isHidden());
    assert.ok(await page.getByRole("button", { name: "Answer everybody" }).isDisabled());
  }));
