// Plans of frozen filters: the cells of a partition, which buckets it has, and the rate and the bytes of the whole.
#include <bloomery/frozen_filter.hpp>
#include <bloomery/spec.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>

#include "plan/fuse_geometry.hpp"
#include "support/expect_error.hpp"
#include "support/frozen.hpp"

namespace bloomery::test {
namespace {

using detail::first_bucket;
using detail::kBuckets;
using detail::partition_geometry;
using detail::PartitionGeometry;

// With the sizes of these tables three of four random seeds succeed, which took hours to measure; an edit that only looks
// like a tidy one would cost builds their speed.
TEST(FrozenPlan, APartitionHasTheCellsThatWereMeasured) {
  const struct {
    std::uint64_t keys;
    std::uint32_t attempt;
    PartitionGeometry expected;
  } cases[] = {
      {0, 0, {1, 0}},           {1, 0, {1, 0}},           {2, 0, {1, 1}},
      {3, 0, {2, 1}},           {100, 0, {9, 4}},         {1000, 0, {20, 6}},
      {1000, 3, {20, 6}},       {1000, 4, {20, 6}},       {1000, 8, {21, 6}},
      {1024, 0, {20, 6}},       {1500, 0, {30, 6}},       {65536, 0, {75, 10}},
      {1000000, 0, {276, 12}},  {1000000, 3, {276, 12}},  {1000000, 4, {283, 12}},
      {1000000, 8, {291, 12}},  {10000000, 0, {336, 15}}, {16777216, 0, {565, 15}},
      {20000000, 0, {674, 15}},
  };
  for (const auto& [keys, attempt, expected] : cases) {
    SCOPED_TRACE(std::to_string(keys) + " keys, attempt " + std::to_string(attempt));
    const PartitionGeometry geometry = partition_geometry(keys, attempt);
    EXPECT_EQ(geometry.starts, expected.starts);
    EXPECT_EQ(geometry.segment_bits, expected.segment_bits);
  }
}

TEST(FrozenPlan, EightBytesCanBeReadFromTheFirstBitOfEachCell) {
  for (std::uint32_t segment_bits : {0U, 1U, 5U})
    for (std::uint32_t starts = 1; starts < 300; ++starts)
      for (std::uint32_t bits = 1; bits <= 32; ++bits) {
        const PartitionGeometry geometry{starts, segment_bits};
        const std::uint64_t last = (geometry.cells() - 1) * bits / 8;
        ASSERT_GE(geometry.bytes(bits), last + 8) << starts << " x " << bits;
        ASSERT_LT(geometry.bytes(bits), last + 8 + 4 + 64) << starts << " x " << bits;
        ASSERT_EQ(geometry.bytes(bits) % 64, 0U);
      }
}

// A look-up goes from a bucket to its partition by bucket * partitions / 4096.
TEST(FrozenPlan, APartitionBeginsWithTheFirstBucketThatLeadsToIt) {
  for (std::uint32_t partitions = 1; partitions <= kBuckets;
       partitions += partitions < 70 ? 1 : 97) {
    ASSERT_EQ(first_bucket(0, partitions), 0U);
    ASSERT_EQ(first_bucket(partitions, partitions), kBuckets);
    for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      const std::uint32_t partition = bucket * partitions / kBuckets;
      ASSERT_LE(first_bucket(partition, partitions), bucket) << partitions;
      ASSERT_GT(first_bucket(partition + 1, partitions), bucket) << partitions;
    }
  }
}

TEST(FrozenPlan, TakesTheBitsThatAreStated) {
  EXPECT_LE(frozen_plan(100'000'000, 0.01).array.bits_per_key(), 7.5);
  EXPECT_LE(frozen_plan(100'000'000, 0.004).array.bits_per_key(), 8.9);
  EXPECT_LE(frozen_plan(100'000'000, 0.001).array.bits_per_key(), 11.1);
  EXPECT_LE(frozen_plan(100'000'000, 1e-6).array.bits_per_key(), 22.2);
  // What is built is what was planned, as long as few partitions are tried twice.
  const FrozenFilter filter = built(integers_from(0, 1'000'000), 0.01);
  EXPECT_NEAR(filter.plan().array.bits_per_key(), frozen_plan(1'000'000, 0.01).array.bits_per_key(),
              0.1);
}

TEST(FrozenPlan, RefusesWhatCannotBe) {
  expect_error(ErrorCode::invalid_argument, {"0"}, [&] { (void)frozen_plan(0, 0.01); });
  expect_error(ErrorCode::too_large, {"2^35"},
               [&] { (void)frozen_plan(kMaxFrozenKeys + 1, 0.01); });
  for (const double fpr : {0.0, -1.0, 0.51, 1.0, 1e-10, std::nan("")})
    expect_error(ErrorCode::invalid_argument, {"between"}, [&] { (void)frozen_plan(10, fpr); });
  expect_error(ErrorCode::invalid_argument, {"between"}, [&] { FrozenBuilder(0.0); });
  FrozenPlan lie = frozen_plan(1'000, 0.5);
  lie.array.fpr = 1e-9;
  expect_error(ErrorCode::invalid_argument, {"bits"}, [&] { validate(lie); });
  lie = frozen_plan(1'000, 0.01);
  lie.array.bits += 1;
  expect_error(ErrorCode::invalid_argument, {"512"}, [&] { validate(lie); });
  for (const double fpr : {0.5, 0.01, 1e-9})
    for (const std::uint64_t keys :
         {std::uint64_t{1}, std::uint64_t{1'000}, std::uint64_t{1} << 34})
      validate(frozen_plan(keys, fpr));
}

TEST(FrozenPlan, AStoredOneIsBelievedOnlyWhole) {
  const FrozenPlan right = frozen_plan(1'000'000, 0.01, 1'000);
  validate(right);
  const auto refused = [&](const std::string& text, auto change) {
    FrozenPlan plan = right;
    change(plan);
    expect_error(ErrorCode::invalid_argument, {text}, [&] { validate(plan); });
  };
  refused("these fields", [](FrozenPlan& plan) { plan.array.layout = Layout::blocked; });
  refused("these fields", [](FrozenPlan& plan) { plan.array.hashes = 4; });
  refused("these fields", [](FrozenPlan& plan) { plan.array.fpr = 0.51; });
  refused("these fields", [](FrozenPlan& plan) { plan.delta->fpr = plan.array.fpr; });
  refused("these partitions", [](FrozenPlan& plan) { plan.partitions = 0; });
  refused("these partitions", [](FrozenPlan& plan) { plan.partitions = 4097; });
  refused("these partitions", [](FrozenPlan& plan) { plan.narrow_partitions = plan.partitions; });
  refused("these partitions", [](FrozenPlan& plan) { plan.fingerprint_bits = 0; });
  refused("these partitions", [](FrozenPlan& plan) { plan.fingerprint_bits = 33; });
  refused("these partitions", [](FrozenPlan& plan) {
    plan.fingerprint_bits = 1;
    plan.partitions = 2;
    plan.narrow_partitions = 1;
  });
  refused("fingerprints of 6 bits cannot have a false-positive rate of 0.009375",
          [](FrozenPlan& plan) { plan.fingerprint_bits = 6; });
  refused("a delta cannot have counters",
          [](FrozenPlan& plan) { plan.delta->layout = Layout::blocked128; });
  refused("512", [](FrozenPlan& plan) { plan.delta->bits = 100; });
  FrozenPlan most = right;
  most.partitions = kMaxFrozenPartitions;
  most.fingerprint_bits = kMaxFingerprintBits;
  most.narrow_partitions = kMaxFrozenPartitions - 1;
  EXPECT_NO_THROW(validate(most));
}

TEST(FrozenPlan, SharesItsRateWithItsDelta) {
  for (const double fpr : {0.5, 0.01, 1e-6}) {
    const FrozenPlan plan = frozen_plan(1'000'000, fpr, 2'000);
    validate(plan);
    ASSERT_TRUE(plan.delta);
    EXPECT_EQ(*plan.delta, bloomery::plan(2'000, fpr / 16));
    EXPECT_EQ(plan.array.fpr, fpr);
    EXPECT_EQ(plan.list_fpr(), fpr - fpr / 16);
    EXPECT_EQ(plan.bytes(), plan.array.bytes() + plan.delta->bytes());
    EXPECT_EQ(plan.list(), frozen_plan(1'000'000, fpr - fpr / 16));
    // The rate of either, less that of both.
    const double list = plan.fingerprint_fpr(), delta = plan.delta->fpr;
    EXPECT_DOUBLE_EQ(predicted_fpr(plan, 1'000'000), list + delta - list * delta);
    EXPECT_LE(predicted_fpr(plan, 0), fpr);
    EXPECT_EQ(predicted_fpr(plan.list(), 0), list);
    EXPECT_EQ(plan.list().list(), plan.list());
  }
  for (const double fpr : {0.51, 1e-9, std::nan("")})
    expect_error(ErrorCode::invalid_argument, {"between 1.1e-09 and 0.5"},
                 [&] { (void)frozen_plan(10, fpr, 10); });
  EXPECT_NO_THROW((void)frozen_plan(10, 1.1e-9, 10));
  expect_error(ErrorCode::invalid_argument, {"delta is 0"},
               [&] { (void)frozen_plan(10, 0.01, 0); });
}

// Keys beyond 2^24 wait on the device, 8 bytes each, as those in memory.
TEST(FrozenPlan, StatesWhatItsBuildingTakes) {
  const FrozenPlan small = frozen_plan(1'000'000, 0.01);
  EXPECT_EQ(small.building_bytes(), 8'000'000 + small.bytes() + 38'000'000 / 4);
  EXPECT_EQ(small.spool_bytes(), 0U);
  const FrozenPlan edge = frozen_plan(kFrozenKeysInMemory, 0.01);
  EXPECT_EQ(edge.spool_bytes(), 0U);
  const FrozenPlan large = frozen_plan(100'000'000, 1e-6);
  EXPECT_EQ(large.building_bytes(), 8 * kFrozenKeysInMemory + large.bytes() + 3'800'000'000 / 11);
  EXPECT_EQ(large.spool_bytes(), 8 * (100'000'000 - kFrozenKeysInMemory));
  EXPECT_EQ(frozen_plan(kFrozenKeysInMemory + 1, 0.01).spool_bytes(), 8U);
}

// The share of the keys that meet fingerprints of one bit less.
double narrow_share(const FrozenPlan& plan, std::uint32_t narrow) {
  return static_cast<double>(first_bucket(narrow, plan.partitions)) / kBuckets;
}

TEST(FrozenPlan, TakesTheMostNarrowFingerprintsThatKeepTheRate) {
  for (const std::uint64_t keys : {1'000U, 12'345'678U, 100'000'000U})
    for (const double fpr : {0.5, 0.3, 0.01, 1.0 / 128, 0.004, 1e-4, 1e-6, 1e-9}) {
      const FrozenPlan plan = frozen_plan(keys, fpr);
      SCOPED_TRACE(std::to_string(keys) + " keys at " + std::to_string(fpr));
      const double wide = std::pow(0.5, plan.fingerprint_bits);
      EXPECT_LE(wide, fpr);
      EXPECT_GT(2 * wide, fpr) << "a bit less would do for all";
      EXPECT_DOUBLE_EQ(plan.fingerprint_fpr(),
                       wide * (1 + narrow_share(plan, plan.narrow_partitions)));
      EXPECT_LE(plan.fingerprint_fpr(), fpr);
      if (plan.fingerprint_bits > 1 && plan.narrow_partitions + 1 < plan.partitions) {
        EXPECT_GT(wide * (1 + narrow_share(plan, plan.narrow_partitions + 1)), fpr);
      }
    }
}

TEST(FrozenPlan, HasNoCellsWithoutKeys) {
  for (const double fpr : {0.5, 1.0 / 128, 1e-9}) {
    const FrozenPlan none = empty_frozen_plan(fpr);
    validate(none);
    EXPECT_EQ(none.partitions, 1U);
    EXPECT_EQ(none.fingerprint_bits, frozen_plan(1, fpr).fingerprint_bits);
    EXPECT_EQ(none.bytes(), detail::partition_table_bytes(1));
  }
}

TEST(FrozenPlan, IsThatOfASpec) {
  FilterSpec spec{.kind = Kind::frozen, .capacity = 1000, .fpr = 0.001};
  EXPECT_EQ(std::get<FrozenPlan>(plan(spec)), frozen_plan(1000, 0.001));
  spec.delta = 50;
  EXPECT_EQ(std::get<FrozenPlan>(plan(spec)), frozen_plan(1000, 0.001, 50));
}

TEST(FrozenPlan, StatesTheBytesThatItTakes) {
  const struct {
    std::uint64_t keys;
    double fpr;
    std::uint32_t partitions, bits, narrow;
    std::uint64_t bytes;
  } cases[] = {
      {1, 0.01, 1, 7, 0, 128},
      {1000, 0.01, 1, 7, 0, 1344},
      {1000000, 0.01, 4, 7, 1, 981888},
      {10000000, 0.01, 4, 7, 1, 9511296},
      {10000001, 0.01, 4, 7, 1, 9511296},
      {100000000, 0.004, 11, 8, 0, 110789696},
      {100000000, 1e-06, 11, 20, 0, 276972608},
      {1000000000, 1.0 / 128, 114, 7, 0, 968952512},
  };
  for (const auto& [keys, fpr, partitions, bits, narrow, bytes] : cases) {
    SCOPED_TRACE(std::to_string(keys) + " keys at " + std::to_string(fpr));
    const FrozenPlan plan = frozen_plan(keys, fpr);
    EXPECT_EQ(plan.partitions, partitions);
    EXPECT_EQ(plan.fingerprint_bits, bits);
    EXPECT_EQ(plan.narrow_partitions, narrow);
    EXPECT_EQ(plan.bytes(), bytes);
  }
}

}  // namespace
}  // namespace bloomery::test
