// A filter that grows: every key is found, its sub-filters are those of a naive list, and what it
// refuses leaves it whole.
#include <bloomery/encode.hpp>
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/key_families.hpp"
#include "support/layouts.hpp"
#include "support/moved_from.hpp"
#include "support/naive_scalable.hpp"

namespace bloomery::test {
namespace {

std::vector<ScalablePlan> some_plans(Layout layout) {
  return {scalable_plan(100, 0.01, 2, kDefaultTightening, layout),
          scalable_plan(1, 0.3, 2, 0.5, layout), scalable_plan(7, 0.001, 8, 0.6, layout),
          scalable_plan(300, 0.1, 1, 0.95, layout), scalable_plan(5000, 0.01, 3, 0.7, layout)};
}

class ScalableFamilies : public OfEachFamily {};

// Every pair of kernels, single and bulk, far beyond the first capacity.
TEST_P(ScalableFamilies, NeverAFalseNegativeAndTheSameBitsWhateverThePath) {
  const std::vector<Hash128> hashes = family().hashes(Hasher(), 0, hurried() ? 700 : 2500);
  for (const Layout layout : kLayouts)
    for (const ScalablePlan& plan : some_plans(layout)) {
      std::optional<ScalableFilter> first;
      for (const detail::Kernel* inserter : detail::kernels_of(layout))
        for (const bool bulk : {false, true}) {
          ScalableFilter filter(plan);
          filter.use_kernel(*inserter);
          if (bulk)
            filter.insert_hashes(hashes);
          else
            for (const Hash128 hash : hashes) filter.insert_hash(hash);
          if (!first)
            first.emplace(filter.copy());
          else
            ASSERT_TRUE(same_filters(*first, filter)) << inserter->name << (bulk ? ", bulk" : "");
          for (const detail::Kernel* finder : detail::kernels_of(layout)) {
            filter.use_kernel(*finder);
            ASSERT_EQ(filter.may_contain_hashes(hashes), hashes.size()) << finder->name;
            ASSERT_TRUE(std::all_of(hashes.begin(), hashes.end(), [&](Hash128 hash) {
              return filter.may_contain_hash(hash);
            })) << finder->name;
          }
        }
    }
}

// Keys themselves, by the calls that a user writes.
TEST_P(ScalableFamilies, AreFoundByTheKeyItself) {
  constexpr std::uint64_t kKeysInAll = 3000;
  ScalableFilter one(100, 0.01), many(100, 0.01);
  const auto integers = family().integers(kKeysInAll);
  const auto texts = family().texts(kKeysInAll);
  for (const std::uint64_t key : integers) one.insert(key);
  for (const std::string& key : texts) one.insert(key);
  EXPECT_EQ(many.insert_many(integers) + many.insert_many(texts), one.inserted());
  EXPECT_TRUE(same_filters(one, many));
  for (const std::uint64_t key : integers) ASSERT_TRUE(one.may_contain(key)) << key;
  for (const std::string& key : texts) ASSERT_TRUE(one.may_contain(key)) << key;
  EXPECT_EQ(one.may_contain_many(integers) + one.may_contain_many(texts), kKeysInAll);
}

INSTANTIATE_TEST_SUITE_P(Keys, ScalableFamilies, testing::ValuesIn(key_families()), name_of_family);

// ---- growth --------------------------------------------------------------------------------

// One bulk call across several sub-filters, with keys that come twice before and after they grow.
TEST(Scalable, GrowsInTheMiddleOfOneCallAsSingleInsertsWould) {
  std::vector<Hash128> hashes;
  for (const Hash128 hash : Random(1).hashes(hurried() ? 400 : 3000)) {
    hashes.push_back(hash);
    if (hashes.size() % 3 == 0) hashes.push_back(hashes[hashes.size() / 2]);
    if (hashes.size() % 5 == 0) hashes.push_back(hash);
  }
  for (const Layout layout : kLayouts)
    for (const ScalablePlan& plan : some_plans(layout))
      for (const std::size_t calls : {1, 2, 7, 500}) {
        if (hurried() && calls % 2 != 0) continue;
        ScalableFilter single(plan), bulk(plan);
        NaiveScalable naive(plan);
        const auto fresh = std::make_unique<bool[]>(hashes.size());
        std::size_t count = 0;
        for (std::size_t call = 0; call < calls; ++call) {
          const std::size_t from = hashes.size() * call / calls;
          const std::size_t size = hashes.size() * (call + 1) / calls - from;
          count +=
              bulk.insert_hashes(std::span(hashes).subspan(from, size), {fresh.get() + from, size});
        }
        for (std::size_t i = 0; i < hashes.size(); ++i) {
          ASSERT_EQ(single.insert_hash(hashes[i]), fresh[i]) << i;
          ASSERT_EQ(naive.insert(hashes[i]), fresh[i]) << i;
        }
        ASSERT_TRUE(same_filters(single, bulk)) << to_string(layout) << ", " << calls << " calls";
        EXPECT_EQ(count, single.inserted());
        ASSERT_EQ(naive.sub_filters().size(), bulk.sub_filters().size());
        for (std::size_t i = 0; i < naive.sub_filters().size(); ++i) {
          const std::vector<std::byte> bytes = naive.sub_filters()[i].bytes();
          ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), bulk.sub_filters()[i]->bytes().begin(),
                                 bulk.sub_filters()[i]->bytes().end()));
          EXPECT_EQ(bulk.inserted(i), naive.inserted()[i]);
        }
      }
}

