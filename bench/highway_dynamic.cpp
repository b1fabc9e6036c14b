// Highway's dynamic dispatch: this file is compiled once for each target.
#include "highway.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway_dynamic.cpp"
#include <hwy/foreach_target.h>  // before highway.h, as Highway asks

#include "highway_block-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace bloomery::bench::HWY_NAMESPACE {
namespace {

HWY_INLINE std::uint32_t* block_of(const detail::BitArray& array, Hash128 key) {
  const auto place = static_cast<detail::uint128>(key.high) * array.blocks >> 64;
  return array.words + static_cast<std::uint64_t>(place) * (kBlockBits / 32);
}

bool test_one(const detail::BitArray& array, Hash128 key) {
  return HighwayBlock::test(block_of(array, key), key.low, *array.masks);
}
bool set_one(const detail::BitArray& array, Hash128 key) {
  return HighwayBlock::set(block_of(array, key), key.low, *array.masks);
}
std::uint64_t test_all(const detail::BitArray& array, const Hash128* keys, std::size_t count) {
  std::uint64_t yes = 0;
  for (std::size_t i = 0; i < count; ++i) yes += test_one(array, keys[i]);
  return yes;
}
std::uint64_t set_all(const detail::BitArray& array, const Hash128* keys, std::size_t count) {
  std::uint64_t yes = 0;
  for (std::size_t i = 0; i < count; ++i) yes += set_one(array, keys[i]);
  return yes;
}
std::int64_t target() { return HWY_TARGET; }

}  // namespace
}  // namespace bloomery::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bloomery::bench {

namespace {

HWY_EXPORT(test_one);
HWY_EXPORT(set_one);
HWY_EXPORT(test_all);
HWY_EXPORT(set_all);
HWY_EXPORT(target);

std::string target_name() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(target)()); }

}  // namespace

Primitives highway_dynamic() {
  return {"Highway dynamic, " + target_name(),
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            return HWY_DYNAMIC_DISPATCH(test_all)(array, keys.data(), keys.size());
          },
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            return HWY_DYNAMIC_DISPATCH(set_all)(array, keys.data(), keys.size());
          }};
}

Primitives highway_each_call() {
  return {"Highway dynamic, each key",
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys) yes += HWY_DYNAMIC_DISPATCH(test_one)(array, key);
            return yes;
          },
          [](const detail::BitArray& array, std::span<const Hash128> keys) {
            std::uint64_t yes = 0;
            for (const Hash128 key : keys) yes += HWY_DYNAMIC_DISPATCH(set_one)(array, key);
            return yes;
          }};
}

}  // namespace bloomery::bench
#endif
