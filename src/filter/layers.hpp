// One question to a list of filters: may any of them contain the key?
//
// Scalable and window filters are such lists. All layers have the same hasher, so that a key is
// hashed once; a bulk look-up keeps the misses of many keys in flight, whichever layer they are in.
#pragma once

#include <bloomery/filter_view.hpp>

#include <cstddef>
#include <span>

namespace bloomery::detail {

// Whether any of the layers may contain each key; returns how many keys that are. Layers are
// asked in the order given, a key no further than to the first that may contain it: give those
// first that answer most keys. `found`, unless empty, has room for one answer a key.
std::size_t any_may_contain(std::span<const FilterView* const> layers,
                            std::span<const Hash128> hashes, std::span<bool> found) noexcept;

// The same of one key, with the lines of all layers asked of the memory at once.
bool any_may_contain_one(std::span<const FilterView* const> layers, Hash128 hash) noexcept;

}  // namespace bloomery::detail
