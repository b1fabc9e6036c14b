// The layouts beside each other, and beside the keys themselves.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { cacheLines, hashSetBytes } from "../costs.ts";
import { bitsPerKey, choiceOf, layoutsOf, lowerBoundBits, type Layout } from "../planner.ts";
import { t } from "../texts/index.ts";

interface Row {
  kind: Layout | "bound" | "packed" | "hash_set";
  name: string;
  note: string;
  bytes: number;
  cells: string[]; // bits per key, hashes, cache lines, rate, items
}

function rowsOf(found: Case): Row[] {
  const rows: Row[] = [];
  for (const layout of layoutsOf(found.request.kind ?? "plain")) {
    const plan = found.plans[layout];
    if (!plan) continue;
    const lines = cacheLines(plan);
    rows.push({
      kind: layout, name: t(`layout_${layout}`), note: t(`row_${plan.layout}`), bytes: plan.bytes,
      cells: [
        format.fixed(bitsPerKey(plan), 2), String(plan.hashes), String(lines.present),
        format.rate(plan.fpr), format.whole(plan.items),
      ],
    });
  }
  const { plan, keyLength } = found;
  if (!plan) return rows;
  const least = lowerBoundBits(plan.fpr);
  const items = format.whole(plan.items);
  rows.push({
    kind: "bound", name: t("row_bound"), note: t("row_bound_note"), bytes: (least * plan.items) / 8,
    cells: [format.fixed(least, 2), "–", "–", format.rate(plan.fpr), items],
  });
  const set = hashSetBytes(keyLength);
  for (const [kind, bytes] of [["packed", keyLength], ["hash_set", set]] as const)
    rows.push({
      kind, name: t(`row_${kind}`), note: t(`row_${kind}_note`, { bytes: format.significant(bytes) }),
      bytes: bytes * plan.items,
      cells: [format.whole(8 * bytes), "–", "–", "0", items],
    });
  return rows;
}

// The bar is linear up to the largest filter; what goes beyond it is cut off and open-ended.
function bar(bytes: number, largest: number): HTMLElement {
  const share = Math.min(1, bytes / largest);
  return make("span", { class: share < 1 || bytes === largest ? "bar" : "bar open", "aria-hidden": "true" },
    make("span", { style: `width:${(100 * share).toFixed(1)}%` }));
}

export function showLayouts(found: Case, use: (layout: Layout) => void): void {
  const place = byId("layouts");
  byId("layouts-title").closest("section")?.toggleAttribute("hidden", Object.keys(found.plans).length === 0);
  const layouts = layoutsOf(found.request.kind ?? "plain");
  const rows = rowsOf(found);
  const largest = Math.max(...rows.filter((row) => row.kind !== "packed" && row.kind !== "hash_set").map((row) => row.bytes)) * 1.6;
  const columns = [t("col_bits"), t("col_hashes"), t("col_lines"), t("col_rate"), t("col_items")];
  const head = make("tr", {}, make("th", { scope: "col" }, t("col_what")),
    make("th", { scope: "col", class: "number" }, t("col_memory")));
  for (const column of columns) head.append(make("th", { scope: "col", class: "number" }, column));
  const body = make("tbody");
  for (const row of rows) {
    const layout = layouts.find((name) => name === row.kind);
    const inUse = layout !== undefined && found.plan !== undefined && layout === choiceOf(found.plan.layout);
    const name = make("th", { scope: "row" }, make("b", {}, row.name));
    if (layout !== undefined && inUse) {
      name.append(make("span", { class: "tag" }, layout === found.automatic ? t("default_mark") : t("in_use")));
    } else if (layout !== undefined) {
      const button = make("button", { type: "button", class: "small", "aria-label": t("use_layout", { layout: row.name }) }, t("use"));
      button.addEventListener("click", () => use(layout));
      name.append(button);
    }
    name.append(make("small", {}, row.note));
    const factor = found.plan ? row.bytes / found.plan.bytes : 1;
    const line = make("tr", { class: `${layout ? "ours" : "other"} ${row.kind}${inUse ? " in-use" : ""}` }, name,
      make("td", { class: "number memory", "data-label": t("col_memory") }, format.bytes(row.bytes),
        inUse ? null : make("small", {}, t("times", { factor: format.significant(factor, 2) })), bar(row.bytes, largest)));
    row.cells.forEach((cell, i) =>
      line.append(make("td", { class: `number${cell === "–" ? " none" : ""}`, "data-label": columns[i] }, cell)));
    body.append(line);
  }
  for (const layout of layouts)
    if (found.refusals[layout] !== undefined)
      body.append(make("tr", { class: "refused" }, make("th", { scope: "row" }, make("b", {}, t(`layout_${layout}`))),
        make("td", { colspan: 6 }, found.refusals[layout])));
  place.replaceChildren(make("table", { class: "layouts" }, make("thead", {}, head), body));
}
