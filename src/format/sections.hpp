// What the header says of a kind beyond what all filters have: from byte 136 of a copy on.
//
// Every field is checked where it is read, so that nothing is allocated for what no filter is.
#pragma once

#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bloomery::detail {

struct Header;

constexpr std::size_t kSectionAt = 136;
constexpr std::size_t kSectionEnd = 4088;  // the header's checksum

// `page`: a copy of the header, zeros from kSectionAt on.
void encode_section(const Header& header, std::span<std::byte> page) noexcept;
// Fills the section of header.kind, whose other fields are read already; returns where it ends.
// Error{invalid_argument | too_large}: what it says is of no filter.
[[nodiscard]] std::size_t decode_section(std::span<const std::byte> page, Header& header);

// The bytes of all bits, counters, sub-filters or slices that the header speaks of.
[[nodiscard]] std::uint64_t payload_bytes(const Header& header) noexcept;

}  // namespace bloomery::detail
