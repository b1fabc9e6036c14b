// The exact rate of a line for few hashes, where keys that share words are what decides.
#pragma once

#include <cstdint>

namespace bloomery::detail {

// Up to here the exact rate can lie above the mean over loads: with few bits a key, sparse
// lines answer "maybe" mostly because one key has all the words of another.
constexpr std::uint32_t kFewHashes = 8;

// k <= kFewHashes words of one line, n keys over `lines` lines.
double exact_line_rate(double lines, std::uint32_t k, double n);

}  // namespace bloomery::detail
