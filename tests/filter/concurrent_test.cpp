// Many threads insert and look up at once: the bits of one thread, and someone is told "new".
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/detail/stripes.hpp>
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "support/layouts.hpp"
#include "support/naive_filter.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

constexpr unsigned kThreads = 4;

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
constexpr BitArray kArrays[] = {{Layout::blocked, 1},       {Layout::blocked, 7},
                                {Layout::blocked, 16},      {Layout::blocked2, 14},
                                {Layout::blocked2, 2},      {Layout::standard, 10},
                                {Layout::blocked128, 10},   {Layout::blocked64, 5},
                                {Layout::blocked2x128, 20}, {Layout::blocked2x64, 2}};

constexpr Sharing kSharings[] = {Sharing::threads, Sharing::processes};

// Calls check(filter) with an empty filter on every kernel, and one whose single calls are inlined.
template <class Check>
void for_every_kernel(const Plan& plan, Check check) {
  for (const detail::Kernel* kernel : detail::kernels_of(plan.layout)) {
    Filter filter = with_kernel(plan, *kernel);
    SCOPED_TRACE(describe(filter));
    check(filter);
  }
  Filter filter(plan);
  SCOPED_TRACE("inlined");
  check(filter);
}

// Calls check(plain, shared, sharing) with two empty filters of every plan.
template <class Check>
void for_every_plan(std::uint64_t blocks, Check check) {
  for (const BitArray& it : kArrays)
    for (const Sharing sharing : kSharings) {
      SCOPED_TRACE("sharing " + std::to_string(static_cast<int>(sharing)));
      const Plan plan = plan_of(it.layout, blocks, it.hashes);
      for_every_kernel(plan, [&](Filter& shared) {
        Filter plain(plan);
        check(plain, shared, sharing);
      });
    }
}

TEST(Concurrent, OneThreadGivesTheBitsAndAnswersOfTheFilter) {
  for_every_plan(97, [](Filter& plain, Filter& shared, Sharing sharing) {
    ConcurrentFilter concurrent(shared, sharing);
    EXPECT_EQ(concurrent.sharing(), sharing);
    for (const Hash128 hash : Random(1).hashes(hurried() ? 1000 : 4000)) {
      ASSERT_EQ(concurrent.may_contain_hash(hash), plain.may_contain_hash(hash));
      ASSERT_EQ(concurrent.insert_hash(hash), plain.insert_hash(hash));
    }
    EXPECT_TRUE(same_bits(plain, shared));
    EXPECT_EQ(concurrent.insert("text"), plain.insert("text"));
    EXPECT_EQ(concurrent.insert(42), plain.insert(42));
    EXPECT_TRUE(concurrent.may_contain("text") && concurrent.may_contain(42));
  });
}

TEST(Concurrent, BulkCallsGiveTheAnswersOfSingleOnes) {
  for (const std::size_t count : {0, 1, 15, 16, 17, 31, 32, 33, 64, 500})
    for_every_plan(11, [count](Filter& plain, Filter& shared, Sharing sharing) {
      ConcurrentFilter concurrent(shared, sharing);
      const std::vector<Hash128> hashes = Random(count).hashes(count);
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
      EXPECT_TRUE(same_bits(plain, shared));
      EXPECT_EQ(concurrent.insert_hashes(hashes), 0U);
      EXPECT_EQ(concurrent.may_contain_hashes(hashes), count);
      // Other keys: some are there by chance, and these filters must agree on which.
      const std::vector<Hash128> others = Random(1000 + count).hashes(count);
      EXPECT_EQ(concurrent.may_contain_hashes(others, {found.get(), count}),
                plain.may_contain_hashes(others, {fresh.get(), count}));
      EXPECT_TRUE(std::equal(found.get(), found.get() + count, fresh.get()));
    });
}

