// The page plans what the tool plans: 1,000 random inputs through both.
//
// Bits, hashes and items must be the same; rates may differ in their last digits, since the two
// are compiled against different mathematical libraries (lgamma of 10^6 keys loses six of sixteen
// digits), which is far below what moves a plan by one line. And where up to 2^8 terms cancel to
// the rate of a line, by what x86's long double has no digits for (src/plan/shared_words.hpp).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compile, loadModules, plan } from "./support.mjs";

const INPUTS = 1000;
const AT_ONCE = 4;
const RELATIVE = 1e-8, ABSOLUTE = 2 ** 8 * 1e-18;

let page;
before(async () => { page = await loadModules("case.ts", "commands.ts", "planner.ts", "texts/index.ts", "texts/refusals.ts"); });
after(() => page.close());

// xorshift: the same inputs in every run.
let state = 20260101;
function random() {
  state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}
const pick = (list) => list[Math.floor(random() * list.length)];
const between = (low, high) => low * (high / low) ** random();

const items = () => pick([
  () => `${Math.round(between(1, 1e6))}`, () => `${Math.round(between(1, 999))}M`,
  () => `${between(1, 90).toFixed(1)}G`, () => `${Math.round(between(1, 9))}e${Math.floor(between(1, 13))}`,
  () => "0", () => "11T"])();
const rate = () => pick([
  () => between(1e-9, 0.5).toPrecision(3), () => `${between(0.001, 60).toFixed(3)}%`,
  () => `1/${Math.round(between(2, 1e7))}`, () => `1e-${Math.floor(between(1, 18))}`])();
const size = () => pick([
  () => `${Math.round(between(1, 1e9))}`, () => `${Math.round(between(1, 900))}M`,
  () => `${Math.round(between(1, 4000))}KiB`, () => `${Math.round(between(1, 400)) / 2}GiB`, () => `${Math.round(between(1, 200))}G`])();
const hashes = () => String(Math.floor(between(1, 20)));

function randomFields() {
  const fields = { n: "", p: "", m: "", k: "", layout: pick(["", "", "blocked", "blocked2", "standard"]), length: "40", load: "1", price: "1" };
  const given = pick(["np", "np", "nm", "pm", "nk", "mk", "pk", "npk", "nmk", "pmk", "npm"]);
  if (given.includes("n")) fields.n = items();
  if (given.includes("p")) fields.p = rate();
  if (given.includes("m")) fields.m = size();
  if (given.includes("k")) fields.k = hashes();
  return fields;
}

function flagsOf(fields) {
  const flags = [];
  for (const [name, flag] of [["n", "-n"], ["p", "-p"], ["m", "--bits"], ["k", "--hashes"], ["layout", "--layout"]])
    if (fields[name] !== "") flags.push(flag, fields[name]);
  return flags;
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
function near(found, wanted, what) {
  assert.ok(Math.abs(found - wanted) <= RELATIVE * wanted + ABSOLUTE, `${what}: the page says ${found}, the tool ${wanted}`);
}

function compare(fields, found, answer) {
  const what = JSON.stringify(fields);
  if (answer.refusal !== undefined) {
    // The tool tells the reason of the first layout that it tried.
    const layout = fields.layout || "blocked";
    assert.equal(found.refusals[layout], sentence(answer.refusal), what);
    return false;
  }
  for (const row of answer.json.layouts) {
    if (row.error !== undefined) {
      assert.equal(found.refusals[row.layout], sentence(row.error), what);
      continue;
    }
    const mine = found.plans[row.layout];
    assert.ok(mine, `${what}: the page has no plan for ${row.layout}: ${found.refusals[row.layout]}`);
    assert.deepEqual([mine.bits, mine.hashes, mine.items], [row.bits, row.hashes, row.capacity], `${what} ${row.layout}`);
    near(mine.fpr, row.fpr, what);
    for (const load of [1, 2, 3, 4]) near(page.fprAt(mine, mine.items * load), row.fpr_at[`${load}x`], `${what} at ${load}x`);
    if (row.default && fields.layout === "") assert.equal(found.automatic, row.layout, what);
  }
  return true;
}

test("the page and the tool agree on 1,000 random inputs", async () => {
  let planned = 0;
  const queue = Array.from({ length: INPUTS }, randomFields);
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let fields = queue.pop(); fields; fields = queue.pop()) {
      const answer = await plan(flagsOf(fields));
      const found = page.workOut(fields);
      // What the tool's parsers refuse the page may take (11 % written 1 of 9), not the reverse.
      if (/ is not /.test(answer.refusal ?? "")) assert.fail(`${JSON.stringify(fields)}: ${answer.refusal}`);
      if (compare(fields, found, answer)) ++planned;
      // The line to copy asks for the same.
      if (queue.length % 20 === 0 && found.plan) {
        const again = await plan(page.toolFlags(found).split(" "));
        assert.deepEqual(again, answer, `${JSON.stringify(fields)}: ${page.toolFlags(found)}`);
      }
    }
  }));
  assert.ok(planned > INPUTS / 2 && planned < INPUTS, `${planned} of ${INPUTS} had a plan`);
});

