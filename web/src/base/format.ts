// Numbers as people read them, in the language of the page.
import type { Unit } from "../planner.ts";
import { language, t } from "../texts/index.ts";

const locale = () => (language() === "zh" ? "zh-CN" : "en");

export const whole = (value: number): string =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: 0 }).format(value);

export const fixed = (value: number, digits: number): string =>
  new Intl.NumberFormat(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);

export const significant = (value: number, digits = 3): string =>
  new Intl.NumberFormat(locale(), { maximumSignificantDigits: digits }).format(value);

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(value: number): string {
  let unit = 0;
  for (; value >= 1024 && unit + 1 < UNITS.length; ++unit) value /= 1024;
  const text = unit === 0 ? whole(value) : value >= 1000 ? whole(value) : fixed(value, 1);
  return `${text}\u00a0${UNITS[unit]}`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// 10⁻⁶, or 2.5·10⁻⁷.
function scientific(value: number, digits = 3): string {
  const [mantissa = "", exponent = "0"] = value.toExponential(digits - 1).split("e");
  const power = [...exponent.replace("+", "")]
    .map((c) => (c === "-" ? "⁻" : SUPERSCRIPTS[Number(c)]))
    .join("");
  const factor = String(Number(mantissa));
  return factor === "1" ? `10${power}` : `${factor}·10${power}`;
}

// 0.1 %, or 2.5·10⁻⁷ where a percentage would be all zeros.
export const rate = (value: number): string =>
  value === 0 || value >= 1e-5 ? `${significant(value * 100)}\u00a0%` : scientific(value);

// The other side of a rate: about how many answers for one that is wrong.
export function oneIn(value: number): number {
  const inverse = 1 / value;
  if (inverse < 100) return Number(inverse.toPrecision(2));
  return Number(inverse.toPrecision(inverse < 1e6 ? 3 : 2));
}

// 12.5 million, 1250万.
export const compact = (value: number): string =>
  value < (language() === "zh" ? 10_000 : 1_000_000)
    ? significant(value, value < 1000 ? 3 : 6)
    : new Intl.NumberFormat(locale(), {
        notation: "compact", compactDisplay: "long", maximumSignificantDigits: 3,
      }).format(value);

// A number within a formula: 512, or 1.56·10⁹.
export const inFormula = (value: number): string =>
  value >= 1e6 ? scientific(value) : value >= 100 || Number.isInteger(value) ? whole(value) : significant(value);

// The length of a window or slice: "7 d", "10 million items".
export function length(value: number, unit: Unit): string {
  if (unit === "insertions") return t("length_items", { n: compact(value) });
  const [name, seconds] = ([["d", 86_400], ["h", 3600], ["min", 60]] as const).find(([, s]) => value % s === 0) ?? (["s", 1] as const);
  return t(`unit_${name}`, { n: whole(value / seconds) });
}