// Different keys from every thread. In every other round all threads sweep the array from its
// start, so that they meet in the same words at the same time, where an update could be lost. Under a
// sanitizer, which makes threads slow, fewer keys lose some too; eight rounds are all combinations.
TEST(Concurrent, DifferentKeysAreAllKept) {
  for (const BitArray& it : kArrays)
    for (int round = 0; round < (nightly() ? 100 : hurried() ? 8 : 10); ++round) {
      const Plan plan = plan_of(it.layout, 1009, it.hashes);
      Filter plain(plan), shared(plan);
      std::vector<Hash128> hashes =
          Random(static_cast<std::uint64_t>(round)).hashes(hurried() ? 8'000 : 20'000);
      plain.insert_hashes(hashes);
      const std::size_t part = hashes.size() / kThreads;
      if (round % 2 == 1)
        for (unsigned id = 0; id < kThreads; ++id)
          std::sort(hashes.begin() + static_cast<std::ptrdiff_t>(id * part),
                    hashes.begin() + static_cast<std::ptrdiff_t>((id + 1) * part),
                    [](Hash128 a, Hash128 b) { return a.high < b.high; });
      at_once(kThreads, [&](unsigned id) {
        ConcurrentFilter concurrent(shared, kSharings[round / 4 % 2]);
        const auto mine = std::span(hashes).subspan(id * part, part);
        if (round % 4 < 2)
          concurrent.insert_hashes(mine);
        else
          for (const Hash128 hash : mine) concurrent.insert_hash(hash);
        EXPECT_EQ(concurrent.may_contain_hashes(mine), mine.size());
      });
      EXPECT_TRUE(same_bits(plain, shared)) << describe(shared);
    }
}

// Any number of threads; each may be stopped anywhere.
TEST(Concurrent, AnyNumberOfThreadsGivesTheBitsOfOne) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2})
    for (const unsigned threads : {1U, 2U, 3U, 7U, 16U, 64U})
      for (const std::uint64_t blocks : {1U, 16U, 4001U}) {
        const Plan plan = plan_of(layout, blocks, 8);
        Filter plain(plan), shared(plan);
        const std::vector<Hash128> hashes = Random(threads).hashes(64 * (hurried() ? 50 : 200));
        plain.insert_hashes(hashes);
        at_once(threads, [&](unsigned id) {
          ConcurrentFilter concurrent(shared);
          const std::size_t part = hashes.size() / threads;
          const auto mine = std::span(hashes).subspan(
              id * part, id + 1 == threads ? hashes.size() - id * part : part);
          concurrent.insert_hashes(mine.first(mine.size() / 2));
          for (const Hash128 hash : mine.subspan(mine.size() / 2)) concurrent.insert_hash(hash);
        });
        EXPECT_TRUE(same_bits(plain, shared)) << threads << " " << describe(shared);
      }
}

// The same keys from every thread, each in its own order. A key with a bit that no other key
// has must be called new by at least one thread: the one that turned that bit on. Where it has one block
// under a lock, nobody else may be told.
TEST(Concurrent, SomeoneIsToldThatAKeyIsNew) {
  for (const BitArray& it : kArrays)
    for (int round = 0; round < (nightly() ? 50 : 6); ++round) {
      const Sharing sharing = kSharings[round % 2];
      const bool exactly_one = it.layout == Layout::blocked && sharing == Sharing::threads;
      const Plan plan = plan_of(it.layout, 2001, it.hashes);
      Filter plain(plan), shared(plan);
      const std::vector<Hash128> hashes =
          Random(100 + static_cast<std::uint64_t>(round)).hashes(hurried() ? 400 : 1500);
      plain.insert_hashes(hashes);
      std::vector<std::atomic<unsigned>> told(hashes.size());
      at_once(kThreads, [&](unsigned id) {
        ConcurrentFilter concurrent(shared, sharing);
        if (round % 3 == 2) {
          const auto fresh = std::make_unique<bool[]>(hashes.size());
          concurrent.insert_hashes(hashes, {fresh.get(), hashes.size()});
          for (std::size_t i = 0; i < hashes.size(); ++i) told[i] += fresh[i];
          return;
        }
        for (std::size_t i = 0; i < hashes.size(); ++i) {
          const std::size_t which = id % 2 == 0 ? i : hashes.size() - 1 - i;
          told[which] += concurrent.insert_hash(hashes[which]);
        }
      });
      EXPECT_TRUE(same_bits(plain, shared));
      std::map<std::uint64_t, std::size_t> owners;
      for (const Hash128 hash : hashes)
        for (const std::uint64_t position : positions(plan, hash)) ++owners[position];
      std::size_t sure = 0;
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        if (exactly_one) {
          EXPECT_LE(told[i].load(), 1U) << describe(shared) << " key " << i;
        }
        const auto positions = test::positions(plan, hashes[i]);
        if (std::none_of(positions.begin(), positions.end(),
                         [&](std::uint64_t position) { return owners[position] == 1; }))
          continue;
        ++sure;
        EXPECT_GE(told[i].load(), 1U) << describe(shared) << " key " << i;
      }
      EXPECT_GT(sure, hashes.size() / 2);
    }
}

