// XXH3-64 from xxHash, which is compiled into this file, and not into each one that wants a checksum.
#include "base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bloomery::detail {

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace bloomery::detail
