// The two ways to ask a string about the bits of a batch's keys.
//
// By fields: a BITFIELD command for each key. By blocks: a transaction that reads the block of each
// key. A GETRANGE of 64 bytes takes the server a third of the time of a BITFIELD_RO of six bits
// (docs/benchmarks.md), but cannot read the identity at once as that does. MULTI executes all of it
// together: the length and the identity, which come first, hold for every block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "redis/shards/key_batches.hpp"
#include "redis/strings/bit_string.hpp"

namespace bloomery::detail {

// Below so many keys the commands around the blocks cost more than the blocks save.
constexpr std::size_t kFewestBlockReads = 8;

// The part that asks `string` about keys of a batch, whose bits are `offsets`, as SETBIT counts
// them: as many for each key as the string has hashes; in layouts of blocks, one block's after the
// other's.
[[nodiscard]] std::unique_ptr<BatchPart> bit_part(BitString& string, BitOperation operation,
                                                  std::vector<std::uint32_t> keys,
                                                  std::vector<std::uint64_t> offsets);

}  // namespace bloomery::detail
