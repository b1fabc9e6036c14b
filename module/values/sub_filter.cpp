// Where the bits of a sub-filter are.
#include "values/sub_filter.hpp"

#include <bloomery/detail/layout.hpp>

#include <cstddef>

#include "server/memory.hpp"
#include "values/kernels.hpp"

namespace bloomery::server {

namespace {

legacy::redisbloom::BitArray redisbloom_bits(const SubFilter& sub_filter) noexcept {
  return {static_cast<std::byte*>(sub_filter.memory), sub_filter.sizes.modulus(),
          sub_filter.sizes.hashes};
}

detail::BitArray native_bits(const SubFilter& sub_filter) noexcept {
  const auto& sizes = sub_filter.sizes;
  return detail::bit_array_of({sub_filter.layout(), sizes.bits, sizes.hashes, 1, 1},
                              reinterpret_cast<std::uint32_t*>(aligned(sub_filter.memory)));
}

}  // namespace

void prefetch(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept {
  if (family == Family::redisbloom) {
    const auto bit_array = redisbloom_bits(sub_filter);
    std::uint64_t at = hash.high;
    for (std::uint32_t i = 0; i < bit_array.hashes; ++i, at += hash.low)
      detail::prefetch(bit_array.bits + at % bit_array.modulus / 8);
    return;
  }
  detail::prefetch_key(sub_filter.layout(), native_bits(sub_filter), hash);
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
