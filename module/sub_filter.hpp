// One filter of a chain: its parameters, its bits in the server's memory, and the two ways of
// finding an item's bits in them.
//
// A chain that RedisBloom would make has its scheme (src/legacy); one of ours has the library's
// layouts and kernels over the same memory. Everything above this file is the same for both.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "legacy/redisbloom.hpp"

namespace bloomery::server {

// Which scheme a chain follows; numbers are in dumps and never change.
enum class Family : std::uint8_t { redisbloom = 0, bloomery = 1 };

// 64 bytes, plain, moved by copying: chains keep them in the server's memory.
struct SubFilter {
  void* memory = nullptr;  // what was allocated; the bits begin at aligned() of it
  legacy::redisbloom::SubFilter sizes;
  // bloomery: in the place of RedisBloom's exponent of the bits.
  [[nodiscard]] Layout layout() const noexcept { return static_cast<Layout>(sizes.exponent); }
};
static_assert(sizeof(SubFilter) == 64);

// The parameters of a sub-filter of ours; `rate` may lie below what the library plans, which then
// gives its lowest. Error{too_large, invalid_argument}.
[[nodiscard]] legacy::redisbloom::SubFilter plan_ours(std::uint64_t capacity, double fpr);
[[nodiscard]] legacy::redisbloom::SubFilter sizes_of(const Plan& plan);
[[nodiscard]] Plan plan_of(const legacy::redisbloom::SubFilter& sizes);

[[nodiscard]] inline Hash128 hash_item(std::string_view item, Family family,
                                       std::uint32_t options) noexcept {
  if (family == Family::redisbloom) return legacy::redisbloom::hash(item, options);
  return detail::xxh3_bytes(item.data(), item.size(), 0);
}

void prefetch(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept;
[[nodiscard]] bool may_contain(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept;
// True: certainly new.
bool insert(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept;
// Many, in order, hashed ahead; `answers` has room for one each. The result counts the true ones.
std::size_t may_contain(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                        bool* answers) noexcept;
std::size_t insert(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                   bool* answers) noexcept;

}  // namespace bloomery::server
