// The built page in Chromium, opened from the disk as a visitor does.
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { test } from "node:test";
import { goTo, pageFile, plan, visits } from "./support.mjs";

const open = visits({ locale: "en-US" });

const hero = (page) => page.textContent(".hero strong").then((text) => text.replace(/\s/g, " "));
const figures = (page) => page.$$eval(".figure", (all) => Object.fromEntries(all.map((figure) =>
  [figure.querySelector("dt").textContent, figure.querySelector("strong").textContent.replace(/\s/g, " ")])));

test("it is one small file", async () => {
  const { size } = await stat(pageFile);
  assert.ok(size < 310_000, `${size} bytes`);
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
  // Groups of digits are read; what may be a decimal comma is not.
  await page.fill("#field-n", "1,000,000");
  assert.equal(await page.textContent("#error-n"), "");
  await page.fill("#field-n", "1,5M");
  assert.match(await page.textContent("#error-n"), /not a count/);
});

test("what cannot be is told at the field that is wrong", async (t) => {
  const page = await open(t);
  const complaints = () => page.$$eval("#form .error", (all) =>
    Object.fromEntries(all.filter((each) => each.textContent !== "").map((each) => [each.id.replace("error-", ""), each.textContent])));
  await page.fill("#field-n", "many");
  assert.match((await complaints()).n, /“many” is not a count/);
  assert.equal(await page.getAttribute("#field-n", "aria-invalid"), "true");
  assert.equal(await page.textContent("#answer .no-plan"), "No plan yet");
  await page.fill("#field-n", "11T");
  assert.match((await complaints()).n, /above the limit of 10\^13/);
  await page.fill("#field-n", "1M");
  await page.fill("#field-p", "0.6");
  assert.deepEqual(await complaints(), { p: "A false-positive rate of 0.6 is out of range; give one from 1e-15 to 0.5." });
  await page.fill("#field-p", "0.1%");
  await page.fill("#field-k", "17");
  await page.click("label[for=layout-blocked]");
  assert.match((await complaints()).k, /takes 1 to 16 hashes, not 17/);
  await page.fill("#field-k", "");
  await page.click("label[for=kind-window]");
  await page.fill("#field-window", "3s");
  assert.match((await complaints()).window, /3 seconds cannot be cut into 8 slices/);
  await page.fill("#field-slices", "3");
  assert.deepEqual(await complaints(), {});
  await page.click("label[for=kind-plain]");
  assert.equal(await hero(page), "1.9 MiB");
});

// The first thing that a visitor sees, on a small laptop.
test("the whole form is seen at 1280 x 900, whatever the kind", async (t) => {
  const page = await open(t);
  for (const language of ["en", "zh"])
    for (const kind of ["plain", "counting", "scalable", "window", "frozen"]) {
      await goTo(page, `#kind=${kind}&lang=${language}`);
      const [form, answer] = await page.evaluate(() => ["form", "answer"].map((id) => document.getElementById(id).getBoundingClientRect().bottom));
      assert.ok(form <= 900 && answer <= 900, `${kind} ${language}: ${form} ${answer}`);
    }
});

test("every kind is planned as the tool plans it", async (t) => {
  const page = await open(t, { hash: "#n=1M&p=0.1%25" });
  const address = () => new URL(page.url()).hash;
  await page.click("label[for=kind-counting]");
  const counting = (await plan(["--kind", "counting", "-n", "1M", "-p", "0.1%"])).json.layouts;
  assert.equal(await hero(page), `${(counting[0].bytes / 2 ** 20).toFixed(1)} MiB`);
  assert.equal((await page.textContent("#kind tbody tr:nth-child(3) td")).replace("\u00a0", " "),
    `${Number((100 * counting[0].saturated_at["5x"]).toPrecision(2))} %`);
  await page.click("label[for=layout-blocked64]");
  assert.equal(await hero(page), `${(counting[1].bytes / 2 ** 20).toFixed(1)} MiB`);
  assert.match(await page.textContent("#copy code"), /--kind counting --counter-bits 8 -n 1M -p 0.001/);

  await page.click("label[for=kind-scalable]");
  await page.fill("#field-growth", "4");
  const { json } = await plan(["--kind", "scalable", "--growth", "4", "-n", "1M", "-p", "0.1%"]);
  const row = json.layouts.find((each) => each.default);
  assert.match(await page.textContent("#kind"), new RegExp(`It can grow to ${row.sub_filters.length} sub-filters`));
  assert.match((await page.textContent("#kind tbody tr:nth-child(3)")).replace("\u00a0", " "),
    new RegExp(`${(row.sub_filters[2].total.bytes / 2 ** 20).toFixed(1)} MiB`));
  // It plans its memory and hashes itself.
  assert.equal(await page.locator("#field-m, #field-k").count(), 0);
  assert.ok(!(await page.isVisible("#curve-over")));
  assert.equal(address(), "#kind=scalable&n=1M&p=0.1%25&growth=4");

  await page.click("label[for=kind-window]");
  await page.fill("#field-window", "30 days");
  await page.fill("#field-slices", "30");
  const window = (await plan(["--window", "30d", "--slices", "30", "-n", "1M", "-p", "0.1%"])).json.layouts.find((each) => each.default);
  assert.equal(await hero(page), `${(window.bytes / 2 ** 20).toFixed(1)} MiB`);
  assert.match(await page.textContent("#kind"), /found for 30\sd after it was added, always, and forgotten at most 1\sd later/);
  assert.match(await page.textContent("#copy"), /--kind window --window 30d --slices 30 -n 1M/);
  assert.match(await page.textContent("#copy"), /WINDOW 2592000 SECONDS SLICES 30/);
  assert.match(await page.textContent("#copy"), /WindowUnit::seconds, 2'592'000, 1'000'000, 0\.001, 30/);

  await page.click("label[for=kind-frozen]");
  await page.fill("#field-n", "100M");
  const frozen = (await plan(["--kind", "frozen", "-n", "100M", "-p", "0.1%"])).json.layouts[0];
  const inMiB = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  assert.equal(await hero(page), inMiB(frozen.bytes));
  const built = (await page.textContent("#kind")).replace(/\s/g, " ");
  assert.ok(built.includes(inMiB(frozen.building_bytes)) && built.includes(inMiB(frozen.building_file_bytes)), built);
  assert.match(await page.textContent("#copy"), /create seen\.bloom keys\.txt --kind frozen -n 100M[^]*FrozenBuilder keys\(0\.001\)[^]*bloomery convert/);
  await page.fill("#field-delta", "1M");
  const delta = (await plan(["--kind", "frozen", "-n", "100M", "-p", "0.1%", "--delta", "1M"])).json.layouts[0];
  assert.equal(await hero(page), inMiB(delta.bytes));
  const grown = (await page.textContent("#kind")).replace(/\s/g, " ");
  assert.ok(grown.includes(inMiB(delta.delta.bytes)), grown);
  assert.match(await page.textContent("#copy"), /--delta 1M/);
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
  const [, twice] = /at ([\d.]+)\s% with twice/.exec(await page.textContent("#curve-sentence"));
  const { json } = await plan(["-n", "1M", "-p", "1%", "--layout", "standard"]);
  assert.equal(Number(twice), Number((100 * json.layouts[0].fpr_at["2x"]).toPrecision(3)));
  assert.ok(twice > 14 && twice < 16, twice);
  assert.ok(await page.isVisible("#curve canvas"));
  await page.click("#curve-figures summary");
  assert.equal(await page.locator("#curve-figures tbody tr").count(), 6);
});

