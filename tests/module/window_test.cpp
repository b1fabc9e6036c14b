// A window in the server's memory is the library's, bit for bit, in whatever room its counts are
// kept.
#include "values/window.hpp"

#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "counted_memory.hpp"
#include "support/random.hpp"
#include "values.hpp"

namespace {

using namespace bloomery::server;
using bloomery::Hash128;
using bloomery::Seed;
using bloomery::window_plan;
using bloomery::WindowFilter;
using bloomery::WindowPlan;
using bloomery::WindowUnit;
using namespace bloomery::test;
using bloomery::Kind;
using bloomery::test::found;

Header header_of(const WindowPlan& plan) {
  return plan_header({.kind = Kind::window,
                      .fpr = plan.fpr,
                      .capacity = plan.capacity,
                      .unit = plan.unit,
                      .window = plan.window,
                      .slices = plan.slices});
}

ValuePointer<Window> made(const Header& header) {
  return ValuePointer<Window>(static_cast<Window*>(make_empty(header).release()));
}

// fresh[i] of each.
std::vector<bool> add(Window& window, std::span<const Hash128> hashes) {
  const Totals before = window.totals();
  const auto [added, fresh] = insert(window, hashes);
  EXPECT_EQ(added.answered, hashes.size());
  EXPECT_EQ(added.counted, window.totals().items - before.items);
  EXPECT_EQ(added.bytes, window.totals().bytes - before.bytes);
  return fresh;
}

std::vector<bool> add(WindowFilter& filter, std::span<const Hash128> hashes) {
  const auto fresh = std::make_unique<bool[]>(hashes.size());
  (void)filter.insert_hashes(hashes, {fresh.get(), hashes.size()});
  return std::vector<bool>(fresh.get(), fresh.get() + hashes.size());
}

void expect_alike(const Window& window, const WindowFilter& filter) {
  const Header header = window.header();
  ASSERT_EQ(header.state, filter.state());
  ASSERT_EQ(header.window, filter.plan());
  const auto bits = window.array(0);
  ASSERT_EQ(bits.size(), filter.bytes().size());
  ASSERT_EQ(std::memcmp(bits.data(), filter.bytes().data(), bits.size()), 0);
}

// Insertions, steps in time and a clear, as one and as the other.
void check(const WindowPlan& plan, std::size_t most_at_once, std::uint64_t most_seconds) {
  CountedMemory memory;
  bloomery::test::Random random(plan.window);
  auto window = made(header_of(plan));
  WindowFilter filter(plan);
  std::uint64_t now = 1'000'000;
  std::vector<Hash128> of_each_step;
  for (int step = 0; step < 60; ++step) {
    const auto hashes = random.hashes(1 + random() % most_at_once);
    of_each_step.push_back(hashes[0]);
    ASSERT_EQ(add(*window, hashes), add(filter, hashes));
    for (const Hash128 hash : random.hashes(100))
      ASSERT_EQ(found(*window, hash), filter.may_contain_hash(hash));
    ASSERT_TRUE(found(*window, hashes.back()));
    now += random() % most_seconds;
    // A look-up does not turn the ring, and gives the answer from after it.
    std::vector<bool> at_this_time;
    for (const Hash128 hash : of_each_step) at_this_time.push_back(found(*window, hash, now));
    window->advance(now);
    filter.advance(now);
    for (std::size_t i = 0; i < of_each_step.size(); ++i)
      ASSERT_EQ(at_this_time[i], filter.may_contain_hash(of_each_step[i]));
    if (step == 40) {
      window->clear();
      filter.clear();
    }
    expect_alike(*window, filter);
    const AnyValue copied = copy(*window);
    expect_alike(static_cast<const Window&>(*copied), filter);
  }
  window.reset();
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(ServersWindow, IsTheLibrarys) {
  for (const std::uint32_t slices : {1U, 3U, 8U, 64U})
    for (const double fpr : {0.01, 1e-7}) {  // blocked and blocked2
      check(window_plan(WindowUnit::insertions, 640, 640, fpr, slices), 300, 1000);
      check(window_plan(WindowUnit::seconds, 6400, 300, fpr, slices), 300, 4000);
    }
}

// Slices that take more than 65,535 insert calls, between some that take few.
TEST(ServersWindow, CountsBeyondTwoBytes) {
  check(window_plan(WindowUnit::insertions, 400'000, 100, 0.01, 4), 60'000, 10);
  check(window_plan(WindowUnit::seconds, 100'000, 100, 0.01, 2), 40'000, 30'000);
}

TEST(ServersWindow, CountsOfAnySizeAreRestored) {
  CountedMemory memory;
  const WindowPlan plan = window_plan(WindowUnit::seconds, 300, 100, 0.01, 3);
  for (const std::uint64_t largest :
       {std::uint64_t{65'535}, std::uint64_t{65'536}, UINT64_MAX - 9}) {
    Header header = header_of(plan);
    header.key = Seed{3, 4};
    header.size = largest + 5;
    header.state = {
        .now = 7, .inserted = largest + 5, .newest = 2, .inserted_in_slices = {5, 0, largest}};
    const auto window = made(header);
    EXPECT_EQ(window->header().state, header.state);
    EXPECT_EQ(window->key(), header.key);
    const auto bytes = encode_header(window->header());
    const AnyValue loaded = make_empty(decode_header(bytes));
    EXPECT_EQ(loaded->header().state, header.state);
    EXPECT_EQ(encode_header(loaded->header()), bytes);
    EXPECT_EQ(window->totals().bytes - window->bit_bytes(), largest > 65'535 ? 120U : 88U);
    // Without memory for the object, its bits or its counts there is none.
    const std::size_t held = CountedMemory::held;
    AnyValue again;
    for (std::size_t left = 0; again == nullptr; ++left) {
      CountedMemory::allocations_left = left;
      try {
        again = make_empty(header);
      } catch (const bloomery::Error&) {
        ASSERT_EQ(CountedMemory::held, held);
      }
    }
    EXPECT_EQ(again->header().state, header.state);
    CountedMemory::allocations_left = SIZE_MAX;
  }
  EXPECT_EQ(CountedMemory::held, 0U);
}

// A window whose time was ahead by any number of slices: all that is in it stays for a whole window from
// the time to which it is set back, and for no more than a slice beyond that.
TEST(ServersWindow, IsSetBack) {
  const WindowPlan plan = window_plan(WindowUnit::seconds, 800, 300, 1e-6, 8);  // 100 s
  bloomery::test::Random random(1);
  for (const std::uint64_t ahead : {std::uint64_t{1}, std::uint64_t{350}, UINT64_MAX - 2'000}) {
    auto window = made(header_of(plan));
    const std::uint64_t now = 1'050;
    const auto early = random.hashes(20), late = random.hashes(20);
    window->advance(now);
    add(*window, early);
    window->advance(now + ahead);
    add(*window, late);
    EXPECT_FALSE(window->set_back(now + ahead));
    EXPECT_TRUE(window->set_back(now));
    EXPECT_EQ(window->now(), now);
    window->advance(now + 800);
    for (const Hash128 hash : late) EXPECT_TRUE(found(*window, hash, now + 849));
    for (const Hash128 hash : late) EXPECT_FALSE(found(*window, hash, now + 850));
    window->advance(now + 850);
    for (const Hash128 hash : late) EXPECT_FALSE(found(*window, hash, now + 850));
  }
}

TEST(ServersWindow, WhereLargerCountsHaveNoMemoryItemsAreRefused) {
  CountedMemory memory;
  bloomery::test::Random random(1);
  const auto window = made(header_of(window_plan(WindowUnit::seconds, 300, 100, 0.01, 3)));
  add(*window, random.hashes(65'535));
  const auto before = whole(*window);
  const auto more = random.hashes(1);
  CountedMemory::allocations_left = 0;
  const Added refused = insert(*window, more).added;
  EXPECT_EQ(refused.answered, 0U);
  EXPECT_EQ(refused.stop, Stop::no_room);
  EXPECT_EQ(refused.counted, 0U);
  EXPECT_EQ(whole(*window), before);
  CountedMemory::allocations_left = 1;
  add(*window, more);
  EXPECT_EQ(window->header().state.inserted_in_slices[0], 65'536U);
}

// ---- big ones, whose slices begin before they are cleared ---------------------------------------

std::vector<bool> found(const WindowFilter& filter, std::span<const Hash128> hashes) {
  const auto answers = std::make_unique<bool[]>(hashes.size());
  (void)filter.may_contain_hashes(hashes, {answers.get(), hashes.size()});
  return std::vector<bool>(answers.get(), answers.get() + hashes.size());
}

// A filter of the server's and the library's, to which the same is done.
class Pair {
 public:
  explicit Pair(const WindowPlan& plan) : window(made(header_of(plan))), filter(plan) {}

  // Some of the keys that came before are asked for, and some that did not.
  std::vector<Hash128> asked(bloomery::test::Random& random, std::size_t count) {
    auto hashes = random.hashes(count);
    for (std::size_t i = 0; i < count && !all.empty(); i += 2)
      hashes[i] = all[random.below(all.size())];
    return hashes;
  }
  void insert(std::span<const Hash128> hashes) {
    ASSERT_EQ(add(*window, hashes), add(filter, hashes));
    all.insert(all.end(), hashes.begin(), hashes.end());
  }
  void ask(std::span<const Hash128> hashes) {
    ASSERT_EQ(found(*window, hashes), found(filter, hashes));
    ASSERT_EQ(found(*window, hashes[0]), filter.may_contain_hash(hashes[0]));
  }
  void advance(std::uint64_t seconds) {
    now += seconds;
    window->advance(now);
    filter.advance(now);
  }
  void expect_same_part(std::uint64_t offset, std::uint64_t most) {
    const auto part = window->part_at(offset, most);
    ASSERT_EQ(std::memcmp(part.data(), filter.bytes().data() + offset, part.size()), 0) << offset;
  }

  ValuePointer<Window> window;
  WindowFilter filter;
  std::vector<Hash128> all;
  std::uint64_t now = 1'000'000;
};

void step(Pair& pair, bloomery::test::Random& random, std::uint64_t seconds, std::size_t items) {
  switch (random.below(12)) {
    case 0:
      return pair.advance(random.below(seconds));
    case 1:  // by several slices
      return pair.advance(random.below(6 * seconds));
    case 2:
    case 3:
    case 4:
      return pair.insert(random.hashes(1 + random.below(items)));
    case 5:  // keys that come again
      return pair.insert(pair.asked(random, 1 + random.below(50)));
    case 6: {
      const std::uint64_t offset = random.below(pair.filter.bytes().size());
      return pair.expect_same_part(offset, 1 + random.below(100'000));
    }
    case 7:
      ASSERT_EQ(pair.window->header().state, pair.filter.state());
      return;
    default:
      return pair.ask(pair.asked(random, 1 + random.below(300)));
  }
}

void check_big(const WindowPlan& plan, std::size_t items) {
  CountedMemory memory;
  bloomery::test::Random random(plan.window);
  ASSERT_GE(plan.bytes(), std::size_t{4} << 20);
  {
    Pair pair(plan);
    pair.advance(1);
    for (int i = 0; i < 400; ++i) {
      ASSERT_NO_FATAL_FAILURE(step(pair, random, plan.slice_length(), items)) << i;
      if (i % 100 == 50) expect_alike(*pair.window, pair.filter);
      if (i % 100 == 80) {
        pair.window->clear();
        pair.filter.clear();
      }
      if (i % 100 == 99) {
        const AnyValue copied = copy(*pair.window);
        expect_alike(static_cast<const Window&>(*copied), pair.filter);
      }
    }
    expect_alike(*pair.window, pair.filter);
    pair.advance(plan.slice_length());  // freed while some is to be cleared
  }
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(ServersWindow, OfMegabytesIsTheLibrarysWhileItsBlocksAreCleared) {
  for (const double fpr : {0.01, 1e-5}) {  // blocked and blocked2
    check_big(window_plan(WindowUnit::seconds, 80'000, 4'000'000, fpr, 8), 1000);
    check_big(window_plan(WindowUnit::insertions, 2'000'000, 2'000'000, fpr, 64), 20'000);
  }
}

TEST(ServersWindow, ClearsWithEveryCommandAndIsDoneSoon) {
  CountedMemory memory;
  bloomery::test::Random random(1);
  Pair pair(window_plan(WindowUnit::seconds, 80'000, 4'000'000, 0.01, 8));
  pair.advance(1);
  for (int slice = 0; slice < 9; ++slice) {
    pair.insert(random.hashes(1000));
    pair.advance(10'000);
  }
  const std::size_t held = CountedMemory::held;
  const auto hashes = random.hashes(1);
  const std::uint64_t blocks = pair.filter.plan().slice.blocks();
  for (std::uint64_t i = 0; i <= blocks / (1024 + 8); ++i) {
    ASSERT_EQ(CountedMemory::held, held) << i;
    ASSERT_FALSE(found(*pair.window, hashes[0]));
  }
  EXPECT_EQ(CountedMemory::held, held - 1);
  expect_alike(*pair.window, pair.filter);
}

TEST(ServersWindow, ClearsAtOnceWhereNothingCanBeRemembered) {
  CountedMemory memory;
  bloomery::test::Random random(1);
  Pair pair(window_plan(WindowUnit::seconds, 80'000, 4'000'000, 0.01, 8));
  pair.advance(1);
  for (int slice = 0; slice < 9; ++slice) {
    pair.insert(random.hashes(1000));
    CountedMemory::allocations_left = slice % 2 == 0 ? 0 : SIZE_MAX;
    pair.advance(10'000);
    CountedMemory::allocations_left = SIZE_MAX;
  }
  pair.ask(pair.asked(random, 1000));
  expect_alike(*pair.window, pair.filter);
}

// A filter for each user: the object and its counts.
TEST(ServersWindow, OfAUserTakesLittleBesideItsBits) {
  CountedMemory memory;
  const auto of = [](std::uint32_t slices, const std::optional<Seed>& key) {
    Header header = header_of(window_plan(WindowUnit::seconds, 6400, 100, 0.01, slices));
    header.key = key;
    const auto window = made(header);
    return window->totals().bytes - window->bit_bytes();
  };
  EXPECT_EQ(of(3, std::nullopt), 72U);
  EXPECT_EQ(of(5, std::nullopt), 76U);
  EXPECT_EQ(of(8, std::nullopt), 82U);
  EXPECT_EQ(of(8, Seed{1, 2}), 98U);
  EXPECT_EQ(of(64, std::nullopt), 194U);
}

}  // namespace
