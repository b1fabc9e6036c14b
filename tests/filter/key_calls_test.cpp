// The calls of KeyCalls, of every filter in memory: keys of any kind in any range, and answers to any range.
#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <list>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/read_once.hpp"
#include "support/throwing_key.hpp"

namespace bloomery::test {
namespace {

constexpr std::size_t kKeys = 3'000;  // more than are hashed or answered at once

Plan small_plan() { return plan(2'000, 0.05); }

struct Plain {
  Filter filter{small_plan()};
};
struct Concurrent {
  Filter bits{small_plan()};
  ConcurrentFilter filter{bits};
};
struct Counting {
  CountingFilter filter{2'000, 0.05};
};
struct Scalable {
  ScalableFilter filter{scalable_plan(500, 0.05)};
};
struct Windows {
  WindowFilter filter{window_plan(WindowUnit::insertions, 2'000, 2'000, 0.05)};
};

struct Bools : std::array<bool, kKeys> {
  explicit Bools(std::size_t) { fill(false); }
};

// A range with more numbers than it says.
class SaysTwo {
 public:
  explicit SaysTwo(std::span<const std::uint64_t> all) : all_(all.begin(), all.end()) {}
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] static std::size_t size() { return 2; }

 private:
  std::list<std::uint64_t> all_;
};

template <class Made>
class KeyCalls : public testing::Test {
 protected:
  static std::vector<std::uint64_t> integers() {
    std::vector<std::uint64_t> keys(kKeys);
    std::iota(keys.begin(), keys.end(), 0);
    for (std::size_t i = 0; i < kKeys; i += 3) keys[i] = keys[i / 2];  // some come twice
    return keys;
  }
  static std::vector<std::string> texts() {
    std::vector<std::string> keys;
    for (const std::uint64_t key : integers()) keys.push_back("key " + std::to_string(key));
    return keys;
  }
  // Inserts the keys one by one, and looks for these and others.
  template <class Keys>
  void one_by_one(const Keys& keys) {
    for (const auto& key : keys) fresh_.push_back(one_.filter.insert(key));
    for (const auto& key : keys) found_.push_back(one_.filter.may_contain(key));
  }
  // The same with many; Answers is what they are written to.
  template <class Answers, class Keys>
  void expect_same(Keys make_keys) {
    Made many;
    Answers fresh(kKeys), found(kKeys);
    EXPECT_EQ(many.filter.insert_many(make_keys(), fresh), count(fresh_));
    EXPECT_EQ(many.filter.may_contain_many(make_keys(), found), count(found_));
    EXPECT_TRUE(std::ranges::equal(fresh, fresh_));
    EXPECT_TRUE(std::ranges::equal(found, found_));
    Made silent;
    EXPECT_EQ(silent.filter.insert_many(make_keys()), count(fresh_));
    EXPECT_EQ(silent.filter.may_contain_many(make_keys()), count(found_));
  }
  static std::size_t count(const std::vector<bool>& answers) {
    return static_cast<std::size_t>(std::ranges::count(answers, true));
  }

  Made one_;
  std::vector<bool> fresh_, found_;
};
using AllFilters = testing::Types<Plain, Concurrent, Counting, Scalable, Windows>;
TYPED_TEST_SUITE(KeyCalls, AllFilters);

TYPED_TEST(KeyCalls, TakeAnyRangeOfKeysAndOfAnswers) {
  const auto keys = this->integers();
  this->one_by_one(keys);
  this->template expect_same<std::vector<bool>>([&]() -> const auto& { return keys; });
  this->template expect_same<std::vector<int>>([&]() -> const auto& { return keys; });
  this->template expect_same<std::list<char>>(
      [&] { return std::list<std::uint32_t>(keys.begin(), keys.end()); });
  this->template expect_same<std::vector<bool>>(
      [&] { return ReadOnce(std::span<const std::uint64_t>(keys)); });
}

TYPED_TEST(KeyCalls, TakeTextsThatAreReadOnce) {
  const auto keys = this->texts();
  this->one_by_one(keys);
  this->template expect_same<std::vector<bool>>([&]() -> const auto& { return keys; });
  this->template expect_same<Bools>([&]() -> const auto& { return keys; });
  std::vector<std::string> ends;
  for (const std::string& key : keys) ends.push_back(key.substr(4));
  Filter words(small_plan()), by_text(small_plan());
  std::vector<bool> fresh(kKeys);
  const std::size_t count = words.insert_many(ReadOnce(std::span<const std::string>(ends)), fresh);
  for (std::size_t i = 0; i < kKeys; ++i) ASSERT_EQ(fresh[i], by_text.insert(ends[i])) << i;
  EXPECT_EQ(count, this->count(fresh));
}

TYPED_TEST(KeyCalls, TakeHashes) {
  const auto keys = this->integers();
  this->one_by_one(keys);
  TypeParam made;
  std::vector<Hash128> hashes;
  for (const std::uint64_t key : keys) hashes.push_back(made.filter.hash(key));
  std::vector<bool> fresh(kKeys), found(kKeys);
  EXPECT_EQ(made.filter.insert_hashes(hashes, fresh), this->count(this->fresh_));
  EXPECT_EQ(made.filter.may_contain_hashes(hashes, found), this->count(this->found_));
  EXPECT_EQ(fresh, this->fresh_);
  EXPECT_EQ(found, this->found_);
}

TYPED_TEST(KeyCalls, ChangeNothingWithoutRoomForTheAnswers) {
  const std::vector<std::uint64_t> keys = {1, 2, 3};
  std::vector<bool> two(2);
  expect_error(ErrorCode::invalid_argument, {"room for 2 answers", "3 keys"},
               [&] { this->one_.filter.insert_many(keys, two); });
  expect_error(ErrorCode::invalid_argument, {"room for 2 answers", "3 keys"},
               [&] { this->one_.filter.may_contain_many(keys, two); });
  EXPECT_EQ(this->one_.filter.may_contain_many(keys), 0U);
}

// kKeys keys, their hashes, and room for one answer fewer: in a span that gets the answers directly, and in a range
// that they are copied to.
struct TooLittleRoom {
  template <class F>
  explicit TooLittleRoom(const F& filter) : keys(kKeys) {
    std::iota(keys.begin(), keys.end(), 0);
    for (const std::uint64_t key : keys) hashes.push_back(filter.hash(key));
  }
  std::vector<std::uint64_t> keys;
  std::vector<Hash128> hashes;
  std::unique_ptr<bool[]> room = std::make_unique<bool[]>(kKeys);
  std::span<bool> direct{room.get(), kKeys - 1};
  std::list<char> copied = std::list<char>(kKeys - 1);
};

void refuse_room(const std::function<void()>& call) {
  expect_error(ErrorCode::invalid_argument, {"room for 2999 answers", "3000 keys"}, call);
}

template <class F>
void expect_no_look_up_without_room(const F& filter) {
  TooLittleRoom to(filter);
  refuse_room([&] { filter.may_contain_hashes(to.hashes, to.direct); });
  refuse_room([&] { filter.may_contain_hashes(to.hashes, to.copied); });
  refuse_room([&] { filter.may_contain_many(to.keys, to.direct); });
  refuse_room([&] { filter.may_contain_many(to.keys, to.copied); });
  if constexpr (requires { filter.may_contain_many(to.keys, to.direct, 4); }) {
    refuse_room([&] { filter.may_contain_many(to.keys, to.direct, 4); });
    refuse_room([&] { filter.may_contain_many(to.keys, to.copied, 4); });
  }
}

template <class F>
void expect_no_change_without_room(F& filter) {
  TooLittleRoom to(filter);
  const auto once = [&] { return ReadOnce(std::span<const std::uint64_t>(to.keys)); };
  refuse_room([&] { filter.insert_hashes(to.hashes, to.direct); });
  refuse_room([&] { filter.insert_hashes(to.hashes, to.copied); });
  refuse_room([&] { filter.insert_many(to.keys, to.direct); });
  refuse_room([&] { filter.insert_many(to.keys, to.copied); });
  refuse_room([&] { filter.insert_many(once(), to.direct); });
  if constexpr (requires { filter.insert_many(to.keys, to.direct, 4); }) {
    refuse_room([&] { filter.insert_many(to.keys, to.direct, 4); });
    refuse_room([&] { filter.insert_many(to.keys, to.copied, 4); });
  }
  if constexpr (requires { filter.remove_hashes(to.hashes); }) {
    refuse_room([&] { filter.remove_hashes(to.hashes, to.direct); });
    refuse_room([&] { filter.remove_many(to.keys, to.copied); });
  }
}

TYPED_TEST(KeyCalls, ChangeNothingWithoutRoomForAllAnswers) {
  expect_no_change_without_room(this->one_.filter);
  expect_no_look_up_without_room(this->one_.filter);
  EXPECT_EQ(this->one_.filter.may_contain_many(this->integers()), 0U);
}

// The keys of a frozen filter go into its builder.
TEST(FrozenKeyCalls, ChangeNothingWithoutRoomForAllAnswers) {
  FrozenBuilder builder(0.01);
  expect_no_change_without_room(builder);
  EXPECT_EQ(builder.inserted(), 0U);
  expect_no_look_up_without_room(builder.build());
}

TYPED_TEST(KeyCalls, WriteNoAnswerPastTheRoomOfARangeThatIsWrongAboutItself) {
  const auto all = this->integers();
  const SaysTwo keys(all);
  const auto room = std::make_unique<bool[]>(kKeys);
  std::fill_n(room.get(), kKeys, true);
  const std::span<bool> direct(room.get(), 2);
  std::vector<char> copied(2);
  for (const auto& call : std::initializer_list<std::function<void()>>{
           [&] { this->one_.filter.may_contain_many(keys, direct); },
           [&] { this->one_.filter.may_contain_many(keys, copied); },
           [&] { this->one_.filter.insert_many(keys, direct); }})
    expect_error(ErrorCode::invalid_argument, {"room for 2 answers"}, call);
  EXPECT_TRUE(std::all_of(room.get() + 2, room.get() + kKeys, [](bool each) { return each; }));
}

TYPED_TEST(KeyCalls, ThrowWhatTheConversionOfAKeyThrows) {
  auto& filter = this->one_.filter;
  const std::string text = "a text";
  const ThrowingKey good(text), bad("no text", true);
  static_assert(noexcept(filter.may_contain(text)) && !noexcept(filter.may_contain(good)));
  static_assert(noexcept(filter.may_contain("a text"))&& noexcept(filter.hash(1)));
  EXPECT_THROW((void)filter.insert(bad), std::domain_error);
  EXPECT_THROW((void)filter.may_contain(bad), std::domain_error);
  EXPECT_TRUE(filter.insert(good));
  EXPECT_TRUE(filter.may_contain(text));

  const auto keys = throwing_keys(kKeys, kKeys - 1);
  const auto room = std::make_unique<bool[]>(kKeys);
  const std::span<bool> found(room.get(), kKeys);
  EXPECT_THROW(filter.insert_many(keys), std::domain_error);
  EXPECT_THROW(filter.may_contain_many(keys, found), std::domain_error);
  const auto parts = throwing_keys(1024, 1024);  // what was hashed at once before the error
  EXPECT_EQ(filter.may_contain_many(parts, found), 1024U);
  if constexpr (requires { filter.may_contain_many(keys, found, 4); }) {
    EXPECT_THROW(filter.may_contain_many(keys, found, 4), std::domain_error);
    EXPECT_EQ(filter.may_contain_many(parts, found, 4), 1024U);
  }
  if constexpr (requires { filter.insert_many(keys, found, 4); }) {
    EXPECT_THROW(filter.insert_many(keys, found, 4), std::domain_error);
  }
  if constexpr (requires { filter.remove(bad); }) {
    EXPECT_THROW(filter.remove(bad), std::domain_error);
    EXPECT_THROW((void)filter.count_at_most(bad), std::domain_error);
    EXPECT_TRUE(filter.remove(good));
  }
}

TEST(CountingKeyCalls, RemoveMany) {
  CountingFilter filter(2'000, 0.01);
  const std::vector<std::uint64_t> keys = {1, 2, 3};
  filter.insert_many(keys);
  std::vector<bool> removed(4);
  EXPECT_EQ(filter.remove_many(std::vector<std::uint64_t>{3, 77, 1, 99}, removed), 2U);
  EXPECT_EQ(removed, (std::vector<bool>{true, false, true, false}));
  EXPECT_TRUE(filter.may_contain(std::uint64_t{2}));
  EXPECT_FALSE(filter.may_contain(std::uint64_t{3}));
}

}  // namespace
}  // namespace bloomery::test
