// The two copies of a header, as bytes.
//
// The header is written twice: the second copy is written once the first is on the device. The newer
// undamaged copy counts. So a torn write or damage to one copy leaves the other; and because no
// writer goes on before both copies are there, the other one is always safe to believe.
//
// A copy that the device has refused to sync may be visible and still be lost later. So the
// copy that was written last is the first to be overwritten: a header of generation g goes
// first over copy g mod 2. Copies of different generations are a half-written header, and the older
// copy is the one that stays.
#pragma once

#include "format/header.hpp"
#include "format/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bloomery::detail {

void encode_header(const Header& header, std::span<std::byte, kHeaderBytes> page) noexcept;

struct FoundHeader {
  Header header;
  unsigned copy = 0;         // which of the two it is
  unsigned undamaged = 0;    // how many copies are undamaged
  bool both_current = true;  // both copies are undamaged and of this generation
  unsigned first = 0;        // the copy that the next header goes over first
};
// `start`: the first 8192 bytes, or all where there are fewer. Checks every field, and that
// a file of `file_bytes` has room for everything that they describe. Error{not_a_filter |
// newer_format | wrong_kind | corrupt}; `name` names the file in it.
[[nodiscard]] FoundHeader decode_headers(std::span<const std::byte> start, std::uint64_t file_bytes,
                                         const std::string& name);
// How every filter file begins, and whether bytes begin so.
[[nodiscard]] std::array<std::byte, 8> magic() noexcept;
[[nodiscard]] bool has_magic(std::span<const std::byte> start) noexcept;

}  // namespace bloomery::detail
