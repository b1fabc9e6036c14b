// Where a command on one item asks for its bits before its key is found: only where a big filter of that
// name was opened last.
#include "commands/guess.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counted_memory.hpp"
#include "values.hpp"
#include "values/scalable.hpp"

namespace {

using namespace bloomery::server;
using namespace bloomery::test;

// A server that calls commands of these words.
class Guesses : public testing::Test {
 protected:
  Guesses() {
    api.StringPtrLen = [](const String* text, std::size_t* size) {
      const auto& bytes = *reinterpret_cast<const std::string*>(text);
      *size = bytes.size();
      return bytes.data();
    };
    api.CommandFilterArgsCount = [](CommandFilterContext* command) {
      return static_cast<int>(words_of(command).size());
    };
    api.CommandFilterArgGet = [](CommandFilterContext* command, int i) {
      return string(words_of(command)[static_cast<std::size_t>(i)]);
    };
  }
  static std::vector<std::string>& words_of(CommandFilterContext* command) {
    return *reinterpret_cast<std::vector<std::string>*>(command);
  }
  static const String* string(const std::string& text) {
    return reinterpret_cast<const String*>(&text);
  }
  static void call(std::vector<std::string> words) {
    guess(reinterpret_cast<CommandFilterContext*>(&words));
  }
  // A command on one item of this key, which has this filter.
  static void call(const std::string& key, const Value& value) {
    call({"bf.exists", key, "an item"});
    learn(string(key), value);
  }
  static ValuePointer<Scalable> scalable(std::uint64_t capacity, Family family = Family::native,
                                         bool keyed = false) {
    Request request{.fpr = 0.01, .capacity = capacity, .family = family, .growth = 2};
    request.keyed = keyed;
    return made<Scalable>(request);
  }

  CountedMemory memory_;
};

constexpr std::uint64_t kBig = 4'000'000;

TEST_F(Guesses, AreWhereTheFilterOfThatNameWasLast) {
  for (const Family family : {Family::native, Family::redisbloom}) {
    const auto first = scalable(kBig, family), second = scalable(2 * kBig, family, true);
    call("a key", *first);
    call("another", *second);
    ASSERT_NE(guess_of("a key"), nullptr);
    ASSERT_NE(guess_of("another"), nullptr);
    EXPECT_EQ(guess_of("a key")->bits.memory, first->newest_sub_filter().memory);
    EXPECT_EQ(guess_of("another")->bits.memory, second->newest_sub_filter().memory);
    EXPECT_EQ(guess_of("another")->hashing, second->hashing());
    EXPECT_EQ(guess_of("another")->key, second->key().value_or(bloomery::Seed{}));
    EXPECT_EQ(guess_of("a third"), nullptr);
    call("a key", *second);
    EXPECT_EQ(guess_of("a key")->bits.memory, second->newest_sub_filter().memory);
  }
}

TEST_F(Guesses, FollowAFilterThatGrows) {
  const auto filter = scalable(kBig);
  call("grows", *filter);
  const void* const before = guess_of("grows")->bits.memory;
  insert(*filter, hashes_of(*filter, 0, kBig + kBig / 4));
  ASSERT_GT(filter->totals().sub_filters, 1U);
  call("grows", *filter);
  EXPECT_NE(guess_of("grows")->bits.memory, before);
  EXPECT_EQ(guess_of("grows")->bits.memory, filter->newest_sub_filter().memory);
}

TEST_F(Guesses, AreNotMadeForSmallFilters) {
  const auto small = scalable(1'000), big = scalable(kBig);
  call("small", *small);
  EXPECT_EQ(guess_of("small"), nullptr);
  call("was big", *big);
  call("was big", *small);
  EXPECT_EQ(guess_of("was big"), nullptr);
}

// A transaction's commands come after EXEC, and none of them was announced.
TEST_F(Guesses, OfCommandsThatCameTogetherHaveTheirOwnNames) {
  const auto first = scalable(kBig), second = scalable(2 * kBig);
  call("before", *first);
  call({"EXEC"});
  learn(string("one"), *first);
  learn(string("two"), *second);
  EXPECT_EQ(guess_of("one")->bits.memory, first->newest_sub_filter().memory);
  EXPECT_EQ(guess_of("two")->bits.memory, second->newest_sub_filter().memory);
  for (const char* command : {"SET", "BX.ADD", "XF.ADD", "BFXADD"}) {
    call({"EXEC"});
    learn(string("two"), *second);
    call({command, "one", "BF."});
    learn(string("two"), *first);
    EXPECT_EQ(guess_of("two")->bits.memory, first->newest_sub_filter().memory) << command;
    EXPECT_EQ(guess_of("one")->bits.memory, first->newest_sub_filter().memory);
  }
}

TEST_F(Guesses, ReadNothingOfAFilterThatIsGone) {
  call("gone", *scalable(kBig));
  for (int item = 0; item < 1000; ++item) call({"BF.ADD", "gone", std::to_string(item)});
  EXPECT_EQ(CountedMemory::held, 0U);
}

TEST_F(Guesses, TakeAnyWords) {
  const auto filter = scalable(kBig);
  call("", *filter);
  for (const char* command : {"", "B", "BF", "BF.", "bf.x", "BFxADD", "GET"})
    for (const std::string& item :
         std::vector<std::string>{"", std::string("\0\n", 2), std::string(100'000, 'x')})
      call({command, "", item});
  const std::string longest(256, 'x'), too_long(257, 'x');
  call(longest, *filter);
  call(too_long, *filter);
  EXPECT_NE(guess_of(longest), nullptr);
  EXPECT_EQ(guess_of(too_long), nullptr);
  call({});
  call({"BF.ADD"});
  call({"BF.ADD", "", "", ""});
  EXPECT_EQ(guess_of("")->bits.memory, filter->newest_sub_filter().memory);
}

}  // namespace
