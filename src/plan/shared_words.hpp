// The exact false-positive rate of a block, with keys that share words taken into account.
#pragma once

#include <cstdint>

namespace bloomery::detail {

// For blocks of 512 bits and up to so many hashes the exact fpr can be above the mean over loads:
// sparse blocks with few bits per key answer "maybe" mostly because one key has all the words of
// another.
constexpr std::uint32_t kFewHashes = 8;

// k <= 16 words of one block of `block_bits` (512, 128 or 64), n keys over `blocks` blocks. Off by
// up to 2^k * 1e-18 where long double has 64 bits of fraction, since large terms cancel.
double exact_blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits);

}  // namespace bloomery::detail
