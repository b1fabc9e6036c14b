// What people type, in two languages, and what is no number.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadModules } from "./support.mjs";

let page;
before(async () => { page = await loadModules("base/parse.ts", "state.ts"); });
after(() => page.close());

function check(parse, cases, refused) {
  for (const [text, value] of cases) assert.deepEqual(parse(text), value, text);
  for (const text of refused) assert.equal(parse(text), undefined, text);
}

test("counts", () => check(page.parseCount,
  [["100M", 100_000_000n], ["1.5 billion", 1_500_000_000n], ["1e8", 100_000_000n], ["100,000,000", 100_000_000n],
    ["12 000", 12_000n], ["1亿", 100_000_000n], ["2.5亿", 250_000_000n], ["3000万", 30_000_000n], ["0", 0n],
    ["18446744073709551615", 2n ** 64n - 1n]],
  ["", "many", "1.5", "-1", "1e-3", "18446744073709551616", "1e999", "100X", "1,", "9".repeat(50)]));

test("rates", () => check(page.parseFpr,
  [["0.1%", 0.001], ["0.1 %", 0.001], ["1‰", 0.001], ["1 in 1000", 0.001], ["1/1000", 0.001], ["1 in 1M", 1e-6],
    ["1e-3", 0.001], [".5", 0.5], ["千分之一", 0.001], ["1000分之1", 0.001], ["万分之三", 0.0003], ["5 percent", 0.05]],
  ["", "0", "1", "100%", "1/0", "1 in 1", "2/1", "-0.1", "%", "often", "1e-400"]));

test("sizes", () => check(page.parseSize,
  [["1GiB", { bits: 1n << 33n }], ["1 gib", { bits: 1n << 33n }], ["200 MB", { bits: 1_600_000_000n }], ["8G", { bits: 8_000_000_000n }],
    ["8 Gbit", { bits: 8_000_000_000n }], ["512", { bits: 512n }], ["64B", { bits: 512n }], ["27.03GiB", { bits: 232185932021n }],
    ["16 bits/key", { bitsPerKey: 16 }], ["16/key", { bitsPerKey: 16 }], ["9.6 bits per key", { bitsPerKey: 9.6 }],
    ["16 bits each", { bitsPerKey: 16 }], ["16位/键", { bitsPerKey: 16 }], ["4字节", { bits: 32n }]],
  ["", "big", "1XB", "1i", "-1MB", "0/key", "1e30GiB"]));

test("prices", () => check(page.parsePrice,
  [["$5", { amount: 5, currency: "$" }], ["5 €", { amount: 5, currency: "€" }], ["¥0.35", { amount: 0.35, currency: "¥" }], ["20", { amount: 20, currency: "" }]],
  ["", "cheap", "-5", "1.2.3"]));

test("an address keeps what was typed, and leaves out what is as at first", () => {
  const first = page.readAddress("");
  assert.equal(page.addressOf(first), "");
  const typed = { fields: { ...first.fields, n: "", m: "1 GiB & more", layout: "blocked2", price: "€7" }, language: "zh" };
  assert.deepEqual(page.readAddress(page.addressOf(typed)), typed);
  assert.equal(page.readAddress("#layout=round&lang=xx").fields.layout, "");
});
