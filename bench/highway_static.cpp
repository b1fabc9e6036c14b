// Our intrinsics and Highway's static dispatch, in one file compiled for this CPU.
#include "filter/kernels/plain.hpp"
#include "highway.hpp"
#include "highway_block-inl.hpp"

namespace bloomery::bench {

namespace {

// An instruction set without the AVX-512 kernel's hashing of eight keys at once, so that the ring is the same for both.
struct OneKeyAtATime {
  static constexpr bool kOneRing = false;
};

template <class Block>
constexpr detail::BitKernel kRing = detail::make_bit_kernel<
    detail::WholeBlocks<detail::LayoutOf<Layout::blocked>, OneKeyAtATime, Block>>("ring");

std::uint32_t* block_of(const detail::BitArray& array, Hash128 key) {
  return detail::words_of(array, detail::LayoutOf<Layout::blocked>::block<0>(array, key));
}

template <class Block>
Primitives primitives_of(std::string name) {
  return {std::move(name),
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys)
              yes += Block::test(block_of(array, key), key.low, *array.masks);
            return yes;
          },
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys)
              yes += Block::set(block_of(array, key), key.low, *array.masks);
            return yes;
          },
          &kRing<Block>};
}

}  // namespace

Primitives our_primitives() {
#ifdef BLOOMERY_NATIVE_BLOCK
  return primitives_of<detail::NativeBlock>("intrinsics, " BLOOMERY_NATIVE_BLOCK);
#else
  return primitives_of<detail::ScalarBlock>("scalar");
#endif
}

Primitives highway_static() {
  return primitives_of<HWY_NAMESPACE::HighwayBlock>(std::string("Highway static, ") +
                                                    hwy::TargetName(HWY_TARGET));
}

}  // namespace bloomery::bench
