// Statistics that are computed from the bits, for filters whose arrays are blocks.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/scalable_plan.hpp>
#include <bloomery/stats.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace bloomery::detail {

// The share of ones in each of the sixteen words of a block.
using WordFills = std::array<double, 16>;

// The number of ones in a word, by operations that a compiler can vectorize, because the program may not use
// an instruction for it.
[[nodiscard]] constexpr std::uint32_t ones_of(std::uint32_t word) noexcept {
  word -= word >> 1 & 0x55555555;
  word = (word & 0x33333333) + (word >> 2 & 0x33333333);
  return ((word + (word >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
}

// For each of eight blocks, side by side, the probability that a random key's bits in it are all ones: the mean, over
// the 64 choices of words, of the product of the fills of these words.
inline constexpr std::size_t kBlocksAtOnce = 8;
using BlockFprs = std::array<double, kBlocksAtOnce>;
[[nodiscard]] inline BlockFprs block_fprs(const std::array<WordFills, kBlocksAtOnce>& fills,
                                          const WordMasks& masks) noexcept {
  // The products for each choice among four neighbouring words; the product for a choice among all
  // sixteen is the product of four of these.
  std::array<std::array<BlockFprs, 16>, 4> of;
  for (unsigned part = 0; part < 4; ++part) {
    of[part][0].fill(1);
    for (unsigned words = 1; words < 16; ++words) {
      const unsigned word = 4 * part + static_cast<unsigned>(std::countr_zero(words));
      for (std::size_t i = 0; i < kBlocksAtOnce; ++i)
        of[part][words][i] = of[part][words & (words - 1)][i] * fills[i][word];
    }
  }
  BlockFprs sums{};
  for (const std::uint32_t words : masks.of)
    for (std::size_t i = 0; i < kBlocksAtOnce; ++i)
      sums[i] += of[0][words & 15][i] * of[1][words >> 4 & 15][i] * of[2][words >> 8 & 15][i] *
                 of[3][words >> 12][i];
  for (double& sum : sums) sum /= 64;
  return sums;
}

// The blocks from which statistics are computed.
class BlockSample {
 public:
  BlockSample(std::uint64_t blocks, Precision precision) noexcept
      : blocks_(blocks),
        runs_(precision == Precision::sampled && blocks > kMost ? kRuns : 1),
        for_fpr_(precision == Precision::sampled ? kMost / kFprShare : kMost) {}
  [[nodiscard]] bool is_all() const noexcept { return runs_ == 1; }
  [[nodiscard]] std::uint64_t size() const noexcept { return is_all() ? blocks_ : kMost; }
  [[nodiscard]] double share() const noexcept {
    return static_cast<double>(size()) / static_cast<double>(blocks_);
  }
  // Calls use(first, count) for each run of blocks.
  template <class Use>
  void for_each_run(Use use) const noexcept {
    if (is_all()) return use(std::uint64_t{0}, blocks_);
    for (std::uint64_t run = 0; run < kRuns; ++run)
      use((blocks_ - kRunBlocks) / (kRuns - 1) * run, kRunBlocks);
  }
  // Calls use(block) for the blocks whose false-positive rate is computed, which takes longer than counting ones: at
  // most kMost blocks, or 1 / kFprShare of that if sampled; their mean is within a few hundredths of the rate. They
  // are the first blocks of each run, or, without runs, single blocks spread evenly, so that a damaged chunk that was
  // filled with ones counts in proportion.
  template <class Use>
  void for_each_block(Use use) const noexcept {
    if (!is_all())
      return for_each_run([&](std::uint64_t first, std::uint64_t count) {
        for (std::uint64_t block = first; block < first + count / kFprShare; ++block) use(block);
      });
    const std::uint64_t count = std::min(blocks_, for_fpr_);
    for (std::uint64_t i = 0; i < count; ++i)
      use(static_cast<std::uint64_t>(static_cast<uint128>(i) * blocks_ / count));
  }

 private:
  static constexpr std::uint64_t kMost = 65'536, kRuns = 8, kRunBlocks = kMost / kRuns;
  static constexpr std::uint64_t kFprShare = 4;
  std::uint64_t blocks_, runs_, for_fpr_;
};

// The mean false-positive rate over the sample. fills_of(block, fills) sets the fills of a block.
template <class FillsOf>
double mean_block_fpr(const BlockSample& sample, const WordMasks& masks,
                      FillsOf fills_of) noexcept {
  double sum = 0;
  std::uint64_t count = 0;
  std::array<WordFills, kBlocksAtOnce> fills{};
  const auto add = [&](std::size_t blocks) {
    const BlockFprs fprs = block_fprs(fills, masks);
    for (std::size_t i = 0; i < blocks; ++i) sum += fprs[i];
  };
  sample.for_each_block([&](std::uint64_t block) {
    fills_of(block, fills[count % kBlocksAtOnce]);
    if (++count % kBlocksAtOnce == 0) add(kBlocksAtOnce);
  });
  add(count % kBlocksAtOnce);
  return sum / static_cast<double>(count);
}

// The number of distinct keys that would give this fill in a filter of this plan.
[[nodiscard]] double estimated_items(const Plan& plan, double fill) noexcept;
// Whether `items`, an estimate from this share of the bits, is above the plan's capacity by more than
// four standard errors.
[[nodiscard]] bool over_capacity(const Plan& plan, double items, double share = 1) noexcept;

// The same for a sub-filter, which counts only the keys that looked new to it. The others of `items` distinct keys set
// no bit, so a full sub-filter has the fill of more keys than its capacity.
[[nodiscard]] bool sub_filter_over_capacity(const Plan& plan, double items, double share) noexcept;

// The false-positive rate of sub-filters together. They are not independent: each got only keys that looked new in the
// older ones, so where an older one has an absent key, a newer one has fewer bits of it than elsewhere.
class FprOfSubFilters {
 public:
  // The next newer one, by its hashes and its own rate.
  void add(std::uint32_t hashes, double fpr) noexcept;
  [[nodiscard]] double of_all() const noexcept { return any_; }

 private:
  struct SubFilter {
    std::uint32_t hashes = 0;
    double fpr = 0;
  };
  std::array<SubFilter, kMaxSubFilters> older_{};
  std::size_t count_ = 0;
  double any_ = 0;   // the probability that one of them answers "maybe" for an absent key
  double none_ = 1;  // that none would, if they were independent
  double sum_ = 0;   // of their rates
};

// The blocks from which the statistics of a plain filter are computed.
[[nodiscard]] BlockSample sample_of(const Plan& plan, Precision precision) noexcept;

// The statistics of a filter that was moved from. It answers "maybe" for every key.
inline constexpr Stats kStatsOfNothing{.fill = 1,
                                       .estimated_items = std::numeric_limits<double>::infinity(),
                                       .current_fpr = 1,
                                       .over_capacity = true};
// The standard error of a fill that was counted in `bits` bits of a larger array.
[[nodiscard]] double fill_error(double fill, std::uint32_t hashes, double bits) noexcept;
// The share of ones of a filter that is elsewhere.
struct Share {
  double ones = 0;
  double error = 0;      // the standard error of a sample
  bool sampled = false;  // not all bits were counted
};
// The statistics that follow from a fill.
[[nodiscard]] Stats stats_from(const Plan& plan, const Share& share) noexcept;
[[nodiscard]] Stats stats_from(const Plan& plan, const BlockSample& sample, double fill,
                               double current_fpr) noexcept;

}  // namespace bloomery::detail
