// Our intrinsics and Highway's static dispatch, in one file compiled for this CPU.
#include "filter/bulk.hpp"
#include "highway.hpp"
#include "highway_line-inl.hpp"

namespace bloomery::bench {

namespace {

// Without the block-wise placing that the AVX-512 kernel adds, so that both have the same around
// them.
template <class Line>
constexpr detail::Kernel kRing = detail::make_kernel<detail::LineLayout<Line>>("ring");

template <class Line>
Primitives primitives_of(std::string name) {
  return {std::move(name),
          [](const detail::Shape& shape, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys)
              yes += Line::test(detail::line_of(shape, key.high), key.low, *shape.masks);
            return yes;
          },
          [](const detail::Shape& shape, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys)
              yes += Line::set(detail::line_of(shape, key.high), key.low, *shape.masks);
            return yes;
          },
          &kRing<Line>};
}

}  // namespace

Primitives our_primitives() {
#ifdef BLOOMERY_NATIVE_LINE
  return primitives_of<detail::NativeLine>("intrinsics, " BLOOMERY_NATIVE_LINE);
#else
  return primitives_of<detail::ScalarLine>("scalar");
#endif
}

Primitives highway_static() {
  return primitives_of<HWY_NAMESPACE::HighwayLine>(std::string("Highway static, ") +
                                                   hwy::TargetName(HWY_TARGET));
}

}  // namespace bloomery::bench
