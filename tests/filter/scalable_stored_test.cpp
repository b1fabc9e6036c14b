// A filter that grows, from sub-filters that were stored: it grows on, and what is not of its plan is refused.
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "support/layouts.hpp"
#include "support/naive_scalable.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

// The sub-filters of a filter, borrowed from it or copied into memory of their own.
std::vector<SubFilterState> sub_filters_of(const ScalableFilter& filter, bool own) {
  std::vector<SubFilterState> out;
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i) {
    const FilterView& sub_filter = *filter.sub_filters()[i];
    auto* bits = const_cast<std::byte*>(sub_filter.bytes().data());
    SubFilterState state{
        sub_filter.plan(), filter.inserted(i), {bits, sub_filter.bytes().size()}, {}};
    if (own) {
      state.memory = detail::BitMemory(state.bits.size());
      std::copy(state.bits.begin(), state.bits.end(), state.memory.bytes().begin());
      state.bits = state.memory.bytes();
    }
    out.push_back(std::move(state));
  }
  return out;
}

TEST(Scalable, IsRestoredFromItsSubFiltersAndGrowsOn) {
  for (const Layout layout : kLayouts)
    for (const Hasher& hasher : {Hasher(), Hasher(HashFamily::siphash, {.low = 1, .high = 2})}) {
      const ScalablePlan plan = scalable_plan(100, 0.01, 2, 0.8, layout);
      ScalableFilter whole(plan, hasher), stored(plan, hasher);
      const std::vector<Hash128> hashes = Random(8).hashes(3000);
      stored.insert_hashes(std::span(hashes).first(1234));
      {
        const ScalableFilter reader =
            ScalableFilter::restore(plan, hasher, sub_filters_of(stored, false));
        EXPECT_TRUE(same_filters(reader, stored));
        EXPECT_EQ(reader.may_contain_hashes(std::span(hashes).first(1234)), 1234U);
      }
      ScalableFilter restored = ScalableFilter::restore(plan, hasher, sub_filters_of(stored, true));
      restored.insert_hashes(std::span(hashes).subspan(1234));
      whole.insert_hashes(hashes);
      EXPECT_TRUE(same_filters(restored, whole));
    }
}

// As salvage repairs a file, and as nobody's keys could fill a sub-filter.
TEST(Scalable, IsOverCapacityWhereASubFilterIsMostlyOnes) {
  ScalableFilter filter(scalable_plan(10'000, 0.01));
  filter.insert_hashes(Random(11).hashes(40'000));
  ASSERT_GE(filter.sub_filters().size(), 3U);
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i) {
    for (const std::size_t quarters : {3U, 4U}) {
      std::vector<SubFilterState> sub_filters = sub_filters_of(filter, true);
      std::ranges::fill(sub_filters[i].bits.first(sub_filters[i].bits.size() / 4 * quarters),
                        std::byte{0xFF});
      const ScalableFilter repaired =
          ScalableFilter::restore(filter.plan(), Hasher(), std::move(sub_filters));
      EXPECT_TRUE(repaired.over_capacity()) << i << ", " << quarters;
      EXPECT_TRUE(repaired.stats().over_capacity) << i << ", " << quarters;
      EXPECT_TRUE(repaired.stats(Precision::exact).over_capacity) << i << ", " << quarters;
    }
  }
  EXPECT_FALSE(filter.over_capacity());
}

template <class Change>
std::optional<ErrorCode> restore_refusal(Change change) {
  const ScalablePlan plan = scalable_plan(100, 0.01);
  ScalableFilter filter(plan);
  filter.insert_hashes(Random(9).hashes(500));
  std::vector<SubFilterState> sub_filters = sub_filters_of(filter, true);
  change(sub_filters);
  try {
    (void)ScalableFilter::restore(plan, Hasher(), std::move(sub_filters));
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST(Scalable, RefusesSubFiltersThatAreNotOfItsPlan) {
  using enum ErrorCode;
  using SubFilters = std::vector<SubFilterState>;
  EXPECT_EQ(restore_refusal([](SubFilters&) {}), std::nullopt);
  EXPECT_EQ(restore_refusal([](SubFilters& sub_filters) { sub_filters.clear(); }),
            invalid_argument);
  EXPECT_EQ(
      restore_refusal([](SubFilters& sub_filters) { sub_filters.erase(sub_filters.begin()); }),
      mismatch);
  EXPECT_EQ(
      restore_refusal([](SubFilters& sub_filters) { std::swap(sub_filters[0], sub_filters[1]); }),
      mismatch);
  EXPECT_EQ(restore_refusal([](SubFilters& sub_filters) { --sub_filters[0].inserted; }), mismatch);
  EXPECT_EQ(
      restore_refusal([](SubFilters& sub_filters) { sub_filters.back().inserted = 1'000'000; }),
      mismatch);
  EXPECT_EQ(restore_refusal([](SubFilters& sub_filters) { sub_filters.back().inserted = 0; }),
            std::nullopt);
  EXPECT_EQ(restore_refusal([](SubFilters& sub_filters) { sub_filters[1].plan.fpr *= 1.01; }),
            mismatch);
  EXPECT_EQ(restore_refusal([](SubFilters& sub_filters) { sub_filters[1].plan.capacity += 1; }),
            mismatch);
  EXPECT_EQ(restore_refusal(
                [](SubFilters& sub_filters) { sub_filters[1].plan.layout = Layout::standard; }),
            mismatch);
  EXPECT_EQ(restore_refusal([](SubFilters& sub_filters) { sub_filters[1].plan.hashes = 99; }),
            invalid_argument);
  EXPECT_EQ(restore_refusal([](SubFilters& sub_filters) {
              sub_filters[1].bits = sub_filters[1].bits.first(64);
            }),
            mismatch);
}

TEST(Scalable, RefusesMoreThan64StoredSubFilters) {
  const ScalablePlan plan = scalable_plan(1, 0.5, 1, 0.95);
  ScalableFilter filter(plan);
  std::vector<SubFilterState> sub_filters;
  for (std::uint32_t i = 0; i < 65; ++i) {
    const Plan sub_filter = sub_filter_plan(plan, std::min(i, 63U));
    detail::BitMemory memory(sub_filter.bytes());
    const auto bits = memory.bytes();
    sub_filters.push_back({sub_filter, 1, bits, std::move(memory)});
  }
  try {
    (void)ScalableFilter::restore(plan, Hasher(), std::move(sub_filters));
    FAIL() << "65 sub-filters were taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::too_large);
  }
}

}  // namespace
}  // namespace bloomery::test
