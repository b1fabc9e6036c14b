// The positions of a key are the bits that a kernel turns on.
#include "filter/positions.hpp"

#include <gtest/gtest.h>
#include <bloomery/filter.hpp>

#include <algorithm>
#include <vector>

#include "support/random.hpp"

namespace bloomery {
namespace {

TEST(Positions, AreTheBitsOfTheKernels) {
  test::Random random(1);
  for (const Layout layout :
       {Layout::blocked, Layout::blocked2, Layout::standard, Layout::blocked128, Layout::blocked64})
    for (const std::uint32_t hashes : {2, 6, 16})
      for (int i = 0; i < 50; ++i) {
        const Plan plan{layout, 512 * 37, hashes, 1'000, 0.01};
        Filter filter(plan);
        const Hash128 hash = random.hash();
        filter.insert_hash(hash);
        std::vector<std::uint64_t> positions(hashes);
        detail::Positions{plan}(hash, positions);
        std::vector<std::byte> bytes(plan.bytes());
        for (const std::uint64_t position : positions)
          bytes[position / 8] |= std::byte{1} << static_cast<int>(position % 8);
        ASSERT_TRUE(std::ranges::equal(bytes, filter.bytes())) << to_string(layout) << hashes;
      }
}

}  // namespace
}  // namespace bloomery
