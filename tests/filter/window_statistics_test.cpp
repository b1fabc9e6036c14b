// The stated rate of a window is the real one, in its steady state, window after window. The
// questions and bounds are those of statistics_test.cpp:
//
//   (a) is the share of absent keys that are answered "maybe" the one that the array implies?
//   (c) do the plan and the numbers of keys in the ring_slices predict what the array implies?
//   (d) are forgotten keys like keys that never came?
//
// Bounds. (a), (d) at least 6000 expected hits, fail outside 10 %: a right filter fails below
// 3e-13, a rate 20 % high passes below 1e-11. Below p = 1e-4: 300 expected hits, outside 50 %.
// (c) eight standard errors: below 2e-15 for a normal variable.
#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/statistics.hpp"

namespace bloomery::test {
namespace {

constexpr auto kInsertions = WindowUnit::insertions;
constexpr auto kSeconds = WindowUnit::seconds;

// What the array implies for absent keys whose hashes are random, and its error as an estimate of
// theory. RingSlices hold different keys here, so what they say of a key is independent.
MeanAndError implied_fpr(const WindowFilter& filter) {
  const Plan& slice = filter.plan().slice;
  const std::uint32_t ring_slices = filter.plan().ring_slices();
  const bool blocked2 = slice.layout == Layout::blocked2;
  const detail::WordMasks& masks = detail::word_masks(blocked2 ? slice.hashes / 2 : slice.hashes);
  const auto blocks = static_cast<double>(slice.blocks());
  std::vector<MeanAndError> of_slice(ring_slices);
  double sum = 0, squares = 0;
  for (std::uint64_t block = 0; block < slice.blocks(); ++block) {
    double none = 1;
    for (std::uint32_t i = 0; i < ring_slices; ++i) {
      double fill[16], fpr = 0;
      for (unsigned word = 0; word < 16; ++word)
        fill[word] = static_cast<double>(ones_of(
                         filter.bytes().subspan((block * ring_slices + i) * 64 + word * 4, 4))) /
                     32;
      for (const unsigned mask : masks.of) {
        double product = 1;
        for (unsigned word = 0; word < 16; ++word)
          if ((mask >> word & 1) != 0) product *= fill[word];
        fpr += product / 64;
      }
      none *= 1 - fpr;
      of_slice[i].mean += fpr / blocks;
      of_slice[i].error += fpr * fpr / blocks;
    }
    sum += 1 - none;
    squares += (1 - none) * (1 - none);
  }
  if (!blocked2) {
    const double mean = sum / blocks;
    return {mean, std::sqrt(std::max(0.0, squares / blocks - mean * mean) / blocks)};
  }
  double none = 1, variance = 0;
  for (const auto& [mean, square] : of_slice) {
    none *= 1 - mean * mean;
    variance += 4 * mean * mean * std::max(0.0, square - mean * mean) / blocks;
  }
  return {1 - none, std::sqrt(variance)};
}

// What exact theory says of so many distinct keys in each slice.
double exact_fpr(const WindowFilter& filter) {
  double none = 1;
  for (std::uint32_t slice = 0; slice < filter.plan().ring_slices(); ++slice)
    none *= 1 - test::exact_fpr(filter.plan().slice, filter.state().inserted_in_slices[slice]);
  return 1 - none;
}

struct WindowCase {
  WindowUnit unit;
  Layout layout;
  double fpr;
  std::uint32_t slices;
};

void PrintTo(const WindowCase& it, std::ostream* out) {
  *out << to_string(it.unit) << " " << to_string(it.layout) << " " << it.fpr << " " << it.slices;
}

class WindowStatistics : public testing::TestWithParam<WindowCase> {
 protected:
  static constexpr std::uint64_t kCapacity = 64'000;  // divided by every number of slices

  WindowStatistics()
      : filter_(window_plan(GetParam().unit,
                            GetParam().unit == kSeconds ? GetParam().slices * 100 : kCapacity,
                            kCapacity, GetParam().fpr, GetParam().slices, GetParam().layout)) {
    filter_.advance(1'700'000'000 - 1'700'000'000 % filter_.plan().slice_length());
  }

  // A part of a slice's share of keys that never came before; the time goes with them.
  void insert(std::uint64_t parts_of, std::uint64_t part) {
    const std::uint64_t share = filter_.plan().slice.capacity;
    std::vector<Hash128> keys(share * (part + 1) / parts_of - share * part / parts_of);
    std::generate(keys.begin(), keys.end(), [this] { return inserted_.hash(); });
    filter_.insert_hashes(keys);
    if (part + 1 == parts_of) full_ = true;
  }
  void next_slice() {
    if (GetParam().unit == kSeconds && full_)
      filter_.advance(filter_.now() + filter_.plan().slice_length());
    full_ = false;
  }

