// The false-positive rate that theory predicts for a layout's parameters at a load.
#pragma once

#include <array>
#include <cstdint>

namespace bloomery::detail {

// The logarithm of the gamma function. std::lgamma also writes its sign into a variable that all threads share.
double log_gamma(double x) noexcept;

// The rate for k bits anywhere in m, and n keys (n may be fractional).
// p = E[(ones/m)^k]: the textbook's (1 - e^(-kn/m))^k with the spread of `ones` kept, which
// matters for small m and large k (Bose et al. 2008).
double standard_fpr(double m, double k, double n);

// The rate for k words of one block, and n keys over `blocks` blocks of `block_bits` (512, 128 or 64):
// the mean over a block's load i, binomial(n, 1/blocks), of (1 - (1 - k/block_bits)^i)^k, or the exact
// fpr if it is higher. For narrow blocks, whose mean is up to a third too high, it is the exact fpr.
double blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits = 512);

// The rate for k words of each of two such blocks, drawn independently; `n` counts each key twice. In a large filter it
// is the square of the above. In a small one the mean of the square is higher: the blocks of one array vary together,
// and a key may draw one block twice. This is an upper bound of it, except for an excess of at most 1 %.
double two_blocks_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits);

// The share of the bits of such blocks that at least `hits` of the n keys set.
double share_of_bits_hit(double blocks, std::uint32_t k, double n, unsigned block_bits,
                         std::uint32_t hits);

// Whether more hashes would raise the fpr (above zero) or lower it (below): the derivative
// in k of the formulas above (for blocks: of the mean over loads), for any real k. It is zero at the
// best k: for standard at k n = m ln 2.
double standard_slope(double m, double k, double n);
double blocked_slope(double blocks, double k, double n, unsigned block_bits = 512);

// For blocks of 512 bits and up to this hash count the exact fpr can be above the mean over loads:
// sparse blocks with few bits per key answer "maybe" mostly because one key has all the words of
// another.
constexpr std::uint32_t kFewHashes = 8;

// The exact rate for k <= 16 words of one block, and n keys over `blocks` blocks of `block_bits` (512,
// 128 or 64). Most of its sum cancels; double_double.hpp has the digits for that, the same on every CPU.
double exact_blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits);
// The same for k <= kFewHashes, if it is above `mean`; otherwise it may return `mean`, in a tenth of the time.
double exact_blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits,
                         double mean);

// By c, the probability that two keys of a block have c of their k words in common.
const std::array<double, 17>& common_words(std::uint32_t k);

}  // namespace bloomery::detail
