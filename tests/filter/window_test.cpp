// The window filter as its header describes it: what it forgets and when, at the edges of windows
// and of time; what it says of itself.
#include <bloomery/filter_view.hpp>
#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/naive_window.hpp"
#include "support/random.hpp"
#include "support/windows.hpp"

namespace bloomery::test {
namespace {

// ---- the last N insertions ----------------------------------------------------------------------

TEST(Window, OfInsertionsForgetsInSlices) {
  WindowFilter seen = last(8, 4);  // slices of two
  for (int key = 0; key < 100; ++key) {
    EXPECT_TRUE(seen.insert(key));
    // The last eight for certain; what is older than ten is forgotten.
    for (int other = 0; other <= key; ++other) {
      if (key - other < 8) {
        EXPECT_TRUE(seen.may_contain(other)) << key << " " << other;
      }
      if (key - other >= 10) {
        EXPECT_FALSE(seen.may_contain(other)) << key << " " << other;
      }
    }
  }
  EXPECT_EQ(seen.inserted(), 100U);
  EXPECT_EQ(seen.live_slices(), 5U);
}

TEST(Window, OfOneInsertionRemembersOneOrTwo) {
  WindowFilter seen = last(1, 1);
  for (int key = 0; key < 10; ++key) {
    EXPECT_TRUE(seen.insert(key));
    EXPECT_TRUE(seen.may_contain(key));
    EXPECT_FALSE(seen.may_contain(key - 2));
  }
}

TEST(Window, OfAsManySlicesAsInsertions) {
  WindowFilter seen = last(64, 64);
  for (int key = 0; key < 300; ++key) {
    seen.insert(key);
    for (int age = 0; age < 64 && age <= key; ++age) ASSERT_TRUE(seen.may_contain(key - age));
    ASSERT_FALSE(seen.may_contain(key - 65));
  }
}

TEST(Window, AKeyThatComesAgainIsNewAgain) {
  WindowFilter seen = last(8, 4);
  for (int key = 0; key < 200; ++key) {
    EXPECT_EQ(seen.insert("again"), key == 0);
    for (int i = 0; i < 6; ++i) seen.insert(1000 + key * 6 + i);
    EXPECT_TRUE(seen.may_contain("again"));
  }
  for (int i = 0; i < 10; ++i) seen.insert(i);
  EXPECT_FALSE(seen.may_contain("again"));
}

TEST(Window, OfInsertionsForgetsNothingAsTimePasses) {
  WindowFilter seen = last(8, 4);
  seen.insert(1);
  seen.advance(1'000'000);
  seen.advance(kMost);
  EXPECT_TRUE(seen.may_contain(1));
  EXPECT_EQ(seen.now(), kMost);
}

// ---- the last T seconds -------------------------------------------------------------------------

// Every second of a time at every offset from the slices' ends.
TEST(Window, OfSecondsForgetsInSlices) {
  for (std::uint64_t start = 1; start < 12; ++start) {
    WindowFilter seen = past(12, 3);  // slices of four
    seen.advance(start);
    seen.insert(7);
    for (std::uint64_t age = 0; age < 30; ++age) {
      seen.advance(start + age);
      if (age <= 12) {
        EXPECT_TRUE(seen.may_contain(7)) << start << " " << age;
      }
      if (age >= 16) {
        EXPECT_FALSE(seen.may_contain(7)) << start << " " << age;
      }
    }
    EXPECT_EQ(seen.live_slices(), 0U);
  }
}

TEST(Window, TimeThatStepsBackIsIgnored) {
  WindowFilter seen = past(12, 3), calm = past(12, 3);
  seen.advance(1000);
  calm.advance(1000);
  seen.insert(1);
  calm.insert(1);
  for (const std::uint64_t time : {std::uint64_t{999}, std::uint64_t{1}, std::uint64_t{0}}) {
    seen.advance(time);
    EXPECT_EQ(seen.now(), 1000U);
    EXPECT_EQ(seen.state(), calm.state());
    EXPECT_TRUE(seen.may_contain(1));
  }
  seen.insert(2);
  seen.advance(1012);
  EXPECT_TRUE(seen.may_contain(1));
  EXPECT_TRUE(seen.may_contain(2));
}

// In one step and in many, the same is remembered.
TEST(Window, AJumpIsAsManyTurnsAsItHasSlices) {
  for (std::uint64_t jump = 0; jump < 40; ++jump) {
    WindowFilter at_once = past(12, 3), by_seconds = past(12, 3);
    for (WindowFilter* filter : {&at_once, &by_seconds}) {
      for (std::uint64_t now = 100; now < 112; ++now) {
        filter->advance(now);
        filter->insert(now);
      }
    }
    at_once.advance(111 + jump);
    for (std::uint64_t i = 0; i <= jump; ++i) by_seconds.advance(111 + i);
    for (std::uint64_t key = 100; key < 112; ++key)
      EXPECT_EQ(at_once.may_contain(key), by_seconds.may_contain(key)) << jump;
    EXPECT_EQ(at_once.live_slices(), by_seconds.live_slices());
  }
}

TEST(Window, AJumpOverTheWindowForgetsAll) {
  WindowFilter seen = past(12, 3);
  seen.advance(5);
  seen.insert(1);
  seen.advance(kMost);
  EXPECT_FALSE(seen.may_contain(1));
  EXPECT_EQ(seen.fill(), 0);
  seen.insert(2);
  seen.advance(kMost);
  EXPECT_TRUE(seen.may_contain(2));
  WindowFilter longest(window_plan(kSeconds, kMost / 2, 10, 1e-6, 64));
  longest.advance(1);
  longest.insert(1);
  longest.advance(kMost / 2);
  EXPECT_TRUE(longest.may_contain(1));
  longest.advance(kMost);
  EXPECT_FALSE(longest.may_contain(1));
}

// Nobody loses keys because the first time came late.
TEST(Window, KeysBeforeTheFirstTimeCountAsInsertedAtIt) {
  WindowFilter seen = past(12, 3);
  seen.insert(1);
  seen.advance(1'700'000'000);
  EXPECT_TRUE(seen.may_contain(1));
  seen.advance(1'700'000'012);
  EXPECT_TRUE(seen.may_contain(1));
  seen.advance(1'700'000'016);
  EXPECT_FALSE(seen.may_contain(1));
}

TEST(Window, OfASecondASlice) {
  WindowFilter seen = past(8, 8);
  for (std::uint64_t now = 1; now < 100; ++now) {
    seen.advance(now);
    seen.insert(now);
    for (std::uint64_t age = 0; age <= 8 && age < now; ++age)
      ASSERT_TRUE(seen.may_contain(now - age));
    ASSERT_FALSE(seen.may_contain(now - std::min<std::uint64_t>(now, 9)));
  }
}

// ---- the whole ----------------------------------------------------------------------------------

TEST(Window, ClearForgetsTheKeysAndKeepsTheTime) {
  WindowFilter seen = past(12, 3);
  seen.advance(100);
  for (int key = 0; key < 50; ++key) seen.insert(key);
  seen.clear();
  EXPECT_EQ(seen.fill(), 0);
  EXPECT_EQ(seen.live_slices(), 0U);
  EXPECT_EQ(seen.now(), 100U);
  for (int key = 0; key < 50; ++key) EXPECT_TRUE(seen.insert(key));
  seen.advance(112);
  EXPECT_TRUE(seen.may_contain(0));
}

TEST(Window, TakesKeysOfEveryForm) {
  WindowFilter seen = last(100, 4);
  EXPECT_TRUE(seen.insert("text"));
  EXPECT_FALSE(seen.insert(std::string("text")));
  EXPECT_TRUE(seen.insert(-1));
  EXPECT_TRUE(seen.may_contain(std::int64_t{-1}));
  const std::vector<std::string> names = {"a", "b", "a"};
  EXPECT_EQ(seen.insert_many(names), 2U);
  const std::vector<std::uint64_t> numbers = {1, 2, 3, 1};
  bool fresh[4];
  EXPECT_EQ(seen.insert_many(numbers, fresh), 3U);
  EXPECT_FALSE(fresh[3]);
  EXPECT_EQ(seen.may_contain_many(numbers), 4U);
  EXPECT_EQ(seen.insert_many(std::vector<int>{}), 0U);
  EXPECT_EQ(seen.inserted(), 10U);
}

// ---- what it says of itself ---------------------------------------------------------------------

// A slice's bits as a plain filter of its own, whose measures are tested in measures_test.
struct SliceIndex {
  SliceIndex(const WindowFilter& filter, std::uint32_t age)
      : memory(filter.plan().slice.bytes()),
        view(filter.plan().slice, filter.hasher(), memory.bytes()) {
    const std::vector<std::byte> bits = bits_of_age(filter, age);
    std::memcpy(memory.bytes().data(), bits.data(), bits.size());
  }
  detail::BitMemory memory;
  FilterView view;
};

TEST(WindowMeasures, AreThoseOfTheSlots) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2})
    for (const std::uint32_t slices : {1U, 3U, 8U}) {
      const WindowPlan plan = window_plan(kInsertions, 2400, 2400, 0.01, slices, layout);
      WindowFilter filter(plan);
      Random random(slices);
      for (int round = 0; round < 6; ++round) {
        double fill = 0, none = 1, sum = 0, largest = 0;
        for (std::uint32_t age = 0; age <= slices; ++age) {
          const SliceIndex slice(filter, age);
          fill += slice.view.fill() / (slices + 1);
          none *= 1 - slice.view.current_fpr();
          sum += slice.view.estimated_items();
          largest = std::max(largest, slice.view.estimated_items());
        }
        EXPECT_NEAR(filter.fill(), fill, 1e-12);
        EXPECT_NEAR(filter.current_fpr(), 1 - none, 1e-12);
        EXPECT_GE(filter.estimated_items(), largest);
        EXPECT_LE(filter.estimated_items(), sum);
        EXPECT_FALSE(filter.over_capacity());
        for (int i = 0; i < 700; ++i) filter.insert_hash(random.hash());
      }
    }
}

// A rate that is lost beside 1 is still a rate.
TEST(WindowMeasures, SmallFprsAreNotRoundedAway) {
  WindowFilter filter = last(80, 8);
  EXPECT_EQ(filter.current_fpr(), 0);
  filter.insert(1);
  EXPECT_GT(filter.current_fpr(), 0);
  EXPECT_LT(filter.current_fpr(), 1e-20);
}

// Keys that are in all slices count once, as long as laying the slices over each other leaves
// zeros. The standard error of that estimate is sqrt(m (e^c - c - 1)) / k at a load c = kn/m; eight
// of them. Distinct ones count all.
TEST(WindowMeasures, ItemsInSeveralSlicesCountOnce) {
  const WindowPlan plan = window_plan(kInsertions, 80'000, 80'000, 0.01, 8);
  const auto m = static_cast<double>(plan.slice.bits);
  const double k = plan.slice.hashes;
  const auto error = [&](double n) {
    const double load = k * n / m;
    return std::sqrt(m * (std::exp(load) - load - 1)) / k;
  };
  WindowFilter hot(plan), distinct(plan);
  for (int key = 0; key < 80'000; ++key) {
    hot.insert(key % 10'000);
    distinct.insert(key);
  }
  EXPECT_NEAR(hot.estimated_items(), 10'000, 8 * error(10'000));
  EXPECT_NEAR(distinct.estimated_items(), 80'000, 8 * error(80'000));
}

// All keys of a window in one slice: that slice says so, while it lasts.
TEST(WindowMeasures, ABurstIsOverCapacityUntilItIsForgotten) {
  const WindowPlan plan = window_plan(kSeconds, 80, 8000, 0.01, 8);
  WindowFilter filter(plan);
  filter.advance(1000);
  for (int key = 0; key < 1000; ++key) filter.insert(key);
  EXPECT_FALSE(filter.over_capacity());
  EXPECT_LE(filter.current_fpr(), plan.slice.fpr * 1.2);
  for (int key = 1000; key < 8000; ++key) filter.insert(key);
  EXPECT_TRUE(filter.over_capacity());
  EXPECT_GT(filter.current_fpr(), 0.1);  // eight times a slice's share of the keys
  filter.advance(1080);
  filter.insert(8000);
  EXPECT_TRUE(filter.over_capacity());
  filter.advance(1090);
  EXPECT_FALSE(filter.over_capacity());
  EXPECT_TRUE(filter.may_contain(8000));
  EXPECT_LT(filter.current_fpr(), 1e-9);
}

TEST(WindowFilter, TakesTimesOfTheStandardLibrary) {
  using namespace std::chrono_literals;
  const WindowPlan plan = window_plan(8h, 1'000, 0.01);
  EXPECT_EQ(plan, window_plan(WindowUnit::seconds, 8 * 3600, 1'000, 0.01));
  EXPECT_EQ(window_plan(7'001ms, 10, 0.01), window_plan(WindowUnit::seconds, 8, 10, 0.01));
  EXPECT_THROW((void)window_plan(-1s, 10, 0.01), Error);
  // Longer than a number of seconds can say.
  constexpr auto kLongest = std::chrono::hours::max();
  constexpr std::uint64_t kMostSeconds = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(window_plan(kLongest, 10, 0.01),
            window_plan(WindowUnit::seconds, kMostSeconds, 10, 0.01));
  EXPECT_EQ(detail::whole_seconds(kLongest, false), kMostSeconds);
  EXPECT_EQ(detail::whole_seconds(std::chrono::duration<double>(1e30), true), kMostSeconds);
  EXPECT_EQ(detail::whole_seconds(std::chrono::hours::min(), false), 0U);
  EXPECT_EQ(detail::whole_seconds(std::chrono::duration<double>(std::nan("")), true), 0U);
  WindowFilter filter(plan);
  filter.advance(std::chrono::sys_seconds(100'000s));
  EXPECT_EQ(filter.now(), 100'000U);
  filter.insert(std::uint64_t{1});
  filter.advance(100'000s + 7h + 999ms);
  EXPECT_EQ(filter.now(), 125'200U);
  EXPECT_TRUE(filter.may_contain(std::uint64_t{1}));
  filter.advance(-5s);  // clocks may step back
  EXPECT_EQ(filter.now(), 125'200U);
  filter.advance(std::chrono::sys_days(std::chrono::days(3)));
  EXPECT_EQ(filter.now(), 259'200U);
  EXPECT_FALSE(filter.may_contain(std::uint64_t{1}));
}

}  // namespace
}  // namespace bloomery::test
