// What a plan and its rivals cost, beside what the library answers.
import { hasTwoBlocks, type Plan } from "./planner.ts";

// Cache lines that a look-up fetches. With `standard` an absent key's bits are looked at one by
// one until one is off, which is 1 + f + f^2 + ... of k with a share f of ones. A window filter is
// asked slice by slice; a scalable one costs this for each of its sub-filters. A frozen one has three cells.
export function cacheLines(plan: Plan): { present: number; absent: number } {
  if (plan.kind === "frozen") return { present: 3, absent: 3 };
  if (plan.layout === "standard") {
    const ones = -Math.expm1((-plan.hashes * plan.part.items) / plan.part.bits);
    return { present: plan.hashes, absent: (1 - ones ** plan.hashes) / (1 - ones) };
  }
  const slices = plan.kind === "window" ? plan.slices + 1 : 1;
  const lines = slices * (hasTwoBlocks(plan.layout) ? 2 : 1);
  return { present: lines, absent: lines };
}

// Bytes that a std::unordered_set<std::string> takes for each key, with libstdc++ and glibc's
// malloc on 64 bits: a node of 48 bytes (next, string, hash) in a piece of 64, a bucket of 8,
// and beyond 15 bytes a piece of memory for the text.
export function hashSetBytes(keyLength: number): number {
  const piece = (bytes: number) => Math.max(32, Math.ceil((bytes + 8) / 16) * 16);
  return piece(48) + 8 + (keyLength > 15 ? piece(keyLength + 1) : 0);
}

// Redis strings that a plain filter takes: one up to kMaxRedisBits (redis_filter.hpp), which is 2^32
// without its header; beyond that shards of at most 256 MiB (src/redis/shards/shard_plan.hpp).
export const redisShards = (bits: number): number =>
  bits <= 2 ** 32 - 1024 ? 1 : Math.ceil(bits / 2 ** 31);
