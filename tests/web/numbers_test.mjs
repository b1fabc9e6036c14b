// What people type, by the table that the tool is tried with too; prices; and the address.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { loadModules } from "./support.mjs";

let page, table;
before(async () => {
  page = await loadModules("planner.ts", "base/price.ts", "state.ts");
  table = JSON.parse(await readFile(new URL("../cli/numbers.json", import.meta.url), "utf8"));
});
after(() => page.close());

// As the table writes them: whole numbers are BigInts in the page.
const plainly = (value) =>
  typeof value === "bigint" ? String(value)
  : value?.unit ? { [value.unit]: String(value.length) }
  : value?.bits !== undefined ? { bits: String(value.bits) }
  : value?.bitsPerKey !== undefined ? { bits_per_key: value.bitsPerKey }
  : value;
const wanted = (value, whole) =>
  typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, name === "bits_per_key" ? each : String(each)]))
  : whole ? String(value) : value;

const READERS = { counts: ["readCount", true], amounts: ["readAmount", false], fprs: ["readFpr", false], sizes: ["readSize", false], windows: ["readWindow", false] };
for (const [what, [reader, whole]] of Object.entries(READERS))
  test(`${what} are those of the tool`, () => {
    const { read, refused } = table[what];
    assert.ok(read.length > 5 && refused.length > 3);
    for (const [text, value] of read) assert.deepEqual(plainly(page[reader](text)), wanted(value, whole), text);
    for (const text of refused) assert.equal(page[reader](text), undefined, text);
  });

test("prices", () => {
  for (const [text, amount, currency] of [["$5", 5, "$"], ["5 €", 5, "€"], ["¥0.35", 0.35, "¥"], ["20", 20, ""]])
    assert.deepEqual(page.parsePrice(text), { amount, currency }, text);
  for (const text of ["", "cheap", "-5", "1.2.3"]) assert.equal(page.parsePrice(text), undefined, text);
});

test("an address keeps what was typed, and leaves out what is as at first", () => {
  const first = page.readAddress("");
  assert.equal(page.addressOf(first), "");
  const typed = { fields: { ...first.fields, n: "", m: "1 GiB & more", layout: "blocked2", price: "€7" }, language: "zh" };
  assert.deepEqual(page.readAddress(page.addressOf(typed)), typed);
  const window = { fields: { ...first.fields, kind: "window", window: "12 hours", slices: "4" }, language: "en" };
  assert.deepEqual(page.readAddress(page.addressOf(window)), window);
  assert.equal(page.readAddress("#layout=round&kind=cuckoo&lang=xx").fields.layout, "");
  assert.equal(page.readAddress("#kind=cuckoo").fields.kind, "plain");
  // A layout that the kind does not have.
  assert.equal(page.readAddress("#kind=window&layout=standard").fields.layout, "");
});

test("another kind takes over what was worked out, where it has to be given", () => {
  const { fields } = page.readAddress("#n=1M&m=1MiB");
  page.adoptKind(fields, "scalable", { items: 1_000_000, fpr: 0.0123456 });
  assert.deepEqual([fields.kind, fields.n, fields.p, fields.m], ["scalable", "1M", "0.0123", ""]);
  page.adoptKind(fields, "plain", undefined);
  assert.deepEqual([fields.n, fields.p], ["1M", "0.0123"]);
});
