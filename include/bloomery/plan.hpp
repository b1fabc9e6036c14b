// From what people know (items, rate) to what a filter is (bits, hashes), and back.
//
// Units: items and capacity in keys, bits in bits, rates as shares between 0 and 1.
// p is the false-positive rate: the share of absent keys answered "maybe".
//
//   layout   where a key's bits are                      cache misses   rate of n keys in m bits
//   block     k <= 16 words of one block, 1 bit each       1              mean over the blocks' loads i
//                                                                       of (1 - (1 - k/512)^i)^k
//   pair     k/2 (k even, <= 32) in each of two blocks    2              square of the above with
//                                                                       k/2 and 2n
//   standard  k <= 64 anywhere                            k              E[(ones/m)^k]
//   blocked128  as block, in a block of 16 words of 8 bits    1              as block's, with 128
//   blocked64   the same with words of 4 bits               1              as block's, with 64
//
// The narrow blocks, blocked128 and blocked64, are the plain twins of counting filters
// (counting_filter.hpp): a counter of 4 (8) bits for each of their bits makes a block of 64 bytes.
// They are never a default, for `blocked` needs fewer bits.
//
// The load of a block is binomial (n keys over m/512 blocks). The rate stated for `blocked` and
// `blocked2` is an upper bound, 0 to 5 % above the exact one for the best k: a key's words are drawn
// without replacement, which the formula leaves out (docs/configuration.md). With so few hashes
// that the exact rate lies above the formula's, the exact one is stated. For narrow blocks it is
// always the exact one, down to 1e-9.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomery {

enum class Layout : std::uint8_t {
  blocked = 1,
  blocked2 = 2,
  standard = 3,
  blocked128 = 4,
  blocked64 = 5
};

[[nodiscard]] std::string_view to_string(Layout layout) noexcept;

// Bits of each counter of a counting filter with this layout: 4 for blocked128, 8 for blocked64, and
// 0 for the layouts that cannot count.
[[nodiscard]] std::uint32_t counter_bits(Layout layout) noexcept;
// The layout that counts in counters of 4 or 8 bits. Error{invalid_argument}: any other number.
[[nodiscard]] Layout counting_layout(std::uint32_t counter_bits);

constexpr std::uint64_t kBlockBits = 512;                   // every array is whole blocks
constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 40;  // 128 GiB
constexpr std::uint64_t kMaxCapacity = 10'000'000'000'000;  // 10^13 keys
constexpr double kMinFpr = 1e-15;
constexpr double kMaxFpr = 0.5;

// What a filter is built from and what its bytes carry.
// Invariant of a valid plan: bits is a multiple of 512 in [512, max_bits(layout)], hashes fits
// the layout, capacity is in [1, 10^13], rate in (0, 1).
struct Plan {
  Layout layout = Layout::blocked;
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  std::uint64_t capacity = 0;  // the number of keys up to which `rate` holds
  double fpr = 0;              // the stated false-positive rate at capacity

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bits / 8; }
  // Of 64 bytes each, whatever the layout.
  [[nodiscard]] std::uint64_t blocks() const noexcept { return bits / kBlockBits; }
  [[nodiscard]] double bits_per_key() const noexcept {
    return static_cast<double>(bits) / static_cast<double>(capacity);
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The smallest plan for `capacity` keys at `rate`. Without a layout: block for rates from
// 1e-4 up, pair from 1e-10 up, standard below (there two blocks cost over a quarter more bits).
// Error{invalid_argument | too_large} says which number cannot be had and why.
[[nodiscard]] Plan plan(std::uint64_t capacity, double fpr,
                        std::optional<Layout> layout = std::nullopt);

// The other directions: give any of the four that determine the rest.
//   capacity, rate                 -> bits, hashes      (as above)
//   capacity, rate, hashes         -> bits
//   capacity, bits                 -> hashes (the best), rate
//   capacity, bits, hashes         -> rate
//   capacity, hashes               -> bits (at which so many hashes are the best), rate
//   rate, bits                     -> hashes (the best), capacity
//   rate, bits, hashes             -> capacity
//   bits, hashes                   -> capacity (at which so many hashes are the best), rate
//   rate, hashes                   -> Error{invalid_argument}: only the bits per key are
//                                     determined, and the error says how many
//   capacity, rate, bits[, hashes] -> checked: Error{invalid_argument} when the rate is
//                                     not met, with the rate that those bits give
// Hashes are the best where neither fewer nor more lower the rate: with standard at
// k n = m ln 2 (half of the bits are ones), with blocked and blocked2 at more bits. A size that is
// worked out is rounded up to whole blocks; one that is given is rounded down, to one at least.
// Without a layout and a rate: block.
struct PlanRequest {
  std::optional<std::uint64_t> capacity;
  std::optional<double> fpr;
  std::optional<std::uint64_t> bits;
  std::optional<std::uint32_t> hashes;
  std::optional<Layout> layout;
};
[[nodiscard]] Plan solve(const PlanRequest& request);

// The rate of a filter of this shape after `items` distinct keys, whatever its capacity.
[[nodiscard]] double predicted_fpr(Layout layout, std::uint64_t bits, std::uint32_t hashes,
                                   double items);
[[nodiscard]] double predicted_fpr(const Plan& plan, double items);

// The textbook's p = (1 - e^(-kn/m))^k for a table of k over m/n.
[[nodiscard]] double textbook_fpr(double bits_per_key, double hashes) noexcept;

// Bits per key below which no filter of any kind can go at this rate: log2(1/p).
[[nodiscard]] double lower_bound_bits(double fpr) noexcept;

[[nodiscard]] std::uint32_t max_hashes(Layout layout) noexcept;
// 2^40; for narrow blocks as many as make a counting filter of 128 GiB: 2^38 and 2^37.
[[nodiscard]] std::uint64_t max_bits(Layout layout) noexcept;

// Throws Error{invalid_argument | too_large} unless the plan's invariant holds.
void validate(const Plan& plan);

}  // namespace bloomery
