// The state of a window: stored with its bits and restored, or refused; moved from, and then nothing.
#include <bloomery/error.hpp>
#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "filter/window_ring.hpp"
#include "support/moved_from.hpp"
#include "support/random.hpp"
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

void expect_same(const Stats& ours, const Stats& theirs) {
  EXPECT_EQ(ours.fill, theirs.fill);
  EXPECT_EQ(ours.fill_error, theirs.fill_error);
  EXPECT_EQ(ours.sampled, theirs.sampled);
  EXPECT_EQ(ours.estimated_items, theirs.estimated_items);
  EXPECT_EQ(ours.current_fpr, theirs.current_fpr);
  EXPECT_EQ(ours.over_capacity, theirs.over_capacity);
}

// What a filter for reading says is what a copy says that clears its slices.
void expect_like_copy(const WindowFilter& reader, const WindowFilter& copied,
                      std::span<const Hash128> keys) {
  EXPECT_EQ(reader.state(), copied.state());
  for (const Precision precision : {Precision::sampled, Precision::exact})
    expect_same(reader.stats(precision), copied.stats(precision));
  EXPECT_EQ(reader.fill(), copied.fill());
  EXPECT_EQ(reader.live_slices(), copied.live_slices());
  std::vector<char> ours(keys.size()), theirs(keys.size());
  const auto answers = [](std::vector<char>& of) {
    return std::span<bool>(reinterpret_cast<bool*>(of.data()), of.size());
  };
  const std::size_t found = copied.may_contain_hashes(keys, answers(theirs));
  EXPECT_EQ(reader.may_contain_hashes(keys, answers(ours)), found);
  EXPECT_EQ(reader.may_contain_hashes(keys), found);
  EXPECT_EQ(ours, theirs);
  for (std::size_t i = 0; i < keys.size(); i += 7)
    ASSERT_EQ(reader.may_contain_hash(keys[i]), theirs[i] != 0);
  const WindowFilter again = reader.copy();
  EXPECT_TRUE(std::ranges::equal(again.bytes(), copied.bytes()));
}

TEST(Window, ForReadingLeavesOutWhatACopyClears) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2})
    for (const std::uint32_t slices : {1U, 2U, 8U, 64U})
      for (const std::uint64_t part : {1U, 2U, 200U}) {  // twice the capacity, full, sparse
        const WindowPlan plan = window_plan(kSeconds, slices * 10, 6400, 0.05, slices, layout);
        WindowFilter filter(plan);
        Random random(part);
        std::vector<Hash128> keys;
        // Around the ring and a half, so that the newest slice is in the middle.
        for (std::uint32_t slice = 0; slice < slices * 3 / 2 + 2; ++slice) {
          filter.advance(1000 + slice * 10);
          for (std::uint64_t i = 0; i < 2 * plan.slice.capacity / part; ++i)
            filter.insert_hash(keys.emplace_back(random.hash()));
        }
        for (int i = 0; i < 3000; ++i) keys.push_back(random.hash());
        const std::vector<std::byte> before(filter.bytes().begin(), filter.bytes().end());
        const auto for_reading = [&] {
          return WindowFilter::restore_for_reading(plan, filter.hasher(), filter.state(),
                                                   filter.bytes());
        };
        const std::uint32_t step = slices == 64 ? 9 : 1;
        for (std::uint32_t over = 0; over <= slices + 2; over += step) {
          SCOPED_TRACE(testing::Message() << to_string(layout) << " " << slices << " slices, 2/"
                                          << part << " full, " << over << " over");
          WindowFilter reader = for_reading(), copied = filter.copy();
          for (WindowFilter* each : {&reader, &copied}) each->advance(filter.now() + over * 10);
          expect_like_copy(reader, copied, keys);
          // And then in steps, with a clock that is set back between them.
          const std::uint64_t later = filter.now() + over * 10;
          for (const std::uint64_t now : {later + 10, later + 15, later + 40}) {
            for (WindowFilter* each : {&reader, &copied}) {
              each->advance(now);
              each->set_back(now - 5);
            }
            expect_like_copy(reader, copied, keys);
          }
          WindowFilter moved = std::move(reader);
          expect_like_copy(moved, copied, keys);
          reader = std::move(moved);
          for (WindowFilter* each : {&reader, &copied}) each->clear();
          expect_like_copy(reader, copied, keys);
        }
        EXPECT_TRUE(std::ranges::equal(before, filter.bytes()));
      }
}

TEST(Window, ForReadingIsSampledAsACopyIs) {
  const WindowPlan plan = window_plan(kSeconds, 20, 10'000'000, 0.05, 2, Layout::blocked);
  ASSERT_GT(plan.slice.blocks(), 65'536U);
  WindowFilter filter(plan);
  Random random(1);
  std::vector<Hash128> keys(400'000);
  for (std::uint64_t now = 100; now < 150; now += 10) {
    filter.advance(now);
    std::ranges::generate(keys, [&] { return random.hash(); });
    filter.insert_hashes(keys);
  }
  for (std::uint64_t over = 1; over <= 3; ++over) {
    WindowFilter copied = filter.copy();
    WindowFilter reader =
        WindowFilter::restore_for_reading(plan, filter.hasher(), filter.state(), filter.bytes());
    for (WindowFilter* each : {&reader, &copied}) each->advance(filter.now() + over * 10);
    EXPECT_TRUE(reader.stats().sampled);
    SCOPED_TRACE(over);
    expect_same(reader.stats(), copied.stats());
  }
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
  // A count that has ended at the largest number says no longer how many keys there were.
  WindowState ended{.now = 0, .inserted = kMost, .newest = 8, .inserted_in_slices = {}};
  const WindowPlan of_time = window_plan(kSeconds, 80, 80, 0.01);
  detail::BitMemory memory_of_time(of_time.bytes());
  ended.inserted_in_slices[0] = ended.inserted_in_slices[8] = kMost - 1;
  EXPECT_EQ(WindowFilter::restore(of_time, Hasher(), ended, memory_of_time.bytes()).state(), ended);
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

TEST(Window, KeepsItsKeysIfItIsMovedToItself) {
  WindowFilter filter = last(80, 8);
  for (int key = 0; key < 50; ++key) filter.insert(key);
  const WindowFilter before = filter.copy();
  WindowFilter& itself = filter;
  filter = std::move(itself);
  EXPECT_EQ(filter.state(), before.state());
  EXPECT_EQ(filter.plan(), before.plan());
  EXPECT_TRUE(std::ranges::equal(filter.bytes(), before.bytes()));
}

TEST(Window, CountsTheSlicesThatBeginBetweenTwoTimes) {
  using detail::slices_between;
  EXPECT_EQ(slices_between(0, 1'000, 10), 0U);  // there was no time yet
  EXPECT_EQ(slices_between(1, 1'000, 10), 100U);
  EXPECT_EQ(slices_between(30, 30, 10), 0U);
  EXPECT_EQ(slices_between(30, 39, 10), 0U);
  EXPECT_EQ(slices_between(39, 40, 10), 1U);
  EXPECT_EQ(slices_between(40, 39, 10), 0U);  // a clock that was set back
  EXPECT_EQ(slices_between(kMost, 1, 10), 0U);
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
  // Nor does one for reading, which left out slices.
  WindowFilter writer = past(80, 8);
  writer.advance(1'000);
  writer.insert(1);
  WindowFilter reader = WindowFilter::restore_for_reading(writer.plan(), writer.hasher(),
                                                          writer.state(), writer.bytes());
  reader.advance(1'030);
  to = std::move(reader);
  knows_nothing(reader);  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace bloomery::test
