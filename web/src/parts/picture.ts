// The animated picture: a word's three lines to its bits, step by step.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import { language, t } from "../texts/index.ts";
import { HASHES, SIZE, SmallFilter, placesOf } from "./bits32.ts";

const WORDS = {
  en: ["apple", "pear", "plum", "cherry", "fig", "quince", "lemon", "grape", "melon", "peach", "olive", "date", "kiwi", "mango", "lime", "papaya", "guava", "apricot", "banana", "orange"],
  zh: ["苹果", "梨", "李子", "樱桃", "无花果", "柠檬", "葡萄", "甜瓜", "桃子", "橄榄", "枣", "猕猴桃", "芒果", "青柠", "木瓜", "石榴", "杏", "香蕉", "橙子", "荔枝"],
};

let filter = new SmallFilter();
let run = 0; // a newer one ends the older ones' animations
let sayNow = () => t("picture_start"); // said again in the other language

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const pause = (ms: number) => new Promise((done) => setTimeout(done, still() ? 0 : ms));

function cells(): HTMLElement[] {
  return [...byId("picture").querySelectorAll<HTMLElement>(".bit")];
}

function paintBits(): void {
  cells().forEach((cell, place) => {
    const on = filter.isOn(place);
    cell.classList.toggle("on", on);
    cell.setAttribute("aria-label", t(on ? "bit_on" : "bit_off", { n: place }));
    (cell.firstElementChild as HTMLElement).textContent = on ? "1" : "0";
  });
}

function paintWords(): void {
  const list = byId("picture").querySelector(".words") as HTMLElement;
  list.replaceChildren(...filter.words.map((word) => {
    const chip = make("button", { type: "button", class: "chip" }, word);
    chip.addEventListener("click", () => void ask(word));
    return make("li", {}, chip);
  }));
  if (filter.words.length === 0) list.append(make("li", { class: "hint" }, t("picture_none")));
  const ones = filter.ones();
  (byId("picture").querySelector(".share") as HTMLElement).textContent =
    t("picture_fill", { ones, rate: format.rate(Number(((ones / SIZE) ** HASHES).toPrecision(2))) });
}

function say(text: () => string, kind = ""): void {
  sayNow = text;
  const place = byId("picture").querySelector(".verdict") as HTMLElement;
  place.textContent = text();
  place.className = `verdict ${kind}`;
}

function clearLines(): void {
  byId("picture").querySelector("svg")?.replaceChildren();
  for (const cell of cells()) cell.classList.remove("hit", "miss");
}

// A curve from the word to one of its bits.
function drawLine(place: number, kind: string): void {
  const stage = byId("picture").querySelector(".stage") as HTMLElement;
  const svg = stage.querySelector("svg") as SVGElement;
  const frame = stage.getBoundingClientRect();
  const from = (stage.querySelector(".word") as HTMLElement).getBoundingClientRect();
  const to = (cells()[place] as HTMLElement).getBoundingClientRect();
  const [x1, y1] = [from.left + from.width / 2 - frame.left, from.bottom - frame.top];
  const [x2, y2] = [to.left + to.width / 2 - frame.left, to.top - frame.top];
  const middle = (y1 + y2) / 2;
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", `M${x1},${y1} C${x1},${middle} ${x2},${middle} ${x2},${y2}`);
  path.setAttribute("class", kind);
  path.setAttribute("pathLength", "1");
  svg.append(path);
}

// Lines to the places one after the other; false when something newer began.
async function walk(word: string, step: (place: number) => boolean): Promise<boolean> {
  const mine = ++run;
  clearLines();
  const stage = byId("picture").querySelector(".word") as HTMLElement;
  stage.textContent = word;
  for (const place of placesOf(word)) {
    const good = step(place);
    drawLine(place, good ? "hit" : "miss");
    cells()[place]?.classList.add(good ? "hit" : "miss");
    await pause(550);
    if (mine !== run) return false;
    if (!good) break;
  }
  return true;
}

