// The operations of one filter of a chain.
#include "sub_filter.hpp"

#include <bloomery/detail/layout.hpp>

#include <algorithm>
#include <cstddef>

#include "kernels.hpp"
#include "memory.hpp"
#include "plans.hpp"

namespace bloomery::server {

namespace {

legacy::redisbloom::BitArray their_shape(const SubFilter& sub_filter) noexcept {
  return {static_cast<std::byte*>(sub_filter.memory), sub_filter.sizes.modulus(),
          sub_filter.sizes.hashes};
}

detail::BitArray our_shape(const SubFilter& sub_filter) noexcept {
  return detail::bit_array_of(plan_of(sub_filter.sizes),
                              reinterpret_cast<std::uint32_t*>(aligned(sub_filter.memory)));
}

}  // namespace

legacy::redisbloom::SubFilter sizes_of(const Plan& plan) {
  legacy::redisbloom::SubFilter sizes;
  sizes.bytes = plan.bytes();
  sizes.bits = plan.bits;
  sizes.entries = plan.capacity;
  sizes.error = plan.fpr;
  sizes.bits_per_entry = plan.bits_per_key();
  sizes.hashes = plan.hashes;
  sizes.exponent = static_cast<std::uint8_t>(plan.layout);
  return sizes;
}

Plan plan_of(const legacy::redisbloom::SubFilter& sizes) {
  return {static_cast<Layout>(sizes.exponent), sizes.bits, sizes.hashes, sizes.entries,
          sizes.error};
}

legacy::redisbloom::SubFilter plan_ours(std::uint64_t capacity, double fpr) {
  return sizes_of(plan_once(capacity, std::clamp(fpr, kMinFpr, kMaxFpr)));
}

void prefetch(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom) {
    const auto bit_array = their_shape(sub_filter);
    std::uint64_t at = hash.high;
    for (std::uint32_t i = 0; i < bit_array.hashes; ++i, at += hash.low)
      __builtin_prefetch(bit_array.bits + at % bit_array.modulus / 8);
    return;
  }
  detail::prefetch_key(sub_filter.layout(), our_shape(sub_filter), hash);
}

bool may_contain(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::contains(their_shape(sub_filter), hash);
  return kernel_of(sub_filter.layout()).contains(our_shape(sub_filter), hash);
}

bool insert(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::insert(their_shape(sub_filter), hash);
  return kernel_of(sub_filter.layout()).insert(our_shape(sub_filter), hash);
}

std::size_t may_contain(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                        bool* answers) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::contains(their_shape(sub_filter), hashes, answers);
  return kernel_of(sub_filter.layout())
      .contains_hashes(our_shape(sub_filter), hashes.data(), hashes.size(), answers);
}

std::size_t insert(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                   bool* answers) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::insert(their_shape(sub_filter), hashes, answers);
  return kernel_of(sub_filter.layout())
      .insert_hashes(our_shape(sub_filter), hashes.data(), hashes.size(), answers);
}

}  // namespace bloomery::server
