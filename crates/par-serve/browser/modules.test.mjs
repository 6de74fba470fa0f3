import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browse, serve } from "./service.mjs";

let service;
let browser;
let page;
before(async () => {
  service = await serve();
  browser = await browse(service.address);
  page = await browser.open();
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

/** The result of a function of a module of the page. */
const call = (module, name, ...values) =>
  page.evaluate(
    async ([module, name, values]) =>
      (await import(new URL(`page/${module}.js`, document.baseURI)))[name](...values),
    [module, name, values],
  );

test("a table is cut between records, quotes respected", async () => {
  const text = '\ufeffid,"a ""b"""\r\n1,"x\ny"\r\n\r\n2,"""\n"""\n3,5" wide\n4,z\n';
  const { columns, parts, uneven, records } = await call("csv", "cut", text, 2);
  assert.deepEqual(columns, ["id", 'a "b"']);
  assert.equal(records, 4);
  assert.deepEqual(uneven, []);
  const header = 'id,"a ""b"""\n';
  assert.deepEqual(parts, [
    { first: 1, records: 2, text: `${header}1,"x\ny"\n2,"""\n"""\n` },
    { first: 3, records: 2, text: `${header}3,5" wide\n4,z\n` },
  ]);
});

test("a record of another length ends a part and is reported", async () => {
  const { parts, uneven, records } = await call("csv", "cut", "a,b\n1,2\n3\n4,5\n", 500);
  assert.deepEqual(uneven, [{ number: 2, words: "expected 2 cells, found 1" }]);
  assert.deepEqual(
    parts.map((part) => [part.first, part.records]),
    [
      [1, 1],
      [3, 1],
    ],
  );
  assert.equal(records, 3);
});

test("a table of one line, or of none, has no records", async () => {
  assert.deepEqual(await call("csv", "cut", "a,b", 500), {
    columns: ["a", "b"],
    parts: [],
    uneven: [],
    records: 0,
  });
  assert.deepEqual(await call("csv", "cut", "", 500), { columns: [], parts: [], uneven: [], records: 0 });
});

test("shares are rounded, but never across the threshold", async () => {
  const words = [];
  for (const [share, beside] of [
    [0.274, 0.5],
    [0.4999, 0.5],
    [0.503, 0.5],
    [0.5, 0.5],
    [0.001, 0.5],
    [0.999, 0.5],
    [1, 0.5],
    [0.496, 0.5],
  ])
    words.push(await call("words", "percent", share, beside));
  assert.deepEqual(words, [
    "27 %",
    "49.990 %",
    "50.3 %",
    "50 %",
    "under 1 %",
    "over 99 %",
    "100 %",
    "49.6 %",
  ]);
});

test("commonness is rounded down, since 99.9 % are not all", async () => {
  const words = [];
  for (const share of [0.439, 0.999, 1, 0.004]) words.push(await call("words", "commonness", share));
  assert.deepEqual(words, [
    "More common than 43 % of accepted people, given what cannot change",
    "More common than 99 % of accepted people, given what cannot change",
    "More common than all accepted people, given what cannot change",
    "Rarer than nearly all accepted people, given what cannot change",
  ]);
});

test("what a way costs is said in changes, effort and time", async () => {
  const words = [];
  for (const [changes, effort, months] of [
    [1, 4, 0],
    [2, 3.64, 1],
    [3, 10, 12],
    [2, 0.25, 25],
  ])
    words.push(await call("words", "cost", { changes, effort, months }));
  assert.deepEqual(words, [
    "1 change · effort 4.0",
    "2 changes · effort 3.6 · 1 month",
    "3 changes · effort 10.0 · 1 year",
    "2 changes · effort 0.3 · 2 years and 1 month",
  ]);
});

test("a problem finds its feature, whatever its name holds", async () => {
  const found = [];
  for (const path of [
    "/row/Savings account~1bonds",
    "/rows/0/a~0b",
    "/limit/Duration",
    "/effort/Duration",
    "/method",
    "?first",
  ])
    found.push(await call("person", "problemFeature", path));
  assert.deepEqual(found, ["Savings account/bonds", "a~b", "Duration", "Duration", null, null]);
});

test("a sentence comes apart at the name of its feature", async () => {
  const schema = { features: [{ name: "a" }, { name: "a: b" }] };
  assert.deepEqual(await call("frontier", "change", schema, "a: b: 1 → 2 to 3"), {
    feature: "a: b",
    from_words: "1",
    to_words: "2 to 3",
  });
});

test("groups say over how many their means are, and quarters never split equal numbers", async () => {
  const measured = await call("groups", "measures", [
    { kind: "accepted" },
    { kind: "found", changes: 1, effort: 3, percentile: 0.5 },
    { kind: "found", changes: 4, effort: 4, percentile: 1 },
    { kind: "none" },
  ]);
  assert.deepEqual(measured, { people: 4, denied: 3, found: 2, changes: 2.5, effort: 3.5, percentile: 0.75 });
  assert.deepEqual(await call("groups", "measures", [{ kind: "none" }]), {
    people: 1,
    denied: 1,
    found: 0,
    changes: null,
    effort: null,
    percentile: null,
  });
  const names = await page.evaluate(async () => {
    const { groups } = await import(new URL("page/groups.js", document.baseURI));
    const people = ["1", "1", "1", "1", "2", "9", ""].map((cell) => ({ kind: "accepted", cell }));
    return groups(people, { unit: "years" }, (one) => one.cell).map((group) => [group.name, group.people]);
  });
  assert.deepEqual(names, [
    ["up to 1 years", 4],
    ["over 1, up to 2 years", 1],
    ["over 2 years", 1],
    ["unknown", 1],
  ]);
  browser.check();
});
