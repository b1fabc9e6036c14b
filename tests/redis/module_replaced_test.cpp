// A filter of a module that another takes the place of while it is read.
#include <bloomery/module_dump.hpp>
#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "redis/module_server.hpp"

namespace bloomery::test {
namespace {

// Another filter with the same parameters, empty or with a key less, in the place of one that is read.
TEST(ModuleDump, SeesThatTheFilterWasReplaced) {
  Server& server = module_server();
  const RedisAddress address = server.address();
  const auto make = [&](std::size_t keys) {
    auto filter =
        ModuleFilter::create({address, "replaced"}, {.capacity = 20'000'000, .fpr = 0.001});
    (void)filter.insert_many(NumberedKeys("k", keys).views);
  };
  const auto keys_of = [&](Dumper& dumper) {
    std::size_t chunks = 0;
    while (dumper.next().iterator != 0) ++chunks;
    return chunks;
  };
  make(100);
  Dumper whole({address, "replaced"});
  EXPECT_GE(keys_of(whole), 3U);  // a header, and bits in several chunks
  for (const std::size_t before : {1U, 2U, 3U}) {
    Dumper dumper({address, "replaced"});
    for (std::size_t i = 0; i < before; ++i) EXPECT_NE(dumper.next().iterator, 0U);
    server.ask({"DEL", "replaced"});
    make(99);
    error_of([&] { (void)keys_of(dumper); }, ErrorCode::mismatch);
    server.ask({"DEL", "replaced"});
    make(100);
  }
  server.ask({"DEL", "replaced"});
}

// docs/guarantees.md: what is noticed of another filter under one key, and that one in a single shard is always noticed.
TEST(ModuleFilterTest, UnderOneKeyALargerFilterIsNotToldApart) {
  Server& server = module_server();
  server.ask({"FLUSHALL"});
  const RedisAddress address = server.address();
  const NumberedKeys ours("ours:", 300), fewer("other:", 299), more("other:", 301);
  const auto open_one = [&] {
    server.ask({"DEL", "one"});
    auto filter = ModuleFilter::create({address, "one"}, {.capacity = 1'000, .fpr = 1e-6});
    filter.insert_many(ours.views);
    EXPECT_EQ(filter.may_contain_many(ours.views), ours.views.size());
    return filter;
  };
  const auto put_there = [&](std::uint64_t capacity, const NumberedKeys& keys) {
    auto other = ModuleFilter::create({address, "other"}, {.capacity = capacity, .fpr = 1e-6});
    other.insert_many(keys.views);
    server.ask({"RENAME", "other", "one"});
  };
  auto one = open_one();
  server.ask({"DEL", "one"});
  error_of([&] { (void)one.may_contain_many(ours.views); }, ErrorCode::missing);
  one = open_one();
  put_there(999, more);
  error_of([&] { (void)one.may_contain_many(ours.views); }, ErrorCode::mismatch);
  one = open_one();
  put_there(1'000, fewer);
  error_of([&] { (void)one.may_contain_many(ours.views); }, ErrorCode::mismatch);
  one = open_one();
  put_there(1'000, more);
  EXPECT_EQ(one.may_contain_many(ours.views), 0U) << "it is noticed now: say so";

  const RedisPlace shard(address, "shard", 1), next(address, "next", 1);
  auto in_shard = ModuleFilter::create(shard, {.capacity = 1'000, .fpr = 1e-6});
  in_shard.insert_many(ours.views);
  auto other = ModuleFilter::create(next, {.capacity = 1'000, .fpr = 1e-6});
  other.insert_many(more.views);
  ModuleFilter* source = &other;
  ModuleFilter::store({address, "shard", 0}, {&source, 1}, true);
  error_of([&] { (void)in_shard.may_contain_many(ours.views); }, ErrorCode::missing);
  server.ask({"FLUSHALL"});
}

// A key of something else is neither overwritten nor taken for a filter.
TEST(ModuleDump, ReplacesNothingButAFilterOfAModule) {
  const RedisAddress& address = module_server().address();
  module_server().ask({"FLUSHALL"});
  auto filter = ModuleFilter::create({address, "filter"}, {.capacity = 1'000, .fpr = 0.01});
  filter.insert("a key");
  const auto load = [&](const char* key, bool replace) {
    ModuleLoader loader({address, key}, replace);
    for (ModuleChunk chunk = filter.dump(); chunk.iterator != 0;
         chunk = filter.dump(chunk.iterator))
      loader.load(chunk);
    loader.publish();
  };
  module_server().ask({"SET", "text", "something"});
  ModuleFilter::create({address, "other"}, {.capacity = 1'000, .fpr = 0.01});
  for (const char* key : {"text", "other"})
    expect_error(ErrorCode::exists, {key, " exists already"}, [&] { load(key, false); });
  expect_error(ErrorCode::exists, {"text", "only such a filter is replaced"},
               [&] { load("text", true); });
  EXPECT_EQ(module_server().get("text"), "something");
  load("other", true);
  EXPECT_TRUE(ModuleFilter::open({address, "other"}).may_contain("a key"));
  EXPECT_EQ(module_server().ask({"DBSIZE"})->integer, 3) << "what was begun is taken back";
}

// The chunks of a filter that grows meanwhile have no place in what its header began.
TEST(ModuleDump, OfAFilterThatGrowsIsRefusedAndSaysWhy) {
  const RedisAddress& address = module_server().address();
  module_server().ask({"FLUSHALL"});
  auto filter =
      ModuleFilter::create({address, "grows"}, {.kind = Kind::scalable, .capacity = 1'000});
  ModuleLoader loader({address, "copy"});
  ModuleChunk chunk = filter.dump();
  loader.load(chunk);
  filter.insert_many(NumberedKeys("k", 20'000).views);
  expect_error(ErrorCode::corrupt, {"has grown or was replaced meanwhile (do it again)"}, [&] {
    while ((chunk = filter.dump(chunk.iterator)).iterator != 0) loader.load(chunk);
  });
}

// Kept in a file, the dump would be refused only when it is needed.
TEST(ModuleDump, OfAFilterThatGrowsDoesNotEnd) {
  const RedisAddress& address = module_server().address();
  module_server().ask({"FLUSHALL"});
  auto filter =
      ModuleFilter::create({address, "grows"}, {.kind = Kind::scalable, .capacity = 1'000});
  const auto chunks_after = [&](ModuleChunk chunk) {
    std::size_t chunks = 0;
    while ((chunk = filter.dump(chunk.iterator)).iterator != 0) ++chunks;
    return chunks;
  };
  const ModuleChunk header = filter.dump();
  filter.insert_many(NumberedKeys("k", 20'000).views);
  expect_error(ErrorCode::mismatch, {"has grown"}, [&] { (void)chunks_after(header); });
  EXPECT_GT(chunks_after(filter.dump()), 1U) << "it does not grow now";
}

}  // namespace
}  // namespace bloomery::test
