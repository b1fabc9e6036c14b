// Many keys as hashes, in parts: for calls that send keys in batches and must not hold all hashes at
// once.
#pragma once

#include <bloomery/detail/keys.hpp>
#include <bloomery/hash.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <span>

namespace bloomery::detail {

// Writes the hashes of the next keys to `out`, which is not empty, and returns how many; 0: no keys
// are left.
using HashSource = std::function<std::size_t(std::span<Hash128> out)>;

[[nodiscard]] inline HashSource source_of(std::span<const Hash128> hashes) {
  return [left = hashes](std::span<Hash128> out) mutable {
    const std::size_t count = std::min(out.size(), left.size());
    std::copy_n(left.begin(), count, out.begin());
    left = left.subspan(count);
    return count;
  };
}

// Calls use(source) with a source of the keys' hashes.
template <KeyRange R, class Use>
std::size_t with_hashes(const Hasher& hasher, R&& keys, Use use) {
  auto at = std::ranges::begin(keys);
  const auto end = std::ranges::end(keys);
  return use(HashSource([&](std::span<Hash128> out) {
    std::size_t count = 0;
    for (; count < out.size() && at != end; ++at) out[count++] = hash_key(hasher, *at);
    return count;
  }));
}

}  // namespace bloomery::detail
