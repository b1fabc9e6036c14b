// One partition of a frozen filter: every step of its geometry, and keys that come more than once.
#include "filter/frozen_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/effort.hpp"

namespace bloomery::detail {
namespace {

void expect_all_found(PartitionBuilder& builder, std::size_t keys) {
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
  const auto from = builder.room_for(keys);
  for (std::size_t i = 0; i < keys; ++i) from[i] = i * kSpread;
  const BuiltPartition partition = builder.build(from, 5);
  ASSERT_EQ(partition.keys, keys);
  ASSERT_GE(partition.geometry.cells(), keys);
  const FusePartition fuse = partition.fuse();
  for (std::size_t i = 0; i < keys; ++i) {
    const std::uint64_t mixed = mix_key(i * kSpread, partition.seed);
    ASSERT_TRUE(fuse.agrees(mixed, fuse.cells_of(mixed))) << "key " << i << " of " << keys;
  }
}

// A segment's size changes at powers of two, the number of segments between them: both sides of each step of the size,
// and of the first step of the number in the middle between two of them.
TEST(FrozenPartition, FindsEveryKeyAtEveryStepOfItsGeometry) {
  PartitionBuilder builder;
  const unsigned most = test::nightly() ? 23 : test::hurried() ? 17 : 20;
  std::size_t steps = 0;
  for (unsigned bits = 0; bits <= most; ++bits) {
    const std::size_t power = std::size_t{1} << bits;
    std::size_t middle = power + power / 2;
    const auto starts = [](std::size_t keys) { return partition_geometry(keys).starts; };
    while (middle < 2 * power && starts(middle) == starts(middle - 1)) ++middle;
    steps += starts(middle) != starts(middle - 1) ? 1 : 0;
    for (const std::size_t keys : {power - 1, power, power + 1, middle - 1, middle})
      if (keys != 0) expect_all_found(builder, keys);
  }
  EXPECT_GE(steps + 4, most);
}

// Whatever part of the keys comes more than once, it is the partition of the different ones.
TEST(FrozenPartition, TakesEachKeyOnce) {
  PartitionBuilder builder;
  const auto built = [&](const std::vector<std::uint64_t>& keys) {
    const auto to = builder.room_for(keys.size());
    std::ranges::copy(keys, to.begin());
    return builder.build(to, 9);
  };
  for (const std::size_t size : {1UL, 2UL, 300UL, 50'000UL}) {
    std::vector<std::uint64_t> keys(size);
    for (std::size_t i = 0; i < size; ++i) keys[i] = i * i;
    const BuiltPartition once = built(keys);
    for (const std::size_t repeated : {std::size_t{0}, std::size_t{1}, size / 2, size}) {
      std::vector<std::uint64_t> more = keys;
      more.insert(more.end(), keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(repeated));
      const BuiltPartition again = built(more);
      EXPECT_EQ(again.keys, size);
      EXPECT_EQ(again.seed, once.seed);
      EXPECT_TRUE(std::ranges::equal(again.cells.bytes(), once.cells.bytes()))
          << size << " keys, " << repeated << " twice";
    }
    // All of them one key: more often than a cell can count, and in no more cells than one key has.
    EXPECT_EQ(built(std::vector<std::uint64_t>(size, 7)).keys, 1U);
  }
  EXPECT_EQ(builder.build({}, 9).keys, 0U);
}

}  // namespace
}  // namespace bloomery::detail
