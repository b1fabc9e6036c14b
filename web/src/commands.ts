// The lines that make the planned filter: with the tool, in C++, in Redis.
import type { Case } from "./case.ts";
import type { Plan } from "./planner.ts";

// 100000000 as 100M, where that is exact.
function shortCount(value: bigint): string {
  for (const [unit, power] of [["T", 10n ** 12n], ["G", 10n ** 9n], ["M", 10n ** 6n], ["K", 1000n]] as const)
    if (value >= power && value % power === 0n) return `${value / power}${unit}`;
  return String(value);
}

// 1e-6 rather than 0.000001.
const shortFpr = (fpr: number): string => (fpr < 1e-4 ? fpr.toExponential() : String(fpr));

function shortBits(bits: bigint): string {
  for (const [unit, power] of [["GiB", 33n], ["MiB", 23n], ["KiB", 13n]] as const)
    if (bits >= 1n << power && bits % (1n << power) === 0n) return `${bits >> power}${unit}`;
  return shortCount(bits);
}

function shortSeconds(seconds: bigint): string {
  for (const [unit, length] of [["d", 86_400n], ["h", 3600n], ["min", 60n]] as const)
    if (seconds % length === 0n) return `${seconds / length}${unit}`;
  return `${seconds}s`;
}

// The same flags go to plan, create and rebuild.
export function toolFlags(found: Case): string {
  const { kind = "plain", items, fpr, bits, hashes, layout, counterBits, growth, window, slices, delta } = found.request;
  const flags: string[] = kind === "plain" ? [] : [`--kind ${kind}`];
  if (window !== undefined) flags.push(`--window ${window.unit === "seconds" ? shortSeconds(window.length) : shortCount(window.length)}`);
  if (slices !== undefined) flags.push(`--slices ${slices}`);
  if (delta !== undefined) flags.push(`--delta ${shortCount(delta)}`);
  if (counterBits !== undefined) flags.push(`--counter-bits ${counterBits}`);
  if (growth !== undefined) flags.push(`--growth ${growth}`);
  if (items !== undefined) flags.push(`-n ${shortCount(items)}`);
  if (fpr !== undefined) flags.push(`-p ${shortFpr(fpr)}`);
  if (bits !== undefined) flags.push(`--bits ${shortBits(bits)}`);
  if (hashes !== undefined) flags.push(`--hashes ${hashes}`);
  if (layout !== undefined) flags.push(`--layout ${layout}`);
  return flags.join(" ");
}

// A frozen filter is made of all lines.
export const toolLine = (found: Case): string =>
  `bloomery create seen.bloom ${found.request.kind === "frozen" ? "keys.txt " : ""}${toolFlags(found)}`;

const grouped = (value: bigint | number): string => String(value).replace(/\B(?=(\d{3})+$)/g, "'");

// The arguments of a constructor or a plan function, without those at the end that are not given.
const listed = (required: string[], optional: [given: boolean, text: string][]): string => {
  const last = optional.map(([given]) => given).lastIndexOf(true);
  return [...required, ...optional.slice(0, last + 1).map(([, text]) => text)].join(", ");
};

// { .capacity = ..., .bits = ... }: the numbers of a PlanRequest.
function requested(found: Case): string {
  const { items, fpr, bits, hashes, layout } = found.request;
  const given: string[] = [];
  if (items !== undefined) given.push(`.capacity = ${grouped(items)}`);
  if (fpr !== undefined) given.push(`.fpr = ${shortFpr(fpr)}`);
  if (bits !== undefined) given.push(`.bits = ${grouped(bits)}`);
  if (hashes !== undefined) given.push(`.hashes = ${hashes}`);
  if (layout !== undefined) given.push(`.layout = bloomery::Layout::${layout}`);
  return `{${given.join(", ")}}`;
}

function declaration(found: Case, plan: Plan): string {
  const { items, fpr, bits, hashes, layout, counterBits, growth, window, slices, delta } = found.request;
  const numbers = [grouped(plan.items), shortFpr(plan.fpr)];
  const two = items !== undefined && fpr !== undefined && bits === undefined && hashes === undefined;
  const chosen: [boolean, string] = [layout !== undefined, `bloomery::Layout::${layout}`];
  switch (plan.kind) {
    case "plain":
      if (!two) return `Filter seen(bloomery::solve(${requested(found)}))`;
      return layout === undefined ? `Filter seen(${numbers.join(", ")})` : `Filter seen(bloomery::plan(${listed(numbers, [chosen])}))`;
    case "counting":
      if (two) return `CountingFilter seen(${listed(numbers, [[counterBits !== undefined, `${counterBits}`]])})`;
      return `CountingFilter seen(bloomery::counting_plan(${listed([requested(found)], [[counterBits !== undefined, `${counterBits}`]])}).plan)`;
    case "scalable":
      if (layout === undefined) return `ScalableFilter seen(${listed(numbers, [[growth !== undefined, `${growth}`]])})`;
      return `ScalableFilter seen(bloomery::scalable_plan(${listed([...numbers, `${plan.growth}`, "bloomery::kDefaultTightening"], [chosen])}))`;
    case "frozen":
      if (delta === undefined) return `FrozenBuilder keys(${shortFpr(plan.fpr)})`;
      return `FilterFile seen = bloomery::FilterFile::create("seen.bloom", bloomery::frozen_plan(${[...numbers, grouped(delta)].join(", ")}))`;
    case "window":
      return `WindowFilter seen(bloomery::window_plan(${listed(
        [`bloomery::WindowUnit::${plan.unit}`, grouped(window?.length ?? 0n), ...numbers],
        [[slices !== undefined, `${plan.slices}`], chosen])}))`;
  }
}

export const cppLines = (found: Case, plan: Plan): string =>
  `#include <bloomery/bloomery.hpp>\n\nbloomery::${declaration(found, plan)};`;

export function redisLine(found: Case, plan: Plan): string {
  const { slices, counterBits, window } = found.request;
  if (plan.kind === "frozen") return "bloomery convert seen.bloom 'redis+module://127.0.0.1?key=seen'";
  const options = {
    plain: "NONSCALING",
    counting: `COUNTING${counterBits === undefined ? "" : ` COUNTERBITS ${counterBits}`}`,
    scalable: `EXPANSION ${plan.growth}`,
    window: `WINDOW ${window?.length} ${plan.unit === "seconds" ? "SECONDS" : "ITEMS"}${slices === undefined ? "" : ` SLICES ${slices}`}`,
  }[plan.kind];
  return `BF.RESERVE seen ${shortFpr(Number(plan.fpr.toPrecision(6)))} ${plan.items} ${options}`;
}
