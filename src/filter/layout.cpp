// The tables of the layouts: which words of a block a key uses, the 64 choices of start and stride, for
// each k; and the block of filters that were moved from.
#include <bloomery/detail/layout.hpp>

#include <array>

namespace bloomery::detail {

namespace {

constexpr WordMasks masks_of(unsigned k) {
  WordMasks masks{};
  for (unsigned choice = 0; choice < 64; ++choice) {
    const unsigned start = choice % 16;
    const unsigned stride = 2 * (choice / 16) + 1;  // odd: it visits all sixteen words
    for (unsigned j = 0; j < k; ++j) {
      const unsigned word = (start + j * stride) % 16;
      masks.of[choice] = static_cast<std::uint16_t>(masks.of[choice] | 1U << word);
      masks.ones[choice][word] = 1;
    }
  }
  return masks;
}

constexpr auto kAllMasks = [] {
  std::array<WordMasks, 17> all{};
  for (unsigned k = 1; k <= 16; ++k) all[k] = masks_of(k);
  return all;
}();

alignas(64) constinit std::array<std::uint32_t, kBlockBits / 32> ones = [] {
  std::array<std::uint32_t, kBlockBits / 32> block{};
  block.fill(~0U);
  return block;
}();

}  // namespace

const WordMasks& word_masks(std::uint32_t k) noexcept { return kAllMasks[k]; }

void detach(BitArray& array) noexcept {
  array.words = ones.data();
  array.blocks = 0;  // so that every hash gives block 0
  array.bits = 0;
}

}  // namespace bloomery::detail
