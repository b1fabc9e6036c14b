// Many threads insert and look up at once: the bits of one thread, and someone is told "new".
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "support/naive_filter.hpp"
#include "support/random.hpp"
#include "support/shapes.hpp"

namespace bloomery {
namespace {

constexpr unsigned kThreads = 4;

std::vector<Hash128> some_hashes(std::uint64_t seed, std::size_t count) {
  test::Random random(seed);
  std::vector<Hash128> out(count);
  for (Hash128& hash : out) hash = random.hash();
  return out;
}

// Starts all threads at one moment, so that they really meet.
template <class Work>
void at_once(unsigned threads, Work work) {
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> running;
  for (unsigned id = 0; id < threads; ++id)
    running.emplace_back([&, id] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      work(id);
    });
  for (std::thread& thread : running) thread.join();
}

struct BitArray {
  Layout layout;
  std::uint32_t hashes;
};
constexpr BitArray kShapes[] = {{Layout::blocked, 1},       {Layout::blocked, 7},
                                {Layout::blocked, 16},      {Layout::blocked2, 14},
                                {Layout::blocked2, 2},      {Layout::standard, 10},
                                {Layout::blocked128, 10},   {Layout::blocked64, 5},
                                {Layout::blocked2x128, 20}, {Layout::blocked2x64, 2}};

// Calls check(plain, shared) with two empty filters of every shape, on every kernel.
template <class Check>
void for_every_kernel(std::uint64_t blocks, Check check) {
  for (const BitArray& it : kShapes)
    for (const detail::Kernel* kernel : detail::kernels_of(it.layout)) {
      const Plan shape = test::shape_of(it.layout, blocks, it.hashes);
      Filter plain(shape), shared = test::with_kernel(shape, *kernel);
      SCOPED_TRACE(test::describe(shared));
      check(plain, shared);
    }
}

TEST(Concurrent, OneThreadGivesTheBitsAndAnswersOfTheFilter) {
  for_every_kernel(97, [](Filter& plain, Filter& shared) {
    ConcurrentFilter concurrent(shared);
    for (const Hash128 hash : some_hashes(1, 4000)) {
      ASSERT_EQ(concurrent.may_contain_hash(hash), plain.may_contain_hash(hash));
      ASSERT_EQ(concurrent.insert_hash(hash), plain.insert_hash(hash));
    }
    EXPECT_TRUE(test::same_bits(plain, shared));
    EXPECT_EQ(concurrent.insert("text"), plain.insert("text"));
    EXPECT_EQ(concurrent.insert(42), plain.insert(42));
    EXPECT_TRUE(concurrent.may_contain("text") && concurrent.may_contain(42));
  });
}

TEST(Concurrent, BulkCallsGiveTheAnswersOfSingleOnes) {
  for (const std::size_t count : {0, 1, 15, 16, 17, 31, 32, 33, 64, 500})
    for_every_kernel(11, [count](Filter& plain, Filter& shared) {
      ConcurrentFilter concurrent(shared);
      const std::vector<Hash128> hashes = some_hashes(count, count);
      const auto fresh = std::make_unique<bool[]>(count), found = std::make_unique<bool[]>(count);
      const std::size_t before = concurrent.may_contain_hashes(hashes, {found.get(), count});
      EXPECT_EQ(before, 0U);
      const std::size_t yes = concurrent.insert_hashes(hashes, {fresh.get(), count});
      std::size_t expected = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const bool is_fresh = plain.insert_hash(hashes[i]);
        EXPECT_EQ(fresh[i], is_fresh) << i;
        expected += is_fresh;
      }
      EXPECT_EQ(yes, expected);
      EXPECT_TRUE(test::same_bits(plain, shared));
      EXPECT_EQ(concurrent.insert_hashes(hashes), 0U);
      EXPECT_EQ(concurrent.may_contain_hashes(hashes), count);
      // Other keys: some are there by chance, and these filters must agree on which.
      const std::vector<Hash128> others = some_hashes(1000 + count, count);
      EXPECT_EQ(concurrent.may_contain_hashes(others, {found.get(), count}),
                plain.may_contain_hashes(others, {fresh.get(), count}));
      EXPECT_TRUE(std::equal(found.get(), found.get() + count, fresh.get()));
    });
}

