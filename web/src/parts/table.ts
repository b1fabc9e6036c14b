// The table of rates that every introduction prints, live, and the example worked by hand.
import { byId, make, raised } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { bitsPerKey as bitsPerKeyOf, layoutFpr, textbookFpr, type Layout } from "../planner.ts";
import { t } from "../texts/index.ts";

const LEAST = 2, MOST = 32, HASHES = 8;
type Formula = "textbook" | Layout;

// So many bits that their number is no matter.
const BITS = 2 ** 30;

function rateOf(formula: Formula, bitsPerKey: number, hashes: number): number | undefined {
  if (formula === "textbook") return textbookFpr(bitsPerKey, hashes);
  if (formula === "blocked2" && hashes % 2 !== 0) return undefined;
  return layoutFpr(formula, BITS, hashes, BITS / bitsPerKey);
}

const maxHashes = (formula: Formula) => (formula === "blocked" ? 16 : 32);

function bestHashes(formula: Formula, bitsPerKey: number): number {
  let best = 1, least = Infinity;
  for (let k = 1; k <= maxHashes(formula); ++k) {
    const rate = rateOf(formula, bitsPerKey, k);
    if (rate !== undefined && rate < least) [best, least] = [k, rate];
  }
  return best;
}

// Two digits; of a small rate, one on a phone.
function short(rate: number): Node {
  if (rate >= 0.00995) return document.createTextNode(rate.toFixed(rate >= 0.0995 ? 2 : 3).replace(/^0/, ""));
  const text = document.createDocumentFragment();
  text.append(make("span", { class: "wide" }, rate.toExponential(1)), make("span", { class: "narrow" }, rate.toExponential(0)));
  return text;
}

let formula: Formula = "textbook";

function choice(redraw: () => void): HTMLElement {
  const group = make("div", { class: "choice", role: "radiogroup", "aria-label": t("table_formula") });
  for (const name of ["textbook", "blocked", "blocked2"] as const) {
    const radio = make("input", { type: "radio", name: "formula", id: `formula-${name}`, checked: name === formula });
    radio.addEventListener("change", () => {
      formula = name;
      redraw();
      byId(`formula-${name}`).focus();
    });
    group.append(radio, make("label", { for: radio.id }, name === "textbook" ? t("table_textbook") : name));
  }
  return group;
}

export type UseCell = (bitsPerKey: number, hashes: number, layout: Layout) => void;

function cell(bitsPerKey: number, k: number, best: number, use: UseCell): HTMLElement {
  const rate = rateOf(formula, bitsPerKey, k);
  if (rate === undefined) return make("td", { class: "none" }, "–");
  const values = { bits: bitsPerKey, hashes: k, rate: format.rate(rate) };
  const label = t(k === best ? "table_cell_best" : "table_cell", values);
  // One cell of the table is in the order of the tab key; arrows lead to the others.
  const button = make("button", {
    type: "button", title: label, "aria-label": label, tabindex: bitsPerKey === 16 && k === 8 ? 0 : -1,
    "data-row": bitsPerKey, "data-column": k,
  }, short(rate));
  button.addEventListener("click", () => use(bitsPerKey, k, formula === "textbook" ? "standard" : formula));
  // From white at 1 to the full tint at 1e-6.
  const depth = Math.min(1, -Math.log10(rate) / 6);
  return make("td", { class: k === best ? "best" : undefined, style: `--depth:${depth.toFixed(3)}` }, button);
}

function moveFocus(event: KeyboardEvent): void {
  const from = event.target as HTMLElement;
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!step || from.dataset.row === undefined) return;
  event.preventDefault();
  let row = Number(from.dataset.row), column = Number(from.dataset.column);
  do {
    row += step[0] ?? 0;
    column += step[1] ?? 0;
    const next = byId("table").querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`);
    if (!next) continue;
    from.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    return;
  } while (row >= LEAST && row <= MOST && column >= 1 && column <= HASHES);
}

export function showTable(use: UseCell): void {
  const head = make("tr", {}, make("th", { scope: "col" }, make("span", { "aria-hidden": "true" }, "m/n"), make("span", { class: "hidden" }, t("answer_bits_per_key"))));
  for (let k = 1; k <= HASHES; ++k) head.append(make("th", { scope: "col" }, make("abbr", { title: `k = ${k}` }, String(k))));
  head.append(make("th", { scope: "col" }, t("table_best")));
  const body = make("tbody");
  for (let bitsPerKey = LEAST; bitsPerKey <= MOST; ++bitsPerKey) {
    const best = bestHashes(formula, bitsPerKey);
    const row = make("tr", { "data-bits": bitsPerKey }, make("th", { scope: "row" }, String(bitsPerKey)));
    for (let k = 1; k <= HASHES; ++k) row.append(cell(bitsPerKey, k, best, use));
    row.append(make("td", { class: "beyond" }, String(best)));
    body.append(row);
  }
  const table = make("table", { class: "rates" }, make("caption", { class: "hidden" }, t("table_caption")), make("thead", {}, head), body);
  table.addEventListener("keydown", moveFocus);
  byId("table").replaceChildren(choice(() => showTable(use)), table);
}

// Marks the row that is nearest to the plan.
export function markRow(found: Case): void {
  const nearest = found.plan ? String(Math.round(bitsPerKeyOf(found.plan))) : "";
  for (const row of document.querySelectorAll<HTMLElement>("table.rates tbody tr"))
    row.classList.toggle("here", row.dataset.bits === nearest);
}

export function showHandExample(use: UseCell): void {
  const rate = textbookFpr(16, 8);
  const button = make("button", { type: "button" }, t("hand_load"));
  button.addEventListener("click", () => use(16, 8, "standard"));
  byId("hand").replaceChildren(
    make("h3", { id: "hand-title" }, t("hand_title")),
    make("p", {}, t("hand_text")),
    make("ol", {},
      make("li", {}, t("hand_memory")),
      make("li", {}, raised(t("hand_zero"))),
      make("li", {}, t("hand_rate", { rate: format.rate(rate), n: format.whole(Math.round(1 / rate)) }))),
    make("p", {}, t("hand_exact")),
    button);
}
