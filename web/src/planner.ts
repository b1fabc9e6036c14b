// The library, as the page calls it: plans, false-positive rates and numbers out of planner.wasm.
//
// Nothing here computes. What the library refuses comes as a Refusal with its own words.
import moduleUrl from "../../build/web/planner.wasm?url&inline";

export type Kind = "plain" | "counting" | "scalable" | "window" | "frozen";
export const KINDS: readonly Kind[] = ["plain", "counting", "scalable", "window", "frozen"];
export type Layout = "blocked" | "blocked2" | "standard" | "blocked128" | "blocked64" | "blocked2x128" | "blocked2x64" | "fuse";
// By the library's numbers. A frozen filter has none of them: the page calls what it has "fuse", as the tool does.
const ALL_LAYOUTS: readonly Layout[] = ["blocked", "blocked2", "standard", "blocked128", "blocked64", "blocked2x128", "blocked2x64"];
export type Unit = "insertions" | "seconds";
const UNITS: readonly Unit[] = ["insertions", "seconds"];

// The layouts that a kind may be asked for. Of a counting filter these are the bits of a counter: the
// library decides whether a key has one block of them or two.
export const layoutsOf = (kind: Kind): readonly Layout[] =>
  kind === "counting" ? ["blocked128", "blocked64"]
  : kind === "window" ? ["blocked", "blocked2"]
  : kind === "frozen" ? ["fuse"]
  : ["blocked", "blocked2", "standard"];

// What was asked for where a plan has this layout.
export const choiceOf = (layout: Layout): Layout =>
  layout === "blocked2x128" ? "blocked128" : layout === "blocked2x64" ? "blocked64" : layout;

export const hasTwoBlocks = (layout: Layout): boolean =>
  layout === "blocked2" || layout === "blocked2x128" || layout === "blocked2x64";

// What is given; what is not is worked out. Bits and items are whole numbers below 2^64.
export interface Request {
  kind?: Kind;
  items?: bigint | undefined;
  fpr?: number | undefined;
  bits?: bigint | undefined;
  hashes?: number | undefined;
  layout?: Layout | undefined;
  counterBits?: number | undefined;
  growth?: number | undefined;
  window?: { unit: Unit; length: bigint } | undefined;
  slices?: number | undefined;
  delta?: bigint | undefined; // keys that a frozen filter takes after it was built
}

export interface Plan {
  kind: Kind;
  layout: Layout;
  hashes: number;
  bytes: number; // up to 2^37; of a scalable filter before it grows, as items
  items: number; // up to 10^13
  fpr: number; // stated
  counterBits: number; // 0: it does not count
  growth: number;
  tightening: number;
  slices: number;
  window: number; // a whole number of slices
  unit: Unit;
  fingerprintBits: number; // of a frozen filter; 0: it is none
  narrow: boolean; // some of its partitions have one bit less
  buildingBytes: number; // memory that building its file takes, and room beside the file
  spoolBytes: number;
  delta: { items: number; bytes: number; fpr: number }; // keys that may come later; zeros: none
  part: { bits: number; items: number; fpr: number }; // a slice, the first sub-filter, or all (bits: counters)
  raw: Uint8Array; // the library's own plan
}
export const bitsPerKey = (plan: Plan): number => (8 * plan.bytes) / plan.items;

// The fields of a request, by the library's number for them (PlanField).
const FIELDS = ["kind", "items", "fpr", "bits", "hashes", "layout", "counterBits", "growth", "tightening", "window", "slices", "delta"] as const;
export type Field = (typeof FIELDS)[number];

export class Refusal extends Error {
  constructor(text: string, readonly field: Field) {
    super(text);
  }
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  planner_request(): number;
  planner_plan(): number;
  planner_plan_size(): number;
  planner_solve(): number;
  planner_sub_filters(): number;
  planner_sub_filter(i: number): number;
  planner_fpr(items: number): number;
  planner_fpr_with(factor: number, hashes: number, items: number): number;
  planner_saturation(times: number): number;
  planner_layout_fpr(layout: number, bits: bigint, hashes: number, items: number): number;
  planner_textbook_fpr(bitsPerKey: number, hashes: number): number;
  planner_lower_bound_bits(fpr: number): number;
  planner_text(): number;
  planner_read(what: number, length: number): number;
}

const bytes = Uint8Array.from(atob(moduleUrl.slice(moduleUrl.indexOf(",") + 1)), (c) => c.charCodeAt(0));
const module = new WebAssembly.Module(bytes);
let library: Exports | undefined;

function instantiate(): Exports {
  const refuse = (text: number, length: number, field: number): never => {
    const words = new TextDecoder().decode(new Uint8Array(fresh.memory.buffer, text, length));
    throw new Refusal(words, FIELDS[field] ?? "items");
  };
  const nothing = (): never => {
    throw new Error("the planner writes no file");
  };
  const fresh = new WebAssembly.Instance(module, {
    page: { refuse },
    wasi_snapshot_preview1: { fd_close: nothing, fd_seek: nothing, fd_write: nothing },
  }).exports as unknown as Exports;
  fresh._initialize();
  return fresh;
}

// A refusal leaves the instance in the middle of a call, so the next call gets another.
function call<T>(work: (library: Exports) => T): T {
  library ??= instantiate();
  try {
    return work(library);
  } catch (error) {
    library = undefined;
    throw error;
  }
}

const numberOf = (layout: Layout): number => ALL_LAYOUTS.indexOf(layout) + 1;

