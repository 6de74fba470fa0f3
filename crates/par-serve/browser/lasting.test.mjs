import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fit, NAMES } from "./fitted.mjs";
import { answered, browse, serve } from "./service.mjs";

let folder;
let service;
let browser;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "par-lasting-"));
  service = await serve({ file: fit(folder, "versions", "0.5", NAMES, ["--versions", "2"]) });
  browser = await browse(service.address);
});
after(async () => {
  await browser?.close();
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The first refined request after an act, and its answer as shown. */
async function asked(page, act) {
  const isRefined = (one) => one.url().includes("/v1/recourse") && one.postDataJSON().method === "refine";
  const request = page.waitForRequest(isRefined);
  await act();
  const sent = (await request).postDataJSON();
  await page.waitForTimeout(400);
  return sent;
}

test("ways are asked to last, and say that they do and what it costs", async () => {
  const page = await browser.open();
  await answered(page);
  assert.equal(await page.locator(".price").count(), 0);
  const lasting = await asked(page, () => page.getByLabel("Only ways that should last").first().check());
  assert.deepEqual([lasting.robust, lasting.slack], [true, false]);
  const words = await page.locator("#ways").innerText();
  assert.match(words, /All 2 other versions of the classifier accept it\./);
  assert.match(words, /^(Beside the way that need not last: |The way that need not last is the same\.)/);
  const slack = await asked(page, () => page.locator("#slack").check());
  assert.deepEqual([slack.robust, slack.slack], [true, true]);
  browser.check();
});

test("what keeps a way from lasting is lifted by a button", async () => {
  const page = await browser.open();
  await answered(page);
  await page.route("**/v1/recourse*", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const obstacles = ["robust", "slack"].map((kind) => ({ kind, feature: null, words: "" }));
    const none = { status: "not_found", reason_words: "nothing lasts", obstacles, ways: [], frontier: [] };
    body.answers = body.answers.map((answer) => ({ ...answer, ...none }));
    return route.fulfill({ response, json: body });
  });
  await page.locator("#slack").check();
  await asked(page, () => page.locator("#lasting").check());
  const words = await page.locator(".no-way").innerText();
  assert.match(words, /A way should last when the model is retrained\./);
  assert.match(words, /One change may fall a step short\./);
  const lifted = await asked(page, () => page.getByRole("button", { name: "Lift all of this" }).click());
  assert.deepEqual([lifted.robust, lifted.slack], [false, false]);
  assert.equal(await page.locator("#lasting").isChecked(), false);
  browser.check();
});

test("a model without versions has nothing to ask for", async () => {
  const plain = await serve({ file: fit(folder, "plain", "0.5") });
  const other = await browse(plain.address);
  try {
    const page = await other.open();
    await answered(page);
    assert.equal(await page.locator("#lasting").isVisible(), false);
    const request = await asked(page, () => page.locator("#slack").check());
    assert.deepEqual([request.robust, request.slack], [false, true]);
    other.check();
  } finally {
    await other.close();
    await plain.stop();
  }
});
