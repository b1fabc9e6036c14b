// The false-positive rate over the items, the memory or the hashes: a chart, a sentence, the figures.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { choiceOf, fprAt, fprWith, hasTwoBlocks, layoutsOf, type Layout, type Plan } from "../planner.ts";
import { t } from "../texts/index.ts";

const OVERS = ["items", "memory", "hashes"] as const;
type Over = (typeof OVERS)[number];
const MOST_HASHES: Record<Layout, number> = { blocked: 16, blocked2: 32, standard: 64, blocked128: 16, blocked64: 16, blocked2x128: 32, blocked2x64: 32, fuse: 3 };

// What one of the three charts shows. An x is a multiple of the plan's items or memory, or hashes.
interface View {
  xs: number[];
  at: number; // the plan's own
  range: [number, number];
  axis: string;
  splits: number[];
  text(x: number): string; // at the axis and in the figures
  value(plan: Plan, x: number): number | null;
  rows: number[]; // of the figures
  sentence: string;
}

const rounded = (value: number) => format.rate(Number(value.toPrecision(3)));
const steps = (from: number, to: number, count: number) => Array.from({ length: count + 1 }, (_, i) => from + ((to - from) * i) / count);

// Null where a scalable filter cannot grow so far.
function rateAt(plan: Plan, items: number): number | null {
  const rate = fprAt(plan, items);
  return Number.isNaN(rate) ? null : rate;
}

function overItems(used: Plan): View {
  const says = used.kind === "scalable" ? "curve_grows_says" : used.kind === "window" && used.unit === "insertions" && used.items >= used.window ? "curve_full_says" : "curve_items_says";
  const [twice, four] = [2, 4].map((load) => rateAt(used, load * used.items));
  return {
    xs: steps(0, 4, 120), at: 1, range: [0, 4], splits: [0, 1, 2, 3, 4], rows: [0.5, 1, 1.5, 2, 3, 4],
    axis: t("curve_items_axis", { items: format.compact(used.items) }),
    text: (x) => `${format.significant(x)}×`,
    value: (plan, x) => rateAt(plan, x * plan.items),
    sentence: t(says, { rate: format.rate(used.fpr), twice: rounded(twice ?? used.fpr), four: rounded(four ?? used.fpr) }),
  };
}

function overMemory(used: Plan): View {
  const value = (plan: Plan, x: number) => fprWith(plan, (x * used.bytes) / plan.bytes, plan.hashes, used.items);
  const [rate, half, twice] = [1, 0.5, 2].map((x) => rounded(value(used, x)));
  return {
    xs: steps(0.25, 2, 105), at: 1, range: [0.25, 2], splits: [0.5, 1, 1.5, 2], rows: [0.5, 0.75, 1, 1.25, 1.5, 2],
    axis: t("curve_memory_axis"),
    text: (x) => format.bytes(x * used.bytes),
    value,
    sentence: t("curve_memory_says", { items: format.compact(used.items), hashes: used.hashes, rate: rate ?? "", half: half ?? "", twice: twice ?? "" }),
  };
}

function overHashes(used: Plan): View {
  const most = Math.min(MOST_HASHES[used.layout], Math.max(16, 2 * used.hashes));
  const value = (plan: Plan, k: number) =>
    k > MOST_HASHES[plan.layout] || (hasTwoBlocks(plan.layout) && k % 2 !== 0) ? null : fprWith(plan, 1, k, plan.items);
  const xs = Array.from({ length: most }, (_, i) => i + 1);
  const best = xs.reduce((least, k) => ((value(used, k) ?? 1) < (value(used, least) ?? 1) ? k : least), used.hashes);
  return {
    xs, at: used.hashes, range: [1, most], splits: xs.filter((k) => most <= 16 ? k % 2 === 0 || k === 1 : k % 8 === 0 || k === 1), rows: xs,
    axis: t("curve_hashes_axis"),
    text: String,
    value,
    sentence: t("curve_hashes_says", { items: format.compact(used.items), memory: format.bytes(used.bytes), best, rate: rounded(value(used, best) ?? 1) }),
  };
}

const VIEWS = { items: overItems, memory: overMemory, hashes: overHashes };

let over: Over = "items";
let chart: uPlot | undefined;
let watcher: ResizeObserver | undefined;

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The powers of ten from the floor to 1, at most seven of them.
function decades(floor: number): number[] {
  const lowest = Math.round(Math.log10(floor));
  const step = Math.ceil(-lowest / 6);
  const found: number[] = [];
  for (let power = 0; power >= lowest; power -= step) found.unshift(Number(`1e${power}`));
  return found;
}

