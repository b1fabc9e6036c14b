// The rate as the filter fills, to four times its capacity: a chart, a sentence and the figures.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { LAYOUTS, fprAt, type Plan } from "../planner.ts";
import { t } from "../texts/index.ts";

const MOST = 4;
const STEPS = 120;
const LOADS = [0.5, 1, 1.5, 2, 3, 4];

let chart: uPlot | undefined;
let watcher: ResizeObserver | undefined;

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Where nobody points, the legend tells of twice the capacity.
const rest = (u: uPlot) => u.setCursor({ left: u.valToPos(2, "x"), top: 0 });

// The powers of ten from the floor to 1, at most seven of them.
function decades(floor: number): number[] {
  const lowest = Math.round(Math.log10(floor));
  const step = Math.ceil(-lowest / 6);
  const found: number[] = [];
  for (let power = 0; power >= lowest; power -= step) found.unshift(Number(`1e${power}`));
  return found;
}

function options(width: number, plan: Plan, plans: Plan[], floor: number): uPlot.Options {
  const ink = color("--muted"), line = color("--hairline");
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: ink, font, labelFont: font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return {
    width,
    height: Math.round(Math.max(260, Math.min(360, width * 0.5))),
    padding: [12, 12, 0, 0],
    pxAlign: 0,
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
    legend: { live: true },
    scales: { x: { time: false, range: [0, MOST] }, y: { distr: 3, log: 10, range: [floor, 1] } },
    axes: [
      { ...axis, space: 40, size: 34, labelSize: 22, label: t("fill_axis", { items: format.compact(plan.items) }),
        splits: [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4],
        values: (_, splits) => splits.map((v) => (v % 1 === 0 ? `${v}×` : "")) },
      { ...axis, size: 62, splits: () => decades(floor), filter: (_, splits) => splits,
        values: (_, splits) => splits.map((v) => format.rate(v)) },
    ],
    series: [
      { label: t("fill_load"), value: (_, v) => (v === null ? "–" : `${format.fixed(v, 2)}×`) },
      ...plans.map((each) => ({
        label: each.layout,
        stroke: color(`--${each.layout}`),
        width: each.layout === plan.layout ? 3 : 1.5,
        points: { show: false },
        value: (_: uPlot, v: number | null) => (v === null ? "–" : format.rate(v)),
      })),
    ],
    hooks: {
      ready: [(u) => {
        rest(u);
        u.over.addEventListener("mouseleave", () => rest(u));
      }],
      drawClear: [(u) => {
        const x = Math.round(u.valToPos(1, "x", true));
        const y = Math.round(u.valToPos(Math.max(floor, plan.fpr), "y", true));
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

// A decade or two below the stated rate is as low as anybody looks.
const floorFor = (plan: Plan) => 10 ** Math.max(-18, Math.floor(Math.log10(plan.fpr) - 0.7));

function draw(plan: Plan, plans: Plan[]): void {
  const place = byId("fill-chart");
  const floor = floorFor(plan);
  const loads = Array.from({ length: STEPS + 1 }, (_, i) => (MOST * i) / STEPS);
  const rates = plans.map((each) =>
    loads.map((load) => {
      const rate = fprAt(each, plan.items * load);
      return rate >= floor / 10 ? rate : null;
    }),
  );
  chart?.destroy();
  place.replaceChildren();
  place.setAttribute("role", "img");
  place.setAttribute("aria-label", t("fill_chart_label"));
  chart = new uPlot(options(place.clientWidth, plan, plans, floor), [loads, ...rates] as uPlot.AlignedData, place);
  watcher?.disconnect();
  watcher = new ResizeObserver(() => {
    if (chart && place.clientWidth > 0 && Math.abs(place.clientWidth - chart.width) > 1)
      chart.setSize({ width: place.clientWidth, height: chart.height });
  });
  watcher.observe(place);
}

function figures(plan: Plan, plans: Plan[]): HTMLElement {
  const head = make("tr", {}, make("th", { scope: "col" }, t("fill_load")));
  for (const each of plans) head.append(make("th", { scope: "col", class: "number" }, each.layout));
  const body = make("tbody");
  for (const load of LOADS) {
    const row = make("tr", {}, make("th", { scope: "row" }, `${load}× `, make("small", {}, format.compact(plan.items * load))));
    for (const each of plans) row.append(make("td", { class: "number" }, format.rate(fprAt(each, plan.items * load))));
    body.append(row);
  }
  return make("table", { class: "plain" }, make("thead", {}, head), body);
}

export function showFill(found: Case): void {
  const { plan } = found;
  const section = byId("fill-title").closest("section");
  section?.toggleAttribute("hidden", !plan);
  if (!plan) return;
  const plans = LAYOUTS.map((layout) => (layout === plan.layout ? plan : found.plans[layout])).filter((each) => each !== undefined);
  byId("fill-sentence").textContent = t("fill_sentence", {
    rate: format.rate(plan.fpr),
    twice: format.rate(fprAt(plan, 2 * plan.items)),
    four: format.rate(fprAt(plan, 4 * plan.items)),
  });
  draw(plan, plans);
  byId("fill-figures").querySelector("div")?.replaceChildren(figures(plan, plans));
}
