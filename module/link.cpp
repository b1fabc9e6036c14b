// The operations of one filter of a chain.
#include "link.hpp"

#include <bloomery/detail/line.hpp>

#include <algorithm>
#include <cstddef>

#include "kernels.hpp"
#include "memory.hpp"
#include "plans.hpp"

namespace bloomery::server {

namespace {

legacy::redisbloom::Shape their_shape(const Link& link) noexcept {
  return {static_cast<std::byte*>(link.memory), link.sizes.modulus(), link.sizes.hashes};
}

detail::Shape our_shape(const Link& link) noexcept {
  const std::uint32_t words =
      link.layout() == Layout::pair ? link.sizes.hashes / 2 : std::min(link.sizes.hashes, 16U);
  return {.words = reinterpret_cast<std::uint32_t*>(aligned(link.memory)),
          .lines = link.sizes.bits / kLineBits,
          .bits = link.sizes.bits,
          .hashes = link.sizes.hashes,
          .masks = &detail::word_masks(words)};
}

}  // namespace

legacy::redisbloom::Link sizes_of(const Plan& plan) {
  legacy::redisbloom::Link sizes;
  sizes.bytes = plan.bytes();
  sizes.bits = plan.bits;
  sizes.entries = plan.capacity;
  sizes.error = plan.rate;
  sizes.bits_per_entry = plan.bits_per_key();
  sizes.hashes = plan.hashes;
  sizes.exponent = static_cast<std::uint8_t>(plan.layout);
  return sizes;
}

Plan plan_of(const legacy::redisbloom::Link& sizes) {
  return {static_cast<Layout>(sizes.exponent), sizes.bits, sizes.hashes, sizes.entries,
          sizes.error};
}

legacy::redisbloom::Link plan_ours(std::uint64_t capacity, double rate) {
  return sizes_of(plan_once(capacity, std::clamp(rate, kMinRate, kMaxRate)));
}

void prefetch(const Link& link, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom) {
    const auto shape = their_shape(link);
    std::uint64_t at = hash.high;
    for (std::uint32_t i = 0; i < shape.hashes; ++i, at += hash.low)
      __builtin_prefetch(shape.bits + at % shape.modulus / 8);
    return;
  }
  const detail::Shape shape = our_shape(link);
  if (link.layout() == Layout::classic) return;
  __builtin_prefetch(detail::line_of(shape, hash.high));
  if (link.layout() == Layout::pair)
    __builtin_prefetch(detail::line_of(shape, detail::second_hash(hash).high));
}

bool may_contain(const Link& link, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom) return legacy::redisbloom::contains(their_shape(link), hash);
  return kernel_of(link.layout()).contains(our_shape(link), hash);
}

bool insert(const Link& link, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom) return legacy::redisbloom::insert(their_shape(link), hash);
  return kernel_of(link.layout()).insert(our_shape(link), hash);
}

std::size_t may_contain(const Link& link, Family family, std::span<const Hash128> hashes,
                        bool* answers) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::contains(their_shape(link), hashes, answers);
  return kernel_of(link.layout())
      .contains_hashes(our_shape(link), hashes.data(), hashes.size(), answers);
}

std::size_t insert(const Link& link, Family family, std::span<const Hash128> hashes,
                   bool* answers) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::insert(their_shape(link), hashes, answers);
  return kernel_of(link.layout())
      .insert_hashes(our_shape(link), hashes.data(), hashes.size(), answers);
}

}  // namespace bloomery::server
