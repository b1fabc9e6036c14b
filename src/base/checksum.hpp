// The checksum of everything that Bloomery writes: XXH3-64, seeded, the same on every CPU.
//
// A file of its own beside endian.hpp, because hashes, frozen filters and the module need its integers and no checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes,
                                     std::uint64_t seed = 0) noexcept;

}  // namespace bloomery::detail
