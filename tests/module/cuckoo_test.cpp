// Cuckoo filters without a server: held against an exact multiset, grown, emptied, compacted.
#include "cuckoo/filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <span>
#include <vector>

#include "cuckoo_filters.hpp"

namespace bloomery::server::cuckoo {
namespace {

using namespace bloomery::test;

std::uint64_t full_entries(const Filter& filter) {
  std::uint64_t full = 0;
  for (std::uint32_t i = 0; i < filter.header().sub_filters; ++i)
    for (const std::byte entry : filter.array(i)) full += entry != std::byte{0};
  return full;
}

// ---- the promise --------------------------------------------------------------------------------

struct Case {
  std::uint64_t capacity;
  std::uint16_t bucket_size, max_iterations, expansion;
};

// Random adds, removals of what is there, and compactions. Whatever was added more often than it
// was removed is there, as often at least.
void PrintTo(const Case& it, std::ostream* out) {
  *out << it.capacity << '/' << it.bucket_size << '/' << it.max_iterations << '/' << it.expansion;
}

class CuckooModel : public testing::TestWithParam<Case> {};

TEST_P(CuckooModel, LosesNothing) {
  const auto [capacity, bucket_size, max_iterations, expansion] = GetParam();
  const auto filter = Filter::make(plan(capacity, bucket_size, max_iterations, expansion));
  std::map<std::uint64_t, std::uint64_t> exact;
  std::uint64_t total = 0;
  std::uint32_t most_sub_filters = 1;
  std::mt19937_64 random(17);
  for (int step = 0; step < 30000; ++step) {
    // Waves: mostly adds, then mostly removals, so that filters grow and are compacted.
    const bool adds = random() % 100 < (step / 3000 % 2 == 0 ? 75U : 20U);
    if (adds) {
      const std::uint64_t number = random() % 700;
      if (add(*filter, number) == Inserted::yes) {
        ++exact[number];
        ++total;
      } else {
        EXPECT_EQ(expansion, 0);
      }
    } else if (!exact.empty()) {
      auto taken = exact.lower_bound(random() % 700);
      if (taken == exact.end()) taken = exact.begin();
      ASSERT_TRUE(filter->remove(hash_of(taken->first)));
      --total;
      if (--taken->second == 0) exact.erase(taken);
    }
    if (step % 1000 == 999) filter->compact();
    most_sub_filters = std::max(most_sub_filters, filter->header().sub_filters);
    ASSERT_EQ(filter->header().items, total);
    if (step % 100 != 0) continue;
    ASSERT_EQ(full_entries(*filter), total);
    for (const auto& [number, times] : exact) {
      ASSERT_TRUE(filter->may_contain(hash_of(number))) << number << " at step " << step;
      ASSERT_GE(filter->count(hash_of(number)), times);
    }
  }
  EXPECT_TRUE(expansion == 0 || most_sub_filters > 2U);
  for (const auto& [number, times] : exact)
    for (std::uint64_t i = 0; i < times; ++i) ASSERT_TRUE(filter->remove(hash_of(number)));
  EXPECT_EQ(full_entries(*filter), 0U);
}

INSTANTIATE_TEST_SUITE_P(Cases, CuckooModel,
                         testing::Values(Case{64, 2, 20, 1}, Case{16, 1, 20, 2}, Case{64, 4, 5, 4},
                                         Case{510, 255, 1, 1}, Case{4096, 2, 500, 0},
                                         Case{8, 1, 1, 2}));

// ---- steps --------------------------------------------------------------------------------------

TEST(Cuckoo, RefusesWithoutAChange) {
  const auto filter = Filter::make(plan(64, 2, 20, 0));
  std::vector<std::byte> before;
  std::uint64_t number = 0;
  Inserted said = Inserted::yes;
  while (said == Inserted::yes) {
    before = whole(*filter);
    said = add(*filter, number++);
  }
  EXPECT_EQ(said, Inserted::full);
  EXPECT_EQ(whole(*filter), before);
  EXPECT_EQ(filter->insert(hash_of(0), true, kAnyMemory), Inserted::exists);
}

// As RedisBloom does (docs/cuckoo.md): three equal fingerprints of one pair of buckets push each other around, and
// nothing else in these buckets is tried, so five items are too many for 1,024 entries.
TEST(Cuckoo, RefusesAThirdFingerprintWhereTheTurnsLeadToTheFirstTwo) {
  constexpr std::uint64_t kBuckets = 512, kAnswer = 42;
  const auto with = [](std::uint64_t bucket, std::uint64_t fingerprint) {
    std::uint64_t hash = bucket;
    while (hash % 255 + 1 != fingerprint) hash += kBuckets;
    return hash;
  };
  const std::uint64_t a = 7, b = (a ^ kAnswer * 0x5bd1e995) % kBuckets;
  for (const std::uint16_t iterations : {std::uint16_t{20}, kMaxIterations}) {
    const auto filter = Filter::make(plan(2 * kBuckets, 2, iterations, 0));
    for (const std::uint64_t hash : {with(a, kAnswer), with(a, 1), with(b, 2), with(a, kAnswer)})
      ASSERT_EQ(filter->insert(hash, false, kAnyMemory), Inserted::yes);
    EXPECT_EQ(filter->insert(with(a, kAnswer), false, kAnyMemory), Inserted::full);
    EXPECT_EQ(filter->insert(with(a, 3), false, kAnyMemory), Inserted::yes) << "another pair";
  }
}

TEST(Cuckoo, GrowsOnlyAsFarAsItMay) {
  const auto filter = Filter::make(plan(64, 2, 20, 2));
  const AtMost none(0);
  std::uint64_t number = 0;
  while (filter->insert(hash_of(number), false, none) == Inserted::yes) ++number;
  EXPECT_EQ(filter->header().sub_filters, 1U);
  EXPECT_EQ(filter->insert(hash_of(number), false, none), Inserted::no_memory);
  EXPECT_EQ(filter->insert(hash_of(number), false, AtMost(128)), Inserted::yes);
  EXPECT_EQ(filter->header().sub_filters, 2U);
}

// Adds keys, from 0 on, until it has so many sub-filters, and so many more; how many it added.
std::uint64_t grow(Filter& filter, std::uint64_t sub_filters, std::uint64_t more) {
  std::uint64_t added = 0;
  while (filter.header().sub_filters < sub_filters && add(filter, added) == Inserted::yes) ++added;
  for (std::uint64_t i = 0; i < more; ++i) EXPECT_EQ(add(filter, added++), Inserted::yes);
  EXPECT_EQ(filter.header().sub_filters, sub_filters);
  return added;
}

// Removed are always the oldest items, so that the first sub-filter empties and in the end has room for
// all that the newest holds. Slices of 2^22 buckets leave some of the newest for later, and whatever is
// added meanwhile comes into the part that is empty by then: the sub-filter must not go.
TEST(Cuckoo, IsCompactedInSlices) {
  const auto filter = Filter::make(plan(std::uint64_t{1} << 22, 1, 20, 1));
  std::uint64_t added = grow(*filter, 2, 100'000);
  std::uint64_t removed = 0;
  std::uint64_t slices = 0;
  while (removed < added - added / 200) {
    ASSERT_TRUE(filter->remove(hash_of(removed++)));
    if (!filter->is_compacting()) continue;
    ASSERT_EQ(add(*filter, added++), Inserted::yes);
    ++slices;
  }
  EXPECT_GT(slices, 5U);
  EXPECT_EQ(filter->header().items, added - removed);
  EXPECT_EQ(full_entries(*filter), added - removed);
  for (std::uint64_t i = removed; i < added; ++i) ASSERT_TRUE(filter->may_contain(hash_of(i)));
  filter->compact();
  while (filter->is_compacting()) filter->compact();
  EXPECT_EQ(filter->header().sub_filters, 1U);
  EXPECT_EQ(full_entries(*filter), added - removed);
  for (std::uint64_t i = removed; i < added; ++i) ASSERT_TRUE(filter->may_contain(hash_of(i)));
}

// How many fingerprints of the second sub-filter have an empty entry in the first.
std::uint64_t could_move_down(const Filter& filter) {
  const std::uint64_t size = filter.header().bucket_size;
  const auto older = filter.array(0);
  const auto newer = filter.array(1);
  const auto has_room = [&](std::uint64_t bucket) {
    const auto entries = older.subspan(bucket % (older.size() / size) * size, size);
    return std::find(entries.begin(), entries.end(), std::byte{0}) != entries.end();
  };
  std::uint64_t could = 0;
  for (std::uint64_t i = 0; i < newer.size(); ++i) {
    const auto fingerprint = std::to_integer<std::uint64_t>(newer[i]);
    could +=
        fingerprint != 0 && (has_room(i / size) || has_room(i / size ^ fingerprint * 0x5bd1e995));
  }
  return could;
}

TEST(Cuckoo, CompactGoesOnAfterASubFilterThatStays) {
  const auto filter = Filter::make(plan(1024, 2, 20, 1));
  grow(*filter, 3, 100);
  for (std::uint64_t i = 0; i < 90; ++i) ASSERT_TRUE(filter->remove(hash_of(i)));
  ASSERT_EQ(filter->header().deletes, 90U);
  EXPECT_GT(could_move_down(*filter), 100U);
  filter->compact();
  EXPECT_EQ(filter->header().sub_filters, 3U);
  EXPECT_EQ(filter->header().deletes, 0U);
  EXPECT_EQ(could_move_down(*filter), 0U);
}

// The tenth of the items that starts a compaction, and that it ends with a sub-filter that stays.
TEST(Cuckoo, RemoveCompactsAtATenth) {
  const auto filter = Filter::make(plan(1024, 2, 20, 1));
  const std::uint64_t added = grow(*filter, 3, 100);
  std::uint64_t removed = 0;
  while (10 * (removed + 1) <= added - removed - 1) ASSERT_TRUE(filter->remove(hash_of(removed++)));
  EXPECT_EQ(filter->header().deletes, removed);
  ASSERT_TRUE(filter->remove(hash_of(removed)));
  EXPECT_EQ(filter->header().deletes, 0U);
  EXPECT_EQ(filter->header().sub_filters, 3U);
  EXPECT_GT(could_move_down(*filter), 0U);
}

// A sub-filter that becomes empty below one that stays is not the newest, which alone may be given back.
TEST(Cuckoo, CompactKeepsTheNewestThatStaysWhenAnOlderOneEmpties) {
  Header header = plan(4, 1, 20, 1);
  header.sub_filters = 3;
  const auto filter = Filter::make(header);
  // Of four buckets, fingerprint 1 has two that are side by side, and fingerprint 2 every other one.
  const unsigned char entries[3][4] = {{1, 1, 0, 0}, {2, 2, 0, 0}, {1, 0, 0, 0}};
  for (std::uint32_t i = 0; i < 3; ++i)
    filter->overwrite(filter->array(i).data(), std::as_bytes(std::span(entries[i])));
  filter->compact();
  EXPECT_EQ(filter->header().sub_filters, 3U);
  EXPECT_EQ(full_entries(*filter), 5U);
  EXPECT_EQ(filter->array(2)[0], std::byte{1});
}

// What is added while the newest is compacted may go to an older one, and then the newest can still go.
TEST(Cuckoo, AnItemThatGoesElsewhereDoesNotKeepTheSubFilterThatIsCompacted) {
  constexpr std::uint64_t kBuckets = std::uint64_t{1} << 22;
  const auto other = [](std::uint64_t bucket, std::uint64_t print) {
    return (bucket ^ print * 0x5bd1e995) % kBuckets;
  };
  Header header = plan(kBuckets, 1, 20, 1);
  header.sub_filters = 2;
  const auto filter = Filter::make(header);
  const auto newest = filter->array(1);
  std::ranges::fill(newest, std::byte{1});
  // An item with both of its buckets in the half that the first slice does not reach.
  std::uint64_t hash = kBuckets - 1;
  while (other(hash, hash % 255 + 1) < kBuckets - kBuckets / 4) hash += kBuckets;
  newest[other(hash, 1)] = std::byte{0};  // room in the older one for what is where the item goes
  filter->compact();
  ASSERT_TRUE(filter->is_compacting());
  ASSERT_EQ(filter->insert(hash, false, kAnyMemory), Inserted::yes);
  ASSERT_EQ(newest[kBuckets - 1], std::byte{1}) << "it is in the older one";
  while (filter->is_compacting()) filter->compact();
  EXPECT_EQ(filter->header().sub_filters, 1U);
  EXPECT_EQ(full_entries(*filter), kBuckets);
  EXPECT_TRUE(filter->may_contain(hash));
}

// Nobody else goes on with it: half of the newest is left after the first slice, and each removal takes 2^13 buckets.
TEST(Cuckoo, IsCompactedByRemovalsAlone) {
  constexpr std::uint64_t kBuckets = std::uint64_t{1} << 22;
  Header header = plan(kBuckets, 1, 20, 1);
  header.sub_filters = 2;
  const auto filter = Filter::make(header);
  std::ranges::fill(filter->array(1), std::byte{1});
  filter->compact();
  std::uint64_t removed = 0;
  for (; filter->is_compacting() && removed < 1000; ++removed)
    ASSERT_TRUE(filter->remove(removed * 255)) << "the items with fingerprint 1";
  EXPECT_GE(removed, kBuckets / 2 >> 13);
  EXPECT_LT(removed, 1000U);
  EXPECT_EQ(filter->header().sub_filters, 1U);
  EXPECT_EQ(full_entries(*filter), kBuckets - removed);
}

// A dump may say that there are fewer items than entries.
TEST(Cuckoo, CountsNoFewerItemsThanNone) {
  const auto filter = Filter::make(plan(64, 2, 20, 1));
  (void)add(*filter, 1);
  const auto same = Filter::make(plan(64, 2, 20, 1));
  same->overwrite(same->array(0).data(), filter->array(0));
  EXPECT_TRUE(same->remove(hash_of(1)));
  EXPECT_EQ(same->header().items, 0U);
  EXPECT_EQ(same->header().deletes, 1U);
}

TEST(Cuckoo, HasNoMoreSubFiltersThanADumpCanSay) {
  Header header = plan(1, 1, 1, 1);
  header.sub_filters = kMaxSubFilters;
  const auto filter = Filter::make(header);
  for (std::uint32_t i = 0; i < kMaxSubFilters; ++i) filter->array(i)[0] = std::byte{7};
  EXPECT_EQ(add(*filter, 1), Inserted::no_memory);
  EXPECT_EQ(filter->header().sub_filters, kMaxSubFilters);
}

TEST(Cuckoo, HasNoSubFilterBeyondTheLimitOfEntries) {
  Header header = plan(8, 1, 1, kMaxExpansion);
  header.sub_filters = 2;
  const auto filter = Filter::make(header);
  for (std::uint32_t i = 0; i < 2; ++i) std::ranges::fill(filter->array(i), std::byte{7});
  EXPECT_EQ(filter->header().entries(2), 0U);
  EXPECT_EQ(add(*filter, 1), Inserted::no_memory);
  EXPECT_EQ(filter->header().sub_filters, 2U);
}

}  // namespace
}  // namespace bloomery::server::cuckoo