// A sub-filter is full at exactly its capacity, and the next one comes with the next new key only.
TEST(Scalable, GrowsAtTheFirstNewKeyBeyondItsCapacity) {
  ScalableFilter filter(1000, 1e-6);
  const std::vector<Hash128> hashes = Random(2).hashes(1001);
  EXPECT_EQ(filter.insert_hashes(std::span(hashes).first(1000)), 1000U);
  EXPECT_FALSE(filter.grown());
  EXPECT_EQ(filter.insert_hashes(std::span(hashes).first(1000)), 0U);
  for (const Hash128 hash : std::span(hashes).first(1000)) EXPECT_FALSE(filter.insert_hash(hash));
  EXPECT_FALSE(filter.grown());
  EXPECT_EQ(filter.capacity(), 1000U);
  EXPECT_TRUE(filter.insert_hash(hashes.back()));
  EXPECT_TRUE(filter.grown());
  EXPECT_EQ(filter.sub_filters().size(), 2U);
  EXPECT_EQ(filter.capacity(), 3000U);
  EXPECT_EQ(filter.inserted(), 1001U);
  EXPECT_EQ(filter.inserted(0), 1000U);
  EXPECT_EQ(filter.inserted(1), 1U);
}

// Single calls go to the only sub-filter, to a kernel that takes up to sixteen, or to groups of them.
TEST(Scalable, SingleCallsAnswerAsBulkOnesWithAnyNumberOfSubFilters) {
  ScalableFilter filter(1, 0.01);
  std::vector<std::uint64_t> keys(64);
  std::array<bool, 64> found{};
  for (std::size_t sub_filters = 1; sub_filters <= 20; ++sub_filters) {
    for (std::uint64_t key = filter.inserted(); filter.sub_filters().size() < sub_filters; ++key)
      filter.insert(key);
    // The oldest keys, the newest, and absent ones.
    const std::uint64_t newest = filter.inserted();
    for (std::size_t i = 0; i < 64; ++i)
      keys[i] = i < 16 ? i : i < 32 ? newest - i % 16 : (std::uint64_t{1} << 40) + i;
    filter.may_contain_many(keys, found);
    for (std::size_t i = 0; i < 64; ++i)
      ASSERT_EQ(filter.may_contain(keys[i]), found[i])
          << sub_filters << " sub-filters, key " << keys[i];
  }
}

TEST(Scalable, KeepsItsKeysIfItIsMovedToItself) {
  ScalableFilter filter(10, 0.01);
  for (std::uint64_t key = 0; key < 100; ++key) filter.insert(key);
  const auto before = encode(filter);
  ScalableFilter& itself = filter;
  filter = std::move(itself);
  EXPECT_EQ(encode(filter), before);
}

// A stream of repeats while one place is left must not ask for every key by itself.
TEST(Scalable, RepeatsDoNotUseTheRoomThatIsLeft) {
  ScalableFilter filter(1000, 0.001);
  const std::vector<Hash128> hashes = Random(3).hashes(999);
  filter.insert_hashes(hashes);
  for (int round = 0; round < 20; ++round) EXPECT_EQ(filter.insert_hashes(hashes), 0U);
  EXPECT_LE(filter.inserted(), 999U);
  EXPECT_FALSE(filter.grown());
}

// ---- measures --------------------------------------------------------------------------------

