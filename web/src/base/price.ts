// "$5", "5 €", "20": the amount and the sign in front of it; undefined: no price.
export function parsePrice(text: string): { amount: number; currency: string } | undefined {
  const match = /^([^\d.,\s-]{0,4})\s*([\d.]+)\s*([^\d.,\s-]{0,4})$/.exec(text.trim());
  const amount = Number(match?.[2] ?? NaN);
  if (!match || !Number.isFinite(amount)) return undefined;
  return { amount, currency: match[1] || match[3] || "" };
}
