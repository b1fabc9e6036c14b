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

// The same flags go to plan, create and rebuild.
export function toolFlags(found: Case): string {
  const { items, fpr, bits, hashes } = found.request;
  const flags: string[] = [];
  if (items !== undefined) flags.push(`-n ${shortCount(items)}`);
  if (fpr !== undefined) flags.push(`-p ${shortFpr(fpr)}`);
  if (bits !== undefined) flags.push(`--bits ${shortBits(bits)}`);
  if (hashes !== undefined) flags.push(`--hashes ${hashes}`);
  if (found.layout !== undefined) flags.push(`--layout ${found.layout}`);
  return flags.join(" ");
}

export const toolLine = (found: Case): string => `bloomery create seen.bloom ${toolFlags(found)}`;

const grouped = (value: bigint | number): string => String(value).replace(/\B(?=(\d{3})+$)/g, "'");

export function cppLines(found: Case): string {
  const { items, fpr, bits, hashes } = found.request;
  if (items !== undefined && fpr !== undefined && bits === undefined && hashes === undefined) {
    const layout = found.layout === undefined ? "" : `, bloomery::Layout::${found.layout}`;
    const numbers = `${grouped(items)}, ${shortFpr(fpr)}${layout}`;
    return `#include <bloomery/bloomery.hpp>\n\nbloomery::Filter seen(${layout === "" ? numbers : `bloomery::plan(${numbers})`});`;
  }
  const given = [
    `.capacity = ${items === undefined ? "{}" : grouped(items)}`,
    `.fpr = ${fpr === undefined ? "{}" : shortFpr(fpr)}`,
    `.bits = ${bits === undefined ? "{}" : grouped(bits)}`,
    `.hashes = ${hashes ?? "{}"}`,
    `.layout = ${found.layout === undefined ? "{}" : `bloomery::Layout::${found.layout}`}`,
  ];
  return `#include <bloomery/bloomery.hpp>\n\nbloomery::Filter seen(bloomery::solve({\n    ${given.join(",\n    ")}}));`;
}

export const redisLine = (plan: Plan): string =>
  `BF.RESERVE seen ${shortFpr(Number(plan.fpr.toPrecision(6)))} ${plan.items} NONSCALING`;
