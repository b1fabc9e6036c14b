// The built page in Chromium, opened from the disk as a visitor does.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PATIENCE, pageFile, plan, startBrowser } from "./support.mjs";

let browser;
before(async () => { browser = await startBrowser(); });
after(() => browser.close());

// Opens the page; whatever it complains of, or asks of any network, fails the test at its end.
async function open(t, { hash = "", ...context } = {}) {
  const page = await browser.newPage({ locale: "en-US", viewport: { width: 1280, height: 900 }, ...context });
  page.setDefaultTimeout(PATIENCE);
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!/^(data|file):/.test(request.url())) complaints.push(`it asks for ${request.url()}`);
  });
  t.after(async () => {
    await page.close();
    assert.deepEqual(complaints, []);
  });
  await page.goto(pathToFileURL(pageFile).href + hash);
  await page.waitForSelector("#answer strong, #answer .refusal");
  return page;
}

const hero = (page) => page.textContent(".hero strong").then((text) => text.replace(/\s/g, " "));
const figures = (page) => page.$$eval(".figure", (all) => Object.fromEntries(all.map((figure) =>
  [figure.querySelector("dt").textContent, figure.querySelector("strong").textContent.replace(/\s/g, " ")])));

test("it is one small file", async () => {
  const { size } = await stat(pageFile);
  assert.ok(size < 300_000, `${size} bytes`);
});

test("it plans a hundred million items at one in a thousand", async (t) => {
  const page = await open(t);
  const { json } = await plan(["-n", "100M", "-p", "0.1%"]);
  const row = json.layouts.find((each) => each.default);
  assert.equal(await hero(page), `${(row.bytes / 2 ** 20).toFixed(1)} MiB`);
  const shown = await figures(page);
  assert.equal(shown["hashes"], String(row.hashes));
  assert.equal(shown["bits per key"], row.bits_per_key.toFixed(2));
  assert.equal(shown["false-positive rate"], "0.1 %");
  assert.equal(shown["false answers a day"].replace(/\D.*/, ""), "86"); // 86,400,000 look-ups
  for (const each of json.layouts)
    assert.match(await page.textContent(`tr.${each.layout} .memory`), new RegExp(`${(each.bytes / 2 ** 20).toFixed(1)}\\sMiB`));
});

test("any two numbers are enough, as people write them", async (t) => {
  const page = await open(t);
  const value = (name) => page.inputValue(`#field-${name}`);
  const worked = (name) => page.getAttribute(`#field-${name}`, "placeholder");
  await page.fill("#field-m", "1GiB");
  // Of the first two, the one typed longest ago is worked out now.
  assert.deepEqual([await value("n"), await value("p"), await value("m")], ["100M", "", "1GiB"]);
  assert.notEqual(await worked("p"), "");
  await page.fill("#field-p", "1 in 1000");
  assert.equal(await value("n"), "");
  const { json } = await plan(["-p", "1/1000", "--bits", "1GiB"]);
  const row = json.layouts.find((each) => each.default);
  assert.equal((await worked("n")).replaceAll(",", ""), String(row.capacity));
  await page.fill("#field-n", "2.5 billion");
  await page.fill("#field-m", "16 bits/key");
  assert.equal(await hero(page), "4.7 GiB");
  assert.match(await page.textContent("#redis"), /RedisFilter in shards\): 19 keys/);
});

test("what cannot be is told where it was typed", async (t) => {
  const page = await open(t);
  await page.fill("#field-n", "many");
  assert.match(await page.textContent("#error-n"), /“many” is no count/);
  assert.equal(await page.getAttribute("#field-n", "aria-invalid"), "true");
  await page.fill("#field-n", "11T");
  assert.match(await page.textContent("#answer"), /above the limit of 10\^13/);
  await page.fill("#field-n", "1M");
  assert.equal(await hero(page), "1.9 MiB");
});

test("a link shares the numbers and the language", async (t) => {
  const page = await open(t);
  await page.fill("#field-n", "3M");
  await page.fill("#field-m", "8 MiB");
  await page.click("label[for=layout-blocked2]");
  await page.click("[data-language=zh]");
  const shown = await hero(page);
  const address = new URL(page.url());
  const other = await open(t, { hash: address.hash });
  assert.equal(await hero(other), shown);
  assert.equal(await other.inputValue("#field-m"), "8 MiB");
  assert.equal(await other.getAttribute("html", "lang"), "zh-CN");
  assert.ok(await other.isChecked("#layout-blocked2"));
});

