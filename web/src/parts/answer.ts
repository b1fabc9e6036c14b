// The answer in large: what the filter takes, and what it costs.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import { refusalOf, type Case } from "../case.ts";
import { cacheLines } from "../costs.ts";
import { bitsPerKey, lowerBoundBits, type Plan } from "../planner.ts";
import { t } from "../texts/index.ts";
import { grownTo } from "./kinds.ts";

function figure(value: string, what: string, more: string): HTMLElement {
  return make("div", { class: "figure" }, make("dt", {}, what),
    make("dd", {}, make("strong", {}, value), make("small", {}, more)));
}

// What the memory is made of.
function memoryIs(plan: Plan): string {
  const parts = [t("answer_memory"), t("answer_bits", { bits: format.whole(8 * plan.bytes) })];
  if (plan.kind === "counting")
    parts[1] = t("answer_counters", { counters: format.whole(plan.part.bits), bits: plan.counterBits });
  if (plan.kind === "window")
    parts[1] = t("answer_slices", { slices: plan.slices, length: format.length(plan.window / plan.slices, plan.unit) });
  const grown = plan.kind === "scalable" ? grownTo(plan, 10) : undefined;
  if (grown) parts.splice(0, 2, t("answer_memory_first", { bytes: format.bytes(grown) }));
  return parts.join(" · ");
}

function linesAre(plan: Plan, absent: number): string {
  if (plan.kind === "frozen") return t("answer_lines_frozen");
  if (plan.layout === "standard") return t("answer_lines_standard", { lines: format.fixed(absent, 1) });
  if (plan.kind === "window") return t("answer_lines_slices");
  return t(plan.kind === "scalable" ? "answer_lines_grown" : "answer_lines_are");
}

export function showAnswer(found: Case): void {
  const place = byId("answer");
  const { plan } = found;
  if (!plan) {
    place.replaceChildren(make("p", { class: "no-plan" }, t("answer_no_plan")), make("p", { class: "which" }, t("answer_see")));
    return;
  }
  const lines = cacheLines(plan);
  const perDay = found.load * 86_400;
  const cost = (plan.bytes / 2 ** 30) * found.price.amount;
  const money = (value: number) => `${found.price.currency}${value < 0.01 && value > 0 ? "<0.01" : format.fixed(value, 2)}`;
  const frozen = plan.kind === "frozen";
  const layout = plan.kind === "counting" || frozen ? "" : t("answer_layout", { layout: plan.layout });
  const chosen = plan.kind !== "counting" && !frozen && found.automatic === plan.layout && found.request.fpr !== undefined;
  place.replaceChildren(
    make("p", { class: "hero" }, make("strong", {}, format.bytes(plan.bytes)), make("span", {}, memoryIs(plan))),
    make("p", { class: "which" }, layout, chosen ? ` · ${t("answer_chosen")}` : ""),
    make("dl", { class: "figures" },
      figure(format.rate(plan.fpr), t("answer_rate"),
        plan.kind === "scalable" ? t("answer_rate_most") : t("answer_one_in", { n: format.whole(format.oneIn(plan.fpr)) })),
      figure(format.compact(plan.items), t("answer_items"), format.whole(plan.items)),
      figure(format.fixed(bitsPerKey(plan), 2), t("answer_bits_per_key"),
        t("answer_bound", { bits: format.fixed(lowerBoundBits(plan.fpr), 2) })),
      figure(String(plan.hashes), t("answer_hashes"), t(frozen ? "answer_hashes_frozen" : "answer_hashes_are")),
      figure(String(lines.present), t("answer_lines"), linesAre(plan, lines.absent)),
      figure(format.compact(perDay * plan.fpr), t("answer_false_day"),
        t("answer_false_day_of", { load: format.compact(perDay) })),
      figure(money(cost), t("answer_price"),
        t("answer_price_of", { price: `${found.price.currency}${found.price.amount}` })),
      figure(format.bytes(plan.items * found.keyLength), t("answer_keys"),
        t("answer_keys_are", { bytes: format.significant(found.keyLength) })),
    ),
  );
}

// What a screen reader says once typing has paused.
export function sentenceOf(found: Case): string {
  const { plan } = found;
  if (!plan) return refusalOf(found);
  return t("spoken", {
    layout: t(`layout_${plan.layout}`),
    memory: format.bytes(plan.bytes),
    items: format.whole(plan.items),
    rate: format.rate(plan.fpr),
    hashes: plan.hashes,
    bits: format.fixed(bitsPerKey(plan), 2),
  });
}
