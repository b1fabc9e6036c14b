// The answers of the handle's calls for many keys, which go part by part: any range takes them, with room for each.
#include <gtest/gtest.h>
#include <bloomery/any_filter.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/read_once.hpp"

namespace bloomery::test {
namespace {

TEST(AnyAnswers, TakesMoreKeysThanAPartHolds) {
  AnyFilter any(plan({.capacity = 200'000, .fpr = 0.01}));
  std::vector<std::uint64_t> keys(150'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  const auto answers = std::make_unique<bool[]>(keys.size());
  const std::size_t fresh = any.insert_many(keys, {answers.get(), keys.size()});
  EXPECT_EQ(static_cast<std::size_t>(std::count(answers.get(), answers.get() + keys.size(), true)),
            fresh);
  EXPECT_EQ(any.may_contain_many(keys, {answers.get(), keys.size()}), keys.size());
}

TEST(AnyAnswers, AcknowledgesAllPartsOfACall) {
  AnyFilter any(plan({.kind = Kind::counting, .capacity = 200'000, .fpr = 0.01}));
  std::vector<std::uint64_t> keys(140'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  any.insert_many(keys);
  EXPECT_EQ(any.acknowledged(), keys.size());
  (void)any.may_contain(7);  // a look-up leaves it as it is
  EXPECT_EQ(any.may_contain_many(std::span(keys).first(100)), 100U);
  EXPECT_EQ(any.acknowledged(), keys.size());
  any.insert_many(std::vector<std::uint64_t>{});
  EXPECT_EQ(any.acknowledged(), 0U);
  // A range that cannot be counted first: two parts are done, the third has no room.
  const auto room = std::make_unique<bool[]>(keys.size());
  ReadOnce once{std::span<const std::uint64_t>(keys)};
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    any.insert_many(once, {room.get(), 135'000});
  });
  EXPECT_EQ(any.acknowledged(), 131'072U);
  // One that can: nothing has changed.
  expect_error(ErrorCode::invalid_argument, {"140000 keys"}, [&] {
    any.remove_many(keys, {room.get(), 135'000});
  });
  EXPECT_EQ(any.may_contain_many(keys), keys.size());
}

TEST(AnyAnswers, WantsRoomForTheAnswers) {
  AnyFilter any(plan({.capacity = 100, .fpr = 0.01}));
  const Hash128 hashes[2] = {{1, 2}, {3, 4}};
  bool answer = false;
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    (void)any.apply(AnyFilter::Operation::insert, hashes, {&answer, 1});
  });
  const std::string_view keys[2] = {"a", "b"};
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    (void)any.apply(AnyFilter::Operation::insert, keys, {&answer, 1});
  });
  EXPECT_EQ(any.stats().fill, 0);
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    (void)any.insert_many(std::vector<int>{1, 2}, {&answer, 1});
  });
}

// In a filter that answers by itself, and in one that is asked part by part.
TEST(AnyAnswers, AnswersIntoAnyRangeOfBools) {
  std::vector<std::uint64_t> keys(70'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i / 2;
  for (const Kind kind : {Kind::plain, Kind::counting}) {
    AnyFilter any(plan({.kind = kind, .capacity = 40'000, .fpr = 0.01}));
    AnyFilter same(plan({.kind = kind, .capacity = 40'000, .fpr = 0.01}));
    const auto bools = std::make_unique<bool[]>(keys.size());
    std::vector<bool> bits(keys.size());
    const std::size_t fresh = same.insert_many(keys, {bools.get(), keys.size()});
    EXPECT_EQ(any.insert_many(keys, bits), fresh);
    EXPECT_TRUE(std::equal(bits.begin(), bits.end(), bools.get()));
    std::vector<int> found(keys.size());
    EXPECT_EQ(any.may_contain_many(keys, found), keys.size());
    EXPECT_EQ(std::count(found.begin(), found.end(), 1), 70'000);

    std::vector<bool> few(3), none;
    ReadOnce once{std::span<const std::uint64_t>(keys)};
    expect_error(ErrorCode::invalid_argument, {"3 answers", "70000 keys"},
                 [&] { (void)any.may_contain_many(keys, few); });
    expect_error(ErrorCode::invalid_argument, {"0 answers"},
                 [&] { (void)any.may_contain_many(keys, none); });
    expect_error(ErrorCode::invalid_argument, {"0 answers"},
                 [&] { (void)any.may_contain_many(once, none); });
    ReadOnce empty{std::span<const std::uint64_t>()};
    EXPECT_EQ(any.may_contain_many(empty, none), 0U);
  }
}

// The answers before an error are there, as many as acknowledged() says.
TEST(AnyAnswers, AnswersBeforeAnErrorAreCopiedToo) {
  AnyFilter any(plan({.kind = Kind::counting, .capacity = 100'000, .fpr = 0.01}));
  std::vector<std::uint64_t> keys(70'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  std::vector<bool> found(66'000, false);
  any.insert_many(keys);
  ReadOnce once{std::span<const std::uint64_t>(keys)};
  expect_error(ErrorCode::invalid_argument, {"66000 answers"},
               [&] { (void)any.may_contain_many(once, found); });
  EXPECT_EQ(any.acknowledged(), 65'536U);
  EXPECT_EQ(std::count(found.begin(), found.begin() + 65'536, true), 65'536);
}

// A refused call changes no answer, and no call changes those behind its keys.
TEST(AnyAnswers, OfOtherKeysStay) {
  std::vector<std::uint64_t> keys(100);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  for (const Kind kind : {Kind::plain, Kind::counting, Kind::scalable, Kind::window}) {
    FilterSpec spec{.kind = kind, .capacity = 1000, .fpr = 0.01};
    if (kind == Kind::window) spec.window = {WindowUnit::insertions, 1000};
    AnyFilter any(plan(spec));
    any.insert_many(keys);
    ASSERT_EQ(any.acknowledged(), keys.size());
    std::vector<int> few(99, 7), many(1000, 7);
    expect_error(ErrorCode::invalid_argument, {"99 answers"},
                 [&] { (void)any.may_contain_many(keys, few); });
    EXPECT_EQ(any.acknowledged(), 0U);
    EXPECT_EQ(std::count(few.begin(), few.end(), 7), 99);
    EXPECT_EQ(any.may_contain_many(keys, many), keys.size());
    EXPECT_EQ(std::count(many.begin(), many.end(), 7), 900);
  }
}

// A range that says it has no keys, and has three.
struct SaysNone {
  [[nodiscard]] auto begin() const { return keys.begin(); }
  [[nodiscard]] auto end() const { return keys.end(); }
  [[nodiscard]] static std::size_t size() { return 0; }
  std::list<std::uint64_t> keys{1, 2, 3};
};

TEST(AnyAnswers, AreNotWrittenPastTheRoomForNoKeys) {
  for (const Kind kind : {Kind::plain, Kind::counting}) {
    AnyFilter any(plan({.kind = kind, .capacity = 100, .fpr = 0.01}));
    std::vector<bool> none;
    std::vector<int> two(2, 7);
    expect_error(ErrorCode::invalid_argument, {"0 answers", "3 keys"},
                 [&] { any.insert_many(SaysNone{}, none); });
    EXPECT_EQ(any.acknowledged(), 0U);
    expect_error(ErrorCode::invalid_argument, {"answers", "3 keys"},
                 [&] { any.insert_many(SaysNone{}, two); });
    expect_error(ErrorCode::invalid_argument, {"answers", "3 keys"},
                 [&] { any.may_contain_many(SaysNone{}, two); });
    EXPECT_EQ(two, (std::vector<int>{7, 7}));
  }
}

// 200,000 keys; one of them throws.
struct KeysUntil {
  struct Iterator {
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    std::uint64_t operator*() const {
      if (at == last) throw std::out_of_range("no more keys");
      return at;
    }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++at;
      return before;
    }
    bool operator==(const Iterator&) const = default;
    std::uint64_t at = 0, last = 0;
  };
  [[nodiscard]] Iterator begin() const { return {0, last}; }
  [[nodiscard]] Iterator end() const { return {200'000, last}; }
  std::uint64_t last;
};

// What was inserted before the error counts, and a look-up has the answers until then.
TEST(AnyAnswers, SurviveKeysThatThrow) {
  for (const Kind kind : {Kind::plain, Kind::counting}) {
    AnyFilter any(plan({.kind = kind, .capacity = 200'000, .fpr = 1e-6}));
    EXPECT_THROW((void)any.insert_many(KeysUntil{140'000}), std::out_of_range);
    EXPECT_EQ(any.acknowledged(), 131'072U);
    EXPECT_EQ(any.stats().inserted, 131'072U);
    std::vector<int> found(200'000, 7);
    EXPECT_THROW((void)any.may_contain_many(KeysUntil{70'000}, found), std::out_of_range);
    EXPECT_EQ(
        static_cast<std::size_t>(std::count(
            found.begin(), found.begin() + static_cast<std::ptrdiff_t>(any.acknowledged()), 1)),
        any.acknowledged());
    EXPECT_EQ(std::count(found.begin() + 70'000, found.end(), 7), 130'000);
  }
}

TEST(AnyAnswers, OfAFilterThatWasMovedFromStay) {
  AnyFilter from(plan({.capacity = 1000, .fpr = 0.01}));
  from.insert_many(std::vector<std::uint64_t>(500, 1));
  const AnyFilter to = std::move(from);
  std::vector<bool> answers(3, true);
  expect_error(ErrorCode::invalid_argument, {"moved from"},
               [&] { (void)from.may_contain_many(std::vector<std::uint64_t>(3), answers); });
  EXPECT_EQ(answers, std::vector<bool>(3, true));
}

}  // namespace
}  // namespace bloomery::test
