// Scalable filters without a server: a batch is the same as one by one, and what is refused changes
// nothing.
#include "values/scalable.hpp"

#include <gtest/gtest.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "counted_memory.hpp"
#include "support/expect_error.hpp"
#include "values.hpp"
#include "values/sizes.hpp"

namespace {

using namespace bloomery::server;
using namespace bloomery::test;
using bloomery::Hash128;
namespace redisbloom = bloomery::legacy::redisbloom;

constexpr Family kFamilies[] = {Family::redisbloom, Family::native};

ValuePointer<Scalable> scalable(Family family, double fpr, std::uint64_t capacity,
                                std::uint32_t growth = 2, bool scaling = true) {
  return made<Scalable>(
      {.fpr = fpr, .capacity = capacity, .family = family, .growth = growth, .scaling = scaling});
}

// Batches of every size, with repeats, over filters that grow within a batch and between them.
TEST(Scalable, ManyAtOnceIsOneByOne) {
  CountedMemory memory;
  std::mt19937 draw(1);
  for (const Family family : kFamilies) {
    for (const auto& [fpr, capacity, growth] :
         {std::tuple{0.1, 3U, 1U}, {0.01, 10U, 2U}, {1e-5, 500U, 4U}, {0.01, 100000U, 2U}}) {
      const auto bulk = scalable(family, fpr, capacity, growth);
      const auto single = scalable(family, fpr, capacity, growth);
      const int universe = 4000;
      for (const std::size_t size : {1U, 2U, 17U, 511U, 512U, 513U, 1500U}) {
        std::vector<Hash128> hashes;
        for (std::size_t i = 0; i < size; ++i)
          hashes.push_back(bulk->hash(std::to_string(draw() % universe)));
        const auto before = bulk->totals();
        const auto [added, fresh] = insert(*bulk, hashes);
        EXPECT_EQ(added.stop, Stop::none);
        EXPECT_EQ(added.answered, size);
        EXPECT_EQ(added.counted, bulk->totals().items - before.items);
        EXPECT_EQ(added.bytes, bulk->totals().bytes - before.bytes);
        for (std::size_t i = 0; i < size; ++i)
          ASSERT_EQ(insert(*single, std::span(hashes).subspan(i, 1)).fresh[0], fresh[i])
              << i << " of " << size;
        ASSERT_EQ(whole(*bulk), whole(*single));
        ASSERT_EQ(found(*bulk, hashes), std::vector<bool>(size, true));
      }
      const auto absent = hashes_of(*bulk, universe, 2000);
      const auto answers = found(*bulk, absent);
      for (std::size_t i = 0; i < absent.size(); ++i)
        ASSERT_EQ(answers[i], found(*bulk, absent[i]));
    }
  }
}

TEST(Scalable, AFilterThatDoesNotGrowAnswersUpToTheFirstItemItRefuses) {
  CountedMemory memory;
  for (const Family family : kFamilies) {
    const auto filter = scalable(family, 1e-6, 100, 2, false);
    auto hashes = hashes_of(*filter, 0, 150);
    hashes.insert(hashes.begin() + 110, hashes[3]);
    EXPECT_FALSE(insert(*filter, std::span(hashes).first(99)).added.filled);
    const auto added = insert(*filter, hashes).added;
    EXPECT_EQ(added.stop, Stop::full);
    EXPECT_EQ(added.answered, 100U);
    EXPECT_TRUE(added.filled);
    EXPECT_TRUE(filter->totals().full);
    // For what it has it still answers.
    const auto again = insert(*filter, std::span(hashes).first(100)).added;
    EXPECT_EQ(again.stop, Stop::none);
    EXPECT_FALSE(again.filled);
    EXPECT_EQ(filter->totals().items, 100U);
    EXPECT_EQ(filter->header().sub_filters.size(), 1U);
  }
}

TEST(Scalable, WhereThereIsNoMemoryToGrowWhatIsThereStaysWhole) {
  for (const Family family : kFamilies) {
    CountedMemory memory;
    const auto filter = scalable(family, 0.01, 100);
    const auto hashes = hashes_of(*filter, 0, 400);
    for (const std::size_t left : {0U, 1U}) {
      CountedMemory::allocations_left = left;
      const auto added = insert(*filter, hashes).added;
      EXPECT_EQ(added.stop, Stop::no_room);
      EXPECT_GE(added.answered, 100U);
      EXPECT_EQ(filter->totals().items, 100U);
    }
    CountedMemory::allocations_left = SIZE_MAX;
    EXPECT_EQ(insert(*filter, hashes, AtMost(8)).added.stop, Stop::no_room);
    EXPECT_EQ(insert(*filter, hashes).added.stop, Stop::none);
    EXPECT_EQ(found(*filter, hashes), std::vector<bool>(400, true));
  }
}

TEST(Scalable, NothingIsLostWhenItCannotBeMadeOrCopied) {
  for (const Family family : kFamilies) {
    CountedMemory memory;
    const auto filter = scalable(family, 0.01, 10);
    insert(*filter, hashes_of(*filter, 0, 100));
    const std::size_t held = CountedMemory::held;
    // The object, the table and an array; of the copy, four arrays.
    for (std::size_t left = 0; left < 6; ++left) {
      CountedMemory::allocations_left = left;
      if (left < 3) {
        EXPECT_THROW((void)scalable(family, 0.01, 10), bloomery::Error);
      }
      EXPECT_THROW((void)copy(*filter), bloomery::Error) << left;
      EXPECT_EQ(CountedMemory::held, held);
    }
    CountedMemory::allocations_left = SIZE_MAX;
    EXPECT_EQ(whole(*copy(*filter)), whole(*filter));
    EXPECT_EQ(CountedMemory::held, held);
  }
}

TEST(Scalable, MergingKeepsEveryItemOfBoth) {
  CountedMemory memory;
  for (const Family family : kFamilies) {
    const auto a = scalable(family, 0.01, 50);
    const auto b = scalable(family, 0.01, 50);
    const auto of_a = hashes_of(*a, 0, 60), of_b = hashes_of(*b, 1000, 900);
    insert(*a, of_a);
    insert(*b, of_b);
    EXPECT_TRUE(a->has_sub_filters_of(*b));
    const auto sum = a->totals().items + b->totals().items;
    const auto before = whole(*a);
    CountedMemory::allocations_left = 3;
    EXPECT_THROW(a->make_room_for(*b), bloomery::Error);
    EXPECT_EQ(whole(*a), before);
    CountedMemory::allocations_left = SIZE_MAX;
    a->make_room_for(*b);
    a->merge(*b);
    EXPECT_EQ(a->totals().items, sum);
    EXPECT_EQ(found(*a, of_a), std::vector<bool>(of_a.size(), true));
    EXPECT_EQ(found(*a, of_b), std::vector<bool>(of_b.size(), true));
    EXPECT_FALSE(a->has_sub_filters_of(*scalable(family, 0.02, 50)));
    // As many bits, which are full after another number of items.
    Header other = a->header();
    ++other.sub_filters[0].entries;
    const AnyValue longer = make_empty(other);
    EXPECT_FALSE(a->has_sub_filters_of(static_cast<const Scalable&>(*longer)));
    a->clear();
    EXPECT_EQ(whole(*a), whole(*scalable(family, 0.01, 50)));
  }
}

// What differs in one respect alone is not merged.
TEST(Scalable, HasNoSubFiltersOfAnotherScheme) {
  CountedMemory memory;
  const auto expect_another = [](const Scalable& a, const Scalable& b, const char* what) {
    EXPECT_FALSE(a.has_sub_filters_of(b)) << what;
    EXPECT_FALSE(b.has_sub_filters_of(a)) << what;
  };
  for (const Family family : kFamilies) {
    const auto a = scalable(family, 0.02, 50);
    EXPECT_TRUE(a->has_sub_filters_of(*scalable(family, 0.02, 50)));
    expect_another(*a, *scalable(family, 0.01, 50, 2, false), "whether it grows");
    expect_another(*a, *scalable(family, 0.02, 50, 4), "growth");
    const auto expect_another_with = [&](auto change, const char* what) {
      Header other = a->header();
      change(other.sub_filters[0]);
      const AnyValue made = make_empty(other);
      expect_another(*a, static_cast<const Scalable&>(*made), what);
    };
    expect_another_with([](auto& sizes) { sizes.bits -= 64; }, "bits");
    expect_another_with([](auto& sizes) { ++sizes.hashes; }, "hashes");
    expect_another_with([](auto& sizes) { ++sizes.exponent; }, "exponent");
    expect_another_with([](auto& sizes) { ++sizes.entries; }, "entries");
  }
  const auto tightened = made<Scalable>(
      {.fpr = 0.05, .capacity = 50, .growth = 2, .tightening = *Tightening::of(8000)});
  expect_another(*scalable(Family::native, 0.02, 50), *tightened, "tightening");
}

// Each sub-filter may be wrong half as often as the one before, so that all of them together keep the rate.
TEST(Scalable, EverySubFilterHasHalfOfTheRateOfTheOneBefore) {
  CountedMemory memory;
  for (const Family family : kFamilies)
    for (const double fpr : {0.2, 0.01, 1e-7}) {
      const auto value = scalable(family, fpr, 20);
      insert(*value, hashes_of(*value, 0, 1000));
      const auto& chain = value->header().sub_filters;
      ASSERT_GE(chain.size(), 5U);
      double sum = 0;
      for (std::size_t i = 0; i < chain.size(); ++i) {
        EXPECT_DOUBLE_EQ(chain[i].error, fpr / 2 / static_cast<double>(1U << i)) << i;
        EXPECT_EQ(chain[i].entries, 20U << i) << i;
        sum += chain[i].error;
      }
      EXPECT_LE(sum, fpr);
    }
}

TEST(Scalable, HasOneEmptySubFilterOnceItIsCleared) {
  CountedMemory memory;
  for (const Family family : kFamilies) {
    const auto value = scalable(family, 0.01, 20), fresh = scalable(family, 0.01, 20);
    const auto hashes = hashes_of(*value, 0, 1000);
    insert(*value, hashes);
    value->clear();
    EXPECT_EQ(whole(*value), whole(*fresh));
    EXPECT_EQ(found(*value, hashes), std::vector<bool>(hashes.size(), false));
  }
}

// What would have more items or bits than there can be.
TEST(Scalable, GrowsNoFurtherThanThereAreSizes) {
  CountedMemory memory;
  for (const Family family : kFamilies) {
    const auto next = [&](std::uint64_t entries, double fpr) {
      auto newest = scalable(family, 0.01, 100)->header().sub_filters[0];
      newest.entries = entries;
      newest.error = fpr;
      return next_sub_filter(newest, family, redisbloom::kNoRound, 2, Tightening());
    };
    EXPECT_EQ(next(200, 0.01).value().entries, 400U);
    EXPECT_FALSE(next((std::uint64_t{1} << 63) + 1, 0.01)) << "twice as many are 2";
    EXPECT_FALSE(next(std::uint64_t{1} << 55, 1e-15));
  }
  // One that says so of itself refuses items, and is what it was.
  auto sizes = scalable(Family::redisbloom, 0.01, 3)->header().sub_filters[0];
  sizes.entries = sizes.size = std::uint64_t{1} << 62;
  Header header =
      plan_header({.fpr = 0.01, .capacity = 3, .family = Family::redisbloom, .growth = 4});
  header.sub_filters = {sizes};
  const AnyValue filter = make_empty(header);
  EXPECT_EQ(insert(*filter, hashes_of(*filter, 0, 3)).added.stop, Stop::no_room);
}

TEST(Scalable, ItsLargestCapacityIsThatOfItsHeaderWhereItCannotGrow) {
  for (const Family family : kFamilies) {
    Header header = plan_header({.fpr = 0.01, .capacity = 100, .family = family, .scaling = false});
    EXPECT_EQ(max_scaled_capacity(header, UINT64_MAX), 100U);
    header = plan_header({.fpr = 0.01, .capacity = 100, .family = family});
    EXPECT_EQ(max_scaled_capacity(header, 1), 100U) << "it is larger than the limit";
    EXPECT_EQ(max_scaled_capacity(header, bytes_of(header)), 100U);
    header.sub_filters[0].entries = std::uint64_t{1} << 62;
    EXPECT_EQ(max_scaled_capacity(header, UINT64_MAX), std::uint64_t{1} << 62)
        << "no plan has more";
  }
  // More items than 64 bits can count.
  Header header = plan_header({.fpr = 0.01, .capacity = 100});
  header.sub_filters.insert(header.sub_filters.begin(), header.sub_filters[0]);
  header.sub_filters[0].entries = UINT64_MAX - 200;
  EXPECT_EQ(max_scaled_capacity(header, 1), UINT64_MAX - 100);
  EXPECT_EQ(max_scaled_capacity(header, 1'000'000), UINT64_MAX);
}

// As it would grow, up to the last byte; and where there are too many sub-filters to plan each, never more.
TEST(Scalable, ItsLargestCapacityIsThatOfTheSubFiltersWithinTheLimit) {
  struct Case {
    Family family;
    std::uint32_t growth;
    Tightening tightening;
    int exact;  // sub-filters
  };
  const Tightening slow = *Tightening::of(9999);
  for (const auto& [family, growth, tightening, exact] :
       {Case{Family::native, 1, {}, 200}, Case{Family::native, 2, {}, 200},
        Case{Family::redisbloom, 1, {}, 200}, Case{Family::redisbloom, 4, {}, 200},
        Case{Family::native, 1, slow, 64}}) {
    const Header header = plan_header({.fpr = 0.01,
                                       .capacity = 100,
                                       .family = family,
                                       .growth = growth,
                                       .tightening = tightening});
    auto newest = header.sub_filters[0];
    std::uint64_t bytes = bytes_of(header), capacity = newest.entries;
    for (int i = 0; i < 200; ++i) {
      const auto next = next_sub_filter(newest, family, header.options, growth, tightening);
      if (!next || bytes > std::uint64_t{1} << 50) break;
      newest = *next;
      bytes += sizeof(SubFilter) + newest.bytes;
      if (i <= exact) {
        ASSERT_EQ(max_scaled_capacity(header, bytes - 1), capacity) << growth << ", " << i;
      }
      if (i < exact) {
        capacity += newest.entries;
        ASSERT_EQ(max_scaled_capacity(header, bytes), capacity) << growth << ", " << i;
      }
      if (i == exact) {
        ASSERT_EQ(max_scaled_capacity(header, bytes), capacity);
      }
    }
  }
}

TEST(Scalable, ItsBytesAreThoseOfTheObjectTheTableTheKeyAndTheBits) {
  for (const Request& request :
       {Request{.fpr = 0.01, .capacity = 100},
        Request{.kind = bloomery::Kind::counting, .fpr = 0.01, .capacity = 100},
        Request{.kind = bloomery::Kind::window, .fpr = 0.01, .capacity = 100, .window = 100}}) {
    Header header = plan_header(request);
    const bool has_table = request.kind == bloomery::Kind::scalable;
    const std::uint64_t bytes = object_bytes(request.kind) + (has_table ? sizeof(SubFilter) : 0) +
                                header.sub_filters[0].bytes;
    EXPECT_EQ(bytes_of(header), bytes);
    header.key = bloomery::Seed{1, 2};
    EXPECT_EQ(bytes_of(header), bytes + 16);
  }
}

TEST(Scalable, IsPlannedWithTheKeyThatIsGiven) {
  Request request{.fpr = 0.01, .capacity = 100};
  EXPECT_EQ(plan_header(request).key, std::nullopt);
  request.keyed = true;
  EXPECT_NE(plan_header(request).key, std::nullopt);
  EXPECT_NE(plan_header(request).key, plan_header(request).key) << "each has its own";
  request.key = bloomery::Seed{1, 2};
  EXPECT_EQ(plan_header(request).key, request.key);
  request.family = Family::redisbloom;  // which has no keys
  EXPECT_EQ(plan_header(request).key, std::nullopt);
  request.capacity = std::uint64_t{1} << 62;
  bloomery::test::expect_error(bloomery::ErrorCode::invalid_argument, {"could not create filter"},
                               [&] { (void)plan_header(request); });
}

TEST(Scalable, KnowsWhichRateWasAskedFor) {
  for (const double fpr : {0.013, 0.3, 1e-7}) {
    for (const Family family : kFamilies)
      for (const bool scaling : {true, false})
        EXPECT_EQ(
            plan_header(
                {.fpr = std::min(fpr, 0.25), .capacity = 100, .family = family, .scaling = scaling})
                .asked_fpr(),
            std::min(fpr, 0.25));
    EXPECT_EQ(
        plan_header({.kind = bloomery::Kind::window, .fpr = fpr, .capacity = 100, .window = 100})
            .asked_fpr(),
        fpr);
  }
}

// The layouts of the library, each at the fprs where it is the default.
TEST(Scalable, EveryLayoutIsUsed) {
  CountedMemory memory;
  const auto first = [](double fpr, bool scaling) {
    return scalable(Family::native, fpr, 100, 2, scaling)->header().sub_filters[0];
  };
  const auto layout = [&](double fpr) { return plan_of(first(fpr, false)).layout; };
  EXPECT_EQ(layout(0.01), bloomery::Layout::blocked);
  EXPECT_EQ(layout(1e-6), bloomery::Layout::blocked2);
  EXPECT_EQ(layout(1e-12), bloomery::Layout::standard);
  // Above the library's range: the highest fpr in it.
  EXPECT_EQ(first(0.9, false).error, 0.5);
}

// The first share is not rounded up to the lowest rate: the sum of all would be more than was asked for.
TEST(Scalable, TheFirstShareIsWhatWasAskedFor) {
  CountedMemory memory;
  EXPECT_THROW((void)scalable(Family::native, 1.9e-15, 100), bloomery::Error);
  EXPECT_THROW((void)scalable(Family::native, 0.9e-15, 100, 2, false), bloomery::Error);
  EXPECT_EQ(scalable(Family::native, 1e-15, 100, 2, false)->header().sub_filters[0].error, 1e-15);
  EXPECT_EQ(scalable(Family::native, 2e-15, 100)->header().sub_filters[0].error, 1e-15);
}

}  // namespace
