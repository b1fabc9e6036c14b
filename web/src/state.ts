// What the visitor has typed, kept in the address after the # so that a link shares it.
import { KINDS, layoutsOf, type Kind, type Layout } from "./planner.ts";
import type { Language } from "./texts/index.ts";

// As typed; "" where nothing is. n, p, m and k are items, false-positive rate, memory and hashes.
export interface Fields {
  kind: Kind;
  n: string;
  p: string;
  m: string;
  k: string;
  layout: Layout | ""; // of a counting filter blocked128 or blocked64: counters of 4 or 8 bits
  growth: string;
  window: string;
  slices: string;
  delta: string;
  length: string;
  load: string;
  price: string;
}
export type NumberField = "n" | "p" | "m" | "k";

const FIRST: Fields = {
  kind: "plain", n: "100M", p: "0.1%", m: "", k: "", layout: "", growth: "", window: "7d", slices: "", delta: "",
  length: "40", load: "1000", price: "$5",
};

// What the visitor can type for each kind, besides the layout.
export const fieldsOf = (kind: Kind): readonly (keyof Fields)[] =>
  kind === "scalable" ? ["n", "p", "growth"]
  : kind === "frozen" ? ["n", "p", "delta"]
  : kind === "window" ? ["n", "p", "window", "slices"]
  : ["n", "p", "m", "k"];

export interface State {
  fields: Fields;
  language: Language | undefined; // undefined: the browser's
}

export function readAddress(hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const fields = { ...FIRST };
  // A link that says anything of the numbers says all of them.
  if (["n", "p", "m", "k"].some((name) => given.has(name)))
    for (const name of ["n", "p", "m", "k"] as const) fields[name] = given.get(name) ?? "";
  for (const name of ["growth", "window", "slices", "delta", "length", "load", "price"] as const)
    fields[name] = given.get(name) ?? FIRST[name];
  fields.kind = KINDS.find((kind) => kind === given.get("kind")) ?? "plain";
  fields.layout = layoutsOf(fields.kind).find((layout) => layout === given.get("layout")) ?? "";
  const language = given.get("lang");
  return { fields, language: language === "zh" || language === "en" ? language : undefined };
}

// What is as at first is left out, and what the kind does not have.
export function addressOf(state: State): string {
  const given = new URLSearchParams();
  const { fields } = state;
  const has = fieldsOf(fields.kind);
  if (fields.kind !== FIRST.kind) given.set("kind", fields.kind);
  const numbers = (["n", "p", "m", "k"] as const).filter((name) => has.includes(name));
  if (numbers.some((name) => fields[name] !== FIRST[name]))
    for (const name of numbers) if (fields[name] !== "") given.set(name, fields[name]);
  for (const name of ["growth", "window", "slices", "delta"] as const)
    if (has.includes(name) && fields[name] !== FIRST[name]) given.set(name, fields[name]);
  for (const name of ["layout", "length", "load", "price"] as const)
    if (fields[name] !== FIRST[name]) given.set(name, fields[name]);
  if (state.language) given.set("lang", state.language);
  const text = given.toString();
  return text === "" ? "" : `#${text}`;
}

// Another kind, with what was worked out for the old one where the new one needs it given.
export function adoptKind(fields: Fields, kind: Kind, solved: { items: number; fpr: number } | undefined): void {
  fields.kind = kind;
  fields.layout = "";
  if (!fieldsOf(kind).includes("m")) fields.m = fields.k = "";
  const given = (["n", "p", "m", "k"] as const).filter((name) => fields[name] !== "");
  if (given.length > 1 || !solved) return;
  if (fields.n === "") fields.n = String(solved.items);
  if (fields.p === "") fields.p = String(Number(solved.fpr.toPrecision(3)));
}

// Two of items, false-positive rate and memory determine the third: typing into one that was worked
// out makes the one that was typed longest ago the next to be worked out. `order` has the latest last.
export function release(fields: Fields, edited: NumberField, order: NumberField[]): void {
  if (edited === "k" || fields[edited] === "" || !fieldsOf(fields.kind).includes("m")) return;
  const given = order.filter((name) => name !== "k" && name !== edited && fields[name] !== "");
  if (given.length < 2) return;
  const oldest = given[0];
  if (oldest) fields[oldest] = "";
}
