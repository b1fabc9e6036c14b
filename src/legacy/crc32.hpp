// CRC-32 (ISO 3309, polynomial 0xEDB88320), as PHP's crc32() and zlib give it.
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomery::detail {

[[nodiscard]] std::uint32_t crc32(std::string_view bytes) noexcept;

}  // namespace bloomery::detail
