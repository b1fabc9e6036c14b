// One sub-filter of a scalable filter: its parameters, its bits in the server's memory, and how to
// find an item's bits in them, by RedisBloom's scheme (src/legacy) or by the library's layouts and
// kernels.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <span>

#include "values/dump_header.hpp"

namespace bloomery::server {

// 64 bytes, moved by copying: a scalable filter keeps a table of them in the server's memory.
struct SubFilter {
  void* memory = nullptr;  // the allocation; the bits begin at bits_in() of it (value.hpp)
  legacy::redisbloom::SubFilter sizes;
  // For native sub-filters, whose `sizes` are a plan (dump_header.hpp).
  [[nodiscard]] Layout layout() const noexcept { return static_cast<Layout>(sizes.exponent); }
};
static_assert(sizeof(SubFilter) == 64);

void prefetch(const SubFilter& sub_filter, Family family, Hash128 hash) noexcept;
// Both answer in order; `answers` has room for one per hash. They return how many answers are true.
std::size_t may_contain(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                        bool* answers) noexcept;
std::size_t insert(const SubFilter& sub_filter, Family family, std::span<const Hash128> hashes,
                   bool* answers) noexcept;  // true: the item was certainly new

}  // namespace bloomery::server
