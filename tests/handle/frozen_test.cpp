// Frozen filters behind the handle: in memory, in bytes and in files.
#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <string>

#include "store/scratch.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

const FilterSpec kSpec{.kind = Kind::frozen, .fpr = 0.001};

TEST(AnyFrozen, AnswersTheSameInMemoryInBytesAndInAFile) {
  const Scratch scratch;
  const auto keys = text_keys("key", 5'000), others = text_keys("other", 50'000);
  AnyFilter memory(plan(kSpec));
  AnyFilter file = AnyFilter::create(scratch / "f", kSpec);
  EXPECT_EQ(memory.insert_many(keys), 0U) << "nothing is known of a key before it is built";
  EXPECT_TRUE(memory.may_contain(others[0]));
  memory.sync();
  file.insert_many(keys);
  // Until it is built, the keys are nowhere else, and a copy would have none.
  expect_error(ErrorCode::invalid_argument, {"close() builds it"}, [&] { (void)file.encode(); });
  expect_error(ErrorCode::invalid_argument, {"close() builds it"},
               [&] { (void)file.encoded_size(); });
  expect_error(ErrorCode::invalid_argument, {"close() builds it"}, [&] { (void)file.copy(); });
  expect_error(ErrorCode::invalid_argument, {"close() builds it"},
               [&] { file.save(scratch / "g"); });
  file.close();
  AnyFilter reader = AnyFilter::open(scratch / "f");
  AnyFilter decoded = AnyFilter::decode(memory.encode()), copy = memory.copy();
  for (AnyFilter* each : {&memory, &reader, &decoded, &copy, &file}) {
    EXPECT_EQ(each->may_contain_many(keys), keys.size());
    EXPECT_TRUE(each->may_contain(keys[7]));
    EXPECT_EQ(each->may_contain_many(others), memory.may_contain_many(others));
    const FilterStats stats = each->stats();
    EXPECT_EQ(stats.kind, Kind::frozen);
    EXPECT_EQ(stats.capacity, keys.size());
    EXPECT_EQ(stats.inserted, keys.size());
    EXPECT_EQ(stats.fpr, 0.001);
    EXPECT_LE(stats.current_fpr, 0.001);
    ASSERT_TRUE(stats.frozen);
    EXPECT_EQ(stats.bytes, stats.frozen->bytes());
    EXPECT_EQ(kind_of(*each->plan()), Kind::frozen);
  }
  EXPECT_LT(memory.may_contain_many(others), 150U);
  EXPECT_EQ(reader.encode(), memory.encode());
  EXPECT_EQ(memory.encoded_size(), memory.encode().size());
}

