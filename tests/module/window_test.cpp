// A window in the server's memory is the library's, bit for bit, in whatever room its counts are kept.
#include "window.hpp"

#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "counted_memory.hpp"
#include "dump.hpp"
#include "support/random.hpp"

namespace {

using namespace bloomery::server;
using bloomery::Hash128;
using bloomery::Seed;
using bloomery::window_plan;
using bloomery::WindowFilter;
using bloomery::WindowPlan;
using bloomery::WindowState;
using bloomery::WindowUnit;
using bloomery::test::CountedMemory;

std::vector<Hash128> some_hashes(bloomery::test::Random& random, std::size_t count) {
  std::vector<Hash128> hashes(count);
  for (Hash128& hash : hashes) hash = {random(), random()};
  return hashes;
}

// fresh[i] of each.
std::vector<bool> add(Window& window, std::span<const Hash128> hashes) {
  const auto fresh = std::make_unique<bool[]>(hashes.size());
  const Added added = window.insert(hashes, {fresh.get(), hashes.size()}, UINT64_MAX);
  EXPECT_EQ(added.answered, hashes.size());
  return std::vector<bool>(fresh.get(), fresh.get() + hashes.size());
}

std::vector<bool> add(WindowFilter& filter, std::span<const Hash128> hashes) {
  const auto fresh = std::make_unique<bool[]>(hashes.size());
  (void)filter.insert_hashes(hashes, {fresh.get(), hashes.size()});
  return std::vector<bool>(fresh.get(), fresh.get() + hashes.size());
}

void expect_alike(const Window& window, const WindowFilter& filter) {
  ASSERT_EQ(window.state(), filter.state());
  ASSERT_EQ(window.plan(), filter.plan());
  ASSERT_EQ(window.live_slices(), filter.live_slices());
  const auto bits = window.part_at(0, UINT64_MAX);
  ASSERT_EQ(bits.size(), filter.bytes().size());
  ASSERT_EQ(std::memcmp(bits.data(), filter.bytes().data(), bits.size()), 0);
}

// Insertions, steps in time and a clear, as one and as the other.
void check(const WindowPlan& plan, std::size_t most_at_once, std::uint64_t most_seconds) {
  CountedMemory memory;
  bloomery::test::Random random(plan.window);
  auto window = Window::make(plan);
  WindowFilter filter(plan);
  std::uint64_t now = 1'000'000;
  for (int step = 0; step < 60; ++step) {
    const auto hashes = some_hashes(random, 1 + random() % most_at_once);
    ASSERT_EQ(add(*window, hashes), add(filter, hashes));
    for (const Hash128 hash : some_hashes(random, 100))
      ASSERT_EQ(window->may_contain(hash, 0), filter.may_contain_hash(hash));
    for (const Hash128 hash : std::span(hashes).last(1)) ASSERT_TRUE(window->may_contain(hash, 0));
    now += random() % most_seconds;
    window->advance(now);
    filter.advance(now);
    if (step == 40) {
      window->clear();
      filter.clear();
    }
    expect_alike(*window, filter);
    const AnyValue copied = window->copy();
    expect_alike(static_cast<const Window&>(*copied), filter);
  }
  window.reset();
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(ServersWindow, IsTheLibrarys) {
  for (const std::uint32_t slices : {1U, 3U, 8U, 64U})
    for (const double rate : {0.01, 1e-7}) {  // line and pair
      check(window_plan(WindowUnit::insertions, 640, 640, rate, slices), 300, 1000);
      check(window_plan(WindowUnit::seconds, 6400, 300, rate, slices), 300, 4000);
    }
}

// Slots that take more than 65,535 insert calls, between some that take few.
TEST(ServersWindow, CountsBeyondTwoBytes) {
  check(window_plan(WindowUnit::insertions, 400'000, 100, 0.01, 4), 60'000, 10);
  check(window_plan(WindowUnit::seconds, 100'000, 100, 0.01, 2), 40'000, 30'000);
}

TEST(ServersWindow, CountsOfAnySizeAreRestored) {
  CountedMemory memory;
  const WindowPlan plan = window_plan(WindowUnit::seconds, 300, 100, 0.01, 3);
  for (const std::uint64_t largest :
       {std::uint64_t{65'535}, std::uint64_t{65'536}, UINT64_MAX - 9}) {
    const WindowState state{
        .now = 7, .inserted = largest + 5, .newest = 2, .in_slots = {5, 0, largest}};
    const auto window =
        Window::restore(plan, Seed{3, 4}, state, OwnedMemory(allocate_aligned(plan.bytes())));
    EXPECT_EQ(window->state(), state);
    EXPECT_EQ(window->key(), (Seed{3, 4}));
    const AnyValue loaded = make_empty(decode_header(window->header()));
    EXPECT_EQ(static_cast<const Window&>(*loaded).state(), state);
    EXPECT_EQ(loaded->header(), window->header());
    EXPECT_EQ(window->footprint() - window->bit_bytes(), largest > 65'535 ? 128U : 96U);
  }
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(ServersWindow, WhereLargerCountsHaveNoMemoryItemsAreRefused) {
  CountedMemory memory;
  bloomery::test::Random random(1);
  const auto window = Window::make(window_plan(WindowUnit::seconds, 300, 100, 0.01, 3));
  add(*window, some_hashes(random, 65'535));
  const auto header = window->header();
  const auto more = some_hashes(random, 1);
  bool fresh = false;
  CountedMemory::allocations_left = 0;
  const Added refused = window->insert(more, std::span(&fresh, 1), UINT64_MAX);
  EXPECT_EQ(refused.answered, 0U);
  EXPECT_EQ(refused.stop, Stop::no_room);
  EXPECT_FALSE(refused.changed);
  EXPECT_EQ(window->header(), header);
  CountedMemory::allocations_left = 1;
  EXPECT_EQ(window->insert(more, std::span(&fresh, 1), UINT64_MAX).answered, 1U);
  EXPECT_EQ(window->state().in_slots[0], 65'536U);
}

// A filter for each user: the object and its counts, in the allocator's 96 bytes.
TEST(ServersWindow, OfAUserTakesLittleBesideItsBits) {
  CountedMemory memory;
  const auto of = [](std::uint32_t slices, const std::optional<Seed>& key) {
    const auto window =
        Window::make(window_plan(WindowUnit::seconds, 6400, 100, 0.01, slices), key);
    return window->footprint() - window->bit_bytes();
  };
  EXPECT_EQ(of(3, std::nullopt), 80U);
  EXPECT_EQ(of(5, std::nullopt), 84U);
  EXPECT_EQ(of(8, std::nullopt), 90U);
  EXPECT_EQ(of(8, Seed{1, 2}), 106U);
  EXPECT_EQ(of(64, std::nullopt), 202U);
}

}  // namespace
