// Asking many filters at once gives what asking each of them gives.
#include "filter/sub_filters.hpp"

#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/layouts.hpp"
#include "support/naive_filter.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

// Filters of other sizes and hash counts, each with some of `keys`.
std::vector<Filter> some_sub_filters(Layout layout, std::size_t count, const Hasher& hasher,
                                     std::span<const Hash128> keys) {
  const std::vector<std::uint32_t> hashes = hash_counts(layout);
  std::vector<Filter> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.emplace_back(plan_of(layout, 3 + 11 * i * i, hashes[(5 + 3 * i) % hashes.size()]), hasher);
    for (std::size_t key = i; key < keys.size(); key += count + 1)
      out.back().insert_hash(keys[key]);
  }
  return out;
}

std::vector<const detail::BitArray*> arrays_of(const std::vector<Filter>& filters) {
  std::vector<const detail::BitArray*> out;
  for (const Filter& filter : filters) out.push_back(&filter.bit_array());
  return out;
}

// Answers with a guard behind them that stays as it is.
template <class Call>
void expect_answers(const std::vector<bool>& expected, Call call) {
  const auto yes = static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true));
  const auto found = std::make_unique<bool[]>(expected.size() + 1);
  EXPECT_EQ(call(found.get()), yes);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.get()));
  EXPECT_FALSE(found[expected.size()]);
  EXPECT_EQ(call(nullptr), yes);
}

void expect_agreement(const std::vector<Filter>& filters, const detail::Kernel& kernel,
                      std::span<const Hash128> asked) {
  const auto arrays = arrays_of(filters);
  const detail::SubFilters sub_filters{&kernel, arrays};
  const auto expect_any = [&](Hash128 hash) {
    return std::any_of(filters.begin(), filters.end(),
                       [&](const Filter& filter) { return filter.may_contain_hash(hash); });
  };
  std::vector<bool> expected;
  for (const Hash128 hash : asked) {
    expected.push_back(expect_any(hash));
    ASSERT_EQ(detail::may_contain_in_any_one(sub_filters, hash), expected.back());
  }
  expect_answers(
      expected, [&](bool* found) { return detail::may_contain_in_any(sub_filters, asked, found); });

  const Hasher& hasher = filters.front().hasher();
  if (hasher.family() != HashFamily::xxh3) return;
  std::vector<std::uint64_t> integers;
  expected.clear();
  for (std::uint64_t i = 0; i < asked.size(); ++i) {
    integers.push_back(mix(i));
    expected.push_back(expect_any(hasher(integers.back())));
  }
  expect_answers(expected, [&](bool* found) {
    return detail::may_contain_in_any(sub_filters, hasher.seed_multiplier(), integers, found);
  });
}

TEST(SubFilters, AnswerAsEachOfThemDoes) {
  for (const Layout layout : kLayouts)
    for (const std::size_t count : {1, 2, 3, 5, 11, 16, 17, 64})
      for (const Hasher& hasher : {Hasher(), Hasher(HashFamily::siphash, {.low = 1, .high = 2})}) {
        if (hurried() && hasher.family() == HashFamily::siphash && count != 5) continue;
        Random random(count);
        std::vector<Hash128> keys(3000);
        std::generate(keys.begin(), keys.end(), [&] { return random.hash(); });
        std::vector<Filter> sub_filters = some_sub_filters(layout, count, hasher, keys);
        for (std::uint64_t i = 0; i < 200; ++i) sub_filters[i % count].insert(mix(3 * i));
        for (const detail::Kernel* kernel : detail::kernels_of(layout)) {
          for (const std::size_t asked : {0, 1, 15, 16, 17, 127, 129, 300, 1023, 1024, 1025, 3000})
            if (!hurried() || asked <= 300 || asked == 1025)
              expect_agreement(sub_filters, *kernel, std::span(keys).first(asked));
          if (HasFailure())
            FAIL() << to_string(layout) << ", " << count << " sub-filters, " << kernel->name;
        }
      }
}

// One bit less than a key has, in every sub-filter, must be seen; and a sub-filter that has them all is enough.
TEST(SubFilters, EveryBitOfAKeyIsLookedAt) {
  for (const Layout layout : kLayouts)
    for (const detail::Kernel* kernel : detail::kernels_of(layout)) {
      const std::size_t counts = hash_counts(layout).size();
      for (std::size_t first = 0; first < counts; first += 5) {
        std::vector<Filter> sub_filters;
        for (std::size_t i = 0; i < 3; ++i)
          sub_filters.emplace_back(
              plan_of(layout, 5 + i, hash_counts(layout)[(first + i) % counts]));
        const auto arrays = arrays_of(sub_filters);
        const detail::SubFilters list{kernel, arrays};
        Random random(first);
        std::vector<Hash128> asked(17);  // a block and one more
        for (std::size_t bit = 0; bit < sub_filters[0].plan().hashes; ++bit) {
          std::generate(asked.begin(), asked.end(), [&] { return random.hash(); });
          for (const std::size_t which : {std::size_t{0}, bit % 16, std::size_t{16}}) {
            for (Filter& sub_filter : sub_filters)
              std::fill(sub_filter.mutable_bytes().begin(), sub_filter.mutable_bytes().end(),
                        std::byte{0xFF});
            for (Filter& sub_filter : sub_filters) {
              const auto positions = test::positions(sub_filter.plan(), asked[which]);
              const std::uint64_t off = positions[bit % positions.size()];
              const auto found = std::make_unique<bool[]>(asked.size());
              detail::may_contain_in_any(list, asked, found.get());
              ASSERT_TRUE(found[which]) << describe(sub_filter) << ", " << kernel->name;
              ASSERT_TRUE(detail::may_contain_in_any_one(list, asked[which]));
              sub_filter.mutable_bytes()[off / 8] &= ~(std::byte{1} << (off % 8));
            }
            const auto found = std::make_unique<bool[]>(asked.size());
            detail::may_contain_in_any(list, asked, found.get());
            ASSERT_FALSE(found[which]) << to_string(layout) << ", " << kernel->name;
            ASSERT_FALSE(detail::may_contain_in_any_one(list, asked[which]));
          }
        }
      }
    }
}

TEST(SubFilters, OfNoSubFiltersContainNothing) {
  const Hash128 hash{1, 2};
  const std::uint64_t key = 3;
  const detail::SubFilters none{&detail::kernel_for(Layout::blocked), {}};
  bool found = true;
  EXPECT_EQ(detail::may_contain_in_any(none, {&hash, 1}, &found), 0U);
  EXPECT_FALSE(found);
  found = true;
  EXPECT_EQ(detail::may_contain_in_any(none, 1, {&key, 1}, &found), 0U);
  EXPECT_FALSE(found);
  EXPECT_FALSE(detail::may_contain_in_any_one(none, hash));
}

}  // namespace
}  // namespace bloomery::test