test("the textbook's table is the tool's", async () => {
  const { json } = await plan(["--table"]);
  assert.equal(json.fprs.length, 31 * 8);
  for (const row of json.fprs) near(page.textbookFpr(row.bits_per_key, row.hashes), row.fpr, JSON.stringify(row));
});

// Warnings are errors, as whoever copies a line may have it.
test("the C++ to copy compiles", async () => {
  const first = { n: "", p: "", m: "", k: "", layout: "", length: "40", load: "1", price: "1" };
  const cases = [{ n: "100M", p: "0.1%" }, { n: "1G", p: "1e-9", layout: "blocked2" }, { m: "1GiB", p: "1%" },
    { n: "3M", m: "16 bits/key", k: "8", layout: "standard" }, { m: "512KiB", k: "7" }];
  const lines = cases.map((fields) => page.cppLines(page.workOut({ ...first, ...fields })).split("\n"));
  const program = ["#include <bloomery/bloomery.hpp>", ...lines.map((each, i) => `void f${i}() {\n${each.slice(2).join("\n")}\n}`)];
  await compile(program.join("\n"));
});

// Every sentence of the library that the page can meet has a Chinese one.
test("refusals are in Chinese on a Chinese page", () => {
  globalThis.document ??= { documentElement: {} };
  page.setLanguage("zh");
  const layouts = ["blocked", "blocked2", "standard"];
  const requests = [{}, { items: 0n, fpr: 0.1 }, { items: 10n ** 14n, fpr: 0.1 }, { items: 5n, fpr: 0.9 },
    { items: 5n, fpr: 0.1, hashes: 99 }, { items: 5n, fpr: 0.1, hashes: 3, layout: "blocked2" },
    { items: 5n, bits: 1n << 50n }, { items: 10n ** 13n, fpr: 1e-9 }, { items: 10n ** 13n, bits: 512n },
    { fpr: 1e-15, bits: 512n, hashes: 1 }, { items: 10n ** 13n, hashes: 16 }, { fpr: 1e-9, hashes: 1 },
    { fpr: 0.01, hashes: 7 }, { items: 1000n, bits: 512n, fpr: 0.001 }, { items: 5n, bits: 0n }, { items: 5n }];
  for (const request of requests) {
    let refused = 0;
    for (const layout of request.layout ? [request.layout] : layouts)
      try {
        page.solve({ ...request, layout });
      } catch (error) {
        ++refused;
        const text = page.refusalText(error.message);
        assert.match(text, /[一-龥].*。$/, `${error.message}: ${text}`);
      }
    assert.ok(refused > 0, `${Object.keys(request)} is refused by no layout`);
  }
  page.setLanguage("en");
});
