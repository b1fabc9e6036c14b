// Little-endian integers in byte arrays, on machines of any byte order.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {

template <class T>
[[nodiscard]] inline T to_le(T value) noexcept {
  if constexpr (std::endian::native == std::endian::big) {
    if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
    if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
    if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
  }
  return value;
}

template <class T>
[[nodiscard]] inline T load_le(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return to_le(value);
}

template <class T>
inline void store_le(void* to, T value) noexcept {
  value = to_le(value);
  std::memcpy(to, &value, sizeof value);
}

[[nodiscard]] inline std::uint64_t load_le64(const void* from) noexcept {
  return load_le<std::uint64_t>(from);
}
inline void store_le64(void* to, std::uint64_t value) noexcept { store_le(to, value); }

}  // namespace bloomery::detail
