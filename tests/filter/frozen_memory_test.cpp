// A lack of memory while keys are collected or built: an error that loses no key that was acknowledged. While they are
// divided among threads: one thread inserts them. And bytes that lie: they are refused before there is memory for
// what they say.
#include <bloomery/encode.hpp>
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/frozen_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "filter/frozen_keys.hpp"
#include "format/header_bytes.hpp"
#include "format/kinds.hpp"
#include "format/make_contents.hpp"
#include "support/effort.hpp"
#include "support/scarce_memory.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kKeys = 2'200'000;

// Keys one part after the other; what cannot be added is tried once more. Under a sanitizer only some follow that, so
// that `keys` becomes shorter.
std::size_t fill(FrozenBuilder& builder, std::span<const std::uint64_t>& keys) {
  std::size_t refused = 0;
  for (std::size_t at = 0; at < keys.size(); at += 10'000) {
    const auto part = keys.subspan(at, std::min<std::size_t>(10'000, keys.size() - at));
    try {
      builder.insert_many(part);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::no_memory);
      ++refused;
      builder.insert_many(part);
      if (hurried()) keys = keys.first(std::min(keys.size(), at + 100'000));
    }
  }
  return refused;
}

// The largest allocations: the first keys, as they grow, the buckets, the list of chunks, and that as it grows.
// The most frequent ones are the chunks.
TEST(FrozenMemory, ThatIsLackingLosesNoKey) {
  std::vector<std::uint64_t> keys(kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) keys[i] = i;
  std::size_t refusals = 0;
  for (const std::size_t from : {std::size_t{1} << 15, std::size_t{4'000}})
    for (const long after : {0L, 6L, 7L, 8L, 9L, 3'000L}) {
      if (from < 5'000 && after < 1'000) continue;
      fail_from = from;
      FrozenBuilder builder(0.01);
      allocations_failed = 0;
      fail_after = after;
      std::span<const std::uint64_t> added = keys;
      const std::size_t refused = fill(builder, added);
      fail_after = -1;
      EXPECT_EQ(refused, allocations_failed);
      refusals += refused;
      const FrozenFilter filter = builder.build();
      ASSERT_EQ(filter.may_contain_many(added), added.size()) << from << " bytes, " << after;
      EXPECT_EQ(filter.keys(), added.size());
    }
  EXPECT_GE(refusals, 5U);
}

TEST(FrozenMemory, ThatIsLackingForAMergeLeavesBothAsTheyWere) {
  std::size_t errors = 0;
  for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{70'000}})
    for (const long after : {0L, 1L, 2L}) {
      FrozenBuilder one(0.01), other(0.01);
      for (std::uint64_t key = 0; key < size; ++key) {
        one.insert(key);
        other.insert(size + key);
      }
      fail_from = 1;
      fail_after = after;
      try {
        one.merge(std::move(other));
        fail_after = -1;
      } catch (const Error& error) {
        fail_after = -1;
        EXPECT_EQ(error.code(), ErrorCode::no_memory);
        EXPECT_EQ(one.inserted(), size);
        EXPECT_EQ(other.inserted(), size);
        ++errors;
        one.merge(std::move(other));
      }
      std::vector<std::uint64_t> keys(2 * size);
      std::iota(keys.begin(), keys.end(), std::uint64_t{0});
      const FrozenFilter filter = one.build();
      EXPECT_EQ(filter.keys(), 2 * size);
      EXPECT_EQ(filter.may_contain_many(keys), 2 * size);
    }
  EXPECT_GE(errors, 2U);
}

TEST(FrozenMemory, ThatIsLackingAtTheEndIsAnError) {
  std::vector<std::uint64_t> keys(kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) keys[i] = i;
  std::size_t errors = 0;
  for (const long after : {0L, 1L, 2L, 3L, 4L, 6L, 8L}) {
    FrozenBuilder builder(0.01);
    builder.insert_many(keys);
    fail_from = 1;
    fail_after = after;
    try {
      const FrozenFilter filter = builder.build();
      fail_after = -1;
      EXPECT_EQ(filter.may_contain_many(keys), kKeys);
    } catch (const Error& error) {
      fail_after = -1;
      EXPECT_EQ(error.code(), ErrorCode::no_memory);
      EXPECT_EQ(builder.inserted(), kKeys);
      ++errors;
    }
    // It is as new, or has its keys.
    const bool has_keys = builder.inserted() != 0;
    builder.insert(kKeys + 7);
    const FrozenFilter next = builder.build();
    EXPECT_TRUE(next.may_contain(kKeys + 7));
    EXPECT_EQ(next.keys(), has_keys ? kKeys + 1 : 1);
    if (has_keys) {
      EXPECT_EQ(next.may_contain_many(keys), kKeys);
    }
  }
  EXPECT_EQ(errors, 7U);
}

// At this rate all inserts would have six partitions, and the few different keys have one: it has no room for all
// inserts.
TEST(FrozenMemory, IsForDifferentKeys) {
  std::vector<std::uint64_t> keys(2'000);
  std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  FrozenBuilder builder(0.3);
  for (int i = 0; i < 1'500; ++i) builder.insert_many(keys);
  fail_from = std::size_t{8} << 20;
  fail_after = 0;
  const FrozenFilter filter = builder.build(2);
  fail_after = -1;
  EXPECT_EQ(filter.keys(), keys.size());
  EXPECT_EQ(filter.may_contain_many(keys), keys.size());
}

struct Spooled {
  std::vector<std::byte> bytes;
  std::size_t writes = 0, full_after = SIZE_MAX;  // writes
  bool is_open = true;
};

class SpoolInMemory final : public detail::KeySpool {
 public:
  explicit SpoolInMemory(Spooled& spooled) : spooled_(&spooled) {}
  SpoolInMemory(const SpoolInMemory&) = delete;
  SpoolInMemory& operator=(const SpoolInMemory&) = delete;
  ~SpoolInMemory() override { spooled_->is_open = false; }
  void write(std::span<const std::byte> bytes, std::uint64_t offset) override {
    if (spooled_->writes++ == spooled_->full_after)
      throw Error(ErrorCode::io, "the device is full");
    spooled_->bytes.resize(offset + bytes.size());
    std::ranges::copy(bytes, spooled_->bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void read(std::span<std::byte> bytes, std::uint64_t offset) const override {
    std::copy_n(spooled_->bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(),
                bytes.begin());
  }

 private:
  Spooled* spooled_;
};

// The contents of a file that is built, with at most so many keys in memory.
std::unique_ptr<detail::Contents> contents_with(Spooled& spooled, std::uint64_t most_in_memory) {
  const FrozenPlan plan = frozen_plan(1, 0.01);
  const detail::Header header = detail::header_of(plan, Hasher());
  auto contents = detail::make_contents(header, detail::Payload(detail::payload_bytes(header)));
  contents->build_as(plan);
  contents->spool_to(std::make_unique<SpoolInMemory>(spooled), most_in_memory);
  return contents;
}

// One key among others that comes again and again is in the spool a few times.
TEST(FrozenMemory, IsNotForTheRepeatsOfOneKey) {
  Spooled spooled;
  const auto contents = contents_with(spooled, 100'000);
  constexpr std::uint64_t kRounds = 50;
  std::vector<Hash128> hashes(60'000, Hasher()(std::uint64_t{7}));
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    for (std::uint64_t i = 0; i < 1'000; ++i) hashes[i] = Hasher()(1'000 * round + i);
    (void)contents->insert(hashes, {});
  }
  EXPECT_EQ(contents->inserted(), kRounds * hashes.size());
  EXPECT_LT(spooled.bytes.size(), std::size_t{1} << 20);
  fail_from = std::size_t{4} << 20;
  fail_after = 0;
  (void)contents->complete();
  fail_after = -1;
  EXPECT_EQ(contents->inserted(), 1'000 * kRounds);
  for (std::uint64_t key = 0; key < 1'000 * kRounds; ++key)
    ASSERT_TRUE(contents->may_contain(Hasher()(key))) << key;
}

// Two runs of three pieces each are written. From the first write that fails on, all keys stay in memory, and a spool
// without a whole run is of no use.
TEST(FrozenMemory, KeepsTheKeysThatTheSpoolDoesNotTake) {
  constexpr std::uint64_t kInMemory = 300'000, kAll = 700'000, kPart = 50'000;
  constexpr std::size_t kWritesOfARun = 3;
  for (std::size_t full_after = 0; full_after <= 2 * kWritesOfARun; ++full_after) {
    SCOPED_TRACE(full_after);
    Spooled spooled;
    spooled.full_after = full_after;
    const auto contents = contents_with(spooled, kInMemory);
    std::vector<Hash128> hashes(kPart);
    for (std::uint64_t key = 0; key < kAll; ++key) {
      hashes[key % kPart] = Hasher()(key);
      if ((key + 1) % kPart == 0) (void)contents->insert(hashes, {});
    }
    EXPECT_EQ(spooled.writes, std::min(full_after + 1, 2 * kWritesOfARun));
    EXPECT_EQ(spooled.is_open, full_after >= kWritesOfARun);
    EXPECT_EQ(contents->inserted(), kAll);
    (void)contents->complete();
    EXPECT_EQ(contents->inserted(), kAll);
    for (std::uint64_t key = 0; key < kAll; ++key)
      ASSERT_TRUE(contents->may_contain(Hasher()(key))) << key;
  }
}

// The header of a file says so much, under a checksum that is right, and the bytes end after 20 KiB.
TEST(FrozenMemory, OfALieIsNotAskedFor) {
  FrozenBuilder builder(0.01);
  for (std::uint64_t key = 0; key < 1'000; ++key) builder.insert(key);
  const std::vector<std::byte> right = encode(builder.build());
  const auto refuse = [&](const std::function<void(FrozenPlan&)>& lie) {
    auto bytes = right;
    detail::Header header =
        detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f").header;
    lie(std::get<FrozenPlan>(header.plan));
    for (const std::size_t at : {std::size_t{0}, std::size_t{detail::kHeaderBytes}})
      detail::encode_header(header, std::span(bytes).subspan(at).first<detail::kHeaderBytes>());
    asked_for = 0;
    try {
      (void)decode_frozen(bytes);
      ADD_FAILURE() << "it was believed";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::corrupt) << error.what();
    }
    EXPECT_LT(asked_for, 16'384U);
  };
  refuse([](FrozenPlan& plan) { plan.array.bits = std::uint64_t{1} << 40; });
  refuse([](FrozenPlan& plan) { plan.array.bits += 512 * 1'024; });
  refuse([](FrozenPlan& plan) { plan.array.capacity = std::uint64_t{1} << 34; });
  refuse([](FrozenPlan& plan) { plan.partitions = 4'096; });
  refuse([](FrozenPlan& plan) { plan.delta = bloomery::plan(1'000'000'000, 0.0001); });
  // And in the table: where the cells are, how many keys, the segments, and their size.
  for (const std::size_t at : {7U, 15U, 27U, 28U}) {
    auto bytes = right;
    const auto bits = std::span(bytes).subspan(detail::kBitsAt);
    bits[at] = std::byte{0x7F};
    const FrozenPlan plan = decode_frozen(right).plan();
    asked_for = 0;
    EXPECT_THROW((void)FrozenFilter::over(plan, 1'000, Hasher(), bits.first(plan.bytes())), Error);
    EXPECT_LT(asked_for, 16'384U);
  }
}

// Each allocation fails once, that of what the threads wait for too: none waits endlessly, and no key is lost.
TEST(BulkInsertMemory, WithoutItOneThreadInserts) {
  std::vector<std::uint64_t> keys(262'144);
  std::iota(keys.begin(), keys.end(), 0);
  Filter one(keys.size(), 0.01);
  one.insert_many(keys);
  long number = 0;
  do {
    Filter several(one.plan());
    allocations_failed = 0;
    fail_from = 0;
    fail_after = number++;
    several.insert_many(keys, {}, 4);
    fail_after = -1;
    EXPECT_TRUE(std::ranges::equal(several.bytes(), one.bytes())) << "allocation " << number;
  } while (allocations_failed != 0);
  EXPECT_GT(number, 4);  // there were some
}

// 8 bytes for each integer of a round, and 8 MiB for each thread.
TEST(BulkInsertMemory, IsForTheKeysOfOneRound) {
  const std::vector<std::uint64_t> keys(2 * detail::kMostDivided + 1, 7);
  Filter filter(1'000'000, 0.01);
  asked_for = 0;
  EXPECT_EQ(filter.insert_many(keys, {}, 2), 1U);
  EXPECT_GT(asked_for, std::size_t{1} << 20) << "the keys were not divided";
  EXPECT_LT(asked_for, 8 * detail::kMostDivided + (2 * 8 << 20));

  // A round of a large array has more keys, in half of the array's bytes.
  Plan large = filter.plan();
  large.bits = std::uint64_t{48} << 23;
  Filter into(large);
  asked_for = 0;
  EXPECT_EQ(into.insert_many(keys, {}, 2), 1U);
  EXPECT_GT(asked_for, std::size_t{24} << 20);
  EXPECT_LT(asked_for, std::size_t{28} << 20);
}

}  // namespace
}  // namespace bloomery::test
