// What depends on the kind of filter: what it can do, and in a header its plan, its section, and the size of its bits.
//
// The section begins at byte 136 of a copy of the header. Every field is checked when it is read, so nothing is
// allocated for fields that no filter can have.
#pragma once

#include <bloomery/kind.hpp>

#include "format/header.hpp"
#include "format/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bloomery::detail {

// The operations that only some kinds have.
enum class Ability : std::uint8_t { remove, advance, merge };
// The reason why filters of a kind cannot do it, or null if they can.
[[nodiscard]] const char* why_not(Kind kind, Ability ability) noexcept;

// The header of an empty filter, without an identity. Error{invalid_argument | too_large}: no filter can have that
// plan.
[[nodiscard]] Header header_of(const FilterPlan& plan, const Hasher& hasher);
// Error{mismatch} if the filter was not created from that plan with that hasher; the message says the first
// difference and calls the filter `name`.
void require_created_from(const FilterPlan& plan, const Hasher& hasher, const Header& header,
                          const std::string& name);

// The plan of the bits: for a scalable filter the plan of its first sub-filter, for a window the plan of each slice.
// For a counting filter, whose bits are counters, it has one bit for each counter.
[[nodiscard]] const Plan& bits_plan(const FilterPlan& plan) noexcept;

constexpr std::size_t kSectionAt = 136;
constexpr std::size_t kSectionEnd = 4048;  // the header's batch and its checksum follow

// `page`: a copy of the header, with zeros from kSectionAt on.
void encode_section(const Header& header, std::span<std::byte> page) noexcept;
// Sets the header's plan, which is of that kind, and the other fields of the section; the count of inserts has been
// read before. Returns the offset of the section's end. Error{invalid_argument | too_large}: no filter can have these
// fields.
[[nodiscard]] std::size_t decode_section(Kind kind, const Plan& bits,
                                         std::span<const std::byte> page, Header& header);

// The size of all bits, counters, sub-filters or slices that the header describes.
[[nodiscard]] std::uint64_t payload_bytes(const Header& header) noexcept;
[[nodiscard]] inline FileLayout layout_of(const Header& header) noexcept {
  return FileLayout(payload_bytes(header));
}

}  // namespace bloomery::detail
