// Asking many filters at once gives what asking each of them gives.
#include "filter/layers.hpp"

#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/random.hpp"
#include "support/shapes.hpp"

namespace bloomery {
namespace {

// Filters of other sizes and hash counts, each with some of `keys`.
std::vector<Filter> some_layers(Layout layout, std::size_t count, const Hasher& hasher,
                                std::span<const Hash128> keys) {
  const std::vector<std::uint32_t> hashes = test::hash_counts(layout);
  std::vector<Filter> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.emplace_back(test::shape_of(layout, 3 + 11 * i * i, hashes[(5 + 3 * i) % hashes.size()]),
                     hasher);
    for (std::size_t key = i; key < keys.size(); key += count + 1)
      out.back().insert_hash(keys[key]);
  }
  return out;
}

std::vector<const FilterView*> views_of(const std::vector<Filter>& filters) {
  std::vector<const FilterView*> out;
  for (const Filter& filter : filters) out.push_back(&filter);
  return out;
}

void expect_agreement(const std::vector<Filter>& layers, std::span<const Hash128> asked) {
  std::vector<bool> expected;
  for (const Hash128 hash : asked)
    expected.push_back(std::any_of(layers.begin(), layers.end(), [&](const Filter& layer) {
      return layer.may_contain_hash(hash);
    }));
  const auto views = views_of(layers);
  const auto yes = static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true));
  // A guard behind the answers stays as it is.
  const auto found = std::make_unique<bool[]>(asked.size() + 1);
  EXPECT_EQ(detail::any_may_contain(views, asked, {found.get(), asked.size()}), yes);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.get()));
  EXPECT_FALSE(found[asked.size()]);
  EXPECT_EQ(detail::any_may_contain(views, asked, {}), yes);
  for (std::size_t i = 0; i < asked.size(); ++i)
    EXPECT_EQ(detail::any_may_contain_one(views, asked[i]), expected[i]);
}

TEST(Layers, AnswerAsEachOfThemDoes) {
  for (const Layout layout : test::kLayouts)
    for (const std::size_t count : {1, 2, 5, 11, 64})
      for (const Hasher& hasher : {Hasher(), Hasher(HashFamily::siphash, {.low = 1, .high = 2})}) {
        test::Random random(count);
        std::vector<Hash128> keys(3000);
        std::generate(keys.begin(), keys.end(), [&] { return random.hash(); });
        std::vector<Filter> layers = some_layers(layout, count, hasher, keys);
        for (std::size_t kernel = 0; kernel < detail::kernels_of(layout).size(); ++kernel) {
          for (Filter& layer : layers) layer.use_kernel(*detail::kernels_of(layout)[kernel]);
          for (const std::size_t asked : {0, 1, 15, 16, 17, 127, 129, 300, 1023, 1024, 1025, 3000})
            expect_agreement(layers, std::span(keys).first(asked));
          if (HasFailure()) FAIL() << to_string(layout) << ", " << count << " layers";
        }
      }
}

TEST(Layers, OfNoLayersContainNothing) {
  const Hash128 hash{1, 2};
  bool found = true;
  EXPECT_EQ(detail::any_may_contain({}, {&hash, 1}, {&found, 1}), 0U);
  EXPECT_FALSE(found);
  EXPECT_FALSE(detail::any_may_contain_one({}, hash));
}

}  // namespace
}  // namespace bloomery
