// Our intrinsics and Highway's static dispatch, in one file compiled for this CPU.
#include "filter/bulk.hpp"
#include "highway.hpp"
#include "highway_block-inl.hpp"

namespace bloomery::bench {

namespace {

// Without the block-wise placing that the AVX-512 kernel adds, so that both have the same around
// them.
template <class Block>
constexpr detail::Kernel kRing = detail::make_kernel<detail::BlockedLayout<Block>>("ring");

template <class Block>
Primitives primitives_of(std::string name) {
  return {std::move(name),
          [](const detail::BitArray& shape, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys)
              yes += Block::test(detail::block_of(shape, key.high), key.low, *shape.masks);
            return yes;
          },
          [](const detail::BitArray& shape, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys)
              yes += Block::set(detail::block_of(shape, key.high), key.low, *shape.masks);
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
