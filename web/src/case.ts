// From what was typed to everything that the page shows: one pass, no state.
import { parsePrice } from "./base/price.ts";
import {
  Refusal, choiceOf, layoutsOf, readAmount, readCount, readFpr, readSize, readWindow, solve,
  type Field, type Layout, type Plan, type Request,
} from "./planner.ts";
import { fieldsOf, type Fields } from "./state.ts";
import { t } from "./texts/index.ts";
import { refusalText } from "./texts/refusals.ts";

export interface Case {
  request: Request; // with the layout that was asked for
  complaints: Partial<Record<keyof Fields, string>>; // what is wrong, at its field
  plans: Partial<Record<Layout, Plan>>;
  refusals: Partial<Record<Layout, string>>; // in the words of the page
  automatic: Layout | undefined; // as a choice
  plan: Plan | undefined; // the one in use
  keyLength: number;
  load: number; // look-ups a second
  price: { amount: number; currency: string };
}

const FIELD: Record<Field, keyof Fields> = {
  kind: "kind", items: "n", fpr: "p", bits: "m", hashes: "k", layout: "layout", counterBits: "layout",
  growth: "growth", tightening: "growth", window: "window", slices: "slices", delta: "delta",
};

// Calls `refused` where there is no plan.
function attempt(request: Request, refused: (refusal: Refusal) => void): Plan | undefined {
  try {
    return solve(request);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused(error);
    return undefined;
  }
}

const shown = (text: string): string => (text.length > 24 ? `${text.slice(0, 24)}…` : text);

function readRequest(fields: Fields, complaints: Case["complaints"]): Request {
  const has = fieldsOf(fields.kind);
  const read = <T>(name: keyof Fields, parse: (text: string) => T | undefined, complaint: Parameters<typeof t>[0]): T | undefined => {
    const text = fields[name];
    if (text === "" || !has.includes(name)) return undefined;
    const value = parse(text);
    if (value === undefined) complaints[name] = t(complaint, { text: shown(text) });
    return value;
  };
  // The library knows the bounds of these, all of them small.
  const small = (text: string): number | undefined => {
    const count = readCount(text);
    return count === undefined || count > 1_000_000n ? undefined : Number(count);
  };
  const request: Request = {
    kind: fields.kind,
    items: read("n", readCount, "not_count"),
    fpr: read("p", readFpr, "not_rate"),
    hashes: read("k", small, "not_count"),
    growth: read("growth", small, "not_count"),
    window: read("window", readWindow, "not_window"),
    slices: read("slices", small, "not_count"),
    delta: read("delta", readCount, "not_count"),
  };
  const size = read("m", readSize, "not_size");
  if (size && "bits" in size) request.bits = size.bits;
  else if (size && request.items === undefined) complaints.m = t("size_needs_items");
  else if (size) request.bits = BigInt(Math.min(1.8e19, Math.round(Number(request.items) * size.bitsPerKey)));
  return request;
}

// The layout of a counting filter is said by its counters.
function withLayout(request: Request, layout: Layout | ""): Request {
  if (layout === "" || layout === "fuse") return request;
  if (request.kind === "counting") return { ...request, counterBits: layout === "blocked64" ? 8 : 4 };
  return { ...request, layout };
}

export function workOut(fields: Fields): Case {
  const complaints: Case["complaints"] = {};
  const request = readRequest(fields, complaints);
  const typed = Object.keys(complaints).length === 0;
  const amount = (name: "length" | "load") => {
    const value = readAmount(fields[name]);
    if (value === undefined) complaints[name] = t("not_amount", { text: shown(fields[name]) });
    return value ?? 0;
  };
  const price = parsePrice(fields.price);
  if (!price) complaints.price = t("not_amount", { text: shown(fields.price) });
  const found: Case = {
    request: withLayout(request, fields.layout),
    complaints,
    plans: {},
    refusals: {},
    automatic: undefined,
    plan: undefined,
    keyLength: amount("length"),
    load: amount("load"),
    price: price ?? { amount: 0, currency: "" },
  };
  if (!typed) return found;
  found.plan = attempt(found.request, (refusal) => {
    complaints[FIELD[refusal.field]] ??= refusalText(refusal.message);
  });
  for (const layout of layoutsOf(fields.kind)) {
    const plan = attempt(withLayout(request, layout), (refusal) => {
      found.refusals[layout] = refusalText(refusal.message);
    });
    if (plan) found.plans[layout] = plan;
  }
  const automatic = attempt(request, () => undefined);
  found.automatic = automatic && choiceOf(automatic.layout);
  return found;
}

// Why there is no plan.
export const refusalOf = (found: Case): string =>
  Object.entries(found.complaints).find(([name]) => !["length", "load", "price"].includes(name))?.[1] ?? "";
