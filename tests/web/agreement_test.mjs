// The page plans what the tool plans: random inputs for every kind of filter through both.
//
// Bits, hashes and items must be the same; false-positive rates may differ in their last digits, since
// the two are compiled against different mathematical libraries (lgamma of 10^6 keys loses six of
// sixteen digits), which is far below what moves a plan by one block. Where the terms of a block's rate
// cancel each other, the rate may also differ by what double-doubles have no digits for
// (src/plan/double_double.hpp).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compile, loadModules, plan } from "./support.mjs";

const TIMES = process.env.BLOOMERY_NIGHTLY ? 20 : 1;
const INPUTS = { plain: 200 * TIMES, counting: 50 * TIMES, scalable: 40 * TIMES, window: 50 * TIMES, frozen: 40 * TIMES };
const AT_ONCE = 4;
const RELATIVE = 1e-8;
const ABSOLUTE = 1e-30;

let page;
before(async () => { page = await loadModules("case.ts", "commands.ts", "planner.ts", "state.ts", "texts/index.ts", "texts/refusals.ts"); });
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

const NOTHING = { kind: "plain", n: "", p: "", m: "", k: "", layout: "", growth: "", window: "", slices: "", delta: "", length: "40", load: "1", price: "1" };
const window = () => pick([
  () => `${Math.round(between(1, 90))}${pick(["s", "min", "h", "d", "w"])}`, () => `${Math.round(between(1, 900))}M`, () => "1.5h", () => "5"])();

function randomFields(kind) {
  const fields = { ...NOTHING, kind };
  const given = kind === "plain" || kind === "counting"
    ? pick(["np", "np", "nm", "pm", "nk", "mk", "pk", "npk", "nmk", "pmk", "npm"])
    : pick(["np", "np", "np", "np", "np", "n", "p"]);
  if (given.includes("n")) fields.n = items();
  if (given.includes("p")) fields.p = rate();
  if (given.includes("m")) fields.m = size();
  if (given.includes("k")) fields.k = hashes();
  if (kind === "scalable") fields.growth = pick(["", "1", "2", "4", "10", "1001"]);
  if (kind === "window") {
    fields.window = pick([window, window, window, () => ""])();
    fields.slices = pick(["", "1", "4", "16", "65"]);
  }
  if (kind === "frozen") fields.delta = pick(["", "", "1", "1000", "1M", "0"]);
  fields.layout = pick(["", "", ...page.layoutsOf(kind)]);
  return fields;
}

function flagsOf(fields) {
  const flags = fields.kind === "plain" ? [] : ["--kind", fields.kind];
  for (const [name, flag] of [["n", "-n"], ["p", "-p"], ["m", "--bits"], ["k", "--hashes"], ["growth", "--growth"], ["window", "--window"], ["slices", "--slices"], ["delta", "--delta"]])
    if (fields[name] !== "") flags.push(flag, fields[name]);
  if (fields.kind === "counting" && fields.layout !== "") flags.push("--counter-bits", fields.layout === "blocked64" ? "8" : "4");
  else if (fields.layout !== "" && fields.layout !== "fuse") flags.push("--layout", fields.layout);
  return flags;
}

// The tool's words, with the names that the page has for its fields.
const sentence = (text) => {
  const named = [["-n", "items"], ["-p", "false-positive rate"], ["--bits", "memory"], ["--hashes", "hashes"], ["--window", "window"], ["--delta", "delta"]]
    .reduce((all, [flag, name]) => all.replace(new RegExp(`(?<!\\S)${flag}(?=[ ,]|$)`), name), text);
  return `${named.charAt(0).toUpperCase()}${named.slice(1)}.`;
};
function near(found, wanted, what) {
  assert.ok(Math.abs(found - wanted) <= RELATIVE * wanted + ABSOLUTE, `${what}: the page says ${found}, the tool ${wanted}`);
}

