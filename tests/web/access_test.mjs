// The page for everybody: narrow screens, keyboards, screen readers, dark rooms, in both languages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { goTo, visits } from "./support.mjs";

const open = visits({ reducedMotion: "reduce" });

// The curve follows the width of the window a frame later.
const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

// What reaches beyond the right edge; an element that scrolls by itself keeps its content.
const tooWide = () => [...document.querySelectorAll("body *")]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5 && !element.closest(".hidden, .skip, svg"))
  .map((element) => `${element.tagName} ${element.className} ${element.textContent.slice(0, 30)}`);

// Of a window that gets narrower, as well.
test("no screen has to scroll sideways", async (t) => {
  const states = ["#lang=en", "#lang=zh", "#n=9999999999999&p=1e-9&lang=en", "#p=1e-12&m=128GiB&layout=standard&lang=en",
    "#n=11T&p=0.1%25&lang=zh", "#kind=counting&n=1T&p=1e-9&lang=en", "#kind=scalable&n=1M&p=1e-9&growth=1000&lang=en",
    "#kind=window&window=123456789s&slices=64&lang=en", "#kind=window&n=1M&p=0.6&window=1s&lang=zh", "#n=100M&m=16+bits/key&k=8&price=%C2%A5123456&load=1e12&length=100000&lang=en"];
  const page = await open(t);
  for (const hash of states) {
    await page.setViewportSize({ width: 1000, height: 800 });
    await goTo(page, hash);
    await page.click("button.find");
    await page.evaluate(() => document.querySelector("#curve-figures").open = true);
    for (const width of [1000, 800, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(twoFrames);
      assert.deepEqual(await page.evaluate(tooWide), [], `${width} ${hash}`);
    }
  }
});

// WCAG 2.1: 4.5 to 1 for text, 3 to 1 where it is large.
const faintTexts = () => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (color) => {
    if (known.has(color)) return known.get(color);
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    known.set(color, [r, g, b, a / 255]);
    return known.get(color);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const backgroundOf = (element) => {
    const backgrounds = [];
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      backgrounds.push(rgba(style.backgroundColor));
      const tint = /^linear-gradient\((rgba?\([^)]*\))/.exec(style.backgroundImage);
      if (tint) backgrounds.push(rgba(tint[1]));
    }
    return backgrounds.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || !element.checkVisibility() || element.closest(".hidden, script, style, noscript")) continue;
    const style = getComputedStyle(element), background = backgroundOf(element);
    const [light, dark] = [luminance(over(rgba(style.color), background)), luminance(background)].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (large ? 3 : 4.5)) found.push(`${contrast.toFixed(2)} ${element.tagName}.${element.className} "${node.data.trim().slice(0, 30)}"`);
  }
  return found;
};

test("every text stands out from its ground, light and dark", async (t) => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(t, { colorScheme });
    for (const hash of ["#lang=en", "#n=many&p=0.1%25&lang=en", "#kind=scalable&lang=en"]) {
      await goTo(page, hash);
      await page.click("button.find");
      await page.waitForSelector(".verdict.false");
      assert.deepEqual(await page.evaluate(faintTexts), [], `${colorScheme} ${hash}`);
    }
  }
});

test("the theme is the system's until it is chosen", async (t) => {
  const page = await open(t, { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.click("#theme");
  const light = await ground();
  assert.notEqual(light, dark);
  await page.emulateMedia({ colorScheme: "light" });
  await page.click("#theme");
  assert.equal(await ground(), dark);
});

test("everything has a name, and headings are in order", async (t) => {
  const page = await open(t);
  for (const hash of ["#lang=en", "#lang=zh", "#kind=counting&lang=en", "#kind=window&lang=zh"]) {
    await goTo(page, hash);
    const nameless = await page.evaluate(() => [...document.querySelectorAll("input, button, a[href], section, nav, [role=group], [role=radiogroup], [role=img]")]
      .filter((element) => {
        if (element.closest("[hidden]")) return false;
        const labels = [...(element.labels ?? [])].map((label) => label.textContent).join("");
        const by = document.getElementById(element.getAttribute("aria-labelledby") ?? "")?.textContent ?? "";
        const own = /^(BUTTON|A)$/.test(element.tagName) ? element.textContent : "";
        return (element.getAttribute("aria-label") ?? "") + labels + by + own === "";
      }).map((element) => element.outerHTML.slice(0, 80)));
    assert.deepEqual(nameless, []);
    const levels = await page.$$eval("h1, h2, h3", (all) => all.map((heading) => Number(heading.tagName[1])));
    assert.equal(levels[0], 1);
    levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1, `heading ${i}`));
    const twice = await page.evaluate(() => {
      const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
      return ids.filter((id, i) => ids.indexOf(id) !== i);
    });
    assert.deepEqual(twice, []);
  }
});

test("a screen reader hears the answer once typing pauses, and complaints at their field", async (t) => {
  const page = await open(t, { hash: "#lang=en" });
  await page.fill("#field-n", "1M");
  await page.waitForFunction(() => /1.9.MiB for 1,000,000 items/.test(document.querySelector("#spoken").textContent));
  await page.fill("#field-n", "none");
  const described = (await page.getAttribute("#field-n", "aria-describedby")).split(" ");
  const said = await Promise.all(described.map((id) => page.textContent(`#${id}`)));
  assert.match(said.join(" "), /“none” is not a count/);
  await page.waitForFunction(() => /not a count/.test(document.querySelector("#spoken").textContent));
});

test("the keyboard reaches everything", async (t) => {
  const page = await open(t, { hash: "#lang=en" });
  const focused = () => page.evaluate(() => {
    const at = document.activeElement;
    return at.id || at.dataset.row + "," + at.dataset.column || at.className;
  });
  const seen = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    seen.add(await focused());
  }
  for (const id of ["theme", "kind-plain", "field-n", "field-p", "field-m", "field-k", "layout-auto", "field-price", "over-items", "formula-textbook", "16,8", "word"])
    assert.ok(seen.has(id), `${id} is not reached by the tabulator: ${[...seen]}`);
  // The table is one stop; arrows walk in it.
  assert.equal([...seen].filter((id) => /^\d+,\d+$/.test(id)).length, 1);
  await page.focus('[data-row="16"][data-column="8"]');
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await focused(), "15,7");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue("#field-k"), "7");
  assert.equal(await page.inputValue("#field-m"), "15 bits/key");
  // A link within the page moves the focus, and keeps the state in the address.
  const before = page.url();
  await page.focus('nav a[href="#table-title"]');
  await page.keyboard.press("Enter");
  assert.equal(await focused(), "table-title");
  assert.equal(page.url(), before);
  await page.focus("#word");
  await page.keyboard.type("x");
  await page.keyboard.press("Enter");
  assert.ok((await page.locator(".bit.on").count()) > 0);
});
