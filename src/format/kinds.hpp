// What each kind of filter adds to a header: its plan, its section, and the size of its bits.
//
// The section begins at byte 136 of a copy of the header. Every field is checked where it is read,
// so that nothing is allocated for fields that no filter can have.
#pragma once

#include <bloomery/kind.hpp>

#include "format/header.hpp"
#include "format/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bloomery::detail {

// The header of an empty filter, without an identity. Error{invalid_argument | too_large}: no filter
// can have that plan.
[[nodiscard]] Header header_of(const FilterPlan& plan, const Hasher& hasher);
// Error{mismatch}, naming the first difference, unless the filter was created from that plan with
// that hasher. `name` names the filter in it.
void require_created_from(const FilterPlan& plan, const Hasher& hasher, const Header& header,
                          const std::string& name);

// The plan of the bits: of a scalable filter that of its first sub-filter, of a window that of each
// slice. Of a counting filter, whose bits are counters: with a bit for each.
[[nodiscard]] const Plan& bits_plan(const FilterPlan& plan) noexcept;

constexpr std::size_t kSectionAt = 136;
constexpr std::size_t kSectionEnd = 4048;  // the header's batch, and its checksum

// `page`: a copy of the header, zeros from kSectionAt on.
void encode_section(const Header& header, std::span<std::byte> page) noexcept;
// Sets the header's plan, of that kind, and what else the kind has; the count of inserts is read
// already. Returns where the section ends. Error{invalid_argument | too_large}: no filter can have
// these fields.
[[nodiscard]] std::size_t decode_section(Kind kind, const Plan& bits,
                                         std::span<const std::byte> page, Header& header);

// The bytes of all bits, counters, sub-filters or slices that the header speaks of.
[[nodiscard]] std::uint64_t payload_bytes(const Header& header) noexcept;
[[nodiscard]] inline FileLayout layout_of(const Header& header) noexcept {
  return FileLayout(payload_bytes(header));
}

}  // namespace bloomery::detail
