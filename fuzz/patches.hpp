// Input as changes to bytes that are well formed, so that a fuzzer starts deep inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::fuzz {

// Each three bytes of `input` are an offset (little-endian) and what to write there.
inline void patch(std::vector<std::byte>& bytes, std::span<const std::uint8_t> input) {
  for (; input.size() >= 3; input = input.subspan(3)) {
    const std::size_t at = input[0] + 256U * input[1];
    if (at < bytes.size()) bytes[at] = std::byte{input[2]};
  }
}

}  // namespace bloomery::fuzz
