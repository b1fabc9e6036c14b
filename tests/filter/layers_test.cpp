// Asking many filters at once gives what asking each of them gives.
#include "filter/layers.hpp"

#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/naive_filter.hpp"
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

std::vector<const detail::Shape*> shapes_of(const std::vector<Filter>& filters) {
  std::vector<const detail::Shape*> out;
  for (const Filter& filter : filters) out.push_back(&filter.shape());
  return out;
}

// Answers with a guard behind them that stays as it is.
template <class Call>
void expect_answers(const std::vector<bool>& expected, Call call) {
  const auto yes = static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true));
  const auto found = std::make_unique<bool[]>(expected.size() + 1);
  EXPECT_EQ(call(std::span<bool>(found.get(), expected.size())), yes);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.get()));
  EXPECT_FALSE(found[expected.size()]);
  EXPECT_EQ(call(std::span<bool>()), yes);
}

void expect_agreement(const std::vector<Filter>& filters, const detail::Kernel& kernel,
                      std::span<const Hash128> asked) {
  const auto shapes = shapes_of(filters);
  const detail::Layers layers{&kernel, shapes};
  const auto expect_any = [&](Hash128 hash) {
    return std::any_of(filters.begin(), filters.end(),
                       [&](const Filter& filter) { return filter.may_contain_hash(hash); });
  };
  std::vector<bool> expected;
  for (const Hash128 hash : asked) {
    expected.push_back(expect_any(hash));
    ASSERT_EQ(detail::any_may_contain_one(layers, hash), expected.back());
  }
  expect_answers(expected,
                 [&](auto found) { return detail::any_may_contain(layers, asked, found); });

  std::vector<std::uint64_t> integers;
  expected.clear();
  for (std::uint64_t i = 0; i < asked.size(); ++i) {
    integers.push_back(test::mix(i));
    expected.push_back(expect_any(filters.front().hash(integers.back())));
  }
  expect_answers(expected, [&](auto found) {
    return detail::any_may_contain_integers(layers, filters.front().hasher(), integers, found);
  });
}

TEST(Layers, AnswerAsEachOfThemDoes) {
  for (const Layout layout : test::kLayouts)
    for (const std::size_t count : {1, 2, 3, 5, 11, 16, 17, 64})
      for (const Hasher& hasher : {Hasher(), Hasher(HashFamily::siphash, {.low = 1, .high = 2})}) {
        if (test::hurried() && hasher.family() == HashFamily::siphash && count != 5) continue;
        test::Random random(count);
        std::vector<Hash128> keys(3000);
        std::generate(keys.begin(), keys.end(), [&] { return random.hash(); });
        std::vector<Filter> layers = some_layers(layout, count, hasher, keys);
        for (std::uint64_t i = 0; i < 200; ++i) layers[i % count].insert(test::mix(3 * i));
        for (const detail::Kernel* kernel : detail::kernels_of(layout)) {
          for (const std::size_t asked : {0, 1, 15, 16, 17, 127, 129, 300, 1023, 1024, 1025, 3000})
            expect_agreement(layers, *kernel, std::span(keys).first(asked));
          if (HasFailure())
            FAIL() << to_string(layout) << ", " << count << " layers, " << kernel->name;
        }
      }
}

// One bit less than a key has, in every layer, must be seen; and a layer that has them all is enough.
TEST(Layers, EveryBitOfAKeyIsLookedAt) {
  for (const Layout layout : test::kLayouts)
    for (const detail::Kernel* kernel : detail::kernels_of(layout)) {
      const std::size_t counts = test::hash_counts(layout).size();
      for (std::size_t first = 0; first < counts; first += 5) {
        std::vector<Filter> layers;
        for (std::size_t i = 0; i < 3; ++i)
          layers.emplace_back(
              test::shape_of(layout, 5 + i, test::hash_counts(layout)[(first + i) % counts]));
        const auto shapes = shapes_of(layers);
        const detail::Layers list{kernel, shapes};
        test::Random random(first);
        std::vector<Hash128> asked(17);  // a block and one more
        for (std::size_t bit = 0; bit < layers[0].plan().hashes; ++bit) {
          std::generate(asked.begin(), asked.end(), [&] { return random.hash(); });
          for (const std::size_t which : {std::size_t{0}, bit % 16, std::size_t{16}}) {
            for (Filter& layer : layers)
              std::fill(layer.mutable_bytes().begin(), layer.mutable_bytes().end(),
                        std::byte{0xFF});
            for (Filter& layer : layers) {
              const auto positions = test::positions(layer.plan(), asked[which]);
              const std::uint64_t off = positions[bit % positions.size()];
              const auto found = std::make_unique<bool[]>(asked.size());
              detail::any_may_contain(list, asked, {found.get(), asked.size()});
              ASSERT_TRUE(found[which]) << test::describe(layer) << ", " << kernel->name;
              ASSERT_TRUE(detail::any_may_contain_one(list, asked[which]));
              layer.mutable_bytes()[off / 8] &= ~(std::byte{1} << (off % 8));
            }
            const auto found = std::make_unique<bool[]>(asked.size());
            detail::any_may_contain(list, asked, {found.get(), asked.size()});
            ASSERT_FALSE(found[which]) << to_string(layout) << ", " << kernel->name;
            ASSERT_FALSE(detail::any_may_contain_one(list, asked[which]));
          }
        }
      }
    }
}

TEST(Layers, OfNoLayersContainNothing) {
  const Hash128 hash{1, 2};
  const std::uint64_t key = 3;
  const detail::Layers none{&detail::kernel_for(Layout::line), {}};
  bool found = true;
  EXPECT_EQ(detail::any_may_contain(none, {&hash, 1}, {&found, 1}), 0U);
  EXPECT_FALSE(found);
  found = true;
  EXPECT_EQ(detail::any_may_contain_integers(none, Hasher(), {&key, 1}, {&found, 1}), 0U);
  EXPECT_FALSE(found);
  EXPECT_FALSE(detail::any_may_contain_one(none, hash));
}

}  // namespace
}  // namespace bloomery
