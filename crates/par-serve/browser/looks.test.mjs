import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { answered, APPLICANT, browse, GERMAN_CREDIT, openWith, serve } from "./service.mjs";

const WIDTHS = [360, 768, 1440];
const THEMES = ["light", "dark"];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let service;
let browser;
before(async () => {
  service = await serve();
  browser = await browse(service.address);
  if (process.env.PAR_SCREENSHOTS) mkdirSync(process.env.PAR_SCREENSHOTS, { recursive: true });
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const VIEWS = {
  person: async (page) => {
    await answered(page);
    await page.locator("#points input").first().waitFor();
  },
  table: async (page) => {
    await page.locator("#locks label").first().waitFor({ state: "attached" });
    const lines = readFileSync(GERMAN_CREDIT, "utf8").split("\n").slice(0, 301);
    await page.setInputFiles("#file", {
      name: "people.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(lines.join("\n")),
    });
    await page.getByRole("button", { name: "Answer everybody" }).click();
    await page.locator("#file-about", { hasText: "answered" }).waitFor({ timeout: 60_000 });
    await page.locator("#group-by").selectOption({ label: "Housing" });
  },
};

const paths = { person: "/", table: "/#table" };

async function picture(page, name) {
  if (process.env.PAR_SCREENSHOTS)
    await page.screenshot({ path: join(process.env.PAR_SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** The serious findings of axe. The browser injects it, since the page allows no other scripts. */
async function serious(page) {
  const { violations } = await page.evaluate(
    `${AXE}\n;axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] })`,
  );
  return violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

for (const [view, ready] of Object.entries(VIEWS)) {
  for (const theme of THEMES) {
    test(`the ${view} fits every width in the ${theme}, and nothing serious keeps anybody out`, async () => {
      for (const width of WIDTHS) {
        const phone = width === 360;
        const page = await browser.open({
          path: paths[view],
          width,
          height: phone ? 780 : 1000,
          theme,
          isMobile: phone,
          hasTouch: phone,
        });
        await ready(page);
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
        const wide = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
        assert.ok(wide[0] <= wide[1] && wide[1] <= width, `${wide[0]} of ${width} pixels`);
        await page.waitForTimeout(250);
        await picture(page, `${view}-${width}-${theme}`);
        if (width !== 768) assert.deepEqual(await serious(page), [], `${view} ${width} ${theme}`);
        await page.context().close();
      }
      browser.check();
    });
  }
}

test("what can be touched is large enough on a phone", async () => {
  const page = await browser.open({ width: 360, height: 780, isMobile: true, hasTouch: true });
  await answered(page);
  await page.locator("#sheet summary").click();
  const small = await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input:not([type=radio], [type=checkbox]), summary, nav a")]
      .filter((one) => one.checkVisibility())
      .map((one) => [
        one.id || one.textContent.trim() || one.getAttribute("aria-label"),
        one.getBoundingClientRect().height,
      ])
      .filter(([, height]) => height > 0 && height < 44),
  );
  assert.deepEqual(small, []);
  await picture(page, "person-360-details");
  browser.check();
});

test("dark colours are a switch that is remembered", async () => {
  const page = await browser.open({ theme: "light" });
  await answered(page);
  const colours = () =>
    page.evaluate(() => [
      document.documentElement.dataset.theme,
      getComputedStyle(document.body).backgroundColor,
    ]);
  assert.deepEqual(await colours(), ["light", "rgb(251, 250, 248)"]);
  await page.getByRole("button", { name: "Dark colours" }).click();
  assert.deepEqual(await colours(), ["dark", "rgb(20, 24, 27)"]);
  await page.reload();
  await answered(page);
  assert.deepEqual(await colours(), ["dark", "rgb(20, 24, 27)"]);
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), ["par-theme"]);
  browser.check();
});

test("on paper it is a letter of at most two pages, without controls", async () => {
  const page = await openWith(browser, APPLICANT, { theme: "dark" });
  const pdf = await page.pdf({ format: "A4" });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
  assert.ok(pdf.length > 5000 && pages <= 2, `${pdf.length} bytes, ${pages} pages`);
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() =>
    [...document.querySelectorAll("button, select, input, nav, #form, #frontier")]
      .filter((one) => one.checkVisibility())
      .map((one) => one.outerHTML.slice(0, 80)),
  );
  assert.deepEqual(shown, []);
  assert.match(await page.locator("#letter").innerText(), /Duration\s+48 months[\s\S]*Housing\s+owned/);
  assert.match(await page.locator("#ways").innerText(), /First way/);
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    "rgb(255, 255, 255)",
  );
  await picture(page, "letter");
  browser.check();
});

test("somebody who asks for less motion gets none", async () => {
  const page = await browser.open({ reducedMotion: "reduce" });
  await answered(page);
  assert.equal(
    await page.locator("#decision .fill").evaluate((fill) => getComputedStyle(fill).transitionDuration),
    "0s",
  );
  browser.check();
});
