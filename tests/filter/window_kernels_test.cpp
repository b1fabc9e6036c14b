// Window kernels that disagree would lose keys on another CPU: every one, call by call and in
// bulk, with turns in the middle of a call, is held against naive filters, bit by bit and answer
// by answer.
#include <bloomery/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "support/layouts.hpp"
#include "support/naive_window.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

WindowPlan plan_of(Layout layout, std::uint64_t blocks, std::uint32_t hashes, std::uint32_t slices,
                   std::uint64_t window) {
  WindowPlan plan;
  plan.slices = slices;
  plan.window = window;
  plan.capacity = 1;
  plan.fpr = 0.5;
  plan.slice = {layout, blocks * kBlockBits, hashes, 1, 0.5 / (slices + 1)};
  return plan;
}

WindowFilter with_kernel(const WindowPlan& plan, const detail::WindowKernel& kernel) {
  WindowFilter filter(plan);
  filter.use_kernel(kernel);
  return filter;
}

// Random hashes, with halves of all zeros and all ones among them.
Hash128 any_hash(Random& random) {
  Hash128 hash = random.hash();
  switch (random.below(16)) {
    case 0:
      hash.high = 0;
      break;
    case 1:
      hash.high = ~std::uint64_t{0};
      break;
    case 2:
      hash.low = 0;
      break;
    case 3:
      hash.low = ~std::uint64_t{0};
      break;
    default:
      break;
  }
  return hash;
}

template <class Visit>
void each_plan(Visit visit) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2})
    for (const std::uint32_t k : {2U, 4U, 6U, 8U, 14U, 16U})
      for (const std::uint64_t blocks : {1U, 5U, 33U})
        for (const std::uint32_t slices : {1U, 2U, 7U, 8U, 64U}) {
          if (hurried() && (k + blocks + slices) % 3 != 0) continue;
          for (const detail::WindowKernel* kernel :
               detail::kernels_of<detail::WindowKernel>(layout)) {
            visit(plan_of(layout, blocks, k, slices, slices * 32U), *kernel);
            if (testing::Test::HasFatalFailure()) {
              ADD_FAILURE() << to_string(layout) << ", k " << k << ", " << blocks << " blocks, "
                            << slices << " slices, " << kernel->name;
              return;
            }
          }
        }
}

TEST(WindowKernels, AreThoseOfTheBlockLayout) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2}) {
    const auto blocks = detail::kernels_of(Layout::blocked);
    const auto windows = detail::kernels_of<detail::WindowKernel>(layout);
    ASSERT_EQ(blocks.size(), windows.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_STREQ(blocks[i]->name, windows[i]->name);
    EXPECT_STREQ(detail::kernel_for<detail::WindowKernel>(layout).name,
                 detail::kernel_for(Layout::blocked).name);
  }
}

TEST(WindowKernels, AreForcedByTheEnvironment) {
  ASSERT_EQ(setenv("BLOOMERY_KERNEL", "scalar", 1), 0);
  EXPECT_STREQ(WindowFilter(plan_of(Layout::blocked2, 3, 4, 2, 8)).kernel_name(), "scalar");
  ASSERT_EQ(setenv("BLOOMERY_KERNEL", "abacus", 1), 0);
  EXPECT_THROW(WindowFilter(plan_of(Layout::blocked2, 3, 4, 2, 8)), Error);
  ASSERT_EQ(unsetenv("BLOOMERY_KERNEL"), 0);
}

TEST(WindowKernels, SingleCallsAreThoseOfNaiveFilters) {
  each_plan([](const WindowPlan& plan, const detail::WindowKernel& kernel) {
    WindowFilter filter = with_kernel(plan, kernel);
    NaiveWindow naive(plan);
    Random random(plan.slice.bits * plan.slices + plan.slice.hashes);
    std::vector<Hash128> inserted;
    for (std::uint64_t i = 0; i < 2 * plan.window + 40 && i < 300; ++i) {
      // Of those inserted, one is taken again now and then.
      const Hash128 hash = i % 5 == 4 ? inserted[random.below(inserted.size())] : any_hash(random);
      inserted.push_back(hash);
      ASSERT_EQ(filter.may_contain_hash(hash), naive.may_contain(hash));
      ASSERT_EQ(filter.insert_hash(hash), naive.insert(hash));
      ASSERT_TRUE(filter.may_contain_hash(hash));
    }
    ASSERT_TRUE(same_bits(filter, naive));
    for (int i = 0; i < 50; ++i) {
      const Hash128 hash = any_hash(random);
      ASSERT_EQ(filter.may_contain_hash(hash), naive.may_contain(hash));
    }
  });
}

