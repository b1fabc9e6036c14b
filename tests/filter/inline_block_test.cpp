// The calls that programs inline against the scalar ones, on the same blocks and hashes. Compiled
// twice: for any CPU of this kind, where they are assembly, and for the CPU of this machine.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "support/random.hpp"

namespace bloomery::test {
namespace {

#ifdef BLOOMERY_SINGLE_BLOCK

using detail::ScalarBlock;
using detail::SingleBlock;

class InlineBlock : public testing::Test {
 protected:
  void SetUp() override {
    if (detail::inline_path_of(Layout::blocked) < detail::kSingleNeeds)
      GTEST_SKIP() << "this CPU has no AVX-512, or BLOOMERY_KERNEL is set";
  }
};

struct alignas(64) Block {
  std::uint32_t words[16] = {};
  friend bool operator==(const Block&, const Block&) = default;
};

// Calls visit(k, masks, low, block) with blocks that a quarter of the bits are on in.
template <class Visit>
void for_blocks(Visit visit) {
  Random random(1);
  for (std::uint32_t k = 1; k <= 16; ++k)
    for (int round = 0; round < 64; ++round) {
      const std::uint64_t low = random() >> 6 | static_cast<std::uint64_t>(round) << 58;
      Block block;
      for (std::uint32_t& word : block.words)
        word = static_cast<std::uint32_t>(random() & random());
      visit(k, detail::word_masks(k), low, block);
    }
}

// A block that has the bits of a key, and the same with each of its 512 bits turned over.
TEST_F(InlineBlock, SeesEveryBit) {
  for_blocks([](std::uint32_t k, const detail::WordMasks& masks, std::uint64_t low, Block& block) {
    ScalarBlock::set(block.words, low, masks);
    ASSERT_TRUE(SingleBlock::test(block.words, low, masks)) << k;
    unsigned denied = 0;
    for (unsigned bit = 0; bit < 512; ++bit) {
      block.words[bit / 32] ^= 1U << bit % 32;
      const bool found = SingleBlock::test(block.words, low, masks);
      ASSERT_EQ(found, ScalarBlock::test(block.words, low, masks)) << k << " bit " << bit;
      denied += found ? 0 : 1;
      block.words[bit / 32] ^= 1U << bit % 32;
    }
    ASSERT_EQ(denied, k);
  });
}

// Into a block as it comes, into one that has all of the key's bits, and into those that lack one:
// the bits, and whether one was off.
TEST_F(InlineBlock, TurnsOnTheBitsOfTheKeyAndNoOthers) {
  for_blocks([](std::uint32_t k, const detail::WordMasks& masks, std::uint64_t low, Block& block) {
    Block reference = block;
    ASSERT_EQ(SingleBlock::set(block.words, low, masks),
              ScalarBlock::set(reference.words, low, masks));
    ASSERT_EQ(block, reference) << k;
    ASSERT_FALSE(SingleBlock::set(block.words, low, masks)) << k;
    ASSERT_EQ(block, reference) << k;
    Block none;
    ScalarBlock::set(none.words, low, masks);
    for (unsigned bit = 0; bit < 512; ++bit) {
      if ((none.words[bit / 32] >> bit % 32 & 1) == 0) continue;
      block.words[bit / 32] ^= 1U << bit % 32;
      ASSERT_TRUE(SingleBlock::set(block.words, low, masks)) << k << " bit " << bit;
      ASSERT_EQ(block, reference) << k << " bit " << bit;
    }
  });
}

// Nobody asks whether a bit was off, and only that piece vanishes.
TEST_F(InlineBlock, TurnsOnTheBitsWhereNobodyLooksAtTheAnswer) {
  for_blocks([](std::uint32_t k, const detail::WordMasks& masks, std::uint64_t low, Block& block) {
    Block reference = block;
    SingleBlock::set(block.words, low, masks);
    ScalarBlock::set(reference.words, low, masks);
    ASSERT_EQ(block, reference) << k;
  });
}

// The numbers come in the vector registers that the assembly works with, and stay what they are.
[[gnu::noinline]] double sum_beside(double a, double b, Block& block,
                                    const detail::WordMasks& masks) {
  if (SingleBlock::test(block.words, 7, masks)) return a;
  return SingleBlock::set(block.words, 7, masks) ? a + b : b;
}

TEST_F(InlineBlock, LeavesTheNumbersOfItsCallerAlone) {
  const detail::WordMasks& masks = detail::word_masks(8);
  for (const double a : {1.25, 3.0}) {
    Block block;
    EXPECT_EQ(sum_beside(a, 2 * a, block, masks), 3 * a);
    EXPECT_EQ(sum_beside(a, 2 * a, block, masks), a);
  }
}

#if defined(__x86_64__)
// Functions that their author compiled for AVX2 keep a vector of eight numbers across a call, whose
// upper half is not to be lost.
using Eight [[gnu::vector_size(32)]] = float;
[[gnu::noinline, gnu::target("avx2")]] bool twice_beside_test(float* numbers, const Block& block,
                                                              const detail::WordMasks& masks) {
  Eight eight;
  std::memcpy(&eight, numbers, sizeof eight);
  eight += eight;
  asm volatile("" : "+x"(eight));  // worked out before the call
  const bool found = SingleBlock::test(block.words, 7, masks);
  std::memcpy(numbers, &eight, sizeof eight);
  return found;
}
[[gnu::noinline, gnu::target("avx2")]] bool twice_beside_set(float* numbers, Block& block,
                                                             const detail::WordMasks& masks) {
  Eight eight;
  std::memcpy(&eight, numbers, sizeof eight);
  eight += eight;
  asm volatile("" : "+x"(eight));
  const bool fresh = SingleBlock::set(block.words, 7, masks);
  std::memcpy(numbers, &eight, sizeof eight);
  return fresh;
}

TEST_F(InlineBlock, LeavesVectorsOfItsCallerAlone) {
  float numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  Block block;
  EXPECT_TRUE(twice_beside_set(numbers, block, detail::word_masks(8)));
  EXPECT_TRUE(twice_beside_test(numbers, block, detail::word_masks(8)));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(numbers[i], 4.0F * static_cast<float>(i + 1)) << i;
}
#endif

// The paths that a user's single calls take, for keys that are there, and keys that are not.
TEST_F(InlineBlock, AnswersAsTheScalarKernel) {
  for (const double fpr : {0.3, 0.01, 0.001, 0.00001}) {
    Filter filter(bloomery::plan(20'000, fpr, Layout::blocked));
    Filter scalar = filter.copy();
    scalar.use_kernel(*detail::kernels_of(Layout::blocked).front());
    for (std::uint64_t key = 0; key < 20'000; ++key) {
      ASSERT_EQ(filter.insert(key), scalar.insert(key)) << key;
      const Hash128 hash = filter.hash(std::to_string(key));
      ASSERT_EQ(filter.insert_hash(hash), scalar.insert_hash(hash)) << key;
    }
    ASSERT_EQ(std::memcmp(filter.bytes().data(), scalar.bytes().data(), scalar.bytes().size()), 0);
    for (std::uint64_t key = 0; key < 200'000; ++key) {
      ASSERT_EQ(filter.may_contain(key), scalar.may_contain(key)) << key;
      const Hash128 hash = filter.hash(std::to_string(key));
      ASSERT_EQ(filter.may_contain_hash(hash), scalar.may_contain_hash(hash)) << key;
    }
  }
}

#endif

}  // namespace
}  // namespace bloomery::test
