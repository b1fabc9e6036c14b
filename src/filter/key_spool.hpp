// Where the keys of a set go that is larger than memory, while its frozen filter is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

class KeySpool {
 public:
  virtual ~KeySpool() = default;
  // Bytes are written one after the other from 0 on, and again from an offset that was not finished. Error: they cannot.
  virtual void write(std::span<const std::byte> bytes, std::uint64_t offset) = 0;
  // Of what was written. Any number of threads at once. Error{io}.
  virtual void read(std::span<std::byte> bytes, std::uint64_t offset) const = 0;
};

}  // namespace bloomery::detail
