// What the visitor has typed, kept in the address after the # so that a link shares it.
import type { Layout } from "./planner.ts";
import { LAYOUTS } from "./planner.ts";
import type { Language } from "./texts/index.ts";

// As typed; "" where nothing is. n, p, m and k are items, rate, memory and hashes.
export interface Fields {
  n: string;
  p: string;
  m: string;
  k: string;
  layout: Layout | "";
  length: string;
  load: string;
  price: string;
}
export type NumberField = "n" | "p" | "m" | "k";

const FIRST: Fields = {
  n: "100M", p: "0.1%", m: "", k: "", layout: "", length: "40", load: "1000", price: "$5",
};

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
  for (const name of ["length", "load", "price"] as const) fields[name] = given.get(name) ?? FIRST[name];
  const layout = given.get("layout") ?? "";
  fields.layout = (LAYOUTS as readonly string[]).includes(layout) ? (layout as Layout) : "";
  const language = given.get("lang");
  return { fields, language: language === "zh" || language === "en" ? language : undefined };
}

// What is as at first is left out.
export function addressOf(state: State): string {
  const given = new URLSearchParams();
  const { fields } = state;
  const numbers = ["n", "p", "m", "k"] as const;
  if (numbers.some((name) => fields[name] !== FIRST[name]))
    for (const name of numbers) if (fields[name] !== "") given.set(name, fields[name]);
  for (const name of ["layout", "length", "load", "price"] as const)
    if (fields[name] !== FIRST[name]) given.set(name, fields[name]);
  if (state.language) given.set("lang", state.language);
  const text = given.toString();
  return text === "" ? "" : `#${text}`;
}

// Two of items, rate and memory determine the third: typing into one that was worked out makes
// the one that was typed longest ago the next to be worked out. `order` has the latest last.
export function release(fields: Fields, edited: NumberField, order: NumberField[]): void {
  if (edited === "k" || fields[edited] === "") return;
  const given = order.filter((name) => name !== "k" && name !== edited && fields[name] !== "");
  if (given.length < 2) return;
  const oldest = given[0];
  if (oldest) fields[oldest] = "";
}
