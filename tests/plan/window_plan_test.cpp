// Window plans: what a slice gets, what a window is rounded to, and what cannot be had.
#include <bloomery/error.hpp>
#include <bloomery/window_plan.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

constexpr auto kInsertions = WindowUnit::insertions;
constexpr auto kSeconds = WindowUnit::seconds;

TEST(WindowPlan, SharesKeysAndFprAmongTheSlots) {
  for (const double fpr : {0.5, 0.01, 0.001, 1e-6})
    for (const std::uint32_t slices : {1U, 3U, 8U, 64U})
      for (const std::uint64_t capacity : {1U, 64U, 1000U, 1'000'003U}) {
        const WindowPlan plan = window_plan(kSeconds, 604'800, capacity, fpr, slices);
        EXPECT_EQ(plan.ring_slices(), slices + 1);
        EXPECT_GE(plan.slice.capacity * slices, capacity);
        EXPECT_LT((plan.slice.capacity - 1) * slices, capacity);
        EXPECT_DOUBLE_EQ(plan.slice.fpr * (slices + 1), fpr);
        EXPECT_EQ(plan.fpr, fpr);
        EXPECT_EQ(plan.capacity, capacity);
        EXPECT_EQ(plan.bytes(), plan.slice.bytes() * (slices + 1));
        EXPECT_EQ(plan.slice,
                  bloomery::plan(plan.slice.capacity, fpr / (slices + 1), plan.slice.layout));
        validate(plan);
      }
}

TEST(WindowPlan, RoundsTheWindowUpToWholeSlices) {
  const WindowPlan exact = window_plan(kSeconds, 7 * 86'400, 1000, 0.01);
  EXPECT_EQ(exact.window, 604'800U);
  EXPECT_EQ(exact.slice_length(), 75'600U);
  const WindowPlan rounded = window_plan(kInsertions, 10'000'001, 10'000'001, 0.01);
  EXPECT_EQ(rounded.window, 10'000'008U);
  EXPECT_EQ(rounded.slice_length(), 1'250'001U);
  EXPECT_EQ(rounded.slice.capacity, 1'250'001U);
  const WindowPlan one = window_plan(kInsertions, 1, 1, 0.01, 1);
  EXPECT_EQ(one.window, 1U);
  EXPECT_EQ(one.slice_length(), 1U);
  const WindowPlan least = window_plan(kInsertions, 64, 64, 0.01, 64);
  EXPECT_EQ(least.slice_length(), 1U);
}

TEST(WindowPlan, HasTheLongestWindowAndAKeyForEachInsertion) {
  constexpr std::uint64_t kLongest = std::numeric_limits<std::uint64_t>::max() - 64;
  for (const std::uint32_t slices : {1U, 8U, 63U, 64U}) {
    const WindowPlan plan = window_plan(kSeconds, kLongest, 1000, 0.01, slices);
    EXPECT_GE(plan.window, kLongest);
    EXPECT_EQ(plan.window % slices, 0U);
    validate(plan);
  }
  for (const auto& [window, slices] : {std::pair(kLongest + 1, 1U), {kLongest + 2, 8U}})
    expect_error(ErrorCode::too_large, {"2^64 - 65"}, [window = window, slices = slices] {
      (void)window_plan(kSeconds, window, 1000, 0.01, slices);
    });
  // As many keys as there are insertions in whole slices.
  const WindowPlan full = window_plan(kInsertions, 81, 88, 0.01, 8);
  EXPECT_EQ(full.window, 88U);
  EXPECT_EQ(full.slice.capacity, 11U);
  expect_error(ErrorCode::invalid_argument,
               {"capacity 89 is more than a window of 81 insertions can hold"},
               [] { (void)window_plan(kInsertions, 81, 89, 0.01, 8); });
  EXPECT_EQ(window_plan(kSeconds, 81, 89, 0.01, 8).capacity, 89U);
}

TEST(WindowPlan, NamesItsUnits) {
  EXPECT_EQ(to_string(kInsertions), "insertions");
  EXPECT_EQ(to_string(kSeconds), "seconds");
  EXPECT_EQ(to_string(WindowUnit{9}), "unknown");
}

// The default is block where a slice's share is at least 1e-4.
TEST(WindowPlan, TakesTheLayoutOfTheShare) {
  EXPECT_EQ(window_plan(kSeconds, 80, 1000, 0.001).slice.layout, Layout::blocked);
  EXPECT_EQ(window_plan(kSeconds, 80, 1000, 9.1e-4).slice.layout, Layout::blocked);
  EXPECT_EQ(window_plan(kSeconds, 80, 1000, 8.9e-4).slice.layout, Layout::blocked2);
  EXPECT_EQ(window_plan(kSeconds, 80, 1000, 1e-12).slice.layout, Layout::blocked2);
  EXPECT_EQ(window_plan(kSeconds, 80, 1000, 0.001, 8, Layout::blocked2).slice.layout,
            Layout::blocked2);
  EXPECT_EQ(window_plan(kSeconds, 80, 1000, 1e-6, 8, Layout::blocked).slice.layout,
            Layout::blocked);
}

// The numbers in window_plan.hpp.
TEST(WindowPlan, TakesTheBitsThatTheHeaderSays) {
  const auto bits = [](double fpr, std::uint32_t slices) {
    const WindowPlan plan = window_plan(kInsertions, 16'000'000, 16'000'000, fpr, slices);
    return static_cast<double>(plan.bytes()) * 8 / 16'000'000;
  };
  EXPECT_NEAR(bits(0.01, 4), 17.3, 0.05);
  EXPECT_NEAR(bits(0.01, 8), 17.3, 0.05);
  EXPECT_NEAR(bits(0.01, 16), 18.1, 0.05);
  EXPECT_NEAR(bits(0.001, 4), 25.1, 0.05);
  EXPECT_NEAR(bits(0.001, 8), 24.6, 0.05);
  EXPECT_NEAR(bits(0.001, 16), 22.4, 0.05);
}

TEST(WindowPlan, SaysWhatCannotBeHad) {
  constexpr auto kInvalid = ErrorCode::invalid_argument, kLarge = ErrorCode::too_large;
  const auto refused = [](WindowUnit unit, std::uint64_t window, std::uint64_t capacity, double fpr,
                          std::uint32_t slices, ErrorCode code, const std::string& text,
                          std::optional<Layout> layout = {}) {
    expect_error(code, {text}, [&] {
      static_cast<void>(window_plan(unit, window, capacity, fpr, slices, layout));
    });
  };
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused(kSeconds, 0, 10, 0.01, 8, kInvalid,
          "0 seconds cannot be cut into 8 slices; give a longer");
  refused(kSeconds, 1, 10, 0.01, 8, kInvalid, "give a longer window or at most 1 slice");
  refused(kInsertions, 7, 7, 0.01, 8, kInvalid, "7 insertions cannot be cut into 8 slices");
  refused(kSeconds, kMost, 10, 0.01, 8, kLarge, "above the limit of 2^64 - 65");
  refused(kSeconds, 80, 10, 0.01, 0, kInvalid, "0 slices are out of range");
  refused(kSeconds, 80, 10, 0.01, 65, kInvalid, "65 slices are out of range");
  refused(kSeconds, 80, 0, 0.01, 8, kInvalid, "capacity is 0");
  refused(kSeconds, 80, kMaxCapacity + 1, 0.01, 8, kLarge, "above the limit of 10^13");
  refused(kInsertions, 80, 81, 0.01, 8, kInvalid, "more than a window of 80 insertions can hold");
  refused(static_cast<WindowUnit>(3), 80, 10, 0.01, 8, kInvalid, "unit 3 of a window is unknown");
  for (const double fpr : {0.0, -1.0, 1.0, nan})
    refused(kSeconds, 80, 10, fpr, 8, kInvalid, "is not between 0 and 1");
  refused(kSeconds, 80, 10, 0.6, 8, kInvalid, "with 8 slices give one from 9e-15");
  refused(kSeconds, 80, 10, 1e-15, 8, kInvalid, "out of range");
  refused(kSeconds, 80, 10, 0.01, 8, kInvalid, "layout standard", Layout::standard);
  refused(kSeconds, 80, 300'000'000'000, 0.01, 8, kLarge, "9 slices of");
  refused(kSeconds, 80, kMaxCapacity, 0.01, 8, kLarge, "2^40 bits");
}

TEST(WindowPlan, TakesTheLeastRateThatItsErrorAdvises) {
  for (std::uint32_t slices = 1; slices <= kMaxSlices; ++slices) try {
      (void)window_plan(kSeconds, 640, 1000, 1e-15, slices);
      ADD_FAILURE() << slices << " slices share 1e-15";
    } catch (const PlanError& error) {
      const std::string text = error.what();
      const double least = std::stod(text.substr(text.find("give one from ") + 14));
      const WindowPlan plan = window_plan(kSeconds, 640, 1000, least, slices);
      EXPECT_NO_THROW(validate(plan)) << text;
    }
}

// What a stored plan may claim.
TEST(WindowPlan, AStoredOneIsBelievedOnlyWhole) {
  constexpr auto kInvalid = ErrorCode::invalid_argument, kLarge = ErrorCode::too_large;
  const WindowPlan right = window_plan(kSeconds, 80, 1000, 0.01);
  validate(right);
  const auto refused = [&](ErrorCode code, const std::string& text, auto change) {
    WindowPlan plan = right;
    change(plan);
    expect_error(code, {text}, [&] { validate(plan); });
  };
  refused(kInvalid, "not a whole number of 8 slices", [](auto& plan) { plan.window = 81; });
  refused(kInvalid, "0 seconds cannot be cut into 8 slices", [](auto& plan) { plan.window = 0; });
  refused(kInvalid, "slices are out of range", [](auto& plan) { plan.slices = 65; });
  refused(kInvalid, "slices are out of range", [](auto& plan) { plan.slices = 0; });
  refused(kInvalid, "slices for 125 keys do not fit", [](auto& plan) { plan.capacity = 2000; });
  refused(kInvalid, "do not fit a window of 8 slices with a false-positive rate of 0.02",
          [](auto& plan) { plan.fpr = 0.02; });
  refused(kInvalid, "is not between 0 and 1", [](auto& plan) { plan.fpr = std::nan(""); });
  refused(kInvalid, "is unknown", [](auto& plan) { plan.unit = WindowUnit{0}; });
  refused(kInvalid, "layout standard", [](auto& plan) { plan.slice.layout = Layout::standard; });
  refused(kInvalid, "bits are out of range", [](auto& plan) { plan.slice.bits = 0; });
  refused(kInvalid, "hashes", [](auto& plan) { plan.slice.hashes = 17; });
  refused(kLarge, "9 slices of", [](auto& plan) { plan.slice.bits = kMaxBits; });
}

}  // namespace
}  // namespace bloomery::test
