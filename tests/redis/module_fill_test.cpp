// What BF.DEBUG says of a filter is enough to know its fill and its false-positive rate: held against the ones of a dump
// and against look-ups of absent keys. The keys are always the same, so the bounds need no probability.
#include <bloomery/any_filter.hpp>
#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "redis/module/module_replies.hpp"
#include "redis/module_server.hpp"

namespace bloomery::test {
namespace {

// Of the bits behind the header.
double share_of_ones(ModuleFilter& filter, std::uint32_t shards) {
  double ones = 0, bits = 0;
  for (std::uint32_t shard = 0; shard < shards; ++shard)
    for (ModuleChunk chunk = filter.dump(1, shard); chunk.iterator != 0;
         chunk = filter.dump(chunk.iterator, shard)) {
      for (const char byte : chunk.bytes) ones += std::popcount(static_cast<unsigned char>(byte));
      bits += 8.0 * static_cast<double>(chunk.bytes.size());
    }
  return ones / bits;
}

void expect_right(ModuleFilter filter, const char* what) {
  SCOPED_TRACE(what);
  EXPECT_NE(filter.reserved().value_or(ModuleReserve{}).capacity, 0U);
  EXPECT_EQ(filter.fill()->current_fpr < 1e-3, true) << "it is empty, but for markers";
  const NumberedKeys keys("a key ", 20'000), absent("another ", 100'000);
  for (std::size_t first = 0; first < keys.views.size(); first += 5'000) {
    filter.insert_many(std::span(keys.views).subspan(first, 5'000));
    const auto fill = filter.fill();
    ASSERT_TRUE(fill);
    EXPECT_NEAR(fill->fill, share_of_ones(filter, filter.shards().value_or(1)), 0.005);
    const double rate = static_cast<double>(filter.may_contain_many(absent.views)) / 100'000;
    EXPECT_NEAR(fill->current_fpr, rate, 0.1 * rate + 2e-4);
  }
}

TEST(ModuleFillTest, FollowsFromTheItems) {
  module_server().ask({"FLUSHALL"});
  const RedisAddress at = module_server().address();
  const ModuleReserve plain{.kind = Kind::plain, .capacity = 20'000, .fpr = 0.01};
  ModuleReserve grows = plain;
  grows.kind = Kind::scalable;
  grows.capacity = 1'000;
  expect_right(ModuleFilter::create({at, "plain"}, plain), "plain");
  expect_right(ModuleFilter::create({at, "grows"}, grows), "grows");
  expect_right(ModuleFilter::create({at, "shards", 3}, plain), "in shards");
  ModuleReserve low = plain;
  low.fpr = 1e-5;
  expect_right(ModuleFilter::create({at, "low"}, low), "two blocks a key");
  grows.layout = "redisbloom";
  expect_right(ModuleFilter::create({at, "theirs"}, grows), "RedisBloom's");
}

TEST(ModuleFillTest, OfOtherKindsIsNotKnown) {
  module_server().ask({"FLUSHALL"});
  const RedisAddress at = module_server().address();
  auto counts = ModuleFilter::create({at, "counts"}, {.kind = Kind::counting, .capacity = 100});
  EXPECT_FALSE(counts.fill());
  auto forgets =
      ModuleFilter::create({at, "forgets"}, {.kind = Kind::window, .capacity = 100, .window = 100});
  EXPECT_FALSE(forgets.fill());
  // Nor is it known to a user without the right to ask.
  auto plain = ModuleFilter::create({at, "plain"}, {.kind = Kind::plain, .capacity = 100});
  const RedisAddress bob = module_server().as_user({"~*", "+@all", "-bf.debug"});
  EXPECT_FALSE(ModuleFilter::open({bob, "plain"}).fill());
}

TEST(ModuleFillTest, NonsenseIsNoFill) {
  for (const std::string& line :
       {std::string(""), std::string("bits"), std::string("bits:0 hashes:3 size:1"),
        std::string("bits:512 hashes:99 layout:blocked size:3"),
        std::string("bits:100 hashes:3 layout:blocked size:3"),
        std::string("bits:512 hashes:3 layout:other size:3"),
        std::string("bits:512 hashes:3 layout:blocked size:-3"),
        std::string("bits:512 hashes:3 layout:blocked size:nan")}) {
    std::string text = line;
    redisReply first{}, second{};
    first.type = second.type = REDIS_REPLY_STRING;
    second.str = text.data();
    second.len = text.size();
    redisReply* elements[] = {&first, &second};
    redisReply reply{};
    reply.type = REDIS_REPLY_ARRAY;
    reply.elements = 2;
    reply.element = elements;
    EXPECT_FALSE(detail::fill_in(reply)) << line;
  }
}

}  // namespace
}  // namespace bloomery::test
