// Whether bytes are all zeros.
//
// A file of its own because most files that include it include nothing else of src/base.
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
