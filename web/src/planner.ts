// The library, as the page calls it: plans and rates out of planner.wasm.
//
// Nothing here computes. What the library refuses comes as a Refusal with its own words.
import moduleUrl from "../../build/web/planner.wasm?url&inline";

export type Layout = "blocked" | "blocked2" | "standard";
export const LAYOUTS: readonly Layout[] = ["blocked", "blocked2", "standard"];

// What is given; what is not is worked out. Bits and items are whole numbers below 2^64.
export interface Request {
  items?: bigint | undefined;
  fpr?: number | undefined;
  bits?: bigint | undefined;
  hashes?: number | undefined;
  layout?: Layout | undefined;
}

export interface Plan {
  layout: Layout;
  bits: number; // up to 2^40
  items: number; // up to 10^13
  hashes: number;
  fpr: number;
}

export class Refusal extends Error {}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  planner_solve(given: number, capacity: bigint, fpr: number, bits: bigint, hashes: number,
                layout: number): number;
  planner_fpr(layout: number, bits: bigint, hashes: number, items: number): number;
  planner_textbook_fpr(bitsPerKey: number, hashes: number): number;
  planner_lower_bound_bits(fpr: number): number;
}

const bytes = Uint8Array.from(atob(moduleUrl.slice(moduleUrl.indexOf(",") + 1)), (c) =>
  c.charCodeAt(0),
);
const module = new WebAssembly.Module(bytes);
let library: Exports | undefined;

function instantiate(): Exports {
  const refuse = (text: number, length: number): never => {
    const memory = fresh.memory.buffer;
    throw new Refusal(new TextDecoder().decode(new Uint8Array(memory, text, length)));
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

const numberOf = (layout: Layout | undefined): number =>
  layout === undefined ? 0 : LAYOUTS.indexOf(layout) + 1;

export function solve(request: Request): Plan {
  const { items, fpr, bits, hashes } = request;
  const given =
    (items === undefined ? 0 : 1) | (fpr === undefined ? 0 : 2) |
    (bits === undefined ? 0 : 4) | (hashes === undefined ? 0 : 8);
  return call((exports) => {
    const answer = new DataView(
      exports.memory.buffer,
      exports.planner_solve(given, items ?? 0n, fpr ?? 0, bits ?? 0n, hashes ?? 0,
                            numberOf(request.layout)),
    );
    return {
      bits: Number(answer.getBigUint64(0, true)),
      items: Number(answer.getBigUint64(8, true)),
      fpr: answer.getFloat64(16, true),
      hashes: answer.getUint32(24, true),
      layout: LAYOUTS[answer.getUint32(28, true) - 1] as Layout,
    };
  });
}

export function fprAt(plan: Pick<Plan, "layout" | "bits" | "hashes">, items: number): number {
  return call((exports) =>
    exports.planner_fpr(numberOf(plan.layout), BigInt(plan.bits), plan.hashes, items),
  );
}

export const textbookFpr = (bitsPerKey: number, hashes: number): number =>
  call((exports) => exports.planner_textbook_fpr(bitsPerKey, hashes));

export const lowerBoundBits = (fpr: number): number =>
  call((exports) => exports.planner_lower_bound_bits(fpr));
