// Where the bits of a sub-filter are.
#include "sub_filter.hpp"

#include <bloomery/detail/block.hpp>

#include <algorithm>
#include <cstddef>

#include "kernels.hpp"
#include "memory.hpp"

namespace bloomery::server {

namespace {

legacy::redisbloom::BitArray redisbloom_bits(const SubFilter& sub_filter) noexcept {
  return {static_cast<std::byte*>(sub_filter.memory), sub_filter.sizes.modulus(),
          sub_filter.sizes.hashes};
}

detail::BitArray native_bits(const SubFilter& sub_filter) noexcept {
  const std::uint32_t words = sub_filter.layout() == Layout::blocked2
                                  ? sub_filter.sizes.hashes / 2
                                  : std::min(sub_filter.sizes.hashes, 16U);
  return {.words = reinterpret_cast<std::uint32_t*>(aligned(sub_filter.memory)),
          .blocks = sub_filter.sizes.bits / kBlockBits,
          .bits = sub_filter.sizes.bits,
          .hashes = sub_filter.sizes.hashes,
          .masks = &detail::word_masks(words)};
}

}  // namespace

void prefetch(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom) {
    const auto bit_array = redisbloom_bits(sub_filter);
    std::uint64_t at = hash.high;
    for (std::uint32_t i = 0; i < bit_array.hashes; ++i, at += hash.low)
      __builtin_prefetch(bit_array.bits + at % bit_array.modulus / 8);
    return;
  }
  const detail::BitArray bit_array = native_bits(sub_filter);
  if (sub_filter.layout() == Layout::standard) return;
  __builtin_prefetch(detail::block_of(bit_array, hash.high));
  if (sub_filter.layout() == Layout::blocked2)
    __builtin_prefetch(detail::block_of(bit_array, detail::second_hash(hash).high));
}

std::size_t may_contain(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                        bool* answers) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::contains(redisbloom_bits(sub_filter), hashes, answers);
  const detail::Kernel& kernel = kernel_of(sub_filter.layout());
  return run_batch(kernel.contains, kernel.contains_hashes, hashes, answers,
                   native_bits(sub_filter));
}

std::size_t insert(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                   bool* answers) noexcept {
  if (family == Family::redisbloom)
    return legacy::redisbloom::insert(redisbloom_bits(sub_filter), hashes, answers);
  const detail::Kernel& kernel = kernel_of(sub_filter.layout());
  return run_batch(kernel.insert, kernel.insert_hashes, hashes, answers, native_bits(sub_filter));
}

}  // namespace bloomery::server
