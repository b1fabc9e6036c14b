// The answer in large: what the filter takes, and what it costs.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { cacheLines } from "../costs.ts";
import { lowerBoundBits } from "../planner.ts";
import { t } from "../texts/index.ts";

function figure(value: string, what: string, more: string): HTMLElement {
  return make("div", { class: "figure" }, make("dt", {}, what),
    make("dd", {}, make("strong", {}, value), make("small", {}, more)));
}

export function showAnswer(found: Case): void {
  const place = byId("answer");
  const { plan } = found;
  if (!plan) {
    place.replaceChildren(make("p", { class: "no-plan" }, t("answer_no_plan")),
      make("p", { class: "refusal" }, found.refusal ?? ""));
    return;
  }
  const memory = format.bytes(plan.bits / 8);
  const lines = cacheLines(plan);
  const perDay = found.load * 86_400;
  const cost = (plan.bits / 8 / 2 ** 30) * found.price.amount;
  const money = (value: number) => `${found.price.currency}${value < 0.01 && value > 0 ? "<0.01" : format.fixed(value, 2)}`;
  place.replaceChildren(
    make("p", { class: "hero" }, make("strong", {}, memory),
      make("span", {}, `${t("answer_memory")} · ${t("answer_bits", { bits: format.whole(plan.bits) })}`)),
    make("p", { class: "which" }, t("answer_layout", { layout: plan.layout }),
      found.automatic === plan.layout && found.request.fpr !== undefined ? ` · ${t("answer_chosen")}` : ""),
    make("dl", { class: "figures" },
      figure(format.rate(plan.fpr), t("answer_rate"), t("answer_one_in", { n: format.whole(format.oneIn(plan.fpr)) })),
      figure(format.compact(plan.items), t("answer_items"), format.whole(plan.items)),
      figure(format.fixed(plan.bits / plan.items, 2), t("answer_bits_per_key"),
        t("answer_bound", { bits: format.fixed(lowerBoundBits(plan.fpr), 2) })),
      figure(String(plan.hashes), t("answer_hashes"), t("answer_hashes_are")),
      figure(String(lines.present), t("answer_lines"),
        plan.layout === "standard" ? t("answer_lines_standard", { lines: format.fixed(lines.absent, 1) }) : t("answer_lines_are")),
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
  if (!plan) return found.refusal ?? "";
  return t("spoken", {
    layout: plan.layout,
    memory: format.bytes(plan.bits / 8),
    items: format.whole(plan.items),
    rate: format.rate(plan.fpr),
    hashes: plan.hashes,
    bits: format.fixed(plan.bits / plan.items, 2),
  });
}
