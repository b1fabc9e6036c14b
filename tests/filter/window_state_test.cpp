// The state of a window: stored with its bits and restored, or refused; moved from, and then nothing.
#include <bloomery/error.hpp>
#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

#include "support/moved_from.hpp"
#include "support/windows.hpp"

namespace bloomery::test {
namespace {

TEST(Window, CopyAndRestoreAreTheSameFilter) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2}) {
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
    WindowState state{.now = 0, .inserted = 100, .newest = 3, .inserted_in_slices = {}};
    state.inserted_in_slices[0] = 10;
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
  refused(ErrorCode::mismatch, "slice 9 is the newest of 9", bits,
          [](auto& state, auto&) { state.newest = 9; });
  refused(ErrorCode::mismatch, "slice 9 of 9 took keys", bits,
          [](auto& state, auto&) { state.inserted_in_slices[9] = 1; });
  refused(ErrorCode::mismatch, "more keys than were inserted", bits,
          [](auto& state, auto&) { state.inserted = 9; });
  refused(ErrorCode::mismatch, "took 11 keys where a slice has 10", bits,
          [](auto& state, auto&) { state.inserted_in_slices[0] = 11; });
  refused(ErrorCode::mismatch, "more keys than were inserted", bits,
          [](auto& state, auto& claimed) {
            claimed.unit = kSeconds;  // two of them add up to less than nothing
            state.inserted_in_slices[0] = state.inserted_in_slices[1] = kMost / 2 + 50;
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
    expect_knows_nothing(filter);
    filter.advance(1);
    filter.advance(kMost);
    EXPECT_TRUE(filter.may_contain(1));
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

}  // namespace
}  // namespace bloomery::test
