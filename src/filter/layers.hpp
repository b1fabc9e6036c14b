// One question to a list of filters: may any of them contain the key?
//
// A filter that grows is such a list. A key is hashed once for all layers, its bits are worked out
// once, and the lines of all layers are asked of the memory together. Every layer is asked, whether
// or not another has the key, so that a look-up's time does not depend on its answer.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// Filters of one layout and one hasher. Nobody owns anything here.
struct Layers {
  const Kernel* kernel;  // of their layout
  std::span<const Shape* const> shapes;
};

// Whether any of the layers may contain each key; returns how many keys that are. `found`, unless
// empty, has room for one answer a key.
std::size_t any_may_contain(const Layers& layers, std::span<const Hash128> hashes,
                            std::span<bool> found) noexcept;
// The same of integers, hashed on the way.
std::size_t any_may_contain_integers(const Layers& layers, const Hasher& hasher,
                                     std::span<const std::uint64_t> keys,
                                     std::span<bool> found) noexcept;
// The same of one key.
bool any_may_contain_one(const Layers& layers, Hash128 hash) noexcept;

}  // namespace bloomery::detail
