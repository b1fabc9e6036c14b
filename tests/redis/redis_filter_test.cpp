// A filter in a Redis string has the bits and the answers of one in memory, for every client.
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "redis/strings/redis_header.hpp"
#include "support/random.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::keys_from;
using test::Server;

Server& strings_server() {
  static Server one;
  return one;
}

TEST(RedisFilter, HasTheBitsAndAnswersOfOneInMemory) {
  int number = 0;
  for (const Layout layout :
       {Layout::blocked, Layout::blocked2, Layout::standard, Layout::blocked128, Layout::blocked64,
        Layout::blocked2x128, Layout::blocked2x64}) {
    const std::string name = "bits" + std::to_string(number++);
    const Hasher hasher(HashFamily::siphash, {.low = 5, .high = 6});
    Filter reference(plan(5'000, 0.01, layout), hasher);
    auto filter = RedisFilter::create({strings_server().address(), name}, reference.plan(), hasher);
    const auto keys = keys_from(1, 5'000);
    const auto answers = std::make_unique<bool[]>(keys.size());
    const auto expected = std::make_unique<bool[]>(keys.size());
    const std::span<bool> fresh(answers.get(), keys.size());
    EXPECT_EQ(filter.insert_many(keys, fresh),
              reference.insert_many(keys, std::span<bool>(expected.get(), keys.size())));
    EXPECT_EQ(filter.acknowledged(), keys.size());
    EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), expected.get()));

    const std::string string = strings_server().get(name);
    ASSERT_EQ(string.size(), 128 + reference.plan().bytes());
    EXPECT_EQ(std::memcmp(string.data() + 128, reference.bytes().data(), reference.plan().bytes()),
              0);
    EXPECT_DOUBLE_EQ(filter.stats().fill, reference.fill());
    EXPECT_DOUBLE_EQ(filter.stats().estimated_items, reference.estimated_items());
    EXPECT_EQ(filter.stats().fill_error, 0);
    EXPECT_FALSE(filter.stats().over_capacity);

    auto other = RedisFilter::open({strings_server().address(), name});
    EXPECT_EQ(other.plan(), reference.plan());
    EXPECT_EQ(other.hasher().seed(), hasher.seed());
    EXPECT_EQ(other.hasher().family(), hasher.family());
    EXPECT_EQ(other.may_contain_many(keys), keys.size());
    const auto absent = keys_from(1'000'000, 5'000);
    EXPECT_EQ(other.may_contain_many(absent, fresh),
              reference.may_contain_many(absent, std::span<bool>(expected.get(), absent.size())));
    EXPECT_TRUE(std::equal(fresh.begin(), fresh.end(), expected.get()));
  }
}

TEST(RedisFilter, StaysWhereTheServerDoesNotMakeAnother) {
  auto filter = RedisFilter::create({strings_server().address(), "stays"}, plan(1'000, 0.001));
  filter.insert("a key");
  const auto replace = [](std::uint64_t capacity) {
    RedisFilter::create({strings_server().address(), "stays"}, plan(capacity, 0.001), Hasher(),
                        true);
  };
  strings_server().ask({"CONFIG", "SET", "proto-max-bulk-len", "1mb"});
  error_of([&] { replace(10'000'000); }, ErrorCode::io);
  strings_server().ask({"CONFIG", "SET", "proto-max-bulk-len", "512mb"});
  EXPECT_TRUE(filter.may_contain("a key"));
  replace(1'000);
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
  EXPECT_EQ(strings_server().ask({"KEYS", "{stays}:*"})->elements, 0U)
      << "something was left behind";
}

TEST(RedisFilter, TakesOneKeyOfAnyKind) {
  auto filter = RedisFilter::create({strings_server().address(), "one"}, plan(1'000, 0.001));
  EXPECT_FALSE(filter.may_contain("a key"));
  EXPECT_TRUE(filter.insert("a key"));
  EXPECT_FALSE(filter.insert("a key"));
  EXPECT_TRUE(filter.may_contain(std::string("a key")));
  EXPECT_TRUE(filter.insert(97));
  EXPECT_TRUE(filter.may_contain(std::uint64_t{97}));
  EXPECT_EQ(filter.insert_many(std::vector<std::uint64_t>{}), 0U);
  EXPECT_EQ(filter.acknowledged(), 0U);
}

TEST(RedisFilter, SamplesTheFillOfALargeFilter) {
  // 4 MiB of 16 are counted: 8,000,000 of 134,000,000 bits are ones, give or take the sample's
  // standard error of 0.003 %; six of them and more are 0.1 %.
  auto filter = RedisFilter::create({strings_server().address(), "large"}, plan(13'000'000, 0.01));
  strings_server().ask({"SETRANGE", "large", "128", std::string(1 << 20, '\xFF')});
  const double bits = static_cast<double>(filter.plan().bits);
  const Stats fill = filter.stats();
  EXPECT_NEAR(fill.fill, double{1 << 23} / bits, 0.001);
  EXPECT_GT(fill.fill_error, 0);
}

TEST(RedisFilter, TellsNewToOneClientAtLeast) {
  const Plan plan = bloomery::plan(20'000, 0.001);
  RedisFilter::create({strings_server().address(), "shared"}, plan);
  const auto keys = keys_from(50, 20'000);
  std::atomic<std::size_t> fresh = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i)
    clients.emplace_back([&] {
      fresh += RedisFilter::open({strings_server().address(), "shared"}).insert_many(keys);
    });
  for (std::thread& client : clients) client.join();
  Filter alone(plan);
  // One command a key: which client comes first differs, not how often a bit is new.
  EXPECT_GE(fresh.load(), alone.insert_many(keys));
  EXPECT_LE(fresh.load(), keys.size());
  EXPECT_EQ(RedisFilter::open({strings_server().address(), "shared"}).may_contain_many(keys),
            keys.size());
}

TEST(RedisFilter, IsMadeOnce) {
  const auto make = [] {
    RedisFilter::create({strings_server().address(), "once"}, plan(100, 0.01));
  };
  make();
  EXPECT_NE(error_of(make, ErrorCode::exists).find("'once' exists already"), std::string::npos);
  error_of([] { RedisFilter::open({strings_server().address(), "never"}); }, ErrorCode::missing);
  error_of(
      [] {
        RedisFilter::create({strings_server().address(), "much"},
                            Plan{Layout::blocked, kMaxRedisBits + kBlockBits, 7, 1'000, 0.01});
      },
      ErrorCode::too_large);
  strings_server().ask({"RPUSH", "list", "1"});
  error_of(
      [] {
        RedisFilter::open({strings_server().address(), "list"});
      },
      ErrorCode::not_a_filter);
  strings_server().ask({"SET", "text", std::string(1'000, 'x')});
  error_of(
      [] {
        RedisFilter::open({strings_server().address(), "text"});
      },
      ErrorCode::not_a_filter);
  strings_server().ask({"SET", "brief", "x"});
  error_of(
      [] {
        RedisFilter::open({strings_server().address(), "brief"});
      },
      ErrorCode::not_a_filter);
}

TEST(RedisFilter, IsNeverAbsentWhereItsStringIsGone) {
  auto filter = RedisFilter::create({strings_server().address(), "gone"}, plan(1'000, 0.01));
  filter.insert("a key");
  strings_server().ask({"DEL", "gone"});
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::missing);
  EXPECT_EQ(filter.acknowledged(), 0U);
  EXPECT_NE(error_of([&] { filter.insert("a key"); }, ErrorCode::missing).find("evicted"),
            std::string::npos);
  EXPECT_EQ(strings_server().ask({"EXISTS", "gone"})->integer, 0)
      << "the insert left something behind";
  error_of([&] { (void)filter.stats(); }, ErrorCode::missing);

  auto another = RedisFilter::create({strings_server().address(), "gone"}, plan(1'000, 0.01));
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
  error_of([&] { filter.insert("a key"); }, ErrorCode::mismatch);
  EXPECT_FALSE(another.may_contain("another"));
}

TEST(RedisFilter, IsNeverAbsentWhereItsStringIsCutOrChanged) {
  auto filter = RedisFilter::create({strings_server().address(), "cut"}, plan(1'000, 0.01));
  filter.insert("a key");
  const std::string whole = strings_server().get("cut");
  strings_server().ask({"SET", "cut", whole.substr(0, whole.size() - 1)});
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::corrupt);
  error_of([] { RedisFilter::open({strings_server().address(), "cut"}); }, ErrorCode::corrupt);
  strings_server().ask({"SET", "cut", whole + "x"});
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
  error_of([] { RedisFilter::open({strings_server().address(), "cut"}); }, ErrorCode::corrupt);
  strings_server().ask({"DEL", "cut"});
  strings_server().ask({"RPUSH", "cut", "x"});
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::not_a_filter);
  error_of([&] { filter.insert("a key"); }, ErrorCode::not_a_filter);
}

// Bits are set only in a string that was seen whole: to set one makes a string long again, with
// zeros where there were keys.
TEST(RedisFilter, IsNotHealedByAnInsertWhereItsStringIsCut) {
  auto filter = RedisFilter::create({strings_server().address(), "healed"}, plan(1'000, 0.01));
  const auto keys = keys_from(1, 1'000), more = keys_from(5'000, 1'001);
  filter.insert_many(keys);
  const std::string cut = strings_server().get("healed").substr(0, 201);
  strings_server().ask({"SET", "healed", cut});
  error_of([&] { filter.insert_many(more); }, ErrorCode::corrupt);
  EXPECT_EQ(filter.acknowledged(), 0U);
  EXPECT_EQ(strings_server().get("healed"), cut);
  error_of([&] { (void)filter.may_contain_many(keys); }, ErrorCode::corrupt);
  error_of([] { RedisFilter::open({strings_server().address(), "healed"}); }, ErrorCode::corrupt);
}

TEST(RedisFilter, LeavesNothingBehindWhereItsStringGoesWhileKeysAreInserted) {
  test::Scripted between(strings_server().path());
  RedisFilter::create({strings_server().address(), "going"}, plan(1'000, 0.01));
  auto filter = RedisFilter::open({{.port = between.port()}, "going"});
  int lengths = 0;
  between.say([&](const test::Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "STRLEN" && ++lengths == 2) strings_server().ask({"DEL", "going"});
    return std::nullopt;
  });
  error_of([&] { filter.insert("a key"); }, ErrorCode::missing);
  EXPECT_EQ(lengths, 2);
  EXPECT_EQ(strings_server().ask({"EXISTS", "going"})->integer, 0);
}

TEST(RedisFilter, IsBelievedByNobodyWhereItsStringIsCutWhileKeysAreInserted) {
  const auto keys = keys_from(1, 1'000), more = keys_from(5'000, 3'000);
  test::Scripted between(strings_server().path());
  for (int cut_before = 2; cut_before <= 4; ++cut_before) {
    // Always the same bits, and the last byte's among them.
    auto filter = RedisFilter::create({strings_server().address(), "torn"}, plan(1'000, 0.01),
                                      Hasher(HashFamily::siphash, {.low = 5, .high = 6}), true);
    filter.insert_many(keys);
    const std::string whole = strings_server().get("torn");
    const std::string cut = whole.substr(0, 201);
    auto inserting = RedisFilter::open({{.port = between.port()}, "torn"});
    int lengths = 0;
    between.say([&](const test::Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] == "STRLEN" && ++lengths == cut_before)
        strings_server().ask({"SET", "torn", cut});
      return std::nullopt;
    });
    error_of([&] { inserting.insert_many(more); }, ErrorCode::corrupt);
    between.say(nullptr);
    EXPECT_LT(strings_server().get("torn").size(), whole.size()) << "it was made long again";
    error_of([&] { (void)filter.may_contain_many(keys); }, ErrorCode::corrupt);
    error_of([&] { (void)filter.may_contain(keys[0]); }, ErrorCode::corrupt);
    error_of([&] { inserting.insert_many(more); }, ErrorCode::corrupt);
    error_of([] { RedisFilter::open({strings_server().address(), "torn"}); }, ErrorCode::corrupt);
  }
}

TEST(RedisHeader, RefusesEveryChangedByte) {
  const detail::RedisHeader header{
      .plan = plan(1'000, 0.01), .hasher = Hasher(), .identity = {1, 2, 3}};
  const std::string whole = detail::encode_redis_header(header);
  EXPECT_EQ(detail::decode_redis_header(whole, "it").plan, header.plan);
  EXPECT_EQ(detail::decode_redis_header(whole, "it").identity, header.identity);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_THROW((void)detail::decode_redis_header(changed, "it"), Error) << i;
    EXPECT_THROW((void)detail::decode_redis_header(whole.substr(0, i), "it"), Error) << i;
  }
  std::string newer = whole;
  newer[8] = 5;
  error_of([&] { (void)detail::decode_redis_header(newer, "it"); }, ErrorCode::newer_format);
}

TEST(RedisHeader, IsStable) {
  const detail::RedisHeader header{
      .plan = {Layout::blocked2, 1'024, 6, 100, 0.25},
      .hasher = Hasher(HashFamily::siphash, {.low = 0x0102030405060708, .high = 9}),
      .identity = {'i', 'd', 'e', 'n', 't', 'i', 't', 'y'}};
  const std::string bytes = detail::encode_redis_header(header);
  std::string hex;
  for (const char byte : bytes.substr(0, 72)) {
    std::array<char, 3> two;
    std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned char>(byte));
    hex += two.data();
  }
  EXPECT_EQ(hex,
            "89424c520d0a1a0a"
            "0100"
            "02"
            "02"
            "06000000"
            "0004000000000000"
            "6400000000000000"
            "000000000000d03f"
            "0807060504030201"
            "0900000000000000"
            "0000000000000000"
            "6964656e74697479");
}

}  // namespace
}  // namespace bloomery
