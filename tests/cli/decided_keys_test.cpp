// When the keys that `dedup --filter` has decided are to be written into the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

#include "store/scratch.hpp"
#include "stream/batch.hpp"

namespace bloomery {
namespace {

using cli::Batch;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAge{1};
constexpr std::size_t kMany = 262'144;

TEST(DecidedKeys, AreEachInTheBatchOnce) {
  Batch batch;
  const auto hashes = test::hashes_of(Hasher(), 0, 10'000);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(batch.empty());
    for (const Hash128 hash : hashes) ASSERT_TRUE(batch.insert(hash));
    for (const Hash128 hash : hashes) ASSERT_FALSE(batch.insert(hash));
    EXPECT_TRUE(std::ranges::equal(batch.hashes(), hashes));
    batch.clear();
  }
}

TEST(DecidedKeys, AreDueWhenThereAreMany) {
  const auto hashes = test::hashes_of(Hasher(), 0, kMany);
  Batch batch;
  const auto begin = Clock::now();
  for (const Hash128 hash : hashes) {
    ASSERT_FALSE(batch.due() && Clock::now() - begin < kAge) << batch.hashes().size();
    ASSERT_TRUE(batch.insert(hash));
  }
  batch.clear();
  for (const Hash128 hash : hashes) batch.insert(hash);
  EXPECT_TRUE(batch.due());
}

// A second since the last were written, not since the first came.
TEST(DecidedKeys, AreDueASecondAfterTheLastOnes) {
  Batch batch;
  std::this_thread::sleep_for(kAge);
  EXPECT_FALSE(batch.due()) << "there are none";
  batch.insert({1, 2});
  EXPECT_TRUE(batch.due());
  // A machine that stands still for a second tells nothing.
  for (bool told = false; !told;) {
    const auto begin = Clock::now();
    batch.clear();
    batch.insert({1, 2});
    const bool due = batch.due();
    told = Clock::now() - begin < kAge;
    EXPECT_FALSE(told && due);
  }
}

}  // namespace
}  // namespace bloomery