// web/wasm/planner.cpp says where each number is.
function writeRequest(library: Exports, request: Request): void {
  const at = new DataView(library.memory.buffer, library.planner_request(), 72);
  const { items, fpr, bits, hashes, layout, counterBits, growth, window, slices, delta } = request;
  let given = 0;
  FIELDS.forEach((field, i) => {
    if (field !== "kind" && field !== "tightening" && request[field] !== undefined) given |= 1 << i;
  });
  at.setUint32(0, given, true);
  at.setUint32(4, KINDS.indexOf(request.kind ?? "plain") + 1, true);
  at.setBigUint64(8, items ?? 0n, true);
  at.setFloat64(16, fpr ?? 0, true);
  at.setBigUint64(24, bits ?? 0n, true);
  [hashes, layout && numberOf(layout), counterBits, growth, slices, window && UNITS.indexOf(window.unit) + 1]
    .forEach((value, i) => at.setUint32(32 + 4 * i, value ?? 0, true));
  at.setBigUint64(56, window?.length ?? 0n, true);
  at.setBigUint64(64, delta ?? 0n, true);
}

function readAnswer(library: Exports, address: number, request: Request): Plan {
  const at = new DataView(library.memory.buffer, address, 152);
  const kind = KINDS[at.getUint32(0, true) - 1] as Kind;
  return {
    kind,
    layout: kind === "frozen" ? "fuse" : ALL_LAYOUTS[at.getUint32(4, true) - 1] as Layout,
    hashes: at.getUint32(8, true),
    counterBits: at.getUint32(12, true),
    bytes: Number(at.getBigUint64(16, true)),
    items: Number(at.getBigUint64(24, true)),
    fpr: at.getFloat64(32, true),
    part: {
      bits: Number(at.getBigUint64(48, true)),
      items: Number(at.getBigUint64(64, true)),
      fpr: at.getFloat64(72, true),
    },
    growth: at.getUint32(80, true),
    slices: at.getUint32(84, true),
    tightening: at.getFloat64(88, true),
    window: Number(at.getBigUint64(96, true)),
    fingerprintBits: at.getUint32(104, true),
    narrow: at.getUint32(108, true) !== 0,
    buildingBytes: Number(at.getBigUint64(112, true)),
    spoolBytes: Number(at.getBigUint64(120, true)),
    delta: {
      items: Number(at.getBigUint64(128, true)),
      bytes: Number(at.getBigUint64(136, true)),
      fpr: at.getFloat64(144, true),
    },
    unit: request.window?.unit ?? "insertions",
    raw: new Uint8Array(library.memory.buffer, library.planner_plan(), library.planner_plan_size()).slice(),
  };
}

export const solve = (request: Request): Plan =>
  call((library) => {
    writeRequest(library, request);
    return readAnswer(library, library.planner_solve(), request);
  });

// Calls the library with this plan as its current one.
const withPlan = <T>(plan: Plan, work: (library: Exports) => T): T =>
  call((library) => {
    new Uint8Array(library.memory.buffer).set(plan.raw, library.planner_plan());
    return work(library);
  });

// NaN where a scalable filter cannot grow so far.
export const fprAt = (plan: Plan, items: number): number => withPlan(plan, (library) => library.planner_fpr(items));

// With another number of hashes, and `factor` times the bits.
export const fprWith = (plan: Plan, factor: number, hashes: number, items: number): number =>
  withPlan(plan, (library) => library.planner_fpr_with(factor, hashes, items));

// The sub-filters that a scalable filter can come to have, as plain plans.
export const subFilters = (plan: Plan): Omit<Plan, "raw">[] =>
  withPlan(plan, (library) =>
    Array.from({ length: library.planner_sub_filters() }, (_, i) => readAnswer(library, library.planner_sub_filter(i), {})));

// The share of a counting plan's counters that are saturated when each key is there so many times.
export const saturation = (plan: Plan, times: number): number =>
  withPlan(plan, (library) => library.planner_saturation(times));

export const layoutFpr = (layout: Layout, bits: number, hashes: number, items: number): number =>
  call((library) => library.planner_layout_fpr(numberOf(layout), BigInt(bits), hashes, items));

export const textbookFpr = (bitsPerKey: number, hashes: number): number =>
  call((library) => library.planner_textbook_fpr(bitsPerKey, hashes));

export const lowerBoundBits = (fpr: number): number => call((library) => library.planner_lower_bound_bits(fpr));

// ---- numbers as people write them (cli/flags/numbers.hpp); undefined: none ----------------------

// The static object that holds what was read: a whole number, a real one, and a window's unit.
function read<T>(what: number, text: string, take: (at: DataView) => T): T | undefined {
  return call((library) => {
    const typed = new TextEncoder().encode(text);
    if (typed.length > 64) return undefined;
    new Uint8Array(library.memory.buffer).set(typed, library.planner_text());
    const address = library.planner_read(what, typed.length);
    return address === 0 ? undefined : take(new DataView(library.memory.buffer, address, 24));
  });
}

export const readCount = (text: string): bigint | undefined => read(0, text, (at) => at.getBigUint64(0, true));
export const readAmount = (text: string): number | undefined => read(1, text, (at) => at.getFloat64(8, true));
export const readFpr = (text: string): number | undefined => read(2, text, (at) => at.getFloat64(8, true));

// A size is bits, or bits for each key, whose number is another field.
export type Size = { bits: bigint } | { bitsPerKey: number };
export const readSize = (text: string): Size | undefined =>
  read(3, text, (at) => {
    const bitsPerKey = at.getFloat64(8, true);
    return bitsPerKey > 0 ? { bitsPerKey } : { bits: at.getBigUint64(0, true) };
  });

export const readWindow = (text: string): { unit: Unit; length: bigint } | undefined =>
  read(4, text, (at) => ({ unit: UNITS[at.getUint32(16, true) - 1] as Unit, length: at.getBigUint64(0, true) }));
