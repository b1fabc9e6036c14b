// The stated rate of a window is the real one, in its steady state, window after window. The
// questions and bounds are those of statistics_test.cpp:
//
//   (a) is the share of absent keys that are answered "maybe" the one that the array implies?
//   (c) do the plan and the numbers of keys in the slots predict what the array implies?
//   (d) are forgotten keys like keys that never came?
//
// Bounds. (a), (d) at least 6000 expected hits, fail outside 10 %: a right filter fails below
// 3e-13, a rate 20 % high passes below 1e-11. Below p = 1e-4: 300 expected hits, outside 50 %.
// (c) eight standard errors: below 2e-15 for a normal variable.
#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/statistics.hpp"

namespace bloomery {
namespace {

constexpr auto kInsertions = WindowUnit::insertions;
constexpr auto kSeconds = WindowUnit::seconds;

// What the array implies for absent keys whose hashes are random, and its error as an estimate of
// theory. Slots hold different keys here, so what they say of a key is independent.
test::MeanAndError implied_rate(const WindowFilter& filter) {
  const Plan& slice = filter.plan().slice;
  const std::uint32_t slots = filter.plan().slots();
  const bool pair = slice.layout == Layout::pair;
  const detail::WordMasks& masks = detail::word_masks(pair ? slice.hashes / 2 : slice.hashes);
  const auto lines = static_cast<double>(slice.lines());
  std::vector<test::MeanAndError> of_slot(slots);
  double sum = 0, squares = 0;
  for (std::uint64_t line = 0; line < slice.lines(); ++line) {
    double none = 1;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      double fill[16], rate = 0;
      for (unsigned word = 0; word < 16; ++word)
        fill[word] = static_cast<double>(test::ones_of(
                         filter.bytes().subspan((line * slots + slot) * 64 + word * 4, 4))) /
                     32;
      for (const unsigned mask : masks.of) {
        double product = 1;
        for (unsigned word = 0; word < 16; ++word)
          if ((mask >> word & 1) != 0) product *= fill[word];
        rate += product / 64;
      }
      none *= 1 - rate;
      of_slot[slot].mean += rate / lines;
      of_slot[slot].error += rate * rate / lines;
    }
    sum += 1 - none;
    squares += (1 - none) * (1 - none);
  }
  if (!pair) {
    const double mean = sum / lines;
    return {mean, std::sqrt(std::max(0.0, squares / lines - mean * mean) / lines)};
  }
  double none = 1, variance = 0;
  for (const auto& [mean, square] : of_slot) {
    none *= 1 - mean * mean;
    variance += 4 * mean * mean * std::max(0.0, square - mean * mean) / lines;
  }
  return {1 - none, std::sqrt(variance)};
}

// What exact theory says of so many distinct keys in each slot.
double exact_rate(const WindowFilter& filter) {
  double none = 1;
  for (std::uint32_t slot = 0; slot < filter.plan().slots(); ++slot)
    none *= 1 - test::exact_rate(filter.plan().slice, filter.state().in_slots[slot]);
  return 1 - none;
}

struct Case {
  WindowUnit unit;
  Layout layout;
  double rate;
  std::uint32_t slices;
};

void PrintTo(const Case& it, std::ostream* out) {
  *out << to_string(it.unit) << " " << to_string(it.layout) << " " << it.rate << " " << it.slices;
}

class WindowStatistics : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::uint64_t kCapacity = 64'000;  // divided by every number of slices

  WindowStatistics()
      : filter_(window_plan(GetParam().unit,
                            GetParam().unit == kSeconds ? GetParam().slices * 100 : kCapacity,
                            kCapacity, GetParam().rate, GetParam().slices, GetParam().layout)) {
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
    const test::MeanAndError implied = implied_rate(filter_);
    const double exact = exact_rate(filter_);
    EXPECT_NEAR(implied.mean, exact, 8 * implied.error)
        << "(c) " << when << ": off by " << (implied.mean - exact) / implied.error << " sigma";
    EXPECT_LE(exact, filter_.plan().rate) << "(c) " << when;
    // rate_now looks at each slot alone; all slots of a line together differ in the digits beyond.
    EXPECT_NEAR(filter_.rate_now(), implied.mean, 8 * implied.error + 1e-3 * implied.mean) << when;
  }

