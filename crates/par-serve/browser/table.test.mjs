import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { binary, browse, GERMAN_CREDIT, model, serve } from "./service.mjs";

let service;
let browser;
let folder;
before(async () => {
  service = await serve();
  browser = await browse(service.address);
  folder = mkdtempSync(join(tmpdir(), "par-page-"));
});
after(async () => {
  await browser?.close();
  await service?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

const table = () => readFileSync(GERMAN_CREDIT, "utf8").trim().split("\n");

async function answerAll(page, file) {
  await page.locator("#locks label").first().waitFor({ state: "attached" });
  await page.setInputFiles("#file", file);
  await page.getByRole("button", { name: /Answer/ }).click();
  await page.locator("#file-about", { hasText: "answered" }).waitFor({ timeout: 60_000 });
}

/** The tiles of the summary, by their words. */
const tiles = (page) =>
  page
    .locator("#summary > div")
    .evaluateAll((all) =>
      Object.fromEntries(
        all.map((one) => [
          one.querySelector("dt").textContent,
          Number.parseFloat(one.querySelector("dd").firstChild.textContent.replaceAll(",", "")),
        ]),
      ),
    );

/** The cells of a line without quotes or commas inside, which those of German Credit are. */
const column = (lines, name) => {
  const place = lines[0].split(",").indexOf(name);
  return lines.slice(1).map((line) => line.split(",")[place]);
};

test("a table is answered, summed up, and downloaded as the command line writes it", async () => {
  const page = await browser.open({ path: "/#table" });
  await answerAll(page, fileURLToPath(GERMAN_CREDIT));
  const expected = join(folder, "expected.csv");
  execFileSync(binary(), ["recourse", model(), fileURLToPath(GERMAN_CREDIT), "--out", expected]);
  const lines = readFileSync(expected, "utf8").trim().split("\n");
  const statuses = column(lines, "status");
  const of = (status) => statuses.filter((one) => one === status).length;
  const tile = await tiles(page);
  assert.equal(tile.people, 1000);
  assert.equal(tile.denied, of("found") + of("not_found"));
  assert.equal(tile["of them with a way"], of("found"));
  assert.equal(tile["of them without"], of("not_found"));

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download all answers" }).click();
  const file = await download;
  assert.equal(file.suggestedFilename(), "german_credit-recourse.csv");
  assert.equal(readFileSync(await file.path(), "utf8"), readFileSync(expected, "utf8"));
  browser.check();
});

test("groups are compared by a category and by quarters of a number", async () => {
  const page = await browser.open({ path: "/#table" });
  await answerAll(page, fileURLToPath(GERMAN_CREDIT));
  const rows = () =>
    page
      .locator("#groups tbody tr")
      .evaluateAll((all) =>
        all.map((row) =>
          [...row.children].map((cell) => (cell.querySelector(".share-words") ?? cell).textContent),
        ),
      );
  await page.locator("#group-by").selectOption({ label: "Housing" });
  const housing = column(table(), "Housing");
  const count = (value) => String(housing.filter((one) => one === value).length);
  assert.deepEqual(
    (await rows()).map((row) => row.slice(0, 2)),
    [
      ["rented", count("A151")],
      ["owned", count("A152")],
      ["rent free", count("A153")],
    ],
  );
  const [people, denied] = await page
    .locator("#groups tbody tr")
    .first()
    .locator("td")
    .nth(1)
    .getAttribute("title")
    .then((title) => [title.split(" of ")[1].split(" ")[0], title.split(" ")[0]].map(Number));
  assert.equal(people, Number(count("A151")));
  assert.ok(denied > 0 && denied < people);
  await page.locator("#group-by").selectOption({ label: "Duration" });
  const quarters = await rows();
  assert.deepEqual(
    quarters.map((row) => row[0]),
    ["up to 12 months", "over 12, up to 18 months", "over 18, up to 24 months", "over 24 months"],
  );
  assert.equal(
    quarters.reduce((sum, row) => sum + Number(row[1]), 0),
    1000,
  );
  browser.check();
});

test("answers are sorted, filtered, turned page by page and opened", async () => {
  const page = await browser.open({ path: "/#table" });
  await answerAll(page, fileURLToPath(GERMAN_CREDIT));
  const firsts = () =>
    page.locator("#answers tbody tr").evaluateAll((all) => all.map((row) => row.children[2].textContent));
  assert.equal((await firsts()).length, 50);
  await page.getByRole("button", { name: "Now" }).click();
  const rising = (await firsts()).map((text) => Number.parseFloat(text));
  assert.deepEqual(
    rising,
    [...rising].sort((one, other) => one - other),
  );
  assert.equal(await page.locator("#answers th[aria-sort]").getAttribute("aria-sort"), "ascending");
  await page.locator("#show").selectOption("found");
  assert.deepEqual([...new Set(await page.locator("#answers .kind").allTextContents())], ["Denied"]);
  await page.getByRole("button", { name: "Next" }).click();
  assert.match(await page.locator("#answers .pager").innerText(), /51 to 100 of/);
  const row = page.locator("#answers tbody tr").first();
  const [id, now] = [await row.locator("th").innerText(), await row.locator("td").nth(1).innerText()];
  await row.getByRole("button", { name: `Open person ${id}` }).click();
  // Until the answer is there, that to the previous person stays.
  await page.locator("#decision", { hasText: now }).waitFor();
  await page.goBack();
  await page.locator("#answers tbody tr").first().waitFor();
  browser.check();
});

test("what everybody keeps is in no way", async () => {
  const page = await browser.open({ path: "/#table" });
  await page.locator("#locks label").first().waitFor({ state: "attached" });
  await page.getByText("Keep for everybody").click();
  await page.locator("#locks").getByLabel("Duration").check();
  await page.locator("#locks").getByLabel("Credit amount").check();
  await page.getByText("Keep for everybody").click();
  const some = join(folder, "some.csv");
  writeFileSync(some, table().slice(0, 101).join("\n"));
  await answerAll(page, some);
  await page.locator("#show").selectOption("found");
  const words = await page.locator("#answers td.words").allTextContents();
  assert.ok(
    words.length > 5 && words.every((text) => !/Duration|Credit amount/.test(text)),
    words.join("\n"),
  );
  browser.check();
});

test("rows that cannot be read are listed with their reason, and the others are answered", async () => {
  const lines = table().slice(0, 31);
  lines[5] = lines[5].replace(/A15[123]/, "A999");
  lines[9] = "9,A11,6";
  lines[12] = lines[12]
    .split(",")
    .map((cell) => `"${cell}"`)
    .join(",");
  const broken = join(folder, "broken.csv");
  writeFileSync(broken, lines.join("\r\n"));
  const page = await browser.open({ path: "/#table" });
  await answerAll(page, broken);
  assert.match(
    await page.locator("#unread").innerText(),
    /2 rows could not be read[\s\S]*Row 5[\s\S]*A999[\s\S]*Row 9[\s\S]*expected 22 cells, found 3/,
  );
  assert.equal((await tiles(page)).people, 28);
  browser.check();
});

test("a table without a needed column is reported before it is sent", async () => {
  const wrong = join(folder, "wrong.csv");
  writeFileSync(wrong, "id;Duration\n1;2\n");
  const page = await browser.open({ path: "/#table" });
  await page.locator("#locks label").first().waitFor({ state: "attached" });
  await page.setInputFiles("#file", wrong);
  await page.locator("#file-about", { hasText: "has no column" }).waitFor();
  assert.ok(await page.getByRole("button", { name: "Answer everybody" }).isDisabled());
  browser.check();
});

test("answering can be cancelled, and what was answered stays", async () => {
  const [header, ...rows] = table();
  const long = join(folder, "long.csv");
  writeFileSync(long, [header, ...Array.from({ length: 8 }, () => rows).flat()].join("\n"));
  const page = await browser.open({ path: "/#table" });
  await page.route("**/v1/recourse/batch*", async (route) => {
    if (!route.request().url().includes("first=1&") && !route.request().url().endsWith("first=1"))
      await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue().catch(() => {});
  });
  await page.locator("#locks label").first().waitFor({ state: "attached" });
  await page.setInputFiles("#file", long);
  await page.getByRole("button", { name: "Answer everybody" }).click();
  await page.locator("#progress-words", { hasText: /^[1-9][\d,]* of 8,000/ }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator("#file-about", { hasText: "of 8,000 answered" }).waitFor();
  const { people } = await tiles(page);
  assert.ok(people >= 500 && people < 8000, `${people}`);
  browser.check();
});
