// The plan of a plain filter: computes the bits and hashes from the number of keys and the false-positive
// rate, or the reverse.
//
// Units: items and capacity in keys, bits in bits, rates as shares between 0 and 1. `fpr` is the
// false-positive rate: the share of absent keys that are answered "maybe".
//
//   layout      where a key's bits are                 cache misses  fpr of n keys in m bits
//   blocked     k <= 16, in as many words of a block   1             mean over the blocks' loads i
//                                                                    of (1 - (1 - k/512)^i)^k
//   blocked2    k/2 (k even, <= 32) in each of two     2             square of the above with
//               blocks                                               k/2 and 2n
//   standard    k <= 64 anywhere                       k             E[(ones/m)^k]
//   blocked128  as blocked, in blocks of 16 words of   1             as blocked, with 128
//               8 bits
//   blocked64   the same with words of 4 bits          1             as blocked, with 64
//   blocked2x128, blocked2x64                          2             as blocked2, with 128 and 64
//               as blocked2, in such blocks
//
// The narrow blocks are those of counting filters (counting_plan.hpp): a counter of 4 bits for each bit of
// a block of 128, or of 8 bits for each of 64, makes 64 bytes. They are never the default layout of plain
// filters, because `blocked` and `blocked2` need fewer bits.
//
// The load of a block is binomial (n keys over m/512 blocks). The fpr stated for `blocked` and
// `blocked2` is an upper bound, 0 to 5 % above the exact one for the best k: a key's words are drawn
// without replacement, which the formula ignores (docs/configuration.md). With few hashes the exact fpr
// can be above the formula's; then the plan states the exact one. For narrow blocks it always states the
// exact one, down to 1e-9 in each block. With two blocks per key the fpr is the square of one block's; for up to
// thousands of keys it is higher, because the blocks of one filter vary together, and the plan states an upper bound.
//
// Sources: Bloom 1970 (standard); Putze, Sanders and Singler 2007 (blocked, and the sum over loads);
// Bose et al. 2008 (the exact fpr of standard); Diaconis and Griffiths 2012 (how the loads of two blocks
// vary together).
#pragma once

#include <bloomery/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bloomery {

enum class Layout : std::uint8_t {
  blocked = 1,
  blocked2 = 2,
  standard = 3,
  blocked128 = 4,
  blocked64 = 5,
  blocked2x128 = 6,
  blocked2x64 = 7
};

[[nodiscard]] std::string_view to_string(Layout layout) noexcept;

// The bits of each counter of a counting filter with this layout: 4 for blocks of 128, 8 for blocks
// of 64, and 0 for the layouts that cannot count.
[[nodiscard]] std::uint32_t counter_bits(Layout layout) noexcept;

constexpr std::uint64_t kBlockBits = 512;                   // every array is whole blocks
constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 40;  // 128 GiB
constexpr std::uint64_t kMaxCapacity = 10'000'000'000'000;  // 10^13 keys
constexpr double kMinFpr = 1e-15;
constexpr double kMaxFpr = 0.5;

// The layout with counters of 4 or 8 bits for this rate: two blocks per key below 1e-4 with 4 bits and below
// 1e-3 with 8, otherwise one (counting_plan.hpp says why). PlanError: counters of any other number of bits.
[[nodiscard]] Layout counting_layout(std::uint32_t counter_bits, double fpr = kMaxFpr);

// The fields of a request for a filter of any kind (spec.hpp).
enum class PlanField : std::uint8_t {
  kind,
  capacity,
  fpr,
  bits,
  hashes,
  layout,
  counter_bits,
  growth,
  tightening,
  window,
  slices,
  delta
};

// Every error of the planner: Error{invalid_argument | too_large} with the field to change or to add.
// The message says which field is impossible and why.
class PlanError : public Error {
 public:
  // `text` names fields in braces, as in "{fpr} is missing". what() replaces them by the names of the
  // library, such as "false-positive rate", and puts `name` before the text.
  PlanError(ErrorCode code, PlanField field, const std::string& text, const std::string& name = {});
  [[nodiscard]] PlanField field() const noexcept { return field_; }
  // The same message with other names for the fields, such as flags.
  [[nodiscard]] std::string message(std::string_view (*name_of)(PlanField)) const;

