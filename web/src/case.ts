// From what was typed to everything that the page shows: one pass, no state.
import { parseAmount, parseCount, parsePrice, parseFpr, parseSize } from "./base/parse.ts";
import { LAYOUTS, Refusal, solve, type Layout, type Plan, type Request } from "./planner.ts";
import type { Fields } from "./state.ts";
import { t } from "./texts/index.ts";
import { refusalText } from "./texts/refusals.ts";

export interface Case {
  request: Request; // without the layout
  layout: Layout | undefined; // as asked for; undefined: automatic
  complaints: Partial<Record<keyof Fields, string>>; // of texts that are no numbers
  plans: Partial<Record<Layout, Plan>>;
  refusals: Partial<Record<Layout, string>>; // in the words of the page
  automatic: Layout | undefined;
  plan: Plan | undefined; // the one in use
  refusal: string | undefined; // why there is none
  keyLength: number;
  load: number; // look-ups a second
  price: { amount: number; currency: string };
}

function attempt(request: Request): Plan | string {
  try {
    return solve(request);
  } catch (error) {
    if (error instanceof Refusal) return refusalText(error.message);
    throw error;
  }
}

function readRequest(fields: Fields, complaints: Case["complaints"]): Request {
  const request: Request = {};
  const shown = (text: string) => (text.length > 24 ? `${text.slice(0, 24)}…` : text);
  if (fields.n !== "") {
    request.items = parseCount(fields.n);
    if (request.items === undefined) complaints.n = t("not_count", { text: shown(fields.n) });
  }
  if (fields.p !== "") {
    request.fpr = parseFpr(fields.p);
    if (request.fpr === undefined) complaints.p = t("not_rate", { text: shown(fields.p) });
  }
  if (fields.k !== "") {
    const hashes = parseCount(fields.k);
    request.hashes = hashes === undefined || hashes > 1_000_000n ? undefined : Number(hashes);
    if (request.hashes === undefined) complaints.k = t("not_count", { text: shown(fields.k) });
  }
  if (fields.m !== "") {
    const size = parseSize(fields.m);
    if (size === undefined) complaints.m = t("not_size", { text: shown(fields.m) });
    else if ("bits" in size) request.bits = size.bits;
    else if (request.items === undefined) complaints.m = t("size_needs_items");
    else request.bits = BigInt(Math.min(1.8e19, Math.round(Number(request.items) * size.bitsPerKey)));
  }
  return request;
}

export function workOut(fields: Fields): Case {
  const complaints: Case["complaints"] = {};
  const request = readRequest(fields, complaints);
  const amount = (name: "length" | "load") => {
    const value = parseAmount(fields[name]);
    if (value === undefined) complaints[name] = t("not_amount", { text: fields[name] });
    return value ?? 0;
  };
  const price = parsePrice(fields.price);
  if (!price) complaints.price = t("not_amount", { text: fields.price });
  const found: Case = {
    request,
    layout: fields.layout || undefined,
    complaints,
    plans: {},
    refusals: {},
    automatic: undefined,
    plan: undefined,
    refusal: undefined,
    keyLength: amount("length"),
    load: amount("load"),
    price: price ?? { amount: 0, currency: "" },
  };
  const numbers = ["n", "p", "m", "k"] as const;
  const complaint = numbers.map((name) => complaints[name]).find((text) => text !== undefined);
  if (complaint !== undefined || numbers.filter((name) => fields[name] !== "").length < 2) {
    found.refusal = complaint ?? t("needs_two");
    return found;
  }
  for (const layout of LAYOUTS) {
    const plan = attempt({ ...request, layout });
    if (typeof plan === "string") found.refusals[layout] = plan;
    else found.plans[layout] = plan;
  }
  const automatic = attempt(request);
  if (typeof automatic !== "string") found.automatic = automatic.layout;
  const chosen = found.layout ? (found.plans[found.layout] ?? found.refusals[found.layout]) : automatic;
  if (typeof chosen === "string") found.refusal = chosen;
  else found.plan = chosen;
  return found;
}
