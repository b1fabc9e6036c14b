// The layouts: the positions and the blocks of a key are those of the bits that a kernel turns on, and no
// layout is forgotten in a list.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "support/layouts.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

// Runs visit(plan, hash, a filter that has this hash alone).
template <class Visit>
void each_key(Visit visit) {
  Random random(1);
  for (const Layout layout : kLayouts)
    for (const std::uint32_t hashes : {2, 6, 16})
      for (int i = 0; i < 50; ++i) {
        const Plan plan{layout, 512 * 37, hashes, 1'000, 0.01};
        Filter filter(plan);
        const Hash128 hash = random.hash();
        filter.insert_hash(hash);
        visit(plan, hash, filter);
        if (testing::Test::HasFatalFailure()) FAIL() << describe(filter);
      }
}

TEST(Layouts, AreAllInTheList) {
  for (unsigned number = 0; number < 256; ++number) {
    const auto layout = static_cast<Layout>(number);
    const bool known = to_string(layout) != "unknown";
    EXPECT_EQ(std::ranges::count(detail::kAllLayouts, layout), known) << number;
    if (known) {
      EXPECT_EQ(detail::kAllLayouts.at(number - 1), layout);
    }
  }
}

TEST(Layouts, AreInTheListsOfTheTests) {
  for (const Layout layout : detail::kAllLayouts) {
    const bool counts = counter_bits(layout) != 0;
    EXPECT_EQ(std::ranges::count(kPlainLayouts, layout), counts ? 0 : 1) << to_string(layout);
    EXPECT_EQ(std::ranges::count(kNarrowLayouts, layout), counts ? 1 : 0) << to_string(layout);
    EXPECT_EQ(has_two_blocks(layout), detail::blocks_per_key(plan_of(layout, 1, 4)) == 2)
        << to_string(layout);
  }
}

TEST(Layouts, PositionsAreTheBitsOfTheKernels) {
  each_key([](const Plan& plan, Hash128 hash, const Filter& filter) {
    std::vector<std::uint64_t> positions(plan.hashes);
    detail::Positions{plan}(hash, positions);
    std::vector<std::byte> bytes(plan.bytes());
    for (const std::uint64_t position : positions)
      bytes[position / 8] |= std::byte{1} << static_cast<int>(position % 8);
    ASSERT_TRUE(std::ranges::equal(bytes, filter.bytes()));
  });
}

TEST(Layouts, BlocksAreThoseWithBitsOfTheKernels) {
  each_key([](const Plan& plan, Hash128 hash, const Filter& filter) {
    std::set<std::uint64_t> blocks, with_bits;
    std::uint32_t count = 0;
    detail::for_each_block(plan.layout, filter.bit_array(), hash, [&](std::uint64_t block) {
      blocks.insert(block);
      ++count;
    });
    for (std::uint64_t byte = 0; byte < plan.bytes(); ++byte)
      if (filter.bytes()[byte] != std::byte{0}) with_bits.insert(byte / 64);
    ASSERT_EQ(blocks, with_bits);
    ASSERT_EQ(count, detail::blocks_per_key(plan));
  });
}

// Block by block into an array of zeros, as the journal does, gives the kernel's bits; one bit less is
// seen, whichever it is.
TEST(Layouts, BlockByBlockIsWhatTheKernelsDo) {
  each_key([](const Plan& plan, Hash128 hash, const Filter& filter) {
    Filter own(plan);
    detail::visit_layout(plan.layout, [&](auto layout) {
      const auto each_block = [&](auto visit) {
        return layout.each_block(own.bit_array(), hash, [&](const detail::KeyBlock& at) {
          return visit(at, detail::words_of(own.bit_array(), at));
        });
      };
      bool fresh = false;
      each_block([&](const detail::KeyBlock& at, std::uint32_t* words) {
        fresh |= detail::set_block(layout, own.bit_array(), at, words);
        return true;
      });
      ASSERT_TRUE(fresh);
      ASSERT_TRUE(std::ranges::equal(own.bytes(), filter.bytes()));
      each_block([&](const detail::KeyBlock& at, std::uint32_t* words) {
        EXPECT_FALSE(detail::set_block(layout, own.bit_array(), at, words));
        return true;
      });
      std::vector<std::uint64_t> positions(plan.hashes);
      detail::Positions{plan}(hash, positions);
      for (const std::uint64_t position : positions) {
        std::byte& byte = own.mutable_bytes()[position / 8];
        byte ^= std::byte{1} << (position % 8);
        ASSERT_FALSE(each_block([&](const detail::KeyBlock& at, const std::uint32_t* words) {
          return detail::test_block(layout, own.bit_array(), at, words);
        }));
        byte ^= std::byte{1} << (position % 8);
      }
    });
  });
}

}  // namespace
}  // namespace bloomery::test