function options(width: number, view: View, used: Plan, plans: Plan[], floor: number): uPlot.Options {
  const ink = color("--muted"), line = color("--hairline");
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: ink, font, labelFont: font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  // Where nobody points, the legend tells of the plan itself.
  const rest = (u: uPlot) => u.setCursor({ left: u.valToPos(view.at, "x"), top: 0 });
  return {
    width,
    height: Math.round(Math.max(260, Math.min(360, width * 0.5))),
    padding: [12, 32, 0, 0],
    pxAlign: 0,
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
    legend: { live: true },
    scales: { x: { time: false, range: view.range }, y: { distr: 3, log: 10, range: [floor, 1] } },
    axes: [
      { ...axis, space: 30, size: 34, labelSize: 22, label: view.axis, splits: view.splits, values: (_, splits) => splits.map(view.text) },
      { ...axis, size: 62, splits: () => decades(floor), filter: (_, splits) => splits, values: (_, splits) => splits.map((v) => format.rate(v)) },
    ],
    series: [
      { label: t(`curve_${over}`), value: (_, v) => (v === null ? "–" : view.text(v)) },
      ...plans.map((each) => ({
        label: t(`layout_${each.layout}`),
        stroke: color(`--${each.layout}`),
        width: each.layout === used.layout ? 3 : 1.5,
        points: { show: over === "hashes", size: 5 },
        spanGaps: over === "hashes",
        value: (_: uPlot, v: number | null) => (v === null ? "–" : format.rate(v)),
      })),
    ],
    hooks: {
      ready: [(u) => {
        rest(u);
        u.over.addEventListener("mouseleave", () => rest(u));
      }],
      drawClear: [(u) => {
        const x = Math.round(u.valToPos(view.at, "x", true));
        const y = Math.round(u.valToPos(Math.max(floor, view.value(used, view.at) ?? 1), "y", true));
        u.ctx.save();
        u.ctx.strokeStyle = ink;
        u.ctx.setLineDash([3, 4]);
        u.ctx.beginPath();
        u.ctx.moveTo(x, u.bbox.top);
        u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
        u.ctx.moveTo(u.bbox.left, y);
        u.ctx.lineTo(x, y);
        u.ctx.stroke();
        u.ctx.restore();
      }],
    },
  };
}

// A decade or two below what the plan comes to is as low as anybody looks.
function floorOf(view: View, used: Plan): number {
  const lowest = Math.min(...view.rows.map((x) => view.value(used, x) ?? 1), used.fpr);
  return 10 ** Math.max(-18, Math.floor(Math.log10(Math.max(lowest, used.fpr * 1e-3)) - 0.2));
}

function draw(view: View, used: Plan, plans: Plan[]): void {
  const place = byId("curve");
  const floor = floorOf(view, used);
  const rates = plans.map((each) =>
    view.xs.map((x) => {
      const rate = view.value(each, x);
      return rate !== null && rate >= floor / 10 ? rate : null;
    }),
  );
  chart?.destroy();
  place.replaceChildren();
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", t("curve_label", { what: t(`curve_${over}`) }));
  chart = new uPlot(options(place.clientWidth, view, used, plans, floor), [view.xs, ...rates] as uPlot.AlignedData, place);
  watcher?.disconnect();
  watcher = new ResizeObserver(() => {
    if (chart && place.clientWidth > 0 && Math.abs(place.clientWidth - chart.width) > 1)
      chart.setSize({ width: place.clientWidth, height: chart.height });
  });
  watcher.observe(place);
}

function figures(view: View, plans: Plan[]): HTMLElement {
  const head = make("tr", {}, make("th", { scope: "col" }, t(`curve_${over}`)));
  for (const each of plans) head.append(make("th", { scope: "col", class: "number" }, t(`layout_${each.layout}`)));
  const body = make("tbody");
  for (const x of view.rows) {
    const row = make("tr", {}, make("th", { scope: "row" }, view.text(x)));
    for (const each of plans) {
      const rate = view.value(each, x);
      row.append(make("td", { class: "number" }, rate === null ? "–" : format.rate(rate)));
    }
    body.append(row);
  }
  return make("table", { class: "plain" }, make("thead", {}, head), body);
}

// A scalable filter chooses memory and hashes itself for each sub-filter.
const oversOf = (plan: Plan): readonly Over[] => (plan.kind === "scalable" ? ["items"] : OVERS);

function choice(overs: readonly Over[], found: Case): void {
  const group = byId("curve-over");
  group.toggleAttribute("hidden", overs.length < 2);
  group.setAttribute("aria-label", t("curves_by"));
  group.replaceChildren(...overs.flatMap((name) => {
    const radio = make("input", { type: "radio", name: "over", id: `over-${name}`, checked: name === over });
    radio.addEventListener("change", () => {
      over = name;
      showCurves(found);
      byId(`over-${name}`).focus();
    });
    return [radio, make("label", { for: radio.id }, t(`curve_${name}`))];
  }));
}

export function showCurves(found: Case): void {
  const { plan } = found;
  // The rate of a frozen filter is its fingerprints', whatever is in it.
  byId("curves-title").closest("section")?.toggleAttribute("hidden", !plan || plan.kind === "frozen");
  if (!plan || plan.kind === "frozen") return;
  const overs = oversOf(plan);
  if (!overs.includes(over)) over = "items";
  choice(overs, found);
  const plans = layoutsOf(plan.kind).map((layout) => (layout === choiceOf(plan.layout) ? plan : found.plans[layout])).filter((each) => each !== undefined);
  const view = VIEWS[over](plan);
  byId("curve-sentence").textContent = view.sentence;
  draw(view, plan, plans);
  byId("curve-figures").querySelector("div")?.replaceChildren(figures(view, plans));
}
