// From what people type to numbers: exact for counts, in English and in Chinese.
//
// Each parser returns undefined for a text that is none; "" is never passed.

const POWERS: Record<string, number> = {
  "": 0, k: 3, m: 6, g: 9, b: 9, t: 12,
  thousand: 3, million: 6, billion: 9, trillion: 12,
  千: 3, 万: 4, 百万: 6, 千万: 7, 亿: 8, 十亿: 9, 百亿: 10, 千亿: 11, 万亿: 12,
};

// A number and what stands behind it. Grouping commas and spaces inside the digits are dropped.
function split(text: string): { mantissa: bigint; exponent: number; rest: string } | undefined {
  const match = /^(\d[\d,_'\s]*\d|\d)?(?:\.(\d*))?(?:e([+-]?\d{1,3}))?\s*(.*)$/i.exec(text.trim());
  if (!match) return undefined;
  const whole = (match[1] ?? "").replace(/[,_'\s]/g, "");
  const fraction = match[2] ?? "";
  if (whole + fraction === "" || (whole + fraction).length > 40) return undefined;
  return {
    mantissa: BigInt(whole + fraction),
    exponent: Number(match[3] ?? 0) - fraction.length,
    rest: match[4] ?? "",
  };
}

// mantissa * 10^exponent without its fraction, if it is below 2^64.
function roundDown(mantissa: bigint, exponent: number): bigint | undefined {
  if (exponent > 40) return mantissa === 0n ? 0n : undefined;
  const value = exponent >= 0 ? mantissa * 10n ** BigInt(exponent) : mantissa / 10n ** BigInt(-exponent);
  return value < 1n << 64n ? value : undefined;
}

// The same, if it has no fraction.
function toWhole(mantissa: bigint, exponent: number): bigint | undefined {
  const value = roundDown(mantissa, exponent);
  if (value === undefined || exponent >= 0) return value;
  return value * 10n ** BigInt(-exponent) === mantissa ? value : undefined;
}

// 100M, 1.5 billion, 1e8, 100,000,000, 1亿.
export function parseCount(text: string): bigint | undefined {
  const number = split(text);
  if (!number) return undefined;
  const power = POWERS[number.rest.toLowerCase().replace(/\s+/g, "")];
  return power === undefined ? undefined : toWhole(number.mantissa, number.exponent + power);
}

// 0.1%, 1‰, 1 in 1000, 1/1000, 1e-3, 千分之一, 1000分之1.
export function parseFpr(text: string): number | undefined {
  const trimmed = text.trim();
  const parts = /^(.+?)\s*(?:\/|:|：|\bin\b|\bof\b)\s*(.+)$/i.exec(trimmed);
  const chinese = /^(.+)分之(.+)$/.exec(trimmed);
  let rate: number | undefined;
  if (parts || chinese) {
    const share = chineseCount((parts ? parts[1] : chinese?.[2]) ?? "");
    const whole = chineseCount((parts ? parts[2] : chinese?.[1]) ?? "");
    if (share !== undefined && whole) rate = Number(share) / Number(whole);
  } else {
    const match = /^(\d*\.?\d*(?:e[+-]?\d{1,3})?)\s*([%％‰]|percent)?$/i.exec(trimmed);
    // 0.1% is 0.1e-2 to the last bit, which a division by 100 might miss.
    const shift = match?.[2] === undefined ? 0 : match[2] === "‰" ? 3 : 2;
    const digits = match?.[1] ?? "";
    if (/\d/.test(digits))
      rate = /e/i.test(digits) ? Number(digits) / 10 ** shift : Number(`${digits}e-${shift}`);
  }
  return rate !== undefined && rate > 0 && rate < 1 ? rate : undefined;
}

const CHINESE_ONES: Record<string, bigint> = {
  一: 1n, 二: 2n, 三: 3n, 五: 5n, 十: 10n, 百: 100n, 千: 1000n, 万: 10_000n, 十万: 100_000n,
  百万: 1_000_000n, 千万: 10_000_000n, 亿: 100_000_000n,
};
const chineseCount = (text: string): bigint | undefined =>
  CHINESE_ONES[text.trim()] ?? parseCount(text);

// A size is bits, without a fraction of one, or bits for each key, whose number is another field.
export type Size = { bits: bigint } | { bitsPerKey: number };

// 1GiB, 200MB, 512 KiB are bytes; 8G, 1.6 Gbit are bits; 16/key, 16 bits per key.
export function parseSize(text: string): Size | undefined {
  const perKey = /^([\d.]+)\s*(?:bits?|位|比特)?\s*(?:\/|per|a|each|每)\s*(?:key|item|address|键|项|元素|个)?$/i.exec(text.trim())
    ?? /^([\d.]+)\s*(?:bits?|位)\s*each$/i.exec(text.trim());
  if (perKey) {
    const bitsPerKey = Number(perKey[1]);
    return bitsPerKey > 0 ? { bitsPerKey } : undefined;
  }
  const number = split(text);
  if (!number) return undefined;
  const unit = /^([kmgt]?)(i?)(b|bytes?|字节|bits?|位|比特)?$/i.exec(number.rest.replace(/\s+/g, ""));
  if (!unit) return undefined;
  const [, letter = "", binary = "", what = ""] = unit;
  const power = "kmgt".indexOf(letter.toLowerCase()) + 1;
  if (letter === "" && binary !== "") return undefined;
  const isBits = what === "" ? binary === "" : /^(bits?|位|比特)$/i.test(what);
  const factor = (letter === "" ? 1n : (binary === "" ? 1000n : 1024n) ** BigInt(power)) * (isBits ? 1n : 8n);
  const bits = roundDown(number.mantissa * factor, number.exponent);
  return bits === undefined ? undefined : { bits };
}

// A plain number from 0 up that may have a suffix, for what needs no exactness.
export function parseAmount(text: string): number | undefined {
  const number = split(text);
  const power = number && POWERS[number.rest.toLowerCase()];
  if (!number || power === undefined) return undefined;
  return Number(number.mantissa) * 10 ** (number.exponent + power);
}

// "$5", "5 €", "20": the amount and the sign in front of it.
export function parsePrice(text: string): { amount: number; currency: string } | undefined {
  const match = /^([^\d.,\s-]{0,4})\s*([\d.]+)\s*([^\d.,\s-]{0,4})$/.exec(text.trim());
  const amount = Number(match?.[2] ?? NaN);
  if (!match || !Number.isFinite(amount)) return undefined;
  return { amount, currency: match[1] || match[3] || "" };
}