  void check_hits(const char* question, double keys, std::uint64_t hits, double tolerance) {
    const double measured = static_cast<double>(hits) / keys;
    const double implied = implied_rate(filter_).mean;
    EXPECT_NEAR(measured / implied, 1, tolerance)
        << question << " measured " << measured << ", the array implies " << implied;
  }

  WindowFilter filter_;
  test::Random inserted_{1};
  bool full_ = false;
};

TEST_P(WindowStatistics, InTheSteadyState) {
  const WindowPlan& plan = filter_.plan();
  const std::uint32_t slots = plan.slots();
  // Three times round the ring. The array is looked at in the first and the last round, at halves
  // and ends of slices.
  for (std::uint32_t slice = 0; slice < 3 * slots; ++slice) {
    next_slice();
    for (std::uint64_t half = 0; half < 2; ++half) {
      insert(2, half);
      const bool looked_at = slice + 2 >= 3 * slots || slice < 2 || slice + 1 == slots;
      if (looked_at)
        check_array("half " + std::to_string(half) + " of slice " + std::to_string(slice));
    }
  }
  // At its fullest it has the stated rate, and not much less: more bits than it needs.
  EXPECT_GE(exact_rate(filter_), (1 - std::pow(1 - plan.slice.rate, slots)) * 0.93);
  EXPECT_FALSE(filter_.overfull());

  test::Random absent(2);
  std::vector<Hash128> keys(1 << 14);
  const double wanted = (plan.rate >= 1e-4 ? 6000 : 300) / plan.rate * (test::nightly() ? 4 : 1);
  double looked = 0;
  std::uint64_t hits = 0;
  for (; looked < wanted; looked += static_cast<double>(keys.size())) {
    std::generate(keys.begin(), keys.end(), [&] { return absent.hash(); });
    hits += filter_.may_contain_hashes(keys);
  }
  check_hits("(a)", looked, hits, plan.rate >= 1e-4 ? 0.1 : 0.5);
}

class WindowForgets : public WindowStatistics {};

// Everything that was inserted before the oldest slot's keys, asked once more.
TEST_P(WindowForgets, AndThenKeysAreAsThoseThatNeverCame) {
  const std::uint32_t slots = filter_.plan().slots();
  const std::uint64_t share = filter_.plan().slice.capacity;
  const auto forgotten = static_cast<std::uint64_t>(6200 / GetParam().rate);
  const std::uint64_t slices = forgotten / share + 1 + slots;
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    next_slice();
    insert(1, 0);
  }
  test::Random again(1);
  std::vector<Hash128> keys((slices - slots) * share);
  std::generate(keys.begin(), keys.end(), [&] { return again.hash(); });
  check_hits("(d)", static_cast<double>(keys.size()), filter_.may_contain_hashes(keys), 0.1);
  // And all the others are found.
  keys.resize(slots * share);
  std::generate(keys.begin(), keys.end(), [&] { return again.hash(); });
  EXPECT_EQ(filter_.may_contain_hashes(keys), keys.size());
}

std::string name_of(const testing::TestParamInfo<Case>& param) {
  const Case& it = param.param;
  return std::string(to_string(it.unit)) + "_" + std::string(to_string(it.layout)) + "_1e" +
         std::to_string(std::lround(-std::log10(it.rate))) + "_slices_" + std::to_string(it.slices);
}

constexpr Case kAtOnePercent[] = {{kInsertions, Layout::line, 0.01, 8},
                                  {kSeconds, Layout::line, 0.01, 1},
                                  {kInsertions, Layout::line, 0.01, 64},
                                  {kSeconds, Layout::pair, 0.01, 4}};
constexpr Case kBelow[] = {{kSeconds, Layout::line, 0.001, 8},
                           {kInsertions, Layout::pair, 0.001, 8},
                           {kInsertions, Layout::pair, 1e-4, 16},
                           {kSeconds, Layout::pair, 1e-5, 8}};
INSTANTIATE_TEST_SUITE_P(AtOnePercent, WindowStatistics, testing::ValuesIn(kAtOnePercent), name_of);
INSTANTIATE_TEST_SUITE_P(Below, WindowStatistics, testing::ValuesIn(kBelow), name_of);
// At lower rates too many keys would have to be forgotten.
INSTANTIATE_TEST_SUITE_P(AtOnePercent, WindowForgets, testing::ValuesIn(kAtOnePercent), name_of);

}  // namespace
}  // namespace bloomery
