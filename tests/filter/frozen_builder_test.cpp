// Builders of frozen filters: any hashes, builders that are merged, and what a builder is after building.
#include <bloomery/frozen_filter.hpp>

#include <gtest/gtest.h>

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "filter/frozen_keys.hpp"
#include "support/effort.hpp"
#include "support/expect_error.hpp"
#include "support/frozen.hpp"

namespace bloomery::test {
namespace {

// The lower half of a hash counts once in a partition, so that for crafted hashes the number of keys depends on the
// partitions, which depend on the number of keys: at 1 %, 39,997 keys have four partitions, and 40,797 one.
TEST(FrozenBuilder, EndsWhateverTheHashes) {
  const auto hashes_of_set = [] {
    std::mt19937_64 random(7);
    std::vector<Hash128> hashes;
    for (int i = 0; i < 39'800; ++i) hashes.push_back({.high = random(), .low = random()});
    for (std::uint64_t i = 0; i < 150; ++i)
      for (std::uint64_t quarter = 0; quarter < 4; ++quarter)
        hashes.push_back({.high = quarter << 62, .low = i});
    return hashes;
  };
  std::vector<Hash128> hashes = hashes_of_set();
  FrozenBuilder builder(0.01);
  builder.insert_hashes(hashes);
  const FrozenFilter once = builder.build();
  EXPECT_EQ(once.may_contain_hashes(hashes), hashes.size());
  for (const std::size_t more : {std::size_t{1}, std::size_t{5'000}, hashes.size()}) {
    builder.insert_hashes(hashes);
    builder.insert_hashes(std::span(hashes).first(more));
    EXPECT_EQ(digest(builder.build(2)), digest(once)) << more;
  }
}

// Each thread has a builder; what they collected is one set, whichever thread had a key, and however few keys.
TEST(FrozenBuilder, TakesTheKeysOfOthers) {
  for (const std::size_t size : {10UL, 200'000UL}) {
    const auto keys = integers_from(0, size);
    const std::uint64_t expected = digest(built(keys, 0.01));
    for (const std::size_t at : {std::size_t{0}, size / 3, size}) {
      FrozenBuilder first(0.01), second(0.01), third(0.5);
      first.insert_many(std::span(keys).first(at));
      second.insert_many(std::span(keys).subspan(at / 2));  // some are in both
      third.insert(keys.front());
      second.merge(std::move(third));
      first.merge(std::move(second));
      first.merge(std::move(second));  // which is empty now
      first.merge(std::move(first));
      first.insert(keys.back());
      EXPECT_EQ(first.inserted(), at + (size - at / 2) + 2);
      EXPECT_EQ(second.inserted(), 0U);
      EXPECT_EQ(digest(first.build(2)), expected) << size << " keys, " << at;
      second.insert(keys.front());
      FrozenBuilder moved(std::move(second));
      EXPECT_EQ(moved.build().keys(), 1U);
    }
  }
  FrozenBuilder builder(0.01), other(0.01, Hasher(HashFamily::xxh3, {.low = 5}));
  other.insert(1);
  expect_error(ErrorCode::mismatch, {"hasher"}, [&] { builder.merge(std::move(other)); });
  EXPECT_EQ(other.inserted(), 1U);
}

// Each takes all that were merged before it, or gives itself to them: 200,000 calls deep, that would be the end of the
// stack. With repeats, all keys are counted bucket by bucket.
TEST(FrozenBuilder, TakesTheKeysOfVeryManyOthers) {
  const std::uint64_t builders = hurried() ? 80'000 : 200'000, different = builders / 4 * 3;
  FrozenBuilder all(0.01);
  for (std::uint64_t i = 0; i < builders; ++i) {
    FrozenBuilder one(0.01);
    one.insert(i % different);
    if (i % 3 == 0) {
      all.merge(std::move(one));
    } else {
      one.merge(std::move(all));
      all = std::move(one);
    }
  }
  EXPECT_EQ(all.inserted(), builders);
  const FrozenFilter filter = all.build();
  EXPECT_EQ(filter.keys(), different);
  EXPECT_EQ(digest(filter), digest(built(integers_from(0, different), 0.01)));
}

TEST(FrozenBuilder, BeginsAgainAfterBuilding) {
  FrozenBuilder builder(0.001);
  builder.insert_many(integers_from(0, 100'000));
  EXPECT_EQ(builder.inserted(), 100'000U);
  (void)builder.build();
  EXPECT_EQ(builder.inserted(), 0U);
  builder.insert("one");
  const FrozenFilter filter = builder.build();
  EXPECT_EQ(filter.keys(), 1U);
  EXPECT_TRUE(filter.may_contain("one"));
  EXPECT_FALSE(filter.may_contain("two"));
}

// Only build() finds out which keys came twice.
TEST(FrozenBuilder, TellsOfNoKeyThatItIsNew) {
  FrozenBuilder builder(0.01);
  const auto keys = integers_from(0, 1'000);
  const auto answers = std::make_unique<bool[]>(keys.size());
  for (int round = 0; round < 2; ++round) {
    std::fill_n(answers.get(), keys.size(), true);
    EXPECT_EQ(builder.insert_many(keys, std::span(answers.get(), keys.size())), 0U);
    EXPECT_EQ(std::count(answers.get(), answers.get() + keys.size(), true), 0);
  }
  EXPECT_EQ(builder.inserted(), 2 * keys.size());
  EXPECT_FALSE(builder.insert(7));
}

// A system that starts no thread, since there is no room for its stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t huge;
    EXPECT_EQ(pthread_getattr_default_np(&huge), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 47), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;
  ~NoMoreThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

TEST(FrozenBuilder, BuildsWithoutTheThreadsThatCannotStart) {
  auto keys = integers_from(0, 400'000);
  const std::uint64_t expected = digest(built(keys, 0.01));
  keys.push_back(keys.front());  // so that different keys are counted too
  FrozenBuilder builder(0.01);
  builder.insert_many(keys);
  const NoMoreThreads none;
  EXPECT_THROW(std::jthread([] {}), std::system_error);
  EXPECT_EQ(digest(builder.build(4)), expected);
}

TEST(FrozenBuilder, HasAsManyThreadsAsTheMemoryHas) {
  constexpr std::uint64_t kMemory = std::uint64_t{1'280} << 20;
  for (const double fpr : {0.5, 0.01, 1e-9})
    for (std::uint64_t keys = 1; keys <= kMaxFrozenKeys; keys *= 2) {
      const FrozenPlan plan = frozen_plan(keys, fpr);
      const std::uint64_t of_a_thread = 38 * (keys / plan.partitions + 1);
      const unsigned threads = detail::threads_that_fit(plan);
      EXPECT_GE(threads, 1U);
      EXPECT_LE(threads, 1'024U);
      EXPECT_TRUE(threads == 1 || plan.bytes() + threads * of_a_thread <= kMemory) << keys;
      EXPECT_TRUE(threads == 1'024 || plan.bytes() + (threads + 1) * of_a_thread > kMemory) << keys;
    }
}

}  // namespace
}  // namespace bloomery::test
