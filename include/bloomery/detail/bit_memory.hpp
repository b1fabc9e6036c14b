// Zeroed memory for bits, 64-byte aligned, on huge pages if they help and the system has them.
#pragma once

#include <bloomery/version.hpp>

#include <cstddef>
#include <span>

namespace bloomery::detail {

class BitMemory {
 public:
  BitMemory() = default;
  explicit BitMemory(std::size_t bytes);  // Error{no_memory}
  BitMemory(BitMemory&& other) noexcept;
  BitMemory& operator=(BitMemory&& other) noexcept;
  BitMemory(const BitMemory&) = delete;
  BitMemory& operator=(const BitMemory&) = delete;
  ~BitMemory();
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace bloomery::detail