// Different keys from every thread. In every other round all threads sweep the array from its
// start, so that they meet in the same words at the same time, where an update could be lost.
TEST(Concurrent, DifferentKeysAreAllKept) {
  for (const BitArray& it : kShapes)
    for (int round = 0; round < (test::nightly() ? 100 : 10); ++round) {
      const Plan shape = test::shape_of(it.layout, 1009, it.hashes);
      Filter plain(shape), shared(shape);
      std::vector<Hash128> hashes = some_hashes(static_cast<std::uint64_t>(round), 20'000);
      plain.insert_hashes(hashes);
      const std::size_t part = hashes.size() / kThreads;
      if (round % 2 == 1)
        for (unsigned id = 0; id < kThreads; ++id)
          std::sort(hashes.begin() + static_cast<std::ptrdiff_t>(id * part),
                    hashes.begin() + static_cast<std::ptrdiff_t>((id + 1) * part),
                    [](Hash128 a, Hash128 b) { return a.high < b.high; });
      at_once(kThreads, [&](unsigned id) {
        ConcurrentFilter concurrent(shared);
        const auto mine = std::span(hashes).subspan(id * part, part);
        if (round % 4 < 2)
          concurrent.insert_hashes(mine);
        else
          for (const Hash128 hash : mine) concurrent.insert_hash(hash);
        EXPECT_EQ(concurrent.may_contain_hashes(mine), mine.size());
      });
      EXPECT_TRUE(test::same_bits(plain, shared)) << test::describe(shared);
    }
}

// The same keys from every thread, each in its own order. A key with a bit that no other key
// has must be called new by at least one thread: the one that turned that bit on.
TEST(Concurrent, SomeoneIsToldThatAKeyIsNew) {
  for (const BitArray& it : kShapes)
    for (int round = 0; round < (test::nightly() ? 50 : 5); ++round) {
      const Plan shape = test::shape_of(it.layout, 2001, it.hashes);
      Filter plain(shape), shared(shape);
      const std::vector<Hash128> hashes =
          some_hashes(100 + static_cast<std::uint64_t>(round), 1500);
      plain.insert_hashes(hashes);
      std::vector<std::atomic<unsigned>> told(hashes.size());
      at_once(kThreads, [&](unsigned id) {
        ConcurrentFilter concurrent(shared);
        for (std::size_t i = 0; i < hashes.size(); ++i) {
          const std::size_t which = id % 2 == 0 ? i : hashes.size() - 1 - i;
          told[which] += concurrent.insert_hash(hashes[which]);
        }
      });
      EXPECT_TRUE(test::same_bits(plain, shared));
      std::map<std::uint64_t, std::size_t> owners;
      for (const Hash128 hash : hashes)
        for (const std::uint64_t position : test::positions(shape, hash)) ++owners[position];
      std::size_t sure = 0;
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        const auto positions = test::positions(shape, hashes[i]);
        if (std::none_of(positions.begin(), positions.end(),
                         [&](std::uint64_t position) { return owners[position] == 1; }))
          continue;
        ++sure;
        EXPECT_GE(told[i].load(), 1U) << test::describe(shared) << " key " << i;
      }
      EXPECT_GT(sure, hashes.size() / 2);
    }
}

// What an insert has put there is seen by every look-up that starts after it.
TEST(Concurrent, LookUpsBesideInsertsSeeWhatHasReturned) {
  for (const BitArray& it : kShapes) {
    Filter shared(test::shape_of(it.layout, 499, it.hashes));
    const std::vector<Hash128> hashes = some_hashes(7, 20'000);
    std::atomic<std::size_t> inserted{0};
    std::atomic<std::size_t> lost{0};
    at_once(kThreads, [&](unsigned id) {
      ConcurrentFilter concurrent(shared);
      if (id == 0) {
        for (std::size_t i = 0; i < hashes.size(); ++i) {
          concurrent.insert_hash(hashes[i]);
          inserted.store(i + 1, std::memory_order_release);
        }
        return;
      }
      test::Random random(id);
      for (std::size_t done = 0; done < hashes.size();) {
        done = inserted.load(std::memory_order_acquire);
        if (done == 0) continue;
        for (int i = 0; i < 50; ++i)
          lost += !concurrent.may_contain_hash(hashes[random.below(done)]);
        lost += !concurrent.may_contain_hash(hashes[done - 1]);
      }
    });
    EXPECT_EQ(lost.load(), 0U) << test::describe(shared);
  }
}

}  // namespace
}  // namespace bloomery