// Two handles that write in different ways would lose bits of each other.
TEST(Concurrent, HandlesOfAFilterCannotSayDifferentThings) {
  for (const Sharing sharing : kSharings) {
    const Sharing other = sharing == Sharing::threads ? Sharing::processes : Sharing::threads;
    Filter filter(1'000, 0.01);
    ConcurrentFilter(filter, sharing).insert(1);
    EXPECT_THROW(ConcurrentFilter(filter, other), Error);
    ConcurrentFilter(filter, sharing).insert(2);
    Filter moved = std::move(filter);
    EXPECT_THROW(ConcurrentFilter(moved, other), Error);
    Filter copied = moved.copy();
    EXPECT_TRUE(ConcurrentFilter(copied, other).may_contain(2));
  }
}

// A thread that is stopped with the lock of a block: it delays inserts that have to write there, and nothing
// else. On every kernel, for each has its own code around the lock.
TEST(Concurrent, AStoppedHolderDelaysOnlyInsertsOfItsStripe) {
  for_every_kernel(plan_of(Layout::blocked, 64, 8), [](Filter& shared) {
    ConcurrentFilter concurrent(shared);
    const auto block_of = [&](Hash128 hash) {
      const detail::BitArray& array = shared.bit_array();
      return detail::words_of(array, detail::LayoutOf<Layout::blocked>::block<0>(array, hash));
    };
    std::vector<Hash128> here, elsewhere;
    const std::vector<Hash128> hashes = Random(17).hashes(1000);
    for (const Hash128 hash : hashes)
      (block_of(hash) == block_of(hashes[0]) ? here : elsewhere).push_back(hash);
    ASSERT_GE(here.size(), 3U);
    concurrent.insert_hash(here[0]);

    detail::Stripe& stripe = detail::stripe_of(block_of(here[0]));
    ASSERT_TRUE(stripe.try_lock());
    std::atomic<int> written{0};
    std::thread one([&] {
      EXPECT_TRUE(concurrent.insert_hash(here[1]));
      ++written;
    });
    std::thread many([&] {
      EXPECT_EQ(concurrent.insert_hashes(std::span(here).last(1)), 1U);
      ++written;
    });
    EXPECT_EQ(concurrent.insert_hashes(elsewhere), elsewhere.size());
    EXPECT_EQ(concurrent.may_contain_hashes(elsewhere), elsewhere.size());
    EXPECT_TRUE(concurrent.may_contain_hash(here[0]));
    EXPECT_FALSE(concurrent.may_contain_hash(here[1]));
    // What is there needs no lock.
    EXPECT_FALSE(concurrent.insert_hash(here[0]));
    EXPECT_EQ(concurrent.insert_hashes(std::span(here).first(1)), 0U);
    EXPECT_EQ(written.load(), 0);
    stripe.unlock();
    one.join();
    many.join();
    EXPECT_TRUE(concurrent.may_contain_hash(here[1]));
    EXPECT_TRUE(stripe.try_lock());  // nobody kept it
    stripe.unlock();
  });
}

// The same for keys with two blocks: either of them may be the locked one.
TEST(Concurrent, AStoppedHolderDelaysOnlyKeysWithABlockInItsStripe) {
  using Blocks = detail::LayoutOf<Layout::blocked2>;
  for_every_kernel(plan_of(Layout::blocked2, 64, 8), [](Filter& shared) {
    ConcurrentFilter concurrent(shared);
    const detail::BitArray& array = shared.bit_array();
    const void* const held = array.words;
    std::vector<Hash128> first, second, elsewhere;
    for (const Hash128 hash : Random(18).hashes(1000)) {
      const bool a = detail::words_of(array, Blocks::block<0>(array, hash)) == held;
      const bool b = detail::words_of(array, Blocks::block<1>(array, hash)) == held;
      if (!a && !b) elsewhere.push_back(hash);
      if (a && !b) first.push_back(hash);
      if (b && !a) second.push_back(hash);
    }
    ASSERT_GE(first.size(), 2U);
    ASSERT_GE(second.size(), 1U);
    concurrent.insert_hash(first[0]);

    detail::Stripe& stripe = detail::stripe_of(held);
    ASSERT_TRUE(stripe.try_lock());
    std::atomic<int> written{0};
    std::thread one([&] {
      EXPECT_TRUE(concurrent.insert_hash(first[1]));
      ++written;
    });
    std::thread many([&] {
      EXPECT_EQ(concurrent.insert_hashes(std::span(second).first(1)), 1U);
      ++written;
    });
    concurrent.insert_hashes(elsewhere);
    EXPECT_EQ(concurrent.may_contain_hashes(elsewhere), elsewhere.size());
    EXPECT_TRUE(concurrent.may_contain_hash(first[0]));
    EXPECT_FALSE(concurrent.insert_hash(first[0]));
    EXPECT_FALSE(concurrent.may_contain_hash(first[1]));
    EXPECT_FALSE(concurrent.may_contain_hash(second[0]));
    EXPECT_EQ(written.load(), 0);
    stripe.unlock();
    one.join();
    many.join();
    EXPECT_TRUE(concurrent.may_contain_hash(first[1]));
    EXPECT_TRUE(concurrent.may_contain_hash(second[0]));
    EXPECT_TRUE(stripe.try_lock());  // nobody kept it
    stripe.unlock();
  });
}

// With Sharing::processes no lock is asked for, since other processes would not see it.
TEST(Concurrent, ProcessesTakeNoLocks) {
  for_every_kernel(plan_of(Layout::blocked, 4, 8), [](Filter& shared) {
    ConcurrentFilter concurrent(shared, Sharing::processes);
    for (unsigned block = 0; block < 4; ++block)
      ASSERT_TRUE(detail::stripe_of(shared.bytes().data() + std::size_t{64} * block).try_lock());
    const std::vector<Hash128> hashes = Random(19).hashes(40);
    EXPECT_GT(concurrent.insert_hashes(hashes), 0U);
    for (const Hash128 hash : Random(20).hashes(40)) concurrent.insert_hash(hash);
    EXPECT_EQ(concurrent.may_contain_hashes(hashes), hashes.size());
    for (unsigned block = 0; block < 4; ++block)
      detail::stripe_of(shared.bytes().data() + std::size_t{64} * block).unlock();
  });
}

// What an insert has put there is seen by every look-up that starts after it.
TEST(Concurrent, LookUpsBesideInsertsSeeWhatHasReturned) {
  for (const BitArray& it : kArrays)
    for (const Sharing sharing : kSharings) {
      Filter shared(plan_of(it.layout, 499, it.hashes));
      const std::vector<Hash128> hashes = Random(7).hashes(hurried() ? 4'000 : 20'000);
      std::atomic<std::size_t> inserted{0};
      std::atomic<std::size_t> lost{0};
      at_once(kThreads, [&](unsigned id) {
        ConcurrentFilter concurrent(shared, sharing);
        if (id == 0) {
          for (std::size_t i = 0; i < hashes.size(); ++i) {
            concurrent.insert_hash(hashes[i]);
            inserted.store(i + 1, std::memory_order_release);
          }
          return;
        }
        Random random(id);
        for (std::size_t done = 0; done < hashes.size();) {
          done = inserted.load(std::memory_order_acquire);
          if (done == 0) continue;
          for (int i = 0; i < 50; ++i)
            lost += !concurrent.may_contain_hash(hashes[random.below(done)]);
          lost += !concurrent.may_contain_hash(hashes[done - 1]);
        }
      });
      EXPECT_EQ(lost.load(), 0U) << describe(shared);
    }
}

}  // namespace
}  // namespace bloomery::test
