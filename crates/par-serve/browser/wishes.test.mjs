import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { afterwards, APPLICANT, browse, field, openWith, serve } from "./service.mjs";

let service;
let browser;
before(async () => {
  service = await serve();
  browser = await browse(service.address);
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

/** The first request for ways after an act; exact ones may still be those of an act before. */
async function asked(page, act) {
  const request = page.waitForRequest(
    (one) => one.url().includes("/v1/recourse") && one.postDataJSON().method === "refine",
  );
  await act();
  return (await request).postDataJSON();
}

/** Replaces parts of all further answers, and asks again. */
async function answering(page, parts) {
  await page.route("**/v1/recourse*", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.answers = body.answers.map((answer) => ({ ...answer, ...parts(answer) }));
    return route.fulfill({ response, json: body });
  });
  await afterwards(page, () => page.locator("#budget").selectOption("8"));
}

/** The first card, in words. */
const firstCard = (page) => page.locator("#ways .card").first().innerText();

test("every way says its effort and what it is best at, and nothing gets worse by default", async () => {
  const page = await openWith(browser, APPLICANT);
  const request = await asked(page, () => page.locator("#budget").selectOption("3"));
  assert.deepEqual(
    [request.no_harm, request.within, request.max_effort, request.effort],
    [true, null, null, {}],
  );
  for (const cost of await page.locator("#ways .cost").allTextContents())
    assert.match(cost, /^\d changes? · effort \d+\.\d( · .*(month|year)s?)?$/);
  const virtues = await page.locator("#ways .badge").allTextContents();
  assert.ok(virtues.includes("least effort"), String(virtues));
  assert.ok(await page.locator("#no-harm").isChecked());
  browser.check();
});

test("a change that is hard for this person weighs more, until it is as usual", async () => {
  const page = await openWith(browser, APPLICANT);
  const name = await page.locator("#ways .change-name").first().innerText();
  const select = page.locator("#ways").getByLabel(`How hard it is for you to change ${name}`).first();
  const request = await asked(page, () => select.selectOption("very hard"));
  assert.deepEqual(request.effort, { [name]: "very hard" });
  await page.locator(".chip", { hasText: `${name}: very hard` }).waitFor();
  await page.waitForTimeout(300);
  const inForm = field(page, name).getByLabel(`How hard it is for you to change ${name}`);
  assert.equal(await inForm.inputValue(), "very hard");
  const usual = await asked(page, () => page.getByRole("button", { name: /\(as usual\)/ }).click());
  assert.deepEqual(usual.effort, {});
  browser.check();
});

test("the longest time, the most effort and harm are asked for, and kept by every way", async () => {
  const page = await openWith(browser, APPLICANT);
  const within = await asked(page, () => page.locator("#within").selectOption("1 month"));
  assert.equal(within.within, "1 month");
  const effort = await asked(page, () => page.locator("#max-effort").fill("4.5"));
  assert.equal(effort.max_effort, 4.5);
  await page.waitForTimeout(500);
  const costs = await page.locator("#ways .cost").allTextContents();
  assert.ok(costs.length > 0);
  for (const cost of costs) {
    assert.ok(Number(/effort ([\d.]+)/.exec(cost)[1]) <= 4.5, cost);
    assert.doesNotMatch(cost, /months|year/);
  }
  await page.locator("#max-effort").fill("-1");
  assert.equal(await page.locator("#max-effort").getAttribute("aria-invalid"), "true");
  const harm = await asked(page, () => page.locator("#no-harm").uncheck());
  assert.deepEqual([harm.no_harm, harm.max_effort], [false, null]);
  browser.check();
});

test("effort, time and harm that stand in the way are lifted by a button", async () => {
  const page = await openWith(browser, APPLICANT);
  await page.locator("#within").selectOption("1 month");
  await page.locator("#max-effort").fill("3");
  await answering(page, () => ({
    status: "not_found",
    reason: "out_of_reach",
    reason_words: "nothing is accepted (proved)",
    needs_changes: null,
    obstacles: [
      { kind: "max_effort", feature: null, words: "allow an effort of 6.5" },
      { kind: "within", feature: null, words: "allow 1 year" },
      { kind: "no_harm", feature: null, words: "allow changes for the worse" },
    ],
    schema_obstacles: [{ kind: "immutable", feature: "Age", words: "let `Age` change" }],
    ways: [],
    frontier: [],
  }));
  await page.locator(".no-way", { hasText: "All of this together" }).waitFor();
  const words = await page.locator(".no-way").innerText();
  assert.match(words, /An effort of 3 is too little: allow an effort of 6\.5\./);
  assert.match(words, /A time of 1 month is too short: allow 1 year\./);
  assert.doesNotMatch(words, /Age/, "what the schema forbids is not for the applicant");
  const request = await asked(page, () => page.getByRole("button", { name: "Lift all of this" }).click());
  assert.deepEqual([request.max_effort, request.within, request.no_harm], [null, null, false]);
  assert.equal(await page.locator("#no-harm").isChecked(), false);
  browser.check();
});

test("an effort that is too little is reported with what is enough", async () => {
  const page = await openWith(browser, APPLICANT);
  await page.locator("#max-effort").fill("0.1");
  await page.locator(".no-way").waitFor();
  assert.match(
    await page.locator(".no-way").innerText(),
    /An effort of 0\.1 is too little: allow an effort of \d+\.\d\./,
  );
  await page.getByRole("button", { name: "Allow any effort" }).click();
  await page.locator("#ways .card").first().waitFor();
  assert.equal(await page.locator("#max-effort").inputValue(), "");
  browser.check();
});

test("changes are steps, the most useful first, with offers, harm, consequences and a missed margin marked", async () => {
  const page = await openWith(browser, APPLICANT);
  const change = (feature, more) => ({
    feature,
    from_words: "a",
    to_words: "b",
    sentence: `${feature}: a → b`,
    effort: 1,
    months: 0,
    alone: null,
    harm: false,
    counter_offer: false,
    ...more,
  });
  await answering(page, (answer) => ({
    ways: answer.ways.slice(0, 1).map((way) => ({
      ...way,
      has_margin: false,
      changes: [
        change("Duration", { alone: 0.31, counter_offer: true, lowest: 12, highest: 24 }),
        change("Telephone", { alone: 0.44, harm: true }),
      ],
      consequences: [change("Age")],
    })),
  }));
  await page.waitForTimeout(300);
  const words = await firstCard(page);
  assert.match(
    words,
    /Telephone\s+a change for the worse[\s\S]*brings 44 % by itself[\s\S]*Duration\s+counter-offer of the lender[\s\S]*12 to 24 would do[\s\S]*brings 31 % by itself[\s\S]*then Age/,
  );
  assert.match(words, /I cannot accept this/);
  assert.match(words, /Close to the threshold/);
  assert.equal(await page.locator("#ways .card ol.changes").count(), 1);
  browser.check();
});

test("unknown values that would decide are advice, and policies that are not met are said", async () => {
  const page = await openWith(browser, APPLICANT);
  await answering(page, () => ({
    if_known: [{ feature: "Duration", values: "at most 12 months", sentence: "" }],
    broken_policies: ["employed at least a year"],
    probability: 0.62,
  }));
  await page.locator("#decision .advice").waitFor();
  const words = await page.locator("#decision").innerText();
  assert.match(words, /Denied[\s\S]*enough, but not all that is required\./);
  assert.match(words, /Required, and not met: Employed at least a year\./);
  assert.match(words, /Duration is unknown\. If it is at most 12 months, nothing has to change\./);
  await page.getByRole("button", { name: /Fill it in.*Duration/ }).click();
  assert.equal(
    await field(page, "Duration").locator(".number input").evaluate((one) => one === document.activeElement),
    true,
  );
  browser.check();
});
