// Two ways to read the bits of a batch's keys from a string.
//
// By fields: one BITFIELD command per key. By blocks: one transaction that reads the block of each key. A GETRANGE of
// 64 bytes takes the server a third of the time of a BITFIELD_RO of six bits (docs/benchmarks.md), but unlike
// BITFIELD_RO it cannot read the identity in the same command. MULTI executes all commands together: the length and
// the identity, which come first, hold for every block. A server whose memory is full queues no command: it is read by
// fields.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "redis/shards/key_batches.hpp"
#include "redis/strings/bit_string.hpp"

namespace bloomery::detail {

// The part that asks `string` about keys of a batch. `offsets` are their bits, as SETBIT counts them, and for each
// key as many as the string has hashes; in layouts of blocks the bits of one block come before those of the other.
[[nodiscard]] std::unique_ptr<BatchPart> bit_part(BitString& string, BitOperation operation,
                                                  std::vector<std::uint32_t> keys,
                                                  std::vector<std::uint64_t> offsets);

}  // namespace bloomery::detail
