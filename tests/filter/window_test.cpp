// The window filter as its header describes it: what it forgets and when, at the edges of windows
// and of time; its state; what it says of itself.
#include <bloomery/error.hpp>
#include <bloomery/filter_view.hpp>
#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/naive_window.hpp"
#include "support/random.hpp"

namespace bloomery {
namespace {

constexpr auto kInsertions = WindowUnit::insertions;
constexpr auto kSeconds = WindowUnit::seconds;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// Rates at which a false positive among the few keys of a test would be a wonder (1e-12 a key).
WindowFilter last(std::uint64_t window, std::uint32_t slices) {
  return WindowFilter(window_plan(kInsertions, window, window, 1e-12, slices));
}
WindowFilter past(std::uint64_t seconds, std::uint32_t slices) {
  return WindowFilter(window_plan(kSeconds, seconds, 1000, 1e-12, slices));
}

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

TEST(Window, AKeyThatComesAgainIsYoungAgain) {
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

TEST(Window, CopyAndRestoreAreTheSameFilter) {
  for (const Layout layout : {Layout::line, Layout::pair}) {
    const WindowPlan plan = window_plan(kInsertions, 1000, 1000, 0.01, 8, layout);
    WindowFilter filter(plan, Hasher(HashFamily::siphash, {.low = 1, .high = 2}));
    for (int key = 0; key < 1700; ++key) filter.insert(key);
    filter.advance(77);
    WindowFilter copied = filter.copy();
    detail::BitMemory memory(plan.bytes());
    const auto bits = memory.bytes();
    std::memcpy(bits.data(), filter.bytes().data(), bits.size());
    WindowFilter restored =
        WindowFilter::restore(plan, filter.hasher(), filter.state(), bits, std::move(memory));
    for (int key = 1700; key < 5000; ++key) {
      const bool fresh = filter.insert(key);
      ASSERT_EQ(copied.insert(key), fresh);
      ASSERT_EQ(restored.insert(key), fresh);
    }
    for (WindowFilter* other : {&copied, &restored}) {
      EXPECT_EQ(other->state(), filter.state());
      EXPECT_EQ(other->plan(), filter.plan());
      EXPECT_TRUE(std::equal(other->bytes().begin(), other->bytes().end(), filter.bytes().begin()));
    }
  }
}

// Bits that somebody else owns are used where they are.
TEST(Window, RestoreBorrows) {
  const WindowPlan plan = window_plan(kSeconds, 80, 100, 0.01);
  detail::BitMemory memory(plan.bytes());
  WindowFilter filter = WindowFilter::restore(plan, Hasher(), {}, memory.bytes());
  EXPECT_EQ(filter.bytes().data(), memory.bytes().data());
  filter.insert(1);
  EXPECT_TRUE(WindowFilter::restore(plan, Hasher(), {}, memory.bytes()).may_contain(1));
}

TEST(Window, RestoreRefusesWhatNoFilterCanBe) {
  const WindowPlan plan = window_plan(kInsertions, 80, 80, 0.01);
  detail::BitMemory memory(plan.bytes() + 64);
  const auto bits = memory.bytes().first(plan.bytes());
  const auto refused = [&](ErrorCode code, const std::string& text, std::span<std::byte> given,
                           auto change) {
    WindowState state{.now = 0, .inserted = 100, .newest = 3, .in_slots = {}};
    state.in_slots[0] = 10;
    WindowPlan claimed = plan;
    change(state, claimed);
    try {
      static_cast<void>(WindowFilter::restore(claimed, Hasher(), state, given));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  static_cast<void>(WindowFilter::restore(plan, Hasher(), {}, bits));
  const auto same = [](auto&, auto&) {};
  refused(ErrorCode::mismatch, "bytes of bits", memory.bytes(), same);
  refused(ErrorCode::mismatch, "bytes of bits", {}, same);
  refused(ErrorCode::invalid_argument, "aligned", memory.bytes().subspan(8, plan.bytes()), same);
  refused(ErrorCode::mismatch, "slot 9 is the newest of 9", bits,
          [](auto& state, auto&) { state.newest = 9; });
  refused(ErrorCode::mismatch, "slot 9 of 9 took keys", bits,
          [](auto& state, auto&) { state.in_slots[9] = 1; });
  refused(ErrorCode::mismatch, "more keys than were inserted", bits,
          [](auto& state, auto&) { state.inserted = 9; });
  refused(ErrorCode::mismatch, "took 11 keys where a slice has 10", bits,
          [](auto& state, auto&) { state.in_slots[0] = 11; });
  refused(ErrorCode::mismatch, "more keys than were inserted", bits,
          [](auto& state, auto& claimed) {
            claimed.unit = kSeconds;  // two of them add up to less than nothing
            state.in_slots[0] = state.in_slots[1] = kMost / 2 + 50;
          });
  refused(ErrorCode::invalid_argument, "slices", bits,
          [](auto&, auto& claimed) { claimed.slices = 65; });
}

TEST(Window, MovedFromKnowsNothing) {
  WindowFilter from = last(80, 8);
  from.insert(1);
  WindowFilter to = std::move(from);
  EXPECT_TRUE(to.may_contain(1));
  EXPECT_FALSE(to.may_contain(2));
  const auto knows_nothing = [](WindowFilter& filter) {
    for (int key = 0; key < 200; ++key) {
      EXPECT_TRUE(filter.may_contain(key));
      EXPECT_FALSE(filter.insert(key));
    }
    std::vector<std::uint64_t> keys(200);
    EXPECT_EQ(filter.insert_many(keys), 0U);
    EXPECT_EQ(filter.may_contain_many(keys), 200U);
    filter.advance(1);
    filter.advance(kMost);
    filter.clear();
    EXPECT_TRUE(filter.may_contain(1));
    EXPECT_EQ(filter.fill(), 1);
    EXPECT_EQ(filter.rate_now(), 1);
    EXPECT_TRUE(std::isinf(filter.estimated_items()));
    EXPECT_TRUE(filter.overfull());
    EXPECT_EQ(filter.bytes().size(), 0U);
    EXPECT_THROW(static_cast<void>(filter.copy()), Error);
  };
  knows_nothing(from);  // NOLINT(bugprone-use-after-move): what it is then is the test
  from = last(8, 8);
  EXPECT_TRUE(from.insert(3));
  EXPECT_FALSE(from.may_contain(4));
  WindowFilter seconds = past(80, 8), pairs = WindowFilter(window_plan(kSeconds, 9, 9, 1e-9));
  to = std::move(seconds);
  knows_nothing(seconds);  // NOLINT(bugprone-use-after-move)
  to = std::move(pairs);
  knows_nothing(pairs);  // NOLINT(bugprone-use-after-move)
}

// ---- what it says of itself ---------------------------------------------------------------------

// A slot's bits as a plain filter of its own, whose measures are tested in measures_test.
struct Slot {
  Slot(const WindowFilter& filter, std::uint32_t age)
      : memory(filter.plan().slice.bytes()),
        view(filter.plan().slice, filter.hasher(), memory.bytes()) {
    const std::vector<std::byte> bits = test::bits_of_age(filter, age);
    std::memcpy(memory.bytes().data(), bits.data(), bits.size());
  }
  detail::BitMemory memory;
  FilterView view;
};

TEST(WindowMeasures, AreThoseOfTheSlots) {
  for (const Layout layout : {Layout::line, Layout::pair})
    for (const std::uint32_t slices : {1U, 3U, 8U}) {
      const WindowPlan plan = window_plan(kInsertions, 2400, 2400, 0.01, slices, layout);
      WindowFilter filter(plan);
      test::Random random(slices);
      for (int round = 0; round < 6; ++round) {
        double fill = 0, none = 1, sum = 0, largest = 0;
        for (std::uint32_t age = 0; age <= slices; ++age) {
          const Slot slot(filter, age);
          fill += slot.view.fill() / (slices + 1);
          none *= 1 - slot.view.rate_now();
          sum += slot.view.estimated_items();
          largest = std::max(largest, slot.view.estimated_items());
        }
        EXPECT_NEAR(filter.fill(), fill, 1e-12);
        EXPECT_NEAR(filter.rate_now(), 1 - none, 1e-12);
        EXPECT_GE(filter.estimated_items(), largest);
        EXPECT_LE(filter.estimated_items(), sum);
        EXPECT_FALSE(filter.overfull());
        for (int i = 0; i < 700; ++i) filter.insert_hash(random.hash());
      }
    }
}

// A rate that is lost beside 1 is still a rate.
TEST(WindowMeasures, SmallRatesAreNotRoundedAway) {
  WindowFilter filter = last(80, 8);
  EXPECT_EQ(filter.rate_now(), 0);
  filter.insert(1);
  EXPECT_GT(filter.rate_now(), 0);
  EXPECT_LT(filter.rate_now(), 1e-20);
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

// All keys of a window in one slice: that slot says so, while it lasts.
TEST(WindowMeasures, ABurstIsOverfullUntilItIsForgotten) {
  const WindowPlan plan = window_plan(kSeconds, 80, 8000, 0.01, 8);
  WindowFilter filter(plan);
  filter.advance(1000);
  for (int key = 0; key < 1000; ++key) filter.insert(key);
  EXPECT_FALSE(filter.overfull());
  EXPECT_LE(filter.rate_now(), plan.slice.rate * 1.2);
  for (int key = 1000; key < 8000; ++key) filter.insert(key);
  EXPECT_TRUE(filter.overfull());
  EXPECT_GT(filter.rate_now(), 0.1);  // eight times a slice's share of the keys
  filter.advance(1080);
  filter.insert(8000);
  EXPECT_TRUE(filter.overfull());
  filter.advance(1090);
  EXPECT_FALSE(filter.overfull());
  EXPECT_TRUE(filter.may_contain(8000));
  EXPECT_LT(filter.rate_now(), 1e-9);
}

}  // namespace
}  // namespace bloomery