TEST(Scalable, MeasuresAreThoseOfItsSubFilters) {
  ScalableFilter filter(1000, 0.01);
  EXPECT_EQ(filter.fill(), 0);
  EXPECT_EQ(filter.current_fpr(), 0);
  EXPECT_EQ(filter.estimated_items(), 0);
  filter.insert_hashes(Random(4).hashes(20'000));
  double ones = 0, bits = 0, items = 0, none = 1, sum = 0;
  for (const FilterView* sub_filter : filter.sub_filters()) {
    bits += static_cast<double>(sub_filter->plan().bits);
    ones += sub_filter->fill() * static_cast<double>(sub_filter->plan().bits);
    items += sub_filter->estimated_items();
    none *= 1 - sub_filter->current_fpr();
    sum += sub_filter->current_fpr();
  }
  EXPECT_EQ(static_cast<double>(filter.bits()), bits);
  EXPECT_NEAR(filter.fill(), ones / bits, 1e-12);
  EXPECT_NEAR(filter.estimated_items(), items, 1e-6);
  EXPECT_NEAR(filter.estimated_items() / static_cast<double>(filter.inserted()), 1, 0.05);
  EXPECT_GT(filter.current_fpr(), 1 - none);
  EXPECT_LT(filter.current_fpr(), sum);
  EXPECT_LT(filter.current_fpr(), 0.01);
  EXPECT_FALSE(filter.over_capacity());
}

// Keys that look as if they were there are not counted, so a full sub-filter has the bits of more keys than it counted.
TEST(Scalable, IsNotOverCapacityHoweverManyKeysLookedPresent) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
    for (const double fpr : {0.5, 0.1}) {
      ScalableFilter filter(scalable_plan(100'000, fpr, 2, 0.5, layout));
      for (const Hash128 hash : Random(7).hashes(300'000)) filter.insert_hash(hash);
      SCOPED_TRACE(std::to_string(fpr) + ", layout " + std::string(to_string(layout)));
      ASSERT_TRUE(filter.grown());
      EXPECT_TRUE(filter.sub_filters().front()->over_capacity()) << "as if it were alone";
      EXPECT_FALSE(filter.over_capacity());
      EXPECT_FALSE(filter.stats(Precision::exact).over_capacity);
      EXPECT_FALSE(filter.stats().over_capacity);
    }
}

TEST(Scalable, ClearsToItsFirstSubFilter) {
  ScalableFilter filter(100, 0.01), fresh(100, 0.01);
  const std::vector<Hash128> hashes = Random(5).hashes(2000);
  filter.insert_hashes(hashes);
  filter.reserve(10'000);  // sub-filters that come after those which are forgotten
  filter.clear();
  EXPECT_TRUE(same_filters(filter, fresh));
  EXPECT_EQ(filter.may_contain_hashes(hashes), 0U);
  filter.insert_hashes(hashes);
  fresh.insert_hashes(hashes);
  EXPECT_TRUE(same_filters(filter, fresh));
}

TEST(Scalable, CopiesAndMovesWithItsSubFilters) {
  ScalableFilter filter(100, 0.01);
  const std::vector<Hash128> hashes = Random(6).hashes(1000);
  filter.insert_hashes(hashes);
  ScalableFilter same = filter.copy();
  EXPECT_TRUE(same_filters(filter, same));
  const ScalableFilter moved = std::move(filter);
  EXPECT_TRUE(same_filters(moved, same));
  EXPECT_EQ(moved.may_contain_hashes(hashes), hashes.size());
  same.insert_hashes(Random(7).hashes(1000));
  EXPECT_FALSE(same_filters(moved, same));
}

TEST(Scalable, KnowsNothingOnceItIsMovedFrom) {
  ScalableFilter filter(100, 0.01);
  const std::vector<Hash128> hashes = Random(12).hashes(300);
  filter.insert_hashes(hashes);
  const ScalableFilter owner = std::move(filter);
  // NOLINTBEGIN(bugprone-use-after-move): it is specified
  expect_knows_nothing(filter);
  EXPECT_TRUE(filter.sub_filters().empty());
  EXPECT_EQ(filter.capacity() + filter.inserted() + filter.bits(), 0U);
  // NOLINTEND(bugprone-use-after-move)
  filter = owner.copy();
  EXPECT_TRUE(same_filters(filter, owner));
}

TEST(Scalable, UsesTheKernelThatItIsGivenInReservedSubFiltersToo) {
  ScalableFilter filter(100, 0.01);
  filter.reserve(500);
  const detail::Kernel& scalar = *detail::kernels_of(Layout::blocked).front();
  filter.use_kernel(scalar);
  filter.insert_hashes(Random(13).hashes(2'000));
  ASSERT_GT(filter.sub_filters().size(), 4U);  // also some that were not reserved
  for (const FilterView* sub_filter : filter.sub_filters())
    EXPECT_EQ(&sub_filter->kernel(), &scalar);
}

// ---- what cannot grow ----------------------------------------------------------------------------

// At its limit it refuses new keys, one by one or many, answers for those it has, and stays whole.
TEST(Scalable, StaysWholeWhereItCannotGrow) {
  const ScalablePlan plan =
      scalable_plan(50, 1e-14, 1, 0.5);  // three sub-filters, by the least rate
  ScalableFilter filter(plan);
  const std::vector<Hash128> hashes = Random(10).hashes(200);
  const auto fresh = std::make_unique<bool[]>(hashes.size());
  try {
    filter.insert_hashes(hashes, {fresh.get(), hashes.size()});
    FAIL() << "it grew to " << filter.sub_filters().size() << " sub-filters";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::too_large);
    EXPECT_NE(std::string(error.what()).find("4 sub-filters"), std::string::npos) << error.what();
  }
  EXPECT_EQ(filter.inserted(), 150U);
  EXPECT_EQ(filter.sub_filters().size(), 3U);
  EXPECT_EQ(std::count(fresh.get(), fresh.get() + 150, true), 150);
  const std::span<const Hash128> in = std::span(hashes).first(150);
  EXPECT_EQ(filter.may_contain_hashes(in), 150U);
  ScalableFilter before = filter.copy();
  for (const Hash128 hash : std::span(hashes).subspan(150))
    EXPECT_THROW(filter.insert_hash(hash), Error);
  EXPECT_THROW(filter.insert_hashes(hashes), Error);
  EXPECT_EQ(filter.insert_hashes(in), 0U);
  EXPECT_TRUE(same_filters(filter, before));
}

}  // namespace
}  // namespace bloomery::test