function compareKind(mine, row, what) {
  near(mine.fpr, row.fpr, what);
  if (mine.kind === "counting") {
    assert.deepEqual([mine.part.bits, mine.counterBits], [row.counters, row.counter_bits], what);
    for (const times of [1, 2, 5, 20, 100])
      near(page.saturation(mine, times), row.saturated_at[`${times}x`], `${what} added ${times} times`);
  } else if (mine.kind === "scalable") {
    assert.deepEqual([mine.growth, mine.tightening], [row.growth, row.tightening], what);
    assert.deepEqual(page.subFilters(mine).map(({ items, hashes, bytes }) => [items, hashes, bytes]),
      row.sub_filters.map((each) => [each.capacity, each.hashes, each.bytes]), what);
  } else if (mine.kind === "frozen") {
    assert.deepEqual([mine.fingerprintBits, mine.narrow, mine.buildingBytes, mine.spoolBytes],
      [row.fingerprint_bits, row.narrow_partitions !== 0, row.building_bytes, row.building_file_bytes], what);
    const delta = row.delta ?? { capacity: 0, bytes: 0, fpr: 0 };
    assert.deepEqual([mine.delta.items, mine.delta.bytes], [delta.capacity, delta.bytes], what);
    near(mine.delta.fpr, delta.fpr, what);
  } else if (mine.kind === "window") {
    assert.deepEqual([mine.unit, mine.window, mine.slices, mine.part.bits], [row.unit, row.window, row.slices, row.slice.bits], what);
  }
}

function compare(fields, found, answer) {
  const what = JSON.stringify(fields);
  const layouts = page.layoutsOf(fields.kind);
  if (answer.refusal !== undefined) {
    // The tool tells the reason of the first layout that it tried.
    assert.equal(found.refusals[fields.layout || layouts[0]], sentence(answer.refusal), what);
    assert.equal(found.plan, undefined, what);
    assert.equal(Object.keys(found.complaints).length, 1, what);
    return false;
  }
  for (const row of answer.json.layouts) {
    // The page has a plan for what may be asked for; the tool says what came of it.
    const choice = page.choiceOf(row.layout);
    if (row.error !== undefined) {
      assert.equal(found.refusals[choice], sentence(row.error), what);
      continue;
    }
    const mine = found.plans[choice];
    assert.ok(mine, `${what}: the page has no plan for ${row.layout}: ${found.refusals[choice]}`);
    assert.equal(mine.layout, row.layout, what);
    // The last digit of a logarithm is another one in the page's C library than in the tool's, and may
    // move the size of a filter of many gigabytes by a block.
    if (mine.bytes !== row.bytes && Math.abs(mine.bytes - row.bytes) <= 1e-7 * row.bytes) continue;
    assert.deepEqual([mine.bytes, mine.items], [row.bytes, row.capacity], `${what} ${row.layout}`);
    // Where no digit of the rate is right, one number of hashes is as good as another.
    if (row.fpr_at["1x"] < 10 * ABSOLUTE) continue;
    assert.equal(mine.hashes, row.hashes, `${what} ${row.layout}`);
    compareKind(mine, row, `${what} ${row.layout}`);
    for (const load of [1, 2, 3, 4])
      if (row.fpr_at[`${load}x`] === undefined) assert.ok(Number.isNaN(page.fprAt(mine, mine.items * load)), what);
      else near(page.fprAt(mine, mine.items * load), row.fpr_at[`${load}x`], `${what} at ${load}x`);
    // The same bits and hashes, asked for as such.
    if (fields.kind !== "scalable" && fields.kind !== "frozen") near(page.fprWith(mine, 1, mine.hashes, mine.items), row.fpr_at["1x"], what);
    if (row.default && fields.layout === "") assert.equal(found.automatic, choice, what);
  }
  return true;
}

for (const [kind, inputs] of Object.entries(INPUTS))
  test(`the page and the tool agree on ${inputs} random ${kind} filters`, async () => {
    let planned = 0;
    const queue = Array.from({ length: inputs }, () => randomFields(kind));
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      for (let fields = queue.pop(); fields; fields = queue.pop()) {
        const answer = await plan(flagsOf(fields));
        const found = page.workOut(fields);
        if (compare(fields, found, answer)) ++planned;
        // The line to copy asks for the same.
        if (queue.length % 10 === 0 && found.plan) {
          const again = await plan(page.toolFlags(found).split(" "));
          assert.deepEqual(again, answer, `${JSON.stringify(fields)}: ${page.toolFlags(found)}`);
        }
      }
    }));
    assert.ok(planned > inputs / 8 && planned < inputs, `${planned} of ${inputs} had a plan`);
  });

test("the textbook's table is the tool's", async () => {
  const { json } = await plan(["--table"]);
  assert.equal(json.fprs.length, 31 * 8);
  for (const row of json.fprs) near(page.textbookFpr(row.bits_per_key, row.hashes), row.fpr, JSON.stringify(row));
});

