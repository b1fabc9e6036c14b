// One question to a list of filters: may any of them contain the key?
//
// A scalable filter is a list of this kind. A key is hashed once for all sub-filters, its bits are
// computed once, and the blocks of all sub-filters are fetched together. Every sub-filter is asked,
// whether or not another has the key, so that the time of a look-up does not depend on its answer.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// Filters of one layout and one hasher. It owns nothing.
struct SubFilters {
  const Kernel* kernel;  // of their layout
  std::span<const BitArray* const> bit_arrays;
};

// Answers for each key whether any of the sub-filters may contain it; returns how many of the answers are
// true. `found` is null or has room for one answer for each key.
std::size_t may_contain_in_any(const SubFilters& sub_filters, std::span<const Hash128> hashes,
                               bool* found) noexcept;
// The same for integers, which it hashes with hash_integer().
std::size_t may_contain_in_any(const SubFilters& sub_filters, std::uint64_t seed_multiplier,
                               std::span<const std::uint64_t> keys, bool* found) noexcept;
// The same for one key.
bool may_contain_in_any_one(const SubFilters& sub_filters, Hash128 hash) noexcept;

}  // namespace bloomery::detail