// Over memory and hashes: the same questions to the tool.
test("the curves over memory and hashes are those of the library", async (t) => {
  const page = await open(t, { hash: "#n=1M&p=1%25&layout=standard" });
  const percent = (fpr) => `${Number((100 * fpr).toPrecision(3))} %`;
  const figures = () => page.$$eval("#curve-figures tbody tr", (rows) =>
    rows.map((row) => [...row.children].map((cell) => cell.textContent.replace(/\s/g, " "))));
  const { json } = await plan(["-n", "1M", "-p", "1%", "--layout", "standard"]);
  const { bits, hashes } = json.layouts[0];
  await page.click("label[for=over-memory]");
  await page.click("#curve-figures summary");
  const half = (await plan(["-n", "1M", "--bits", String(bits / 2), "--hashes", String(hashes), "--layout", "standard"])).json.layouts[0];
  assert.equal((await figures())[0].at(-1), percent(half.fpr));
  assert.match(await page.textContent("#curve-sentence"), new RegExp(`${percent(half.fpr).replace(" ", "\\s")} with half of it`));
  await page.click("label[for=over-hashes]");
  const rows = await figures();
  assert.equal(rows.length, 16);
  for (const k of [1, 3, 9, 16]) {
    const other = (await plan(["-n", "1M", "--bits", String(bits), "--hashes", String(k), "--layout", "standard"])).json.layouts[0];
    assert.equal(rows[k - 1].at(-1), percent(other.fpr), `${k} hashes`);
  }
  // blocked2 has no odd number of them.
  assert.equal(rows[2][2], "–");
  assert.match(await page.textContent("#curve-sentence"), /the best number of hashes is 7/);
  assert.ok(await page.isChecked("#over-hashes"));
});

test("the formulas have the numbers of the plan", async (t) => {
  const page = await open(t);
  const text = async (hash) => {
    await goTo(page, hash);
    return page.$$eval("#formulas dd", (all) => all.map((each) => each.textContent.replace(/\s+/g, " ")));
  };
  const standard = await text("#n=100M&p=0.1%25&layout=standard");
  assert.ok(standard.includes("p = (1 − e−kn/m)k= (1 − e−10 · 10⁸ / 1.44·10⁹)10= 0.1 %"), standard[0]);
  assert.ok(standard.some((line) => /log₂\(1\/p\)= log₂\(1,000\)= 9.97/.test(line)));
  const blocked = await text("#n=100M&p=0.1%25");
  assert.ok(blocked.includes("λ = 512 · n / m= 512 · 10⁸ / 1.56·10⁹= 32.8"), blocked[0]);
  assert.match(blocked[1], /Σ P\(i; 32.8\) · \(1 − \(1 − 9\/512\)i\)9= 0.1 %/);
  const window = await text("#kind=window");
  assert.ok(window.includes("p / (s + 1)= 0.1 % / 9= 0.0111 %"), window.join("\n"));
  const scalable = await text("#kind=scalable");
  assert.ok(scalable.some((line) => line.endsWith("0.1 % · 0.15 · 0.85ip₀ = 0.015 %")), scalable.join("\n"));
});

test("the table of rates is the textbook's, with the best k marked", async (t) => {
  const page = await open(t);
  const { json } = await plan(["--table"]);
  const best = new Map();
  const labels = Object.fromEntries(await page.$$eval("[data-row]", (all) =>
    all.map((button) => [`${button.dataset.row},${button.dataset.column}`, button.getAttribute("aria-label")])));
  for (const { bits_per_key: bits, hashes, fpr } of json.fprs) {
    const label = labels[`${bits},${hashes}`];
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