// One bit less than a key has must be seen as absent, whichever slice and bit it is.
TEST(WindowKernels, EveryBitOfAKeyIsLookedAt) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2})
    for (const std::uint32_t k : {2U, 8U, 16U})
      for (const detail::WindowKernel* kernel : detail::kernels_of<detail::WindowKernel>(layout)) {
        const WindowPlan plan = plan_of(layout, 7, k, 3, 3);
        detail::BitMemory memory(plan.bytes());
        const auto bits = memory.bytes();
        WindowFilter filter = WindowFilter::restore(plan, Hasher(), {}, bits, std::move(memory));
        filter.use_kernel(*kernel);
        Random random(k);
        for (std::uint32_t age = 0; age < 4; ++age) {
          const Hash128 hash = random.hash();
          filter.clear();
          filter.insert_hash(hash);
          for (std::uint32_t i = 0; i < age; ++i) filter.insert_hash({~hash.high, ~hash.low});
          ASSERT_TRUE(filter.may_contain_hash(hash));
          const std::uint32_t slice = (filter.state().newest + 4 - age) % 4;
          for (const std::uint64_t position : positions(plan.slice, hash)) {
            const std::uint64_t block = position / 512 * 4 + slice;
            std::byte& byte = bits[block * 64 + position % 512 / 8];
            const std::byte before = byte;
            byte &= ~(std::byte{1} << (position % 8));
            ASSERT_FALSE(filter.may_contain_hash(hash)) << kernel->name;
            bool found = true;
            ASSERT_EQ(filter.may_contain_hashes(std::span(&hash, 1), std::span(&found, 1)), 0U);
            ASSERT_FALSE(found) << kernel->name;
            byte = before;
          }
        }
      }
}

// Batches of every size around a ring's depth and a part's end, with and without answers; keys
// repeat within a batch and across turns.
TEST(WindowKernels, BulkCallsAreSingleCalls) {
  each_plan([](const WindowPlan& plan, const detail::WindowKernel& kernel) {
    WindowFilter bulk = with_kernel(plan, kernel);
    WindowFilter single =
        with_kernel(plan, *detail::kernels_of<detail::WindowKernel>(plan.slice.layout).front());
    Random random(plan.slice.bits + plan.slices);
    const auto answers = std::make_unique<bool[]>(3000);
    for (const std::size_t size :
         {0U, 1U, 2U, 3U, 15U, 16U, 64U, 65U, 127U, 129U, 200U, 1024U, 1025U}) {
      std::vector<Hash128> keys;
      for (std::size_t i = 0; i < size; ++i)
        keys.push_back(i % 3 == 2 ? keys[random.below(keys.size())] : any_hash(random));
      const bool wanted = random.below(2) == 0;
      const std::span<bool> out(answers.get(), wanted ? size : 0);
      std::size_t expected = 0, got = bulk.insert_hashes(keys, out);
      for (std::size_t i = 0; i < size; ++i) {
        const bool fresh = single.insert_hash(keys[i]);
        expected += fresh;
        ASSERT_TRUE(!wanted || out[i] == fresh) << i << " of " << size;
      }
      ASSERT_EQ(got, expected) << size;
      ASSERT_EQ(bulk.state(), single.state());
      ASSERT_TRUE(std::equal(bulk.bytes().begin(), bulk.bytes().end(), single.bytes().begin()));
      for (std::size_t i = 0; i < size; i += 2) keys[i] = any_hash(random);
      expected = 0;
      got = bulk.may_contain_hashes(keys, out);
      for (std::size_t i = 0; i < size; ++i) {
        const bool found = single.may_contain_hash(keys[i]);
        expected += found;
        ASSERT_TRUE(!wanted || out[i] == found) << i << " of " << size;
      }
      ASSERT_EQ(got, expected) << size;
    }
  });
}

}  // namespace
}  // namespace bloomery::test
