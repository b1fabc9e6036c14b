// The look-up that programs inline against the scalar one, on the same lines and hashes.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/random.hpp"

namespace bloomery {
namespace {

#ifdef BLOOMERY_INLINE_LINE

class InlineLine : public testing::Test {
 protected:
  void SetUp() override {
    if (detail::bypass_of(Layout::line) != detail::Bypass::avx512)
      GTEST_SKIP() << "this CPU has no AVX-512, or BLOOMERY_KERNEL is set";
  }
};

struct alignas(64) Line {
  std::uint32_t words[16] = {};
};

// A line that has the bits of a key, and the same with each of its 512 bits turned over.
TEST_F(InlineLine, SeesEveryBit) {
  test::Random random(1);
  for (std::uint32_t k = 1; k <= 16; ++k) {
    const detail::WordMasks& masks = detail::word_masks(k);
    for (int round = 0; round < 64; ++round) {
      const std::uint64_t low = random() >> 6 | static_cast<std::uint64_t>(round) << 58;
      Line line;
      for (std::uint32_t& word : line.words) word = static_cast<std::uint32_t>(random() & random());
      detail::ScalarLine::set(line.words, low, masks);
      ASSERT_TRUE(detail::InlineLine::test(line.words, low, masks)) << k;
      unsigned denied = 0;
      for (unsigned bit = 0; bit < 512; ++bit) {
        line.words[bit / 32] ^= 1U << bit % 32;
        const bool found = detail::InlineLine::test(line.words, low, masks);
        ASSERT_EQ(found, detail::ScalarLine::test(line.words, low, masks)) << k << " bit " << bit;
        denied += found ? 0 : 1;
        line.words[bit / 32] ^= 1U << bit % 32;
      }
      ASSERT_EQ(denied, k);
    }
  }
}

// The numbers come in the vector registers that the assembly works with, and stay what they are.
[[gnu::noinline]] double sum_beside(double a, double b, const Line& line,
                                    const detail::WordMasks& masks) {
  return detail::InlineLine::test(line.words, 7, masks) ? a + b : a - b;
}

TEST_F(InlineLine, LeavesTheNumbersOfItsCallerAlone) {
  const detail::WordMasks& masks = detail::word_masks(8);
  for (const double a : {1.25, 3.0}) EXPECT_EQ(sum_beside(a, 2 * a, Line{}, masks), -a);
}

// The path that a user's single look-up takes, for keys that are there, and keys that are not.
TEST_F(InlineLine, AnswersAsTheScalarKernel) {
  for (const double rate : {0.3, 0.01, 0.001, 0.00001}) {
    Filter filter(bloomery::plan(20'000, rate, Layout::line));
    for (std::uint64_t key = 0; key < 20'000; ++key) filter.insert(key);
    Filter scalar = filter.copy();
    scalar.use_kernel(*detail::kernels_of(Layout::line).front());
    for (std::uint64_t key = 0; key < 200'000; ++key) {
      ASSERT_EQ(filter.may_contain(key), scalar.may_contain(key)) << key;
      const Hash128 hash = filter.hash(std::to_string(key));
      ASSERT_EQ(filter.may_contain_hash(hash), scalar.may_contain_hash(hash)) << key;
    }
  }
}

#endif

}  // namespace
}  // namespace bloomery