  void check_array(const std::string& when) {
    const MeanAndError implied = implied_fpr(filter_);
    const double exact = exact_fpr(filter_);
    EXPECT_NEAR(implied.mean, exact, 8 * implied.error)
        << "(c) " << when << ": off by " << (implied.mean - exact) / implied.error << " sigma";
    EXPECT_LE(exact, filter_.plan().fpr) << "(c) " << when;
    // current_fpr looks at each slice alone; all ring_slices of a block together differ in the digits beyond.
    EXPECT_NEAR(filter_.current_fpr(), implied.mean, 8 * implied.error + 1e-3 * implied.mean)
        << when;
  }

  void check_hits(const char* question, double keys, std::uint64_t hits, double tolerance) {
    const double measured = static_cast<double>(hits) / keys;
    const double implied = implied_fpr(filter_).mean;
    EXPECT_NEAR(measured / implied, 1, tolerance)
        << question << " measured " << measured << ", the array implies " << implied;
  }

  WindowFilter filter_;
  Random inserted_{1};
  bool full_ = false;
};

TEST_P(WindowStatistics, InTheSteadyState) {
  const WindowPlan& plan = filter_.plan();
  const std::uint32_t ring_slices = plan.ring_slices();
  // Three times round the ring. The array is looked at in the first and the last round, at halves
  // and ends of slices.
  for (std::uint32_t slice = 0; slice < 3 * ring_slices; ++slice) {
    next_slice();
    for (std::uint64_t half = 0; half < 2; ++half) {
      insert(2, half);
      const bool looked_at = slice + 2 >= 3 * ring_slices || slice < 2 || slice + 1 == ring_slices;
      if (looked_at)
        check_array("half " + std::to_string(half) + " of slice " + std::to_string(slice));
    }
  }
  // At its fullest it has the stated rate, and not much less: more bits than it needs.
  EXPECT_GE(exact_fpr(filter_), (1 - std::pow(1 - plan.slice.fpr, ring_slices)) * 0.93);
  EXPECT_FALSE(filter_.over_capacity());

  Random absent(2);
  std::vector<Hash128> keys(1 << 14);
  const double wanted = (plan.fpr >= 1e-4 ? 6000 : 300) / plan.fpr * (nightly() ? 4 : 1);
  double looked = 0;
  std::uint64_t hits = 0;
  for (; looked < wanted; looked += static_cast<double>(keys.size())) {
    std::generate(keys.begin(), keys.end(), [&] { return absent.hash(); });
    hits += filter_.may_contain_hashes(keys);
  }
  check_hits("(a)", looked, hits, plan.fpr >= 1e-4 ? 0.1 : 0.5);
}

class WindowForgets : public WindowStatistics {};

// Everything that was inserted before the oldest slice's keys, asked once more.
TEST_P(WindowForgets, AndThenKeysAreAsThoseThatNeverCame) {
  const std::uint32_t ring_slices = filter_.plan().ring_slices();
  const std::uint64_t share = filter_.plan().slice.capacity;
  const auto forgotten = static_cast<std::uint64_t>(6200 / GetParam().fpr);
  const std::uint64_t slices = forgotten / share + 1 + ring_slices;
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    next_slice();
    insert(1, 0);
  }
  Random again(1);
  std::vector<Hash128> keys((slices - ring_slices) * share);
  std::generate(keys.begin(), keys.end(), [&] { return again.hash(); });
  check_hits("(d)", static_cast<double>(keys.size()), filter_.may_contain_hashes(keys), 0.1);
  // And all the others are found.
  keys.resize(ring_slices * share);
  std::generate(keys.begin(), keys.end(), [&] { return again.hash(); });
  EXPECT_EQ(filter_.may_contain_hashes(keys), keys.size());
}

std::string name_of(const testing::TestParamInfo<WindowCase>& param) {
  const WindowCase& it = param.param;
  return std::string(to_string(it.unit)) + "_" + std::string(to_string(it.layout)) + "_1e" +
         std::to_string(std::lround(-std::log10(it.fpr))) + "_slices_" + std::to_string(it.slices);
}

constexpr WindowCase kAtOnePercent[] = {{kInsertions, Layout::blocked, 0.01, 8},
                                        {kSeconds, Layout::blocked, 0.01, 1},
                                        {kInsertions, Layout::blocked, 0.01, 64},
                                        {kSeconds, Layout::blocked2, 0.01, 4}};
constexpr WindowCase kBelow[] = {{kSeconds, Layout::blocked, 0.001, 8},
                                 {kInsertions, Layout::blocked2, 0.001, 8},
                                 {kInsertions, Layout::blocked2, 1e-4, 16},
                                 {kSeconds, Layout::blocked2, 1e-5, 8}};
INSTANTIATE_TEST_SUITE_P(AtOnePercent, WindowStatistics, testing::ValuesIn(kAtOnePercent), name_of);
INSTANTIATE_TEST_SUITE_P(Below, WindowStatistics, testing::ValuesIn(kBelow), name_of);
// At lower rates too many keys would have to be forgotten.
INSTANTIATE_TEST_SUITE_P(AtOnePercent, WindowForgets, testing::ValuesIn(kAtOnePercent), name_of);

}  // namespace
}  // namespace bloomery::test
