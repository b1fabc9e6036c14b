// Look-ups in one call that several threads share: the answers of one thread, in the order of the keys.
#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bloomery {
namespace {

// Several parts for each of three threads, and one that is not whole.
constexpr std::size_t kKeys = 8 * detail::kKeysOfAPart + 123;
constexpr std::uint64_t kInserted = 100'000;

const std::vector<std::uint64_t>& keys() {
  static const std::vector<std::uint64_t> all = [] {
    std::vector<std::uint64_t> numbers(kKeys);
    for (std::size_t i = 0; i < kKeys; ++i) numbers[i] = (i * 7) % (3 * kInserted);
    return numbers;
  }();
  return all;
}
std::span<const std::uint64_t> inserted() {
  static const std::vector<std::uint64_t> numbers = [] {
    std::vector<std::uint64_t> some(kInserted);
    for (std::size_t i = 0; i < kInserted; ++i) some[i] = i;
    return some;
  }();
  return numbers;
}

template <class F>
void expect_as_one_thread(const F& filter) {
  const auto one = std::make_unique<bool[]>(kKeys);
  const std::size_t count = filter.may_contain_many(keys(), std::span(one.get(), kKeys));
  ASSERT_GT(count, kKeys / 4);
  ASSERT_LT(count, kKeys / 2);
  for (const unsigned threads : {0U, 1U, 2U, 3U, 64U}) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(filter.may_contain_many(keys(), {}, threads), count);
    const auto several = std::make_unique<bool[]>(kKeys + 1);
    several[kKeys] = true;
    EXPECT_EQ(filter.may_contain_many(keys(), std::span(several.get(), kKeys), threads), count);
    EXPECT_TRUE(std::equal(one.get(), one.get() + kKeys, several.get()));
    EXPECT_TRUE(several[kKeys]) << "beyond the end";
    std::vector<bool> bits(kKeys);
    EXPECT_EQ(filter.may_contain_many(keys(), bits, threads), count);
    EXPECT_TRUE(std::equal(bits.begin(), bits.end(), one.get()));
  }
}

TEST(SharedLookup, OfEveryKindIsThatOfOneThread) {
  Filter plain(kInserted, 0.001);
  plain.insert_many(inserted());
  expect_as_one_thread(plain);
  ConcurrentFilter concurrent(plain);
  expect_as_one_thread(concurrent);
  CountingFilter counting(kInserted, 0.001);
  counting.insert_many(inserted());
  expect_as_one_thread(counting);
  ScalableFilter scalable(1'000, 0.001);
  scalable.insert_many(inserted());
  expect_as_one_thread(scalable);
  WindowFilter window(window_plan(WindowUnit::insertions, kInserted, kInserted, 0.001));
  window.insert_many(inserted());
  expect_as_one_thread(window);
  FrozenBuilder builder(0.001);
  builder.insert_many(inserted());
  expect_as_one_thread(builder.build());
}

TEST(SharedLookup, TakesTextAndNoKeys) {
  Filter filter(1'000, 0.001);
  filter.insert("7");
  std::vector<std::string> texts(200'000, "none");
  texts[199'999] = "7";
  std::vector<bool> found(texts.size());
  EXPECT_EQ(filter.may_contain_many(texts, found, 2), 1U);
  EXPECT_TRUE(found[199'999]);
  EXPECT_EQ(filter.may_contain_many(std::vector<std::string>(), {}, 2), 0U);
}

TEST(SharedLookup, WithTooLittleRoomIsAnError) {
  const Filter filter(1'000, 0.001);
  std::vector<bool> found(keys().size() - 1);
  EXPECT_THROW((void)filter.may_contain_many(keys(), found, 2), Error);
}

}  // namespace
}  // namespace bloomery