 private:
  PlanField field_;
  std::string name_, text_;
};

// The parameters of a plain filter. A filter's bytes carry them too.
// Invariant of a valid plan: bits is a multiple of 512 in [512, max_bits(layout)], hashes fits
// the layout, capacity is in [1, 10^13], fpr in (0, 1).
struct Plan {
  Layout layout = Layout::blocked;
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  std::uint64_t capacity = 0;  // the number of keys up to which `fpr` holds
  double fpr = 0;              // the stated false-positive rate at capacity

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bits / 8; }
  // Blocks of 64 bytes, in every layout.
  [[nodiscard]] std::uint64_t blocks() const noexcept { return bits / kBlockBits; }
  [[nodiscard]] double bits_per_key() const noexcept {
    return static_cast<double>(bits) / static_cast<double>(capacity);
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The smallest plan for `capacity` keys at `fpr`. The default layout is blocked for rates from 1e-4 up,
// blocked2 from 1e-10 up, and standard below (there blocked2 costs over a quarter more bits).
// PlanError: one of the numbers is out of range, or the filter would be too large.
[[nodiscard]] Plan plan(std::uint64_t capacity, double fpr,
                        std::optional<Layout> layout = std::nullopt);

// Solves for the missing numbers: give enough of the four numbers to determine the rest.
//   capacity, fpr                 -> bits, hashes      (as above)
//   capacity, fpr, hashes         -> bits
//   capacity, bits                -> hashes (the best), fpr
//   capacity, bits, hashes        -> fpr
//   capacity, hashes              -> bits (for which this number of hashes is the best), fpr
//   fpr, bits                     -> hashes (the best), capacity
//   fpr, bits, hashes             -> capacity
//   bits, hashes                  -> capacity (for which this number of hashes is the best), fpr
//   fpr, hashes                   -> PlanError: only the bits per key are determined, and the
//                                    error says how many
//   capacity, fpr, bits[, hashes] -> a check: PlanError if these bits do not give the fpr; it
//                                    states the fpr that they give
// A number of hashes is the best if neither fewer nor more give a lower fpr: with standard at
// k n = m ln 2 (half of the bits are ones), with blocked and blocked2 at more bits. A computed size is
// rounded up to whole blocks; a given one is rounded down, but to at least one block.
// If the request has neither a layout nor an fpr, the layout is blocked. spec.hpp has the plans of every kind.
struct PlanRequest {
  std::optional<std::uint64_t> capacity{};
  std::optional<double> fpr{};
  std::optional<std::uint64_t> bits{};
  std::optional<std::uint32_t> hashes{};
  std::optional<Layout> layout{};
};
[[nodiscard]] Plan solve(const PlanRequest& request);

// The fpr of a filter with these parameters and `items` distinct keys in it, whatever its capacity.
[[nodiscard]] double predicted_fpr(Layout layout, std::uint64_t bits, std::uint32_t hashes,
                                   double items);
[[nodiscard]] double predicted_fpr(const Plan& plan, double items);

// The textbook's p = (1 - e^(-kn/m))^k, for a table of k over m/n.
[[nodiscard]] double textbook_fpr(double bits_per_key, double hashes) noexcept;

// The lower bound of the bits per key, for any filter of any kind at this fpr: log2(1/p).
[[nodiscard]] double lower_bound_bits(double fpr) noexcept;

[[nodiscard]] std::uint32_t max_hashes(Layout layout) noexcept;
// 2^40, and 2^38 or 2^37 for the narrow blocks, so that a counting filter has at most 128 GiB.
[[nodiscard]] std::uint64_t max_bits(Layout layout) noexcept;

// PlanError unless the plan's invariant holds.
void validate(const Plan& plan);

}  // namespace bloomery