// Warnings are errors, as they may be in the build of a user who copies a line.
test("the C++ to copy compiles", async () => {
  const cases = [{ n: "100M", p: "0.1%" }, { n: "1G", p: "1e-9", layout: "blocked2" }, { m: "1GiB", p: "1%" },
    { n: "3M", m: "16 bits/key", k: "8", layout: "standard" }, { m: "512KiB", k: "7" },
    { kind: "counting", n: "1M", p: "1%" }, { kind: "counting", n: "1M", p: "1%", layout: "blocked64" },
    { kind: "counting", n: "1M", m: "8MiB" }, { kind: "counting", m: "8MiB", k: "5", layout: "blocked64" },
    { kind: "counting", n: "1M", p: "1e-9" },
    { kind: "scalable", n: "1M", p: "1%" }, { kind: "scalable", n: "1M", p: "1%", growth: "4" },
    { kind: "scalable", n: "1M", p: "1%", layout: "standard" },
    { kind: "window", n: "1M", p: "1%", window: "7d" }, { kind: "window", p: "1%", window: "10M lines", slices: "4" },
    { kind: "window", n: "1M", p: "1%", window: "90s", layout: "blocked2" }, { kind: "frozen", n: "1M", p: "0.1%" },
    { kind: "frozen", n: "1M", p: "0.1%", delta: "10K" }];
  const lines = cases.map((fields) => {
    const found = page.workOut({ ...NOTHING, ...fields });
    return page.cppLines(found, found.plan).split("\n");
  });
  const program = ["#include <bloomery/bloomery.hpp>", ...lines.map((each, i) => `void f${i}() {\n${each.slice(2).join("\n")}\n}`)];
  await compile(program.join("\n"));
});

// Every sentence of the library that the page can meet has a Chinese one, and stands at a field.
test("refusals are in Chinese on a Chinese page", () => {
  globalThis.document ??= { documentElement: {} };
  page.setLanguage("zh");
  const cases = [["n", {}], ["n", { n: "0", p: "0.1" }], ["n", { n: "100T", p: "0.1" }], ["p", { n: "5", p: "0.9" }],
    ["k", { n: "5", p: "0.1", k: "99" }], ["k", { n: "5", p: "0.1", k: "3", layout: "blocked2" }],
    ["m", { n: "5", m: "1e15" }], ["n", { n: "10T", p: "1e-9" }], ["m", { n: "10T", m: "512" }],
    ["m", { p: "1e-15", m: "512", k: "1" }], ["k", { n: "10T", k: "16" }], ["k", { p: "1e-9", k: "1" }],
    ["n", { p: "0.01", k: "7" }], ["m", { n: "1000", m: "512", p: "0.001" }], ["m", { n: "5", m: "0" }], ["p", { n: "5" }],
    ["m", { kind: "counting", n: "5", m: "1e15" }], ["n", { kind: "counting", n: "10T", p: "1%" }],
    ["k", { kind: "counting", n: "10T", k: "16" }], ["p", { kind: "counting", n: "1M", p: "1e-15", layout: "blocked64" }],
    ["n", { kind: "scalable", p: "1%" }], ["p", { kind: "scalable", n: "5" }], ["growth", { kind: "scalable", n: "5", p: "1%", growth: "0" }],
    ["p", { kind: "scalable", n: "5", p: "1e-15" }],
    ["window", { kind: "window", n: "5", p: "1%" }], ["n", { kind: "window", p: "1%", window: "7d" }], ["p", { kind: "window", n: "5", window: "7d" }],
    ["p", { kind: "window", n: "5", p: "1e-15", window: "7d" }], ["slices", { kind: "window", n: "5", p: "1%", window: "7d", slices: "65" }],
    ["window", { kind: "window", n: "5", p: "1%", window: "3s" }], ["window", { kind: "window", n: "5", p: "1%", window: "18446744073709551615" }],
    ["n", { kind: "window", n: "5M", p: "1%", window: "1M" }], ["n", { kind: "window", n: "500G", p: "1%", window: "1d" }],
    ["n", { kind: "window", n: "0", p: "1%", window: "1d" }],
    ["n", { kind: "frozen", p: "1%" }], ["p", { kind: "frozen", n: "5" }], ["n", { kind: "frozen", n: "100G", p: "1%" }],
    ["p", { kind: "frozen", n: "5", p: "1e-10" }], ["p", { kind: "frozen", n: "5", p: "1e-9", delta: "5" }],
    ["delta", { kind: "frozen", n: "5", p: "1%", delta: "0" }]];
  for (const [field, fields] of cases) {
    const { plan, complaints } = page.workOut({ ...NOTHING, ...fields });
    assert.equal(plan, undefined, JSON.stringify(fields));
    assert.deepEqual(Object.keys(complaints), [field], JSON.stringify(fields));
    assert.match(complaints[field], /[一-龥].*。$/, JSON.stringify(fields));
  }
  page.setLanguage("en");
});
