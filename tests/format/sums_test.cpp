// Sums: incremental ones are those of the whole, and they see what moves.
#include "format/sums.hpp"

#include <bloomery/bloomery.hpp>

#include "store/journal/block_changes.hpp"
#include "store/scratch.hpp"

#include <algorithm>

namespace bloomery::test {
namespace {

using namespace detail;

TEST(Sums, OfZerosAreThoseOfAnEmptyFilter) {
  for (const std::uint64_t blocks : {1, 1023, 1024, 1025, 3000}) {
    const Filter empty(plan_of(Layout::blocked, 512 * blocks));
    EXPECT_EQ(sums_of_zeros(FileLayout(empty.plan())), sums_of(empty.bytes()));
  }
}

// The format: these numbers are in every file.
TEST(Sums, ArePinned) {
  std::vector<std::byte> bits(kChunkBytes + 128);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = std::byte(i * 7 + i / 256);
  const Sums sums = sums_of(bits);
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0], 17141355175566557357U);
  EXPECT_EQ(sums[1], 12885306254832409528U);
}

TEST(Sums, GrowBlockByBlockIntoThoseOfTheWhole) {
  for (const Layout layout : kLayouts) {
    Filter filter(plan_of(layout, 512 * 3000));
    Filter model(filter.plan());
    Sums sums = sums_of(filter.bytes());
    std::uint64_t total = total_of(sums);
    BlockChanges changes(filter);
    for (std::uint64_t batch = 0; batch < 20; ++batch) {
      const auto hashes = hashes_of(filter.hasher(), batch * 100, 130);  // some twice
      changes.begin(hashes.size());
      for (const Hash128 hash : hashes) ASSERT_EQ(changes.insert(hash), model.insert_hash(hash));
      ASSERT_NE(sums_of(filter.bytes()), sums_of(model.bytes())) << "nothing is applied yet";
      changes.apply(filter.mutable_bytes(), sums);
      total += changes.gain();
      ASSERT_TRUE(std::ranges::equal(filter.bytes(), model.bytes()));
      ASSERT_EQ(sums, sums_of(filter.bytes()));
      ASSERT_EQ(total, total_of(sums));
    }
  }
}

TEST(Sums, OfPiecesAreThoseOfTheWhole) {
  std::vector<std::byte> bits(2 * kChunkBytes + 3 * kBlockBytes);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::byte>(i * 7 >> 3);
  const std::span<const std::byte> all(bits);
  for (const std::size_t first : {std::size_t{64}, kChunkBytes - 64, kChunkBytes + 128}) {
    const Pieces pieces = {all.first(first), all.subspan(first, 64), all.subspan(first + 64)};
    EXPECT_EQ(sums_of(pieces), sums_of(all)) << first;
  }
}

}  // namespace
}  // namespace bloomery::test