const joined = (words: string[]) => words.join(language() === "zh" ? "、" : ", ");
const listed = (places: number[]) => joined([...places].sort((a, b) => a - b).map(String));

async function add(word: string): Promise<void> {
  const known = filter.mayContain(word);
  const shared = filter.add(word);
  say(() => known ? t("picture_did_add_known", { word })
    : shared.length > 0 ? t("picture_did_add_shared", { word, bits: listed(placesOf(word)), shared: listed(shared) })
    : t("picture_did_add", { word, bits: listed(placesOf(word)) }));
  if (!(await walk(word, (place) => {
    const cell = cells()[place] as HTMLElement;
    cell.classList.add("on");
    (cell.firstElementChild as HTMLElement).textContent = "1";
    return true;
  }))) return paintBits();
  paintBits();
  paintWords();
}

async function ask(word: string): Promise<void> {
  if (!(await walk(word, (place) => filter.isOn(place)))) return;
  const off = placesOf(word).find((place) => !filter.isOn(place));
  if (off !== undefined) return say(() => t("picture_absent", { word, bit: off }), "no");
  if (filter.words.includes(word)) return say(() => t("picture_present", { word }), "yes");
  const causes = filter.causesOf(word).map((cause) => `“${cause}”`);
  say(() => t("picture_false", { word, words: joined(causes) }), "false");
}

// Adds words of the list until some other one of it is a false positive, then asks for that.
async function showFalsePositive(): Promise<void> {
  const list = WORDS[language()];
  // One whose bits come from several words: two words with the same three places show little.
  const find = () => filter.words.length < 3 ? undefined : list.find((word) =>
    !filter.words.includes(word) && filter.mayContain(word) && !filter.hasSameBitsAs(word));
  for (const word of list) {
    if (find() !== undefined || filter.words.length >= 9) break;
    if (!filter.words.includes(word)) filter.add(word);
  }
  paintBits();
  paintWords();
  byId<HTMLInputElement>("word").value = suggestion();
  const word = find();
  if (word === undefined) return say(() => t("picture_not_yet"));
  await ask(word);
}

const suggestion = () => WORDS[language()].find((word) => !filter.words.includes(word)) ?? "";

export function showPicture(): void {
  const input = make("input", { id: "word", type: "text", maxlength: 24, spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
  input.value = suggestion();
  const button = (label: string, kind: string, act: (word: string) => void) => {
    const made = make("button", { type: kind === "add" ? "submit" : "button", class: kind }, label);
    if (kind !== "add") made.addEventListener("click", () => act(input.value.trim()));
    return made;
  };
  const form = make("form", { class: "picture-form", autocomplete: "off" },
    make("label", { for: "word" }, t("picture_word")), input,
    button(t("picture_add"), "add", () => undefined),
    button(t("picture_ask"), "ask", (word) => { if (word !== "") void ask(word); }),
    button(t("picture_find"), "find", () => void showFalsePositive()),
    button(t("picture_again"), "quiet", () => {
      ++run;
      filter = new SmallFilter();
      showPicture();
    }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const word = input.value.trim();
    if (word === "") return;
    void add(word);
    input.value = suggestion();
    input.select();
  });
  const bits = make("ol", { class: "bits", "aria-label": t("picture_bits") });
  for (let place = 0; place < SIZE; ++place)
    bits.append(make("li", { class: "bit" }, make("b", {}, "0"), make("small", { "aria-hidden": "true" }, String(place))));
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", "true");
  byId("picture").replaceChildren(form,
    make("div", { class: "stage" }, make("div", { class: "word", "aria-hidden": "true" }, "?"), svg, bits),
    make("p", { class: "verdict", role: "status", "aria-live": "polite" }),
    make("p", { class: "share hint" }),
    make("div", { class: "added" }, make("h3", {}, t("picture_added")), make("ul", { class: "words" })));
  paintBits();
  paintWords();
  if (filter.words.length === 0) say(() => t("picture_start"));
  else say(sayNow);
}
