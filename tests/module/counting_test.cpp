// A counting filter in the server's memory is the library's, whether items come one by one or many
// at a time.
#include "values/counting.hpp"

#include <bloomery/counting_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "counted_memory.hpp"
#include "values.hpp"

namespace {

using namespace bloomery::server;
using namespace bloomery::test;
using bloomery::CountingFilter;
using bloomery::Hash128;
using bloomery::Kind;

std::vector<bool> removed(Counting& counting, std::span<const Hash128> hashes) {
  const auto answers = std::make_unique<bool[]>(hashes.size());
  counting.remove(hashes, {answers.get(), hashes.size()});
  return std::vector<bool>(answers.get(), answers.get() + hashes.size());
}

// Some items come often, so that counters are saturated.
void check(std::uint32_t counter_bits, double fpr, std::size_t at_once) {
  const auto counting = made<Counting>(
      {.kind = Kind::counting, .fpr = fpr, .capacity = 900, .counter_bits = counter_bits});
  CountingFilter filter(plan_of(counting->header().sub_filters[0]));
  for (int first = 0; first < 1000; first += static_cast<int>(at_once)) {
    auto hashes = hashes_of(*counting, first, static_cast<int>(at_once));
    hashes.push_back(hashes_of(*counting, 7, 1)[0]);
    const auto rest = std::span(hashes).last(1);  // a batch of one after one of many
    for (const auto batch : {std::span(hashes).first(at_once), rest}) {
      const auto [added, fresh] = insert(*counting, batch);
      ASSERT_EQ(added.counted, batch.size());
      for (std::size_t i = 0; i < batch.size(); ++i)
        ASSERT_EQ(fresh[i], filter.insert_hash(batch[i]));
    }
    if (first % 3 != 0) continue;
    for (const auto batch : {std::span(hashes).first(at_once), rest}) {
      const auto answers = removed(*counting, batch);
      for (std::size_t i = 0; i < batch.size(); ++i)
        ASSERT_EQ(answers[i], filter.remove_hash(batch[i]));
    }
  }
  ASSERT_TRUE(std::ranges::equal(counting->array(0), filter.bytes()));
  const auto asked = hashes_of(*counting, 0, 2000);
  const auto answers = found(*counting, asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(answers[i], filter.may_contain_hash(asked[i]));
    ASSERT_EQ(found(*counting, asked[i]), answers[i]);
    ASSERT_EQ(counting->count_at_most(asked[i]), filter.count_hash_at_most(asked[i]));
  }
}

TEST(ServersCounting, IsTheLibrarys) {
  CountedMemory memory;
  for (const std::uint32_t counter_bits : {4U, 8U})
    for (const double fpr : {0.01, 1e-6})  // one block for each item, and two
      for (const std::size_t at_once : {1U, 2U, 40U}) check(counter_bits, fpr, at_once);
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST(ServersCounting, IsEmptyOnceItIsCleared) {
  CountedMemory memory;
  for (const std::uint32_t counter_bits : {4U, 8U}) {
    const auto counting = made<Counting>(
        {.kind = Kind::counting, .fpr = 0.01, .capacity = 900, .counter_bits = counter_bits});
    const auto hashes = hashes_of(*counting, 0, 800);
    insert(*counting, hashes);
    counting->clear();
    EXPECT_EQ(counting->totals().items, 0U);
    EXPECT_TRUE(
        std::ranges::all_of(counting->array(0), [](std::byte b) { return b == std::byte{}; }));
    EXPECT_EQ(found(*counting, hashes), std::vector<bool>(hashes.size(), false));
    EXPECT_EQ(insert(*counting, std::span(hashes).first(1)).fresh, std::vector<bool>{true});
    EXPECT_EQ(counting->count_at_most(hashes[0]), 1U);
  }
}

TEST(ServersCounting, TellsWhenItBecomesFull) {
  CountedMemory memory;
  const auto counting = made<Counting>({.kind = Kind::counting, .fpr = 0.01, .capacity = 10});
  EXPECT_FALSE(insert(*counting, hashes_of(*counting, 0, 10)).added.filled);
  EXPECT_TRUE(insert(*counting, hashes_of(*counting, 10, 1)).added.filled);
  EXPECT_FALSE(insert(*counting, hashes_of(*counting, 11, 1)).added.filled);
  EXPECT_TRUE(counting->totals().full);
}

}  // namespace