test("the language is the browser's, and every text has both", async (t) => {
  const chinese = await open(t, { locale: "zh-CN" });
  assert.equal(await chinese.textContent("h1"), "布隆过滤器要多大？");
  const english = await open(t, { locale: "fr-FR" });
  assert.equal(await english.textContent("h1"), "How large a Bloom filter?");
  for (const page of [chinese, english])
    assert.doesNotMatch(await page.textContent("main"), /\{\w+\}|undefined|NaN/);
});

test("a filter at 1 % that is filled twice over errs at 15 %", async (t) => {
  const page = await open(t, { hash: "#n=1M&p=1%25&layout=standard" });
  const [, twice] = /at ([\d.]+)\s% with twice/.exec(await page.textContent("#fill-sentence"));
  const { json } = await plan(["-n", "1M", "-p", "1%", "--layout", "standard"]);
  assert.equal(Number(twice), Number((100 * json.layouts[0].fpr_at["2x"]).toPrecision(3)));
  assert.ok(twice > 14 && twice < 16, twice);
  assert.ok(await page.isVisible("#fill-chart canvas"));
  await page.click("#fill-figures summary");
  assert.equal(await page.locator("#fill-figures tbody tr").count(), 6);
});

test("the table of rates is the textbook's, with the best k marked", async (t) => {
  const page = await open(t);
  const { json } = await plan(["--table"]);
  const best = new Map();
  for (const { bits_per_key: bits, hashes, fpr } of json.fprs) {
    const label = await page.getAttribute(`[data-row="${bits}"][data-column="${hashes}"]`, "aria-label");
    if (fpr >= 1e-5) assert.ok(label.includes(`${Number((100 * fpr).toPrecision(3))}\u00a0%`), `${label}: ${fpr}`);
    if (!(best.get(bits)?.fpr <= fpr)) best.set(bits, { hashes, fpr });
  }
  for (const [bits, { hashes }] of best) {
    const marked = await page.$$eval(`[data-row="${bits}"]`, (all) =>
      all.filter((button) => button.parentElement.className === "best").map((button) => button.dataset.column));
    const really = Number(await page.textContent(`tr[data-bits="${bits}"] .beyond`));
    assert.deepEqual(marked, really <= 8 ? [String(hashes)] : [], `${bits} bits per key`);
    if (really <= 8) assert.equal(really, hashes);
    else assert.equal(hashes, 8);
  }
});

test("the example by hand: 100 million addresses, 16 bits each, 8 hashes", async (t) => {
  const page = await open(t);
  assert.match(await page.textContent("#hand"), /0\.0574\s%, 1 in 1,741/);
  await page.click("#hand button");
  assert.equal(await hero(page), "190.7 MiB"); // 200 MB
  assert.equal((await figures(page))["false-positive rate"], "0.0574 %");
});

test("the lines to copy make the plan", async (t) => {
  const page = await open(t, { hash: "#n=3M&p=1%25" });
  const lines = await page.$$eval("#copy code", (all) => all.map((code) => code.textContent));
  assert.equal(lines[0], "bloomery create seen.bloom -n 3M -p 0.01");
  assert.match(lines[1], /bloomery::Filter seen\(3'000'000, 0\.01\);/);
  assert.equal(lines[2], "BF.RESERVE seen 0.01 3000000 NONSCALING");
  assert.match(lines[3], /#n=3M&p=1%25/);
  await page.click("#copy button >> nth=0");
  await page.waitForFunction(() => document.querySelector(".said").textContent !== "");
});

test("the picture: a word is found, another is not, a third is a false positive", async (t) => {
  const page = await open(t, { reducedMotion: "reduce" });
  const verdict = async (kind) => {
    await page.waitForSelector(`.verdict.${kind}`);
    return page.textContent(".verdict");
  };
  const type = async (word, button) => {
    await page.fill("#word", word);
    await page.click(`#picture button.${button}`);
  };
  await type("bloom", "ask");
  assert.match(await verdict("no"), /certainly never added/);
  await type("bloom", "add");
  assert.match(await page.textContent(".verdict"), /turns on bits|has bits/);
  const ones = await page.locator(".bit.on").count();
  assert.ok(ones >= 1 && ones <= 3);
  await type("bloom", "ask");
  assert.match(await verdict("yes"), /Probably added/);
  await page.click("#picture button.find");
  assert.match(await verdict("false"), /never added/);
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
  await page.click("#picture button.quiet");
  assert.equal(await page.locator(".bit.on").count(), 0);
});