TEST(AnyFrozen, InMemoryIsBuiltByWhatNeedsAllOfIt) {
  const auto keys = text_keys("key", 5'000);
  AnyFilter encoded(plan(kSpec)), sized(plan(kSpec)), copied(plan(kSpec));
  for (AnyFilter* each : {&encoded, &sized, &copied}) each->insert_many(keys);
  const std::vector<std::byte> bytes = encoded.encode();
  EXPECT_EQ(sized.encoded_size(), bytes.size());
  EXPECT_EQ(copied.copy().encode(), bytes);
  EXPECT_EQ(AnyFilter::decode(bytes).may_contain_many(keys), keys.size());
  EXPECT_FALSE(encoded.may_contain("another"))
      << "it is built: by 0.1 % it is there by chance, and the seed is fixed";
}

TEST(AnyFrozen, SaysWhatItCannot) {
  const Scratch scratch;
  AnyFilter memory(plan(kSpec));
  memory.insert("a");
  memory.sync();
  expect_error(ErrorCode::wrong_kind, {"rebuild"}, [&] { (void)memory.insert("b"); });
  expect_error(ErrorCode::wrong_kind, {}, [&] { (void)memory.remove("a"); });
  AnyFilter plain(plan({.capacity = 10, .fpr = 0.001}));
  expect_error(ErrorCode::wrong_kind, {"keys"}, [&] { memory.merge(plain); });
  expect_error(ErrorCode::wrong_kind, {}, [&] { plain.merge(memory); });
  expect_error(ErrorCode::wrong_kind, {}, [&] { plain.intersect(memory); });
  EXPECT_TRUE(memory.may_contain("a"));
  EXPECT_FALSE(memory.may_contain("b"));
  memory.clear();
  EXPECT_FALSE(memory.may_contain("a"));
  memory.insert("b");
  memory.sync();
  EXPECT_TRUE(memory.may_contain("b"));
  EXPECT_FALSE(memory.may_contain("a"));
  AnyFilter::create(scratch / "f", kSpec).close();
  expect_error(ErrorCode::wrong_kind, {"rebuild"},
               [&] { (void)AnyFilter::open(scratch / "f", Access::write); });
  expect_error(ErrorCode::invalid_argument, {},
               [&] { (void)plan({.kind = Kind::frozen, .capacity = 5}); });
  expect_error(ErrorCode::invalid_argument, {"layout"},
               [&] { (void)plan({.kind = Kind::frozen, .fpr = 0.01, .layout = Layout::blocked}); });
  expect_error(ErrorCode::invalid_argument, {},
               [&] { (void)plan({.kind = Kind::frozen, .fpr = 0.01, .hashes = 3}); });
}

// Before it is built, too.
TEST(AnyFrozen, KnowsThatItWillHaveADelta) {
  const Scratch scratch;
  const FilterSpec spec{.kind = Kind::frozen, .fpr = 0.001, .delta = 2'000};
  AnyFilter memory(plan(spec));
  AnyFilter file = AnyFilter::create(scratch / "f", spec);
  for (AnyFilter* each : {&memory, &file}) {
    each->require_match(spec);
    EXPECT_EQ(each->spec().delta, 2'000U);
    EXPECT_EQ(each->spec().fpr, 0.001);
    each->insert("a");
    each->require_match(spec);
  }
  memory.clear();
  memory.insert("b");
  memory.sync();
  memory.require_match(spec);
  EXPECT_TRUE(memory.insert("c")) << "the delta takes it";
  EXPECT_TRUE(memory.may_contain("b") && memory.may_contain("c"));
  EXPECT_FALSE(memory.may_contain("a"));
}

TEST(AnyFrozen, TakesKeysIntoADelta) {
  const Scratch scratch;
  const FilterSpec spec{.kind = Kind::frozen, .fpr = 0.001, .delta = 2'000};
  const auto keys = text_keys("key", 5'000), later = text_keys("later", 1'000),
             others = text_keys("other", 50'000);
  AnyFilter memory(plan(spec));
  AnyFilter file = AnyFilter::create(scratch / "f", spec);
  for (AnyFilter* each : {&memory, &file}) {
    each->insert_many(keys);
    each == &memory ? each->sync() : each->close();
  }
  EXPECT_EQ(memory.encode(), AnyFilter::open(scratch / "f").encode());
  EXPECT_EQ(memory.encoded_size(), memory.encode().size());
  AnyFilter writer = AnyFilter::open(scratch / "f", Access::write);
  EXPECT_GT(memory.insert_many(later), 990U);
  EXPECT_FALSE(memory.insert(later[7]));
  writer.insert_many(later);
  for (AnyFilter* each : {&memory, &writer}) {
    EXPECT_EQ(each->insert_many(std::span(keys).first(100)), 0U) << "they are in the list";
    EXPECT_FALSE(each->insert(keys[200]));
  }
  writer.close();
  AnyFilter reader = AnyFilter::open(scratch / "f");
  AnyFilter decoded = AnyFilter::decode(memory.encode()), copy = memory.copy();
  for (AnyFilter* each : {&memory, &reader, &decoded, &copy}) {
    EXPECT_EQ(each->may_contain_many(keys), keys.size());
    EXPECT_EQ(each->may_contain_many(later), later.size());
    EXPECT_TRUE(each->may_contain(keys[7]) && each->may_contain(later[7]));
    EXPECT_EQ(each->may_contain_many(others), memory.may_contain_many(others));
    const FilterStats stats = each->stats();
    EXPECT_EQ(stats.kind, Kind::frozen);
    EXPECT_EQ(stats.fpr, 0.001);
    EXPECT_EQ(stats.capacity, keys.size() + 2'000);
    EXPECT_EQ(stats.bytes, std::get<FrozenPlan>(*each->plan()).bytes());
    EXPECT_EQ(stats.frozen, std::get<FrozenPlan>(*each->plan()));
    ASSERT_TRUE(stats.delta);
    EXPECT_EQ(stats.delta->plan.capacity, 2'000U);
    EXPECT_EQ(*stats.inserted, keys.size() + stats.delta->inserted);
    EXPECT_EQ(spec_of(*each->plan()).delta, 2'000U);
    EXPECT_EQ(spec_of(*each->plan()).fpr, 0.001);
  }
  EXPECT_LT(memory.may_contain_many(others), 150U);
  EXPECT_EQ(reader.encode(), memory.encode());
  // Again from all keys, by a plan that the filter itself tells.
  AnyFilter next = AnyFilter::rebuild(scratch / "f", *reader.plan(), *reader.hasher());
  next.insert_many(keys);
  next.insert_many(later);
  next.close();
  EXPECT_TRUE(reader.reload());
  EXPECT_EQ(reader.may_contain_many(later), later.size());
  EXPECT_EQ(reader.stats().delta->inserted, 0U);
  EXPECT_EQ(reader.stats().inserted, 6'000U);
  memory.clear();
  EXPECT_EQ(memory.may_contain_many(keys) + memory.may_contain_many(later), 0U);
  memory.insert("a");
  memory.sync();
  EXPECT_TRUE(memory.insert("b"));
  EXPECT_TRUE(memory.may_contain("a") && memory.may_contain("b"));
  EXPECT_EQ(memory.stats().delta->inserted, 1U);
  EXPECT_FALSE(memory.stats().over_capacity);
  memory.insert_many(text_keys("many", 3'000));
  EXPECT_TRUE(memory.stats().over_capacity) << "the delta is for 2,000";
}

// A list that has no keys yet, for example on the first day.
TEST(AnyFrozen, MayHaveNoKeys) {
  const Scratch scratch;
  for (const std::uint64_t delta : {0U, 100U}) {
    FilterSpec spec = kSpec;
    if (delta != 0) spec.delta = delta;
    const std::string path = scratch / ("f" + std::to_string(delta));
    AnyFilter memory(plan(spec));
    memory.sync();
    AnyFilter::create(path, spec).close();
    EXPECT_EQ(memory.encode(), AnyFilter::open(path).encode());
    AnyFilter decoded = AnyFilter::decode(memory.encode()), copy = memory.copy();
    for (AnyFilter* each : {&memory, &decoded, &copy}) {
      EXPECT_FALSE(each->may_contain("a"));
      EXPECT_EQ(each->stats().inserted, 0U);
    }
  }
}

TEST(AnyFrozen, IsOpenedWithTheDeltaThatWasAskedFor) {
  const Scratch scratch;
  const FilterSpec spec{.kind = Kind::frozen, .fpr = 0.001, .delta = 2'000};
  AnyFilter::create(scratch / "f", spec).close();
  AnyFilter::open_or_create(scratch / "f", spec).insert("a");
  EXPECT_TRUE(AnyFilter::open(scratch / "f").may_contain("a"));
  expect_error(ErrorCode::mismatch, {"2,000", "3,000"}, [&] {
    (void)AnyFilter::open_or_create(scratch / "f",
                                    {.kind = Kind::frozen, .fpr = 0.001, .delta = 3'000});
  });
}

TEST(AnyFrozen, IsRebuiltFromAnyKind) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  AnyFilter::create(path, {.capacity = 100, .fpr = 0.01}).insert("old");
  AnyFilter next = AnyFilter::rebuild(path, plan(kSpec));
  next.insert("new");
  next.close();
  EXPECT_EQ(AnyFilter::open(path).stats().kind, Kind::frozen);
  EXPECT_TRUE(AnyFilter::open(path).may_contain("new"));
  EXPECT_FALSE(AnyFilter::open(path).may_contain("old"));
  EXPECT_TRUE(AnyFilter::verify(path).ok());
}

}  // namespace
}  // namespace bloomery::test
