// Input as changes to valid bytes, so that the fuzzer gets past the first checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::fuzz {

// Every three bytes of `input` are an offset (little-endian) and the byte to write there.
inline void patch(std::vector<std::byte>& bytes, std::span<const std::uint8_t> input) {
  for (; input.size() >= 3; input = input.subspan(3)) {
    const std::size_t at = input[0] + 256U * input[1];
    if (at < bytes.size()) bytes[at] = std::byte{input[2]};
  }
}

}  // namespace bloomery::fuzz
