// The two primitives of detail/block.hpp, written over Highway for every target.
//
// No include guard: highway_dynamic.cpp includes it once for each target, as Highway asks.
#include <hwy/highway.h>
#include <bloomery/detail/block.hpp>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace bloomery::bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct HighwayBlock {
  using D = hn::CappedTag<std::uint32_t, 16>;
  using V = hn::Vec<D>;

  // A key's bits in the words from `first` on.
  static HWY_INLINE V bits(std::uint64_t low, std::uint32_t words, std::size_t first) {
    alignas(64) static constexpr std::uint32_t kLaneBits[16] = {
        1,      1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
        1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const D d;
    const hn::Repartition<std::uint64_t, D> d64;
    const V halves = hn::BitCast(d, hn::Set(d64, low));
    const V shifts =
        hn::ShiftRight<27>(hn::Mul(halves, hn::Load(d, detail::kLaneMultipliers + first)));
    const auto chosen = hn::TestBit(hn::Set(d, words), hn::Load(d, kLaneBits + first));
    return hn::Shl(hn::IfThenElseZero(chosen, hn::Set(d, 1)), shifts);
  }
  static HWY_INLINE bool test(const std::uint32_t* block, std::uint64_t low,
                              const detail::WordMasks& masks) {
    const D d;
    const std::uint32_t words = masks.of[low >> 58];
    V missing = hn::Zero(d);
    for (std::size_t i = 0; i < 16; i += hn::Lanes(d))
      missing = hn::Or(missing, hn::AndNot(hn::Load(d, block + i), bits(low, words, i)));
    return hn::AllTrue(d, hn::Eq(missing, hn::Zero(d)));
  }
  static HWY_INLINE bool set(std::uint32_t* block, std::uint64_t low,
                             const detail::WordMasks& masks) {
    const D d;
    const std::uint32_t words = masks.of[low >> 58];
    V missing = hn::Zero(d);
    for (std::size_t i = 0; i < 16; i += hn::Lanes(d)) {
      const V wanted = bits(low, words, i);
      const V old = hn::Load(d, block + i);
      missing = hn::Or(missing, hn::AndNot(old, wanted));
      hn::Store(hn::Or(old, wanted), d, block + i);
    }
    return !hn::AllTrue(d, hn::Eq(missing, hn::Zero(d)));
  }
};

}  // namespace
}  // namespace bloomery::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
