// The formulas of the plan in use, with its numbers put in.
import { byId, make, raised } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { fprAt, hasTwoBlocks, layoutFpr, lowerBoundBits, type Plan } from "../planner.ts";
import { t } from "../texts/index.ts";
import { fingerprints } from "./kinds.ts";

// What it is, with letters, with numbers, and what comes out. ^[...] is raised.
type Formula = [what: string, letters: string, numbers: string, result: string];

// Keys in a block of the layout, and its false-positive rate; of a sub-filter or slice where the
// filter has such.
function ofBlocks(plan: Plan): Formula[] {
  const { part, hashes } = plan;
  const rate = format.rate(Number(layoutFpr(plan.layout, part.bits, hashes, part.items).toPrecision(3)));
  const [n, m] = [format.inFormula(part.items), format.inFormula(part.bits)];
  if (plan.layout === "standard")
    return [[t("formula_rate"), "p = (1 − e^[−kn/m])^[k]", `(1 − e^[−${hashes} · ${n} / ${m}])^[${hashes}]`, rate]];
  const pair = hasTwoBlocks(plan.layout);
  const width = 512 / (plan.counterBits || 1);
  const load = ((pair ? 2 : 1) * width * part.items) / part.bits;
  const k = pair ? "(k/2)" : "k", exponent = pair ? "k/2" : "k", count = pair ? hashes / 2 : hashes;
  const sum = (i: string, one: string | number, power: string | number) => `Σ P(i; ${i}) · (1 − (1 − ${one}/${width})^[i])^[${power}]`;
  const squared = (text: string) => (pair ? `(${text})²` : text);
  const mean = format.significant(load);
  return [
    [t(plan.kind === "counting" ? (pair ? "formula_load_counters_pair" : "formula_load_counters") : pair ? "formula_load_pair" : "formula_load", { counters: width }),
      `λ = ${pair ? "2 · " : ""}${width} · n / m`, `${pair ? "2 · " : ""}${width} · ${n} / ${m}`, mean],
    [t("formula_rate_blocks"), `p = ${squared(sum("λ", k, exponent))}`, squared(sum(mean, count, count)), rate],
  ];
}

function formulasOf(plan: Plan): Formula[] {
  const rate = format.rate(plan.fpr);
  const bound = lowerBoundBits(plan.fpr);
  const textbook = (bound * plan.items) / Math.LN2;
  const n = format.inFormula(plan.items);
  const shared: Formula[] = [
    [t("formula_textbook"), "m = −n · ln p / (ln 2)²", `${n} · ${format.significant(-Math.log(plan.fpr), 4)} / 0.4805`, format.bytes(textbook / 8)],
    [t("formula_textbook_hashes"), "k = m/n · ln 2", `${format.fixed(textbook / plan.items, 2)} · 0.693`, format.fixed(bound, 1)],
    [t("formula_bound"), "log₂(1/p)", `log₂(${format.inFormula(1 / plan.fpr)})`, format.fixed(bound, 2)],
  ];
  const blocks = plan.kind === "frozen" ? [] : ofBlocks(plan);
  switch (plan.kind) {
    case "plain":
      return [...blocks, ...shared];
    case "frozen": {
      const r = fingerprints(plan);
      return [
        [t("formula_fingerprint"), "p = 2^[−r]", `r = ${r}`, format.rate(Number(fprAt(plan, plan.items).toPrecision(3)))],
        [t("formula_cells"), "m / n", `${format.inFormula(plan.part.bits)} / ${n}`, format.fixed(plan.part.bits / plan.items, 2)],
        ...shared];
    }
    case "counting":
      return [...blocks,
        [t("formula_counters"), `${plan.counterBits} · m`, `${plan.counterBits} · ${format.inFormula(plan.part.bits)}`, format.bytes(plan.bytes)],
        ...shared];
    case "scalable": {
      const left = format.significant(1 - plan.tightening), ratio = format.significant(plan.tightening);
      return [
        [t("formula_room"), "nᵢ = n · g^[i]", `${n} · ${plan.growth}^[i]`, ""],
        [t("formula_share"), "pᵢ = p · (1 − r) · r^[i]", `${rate} · ${left} · ${ratio}^[i]`, `p₀ = ${format.rate(plan.part.fpr)}`],
        [t("formula_shares"), "Σ pᵢ ≤ p", `${rate} · ${left} / (1 − ${ratio})`, rate],
        ...blocks, ...shared];
    }
    case "window": {
      const ring = plan.slices + 1;
      const whole = format.rate(Number(fprAt(plan, plan.items).toPrecision(3)));
      const slice = format.rate(Number(layoutFpr(plan.layout, plan.part.bits, plan.hashes, plan.part.items).toPrecision(3)));
      return [
        [t("formula_slice_keys"), "n / s", `${n} / ${plan.slices}`, format.compact(plan.part.items)],
        [t("formula_slice"), "p / (s + 1)", `${rate} / ${ring}`, format.rate(Number(plan.part.fpr.toPrecision(3)))],
        ...blocks,
        [t("formula_ring", { ring }), "1 − (1 − p)^[s + 1]", `1 − (1 − ${slice})^[${ring}]`, whole],
        ...shared];
    }
  }
}

export function showFormulas(found: Case): void {
  const { plan } = found;
  byId("formulas-title").closest("section")?.toggleAttribute("hidden", !plan);
  if (!plan) return;
  byId("formulas").replaceChildren(...formulasOf(plan).map(([what, letters, numbers, result]) =>
    make("div", { class: "formula" }, make("dt", {}, what),
      make("dd", {}, make("span", { class: "letters" }, raised(letters)),
        make("span", { class: "with-numbers" }, "= ", raised(numbers)),
        result === "" ? null : make("strong", {}, `${result.includes("=") ? "" : "= "}${result}`)))));
}
