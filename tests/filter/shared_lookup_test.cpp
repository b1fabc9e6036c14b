// Look-ups in one call that several threads share: the answers of one thread, in the order of the keys.
#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/layouts.hpp"

namespace bloomery::test {
namespace {

// Several parts for each of three threads, and one that is not whole. Under a sanitizer a part for each of three or
// eight threads.
const std::size_t kKeys = (hurried() ? 2 : 8) * detail::kKeysOfAPart + 123;
const unsigned kMostThreads = hurried() ? 8 : 64;
const std::size_t kMostKeys = kMostThreads * detail::kKeysOfAPart;
constexpr std::uint64_t kInserted = 100'000;

std::span<const std::uint64_t> keys(std::size_t count = kKeys) {
  static const std::vector<std::uint64_t> all = [] {
    std::vector<std::uint64_t> numbers(kMostKeys);
    for (std::size_t i = 0; i < kMostKeys; ++i) numbers[i] = (i * 7) % (3 * kInserted);
    return numbers;
  }();
  return std::span(all).first(count);
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
void expect_as_one_thread(const F& filter, std::size_t size = kKeys,
                          std::initializer_list<unsigned> several = {0, 1, 2, 3, 64}) {
  const auto asked = keys(size);
  const auto one = std::make_unique<bool[]>(size);
  const std::size_t count = filter.may_contain_many(asked, std::span(one.get(), size));
  ASSERT_GT(count, size / 4);
  ASSERT_LT(count, size / 2);
  for (const unsigned threads : several) {
    if (hurried() && threads != *(several.end() - 1)) continue;
    SCOPED_TRACE(threads);
    EXPECT_EQ(filter.may_contain_many(asked, {}, threads), count);
    const auto answers = std::make_unique<bool[]>(size + 1);
    answers[size] = true;
    EXPECT_EQ(filter.may_contain_many(asked, std::span(answers.get(), size), threads), count);
    EXPECT_TRUE(std::equal(one.get(), one.get() + size, answers.get()));
    EXPECT_TRUE(answers[size]) << "beyond the end";
    std::vector<bool> bits(size);
    EXPECT_EQ(filter.may_contain_many(asked, bits, threads), count);
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

// Each thread has a part.
TEST(SharedLookup, OfEveryLayoutByUpToSixtyFourThreads) {
  const auto expect_look_ups = [](auto& filter) {
    filter.insert_many(inserted());
    for (const unsigned threads : {4U, 8U, 16U, 32U, 64U}) {
      const bool is_between = threads != 4 && threads != kMostThreads;
      if ((is_between && !nightly()) || (threads != kMostThreads && hurried())) continue;
      expect_as_one_thread(filter, threads * detail::kKeysOfAPart, {threads});
    }
  };
  for (const Layout layout : kLayouts) {
    if (hurried() && layout != Layout::blocked2) continue;
    SCOPED_TRACE(std::string(to_string(layout)));
    Filter filter(plan(kInserted, 0.001, layout));
    expect_look_ups(filter);
  }
  for (const Layout layout : kNarrowLayouts) {
    if (hurried() && layout != Layout::blocked128) continue;
    SCOPED_TRACE("counting, " + std::string(to_string(layout)));
    CountingFilter filter(plan(kInserted, 0.001, layout));
    expect_look_ups(filter);
  }
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
  std::vector<bool> found(kKeys - 1);
  EXPECT_THROW((void)filter.may_contain_many(keys(), found, 2), Error);
}

}  // namespace
}  // namespace bloomery::test
