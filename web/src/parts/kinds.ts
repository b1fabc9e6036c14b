// What only one kind has: how a filter grows, how long a key stays, which counters lose count, what building takes.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { layoutsOf, fprAt, saturation, subFilters, type Plan } from "../planner.ts";
import { t } from "../texts/index.ts";

// A scalable filter with some number of sub-filters, all of them full.
interface Grown {
  count: number;
  items: number;
  bytes: number;
  hashes: number;
}

// As far as it can grow.
function growth(plan: Plan): Grown[] {
  let items = 0, bytes = 0;
  return subFilters(plan).map((next, i) => {
    items += next.items;
    bytes += next.bytes;
    return { count: i + 1, items, bytes, hashes: next.hashes };
  });
}

// The memory once it holds so many times its first items; undefined: it cannot.
export const grownTo = (plan: Plan, times: number): number | undefined =>
  growth(plan).find((grown) => grown.items >= times * plan.items)?.bytes;

const number = (text: string) => make("td", { class: "number" }, text);
const columns = (...names: string[]) =>
  make("thead", {}, make("tr", {}, ...names.map((name, i) => make("th", { scope: "col", class: i === 0 ? undefined : "number" }, name))));

function showGrowth(plan: Plan): HTMLElement[] {
  const all = growth(plan);
  const end = all.findIndex((grown) => grown.items >= 1000 * plan.items);
  const rows = all.slice(0, Math.min(12, end < 0 ? all.length : end + 1)).map((grown) =>
    make("tr", {}, make("th", { scope: "row" }, String(grown.count)), number(format.compact(grown.items)),
      number(format.bytes(grown.bytes)), number(format.fixed((8 * grown.bytes) / grown.items, 1)), number(String(grown.hashes)),
      number(format.rate(Number(fprAt(plan, grown.items).toPrecision(3))))));
  return [
    make("p", { class: "note" }, t("grows_note", {
      growth: plan.growth === 1 ? t("grows_same") : t("grows_times", { growth: plan.growth }),
      count: all.length, items: format.compact(all.at(-1)?.items ?? 0),
    })),
    make("table", { class: "plain" },
      columns(t("grows_col"), t("col_items"), t("col_memory"), t("col_bits"), t("col_hashes"), t("col_rate")),
      make("tbody", {}, ...rows)),
  ];
}

function showWindow(plan: Plan): HTMLElement[] {
  return [make("p", { class: "note" }, t("forgets_note", {
    window: format.length(plan.window, plan.unit), slice: format.length(plan.window / plan.slices, plan.unit),
    ring: plan.slices + 1, slices: plan.slices, bytes: format.bytes(plan.part.bits / 8),
  }))];
}

// "7", or "6 and 7".
export const fingerprints = (plan: Plan): string =>
  plan.narrow ? t("fingerprints_mixed", { less: plan.fingerprintBits - 1, bits: plan.fingerprintBits }) : String(plan.fingerprintBits);

function showFrozen(plan: Plan): HTMLElement[] {
  return [
    make("p", { class: "note" }, t("frozen_note", { bits: fingerprints(plan) })),
    make("p", { class: "note" }, plan.delta.items === 0 ? t("frozen_no_delta") : t("frozen_delta", {
      items: format.compact(plan.delta.items), memory: format.bytes(plan.delta.bytes), rate: format.rate(Number(plan.delta.fpr.toPrecision(3))),
    })),
    make("p", { class: "note" }, t(plan.spoolBytes === 0 ? "frozen_building" : "frozen_building_spool",
      { memory: format.bytes(plan.buildingBytes), beside: format.bytes(plan.spoolBytes) })),
  ];
}

function showSaturation(found: Case): HTMLElement[] {
  const plans = layoutsOf("counting").map((layout) => found.plans[layout]).filter((each) => each !== undefined);
  const rows = [1, 2, 5, 20, 100].map((times) =>
    make("tr", {}, make("th", { scope: "row" }, times === 1 ? t("counts_once") : t("counts_times", { times })),
      ...plans.map((plan) => {
        const share = saturation(plan, times);
        return number(share * plan.part.bits < 0.001 ? t("none") : format.rate(Number(share.toPrecision(2))));
      })));
  return [
    make("p", { class: "note" }, t("counts_note")),
    make("table", { class: "plain" }, columns(t("counts_col"), ...plans.map((plan) => t(`layout_${plan.layout}`))), make("tbody", {}, ...rows)),
  ];
}

export function showKind(found: Case): void {
  const { plan } = found;
  const title = byId("kind-title");
  title.closest("section")?.toggleAttribute("hidden", !plan || plan.kind === "plain");
  if (!plan || plan.kind === "plain") return;
  const [name, shown] = {
    counting: ["counts_title", showSaturation] as const,
    scalable: ["grows_title", () => showGrowth(plan)] as const,
    window: ["forgets_title", () => showWindow(plan)] as const,
    frozen: ["frozen_title", () => showFrozen(plan)] as const,
  }[plan.kind];
  title.textContent = t(name);
  byId("kind").replaceChildren(...shown(found));
}
