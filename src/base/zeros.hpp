// Whether bytes are all zeros.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace bloomery::detail {

// Each byte is like the one before it, and the first is zero.
[[nodiscard]] inline bool is_zeros(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace bloomery::detail
