// The two copies of a header, as bytes.
//
// The header is written twice: the second copy is written when the first is on the device. The newer undamaged copy
// is valid. A torn write or damage to one copy leaves the other copy; and because no writer continues before both
// copies are on the device, the other copy is always safe to use.
//
// A copy that the device has refused to sync may be visible now and be lost later. So the copy that was written last is
// the first to be overwritten: a header of generation g goes first to copy g mod 2. If the copies have different
// generations, the newer header was only half written, and the older copy is the one that is kept.
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
  unsigned copy = 0;         // which of the two copies it is
  unsigned undamaged = 0;    // how many copies are undamaged
  bool both_current = true;  // both copies are undamaged and of this generation
  unsigned first = 0;        // the copy that the next header overwrites first
};
// `start`: the first 8192 bytes, or the whole file if it is shorter. Checks every field, and that a file of
// `file_bytes` has room for everything that the fields describe. Error{not_a_filter | newer_format | wrong_kind |
// corrupt}; the message calls the filter `name`.
[[nodiscard]] FoundHeader decode_headers(std::span<const std::byte> start, std::uint64_t file_bytes,
                                         const std::string& name);
// The bytes that every filter file begins with, and whether some bytes begin with them.
[[nodiscard]] std::array<std::byte, 8> magic() noexcept;
[[nodiscard]] bool has_magic(std::span<const std::byte> start) noexcept;
// Whether bytes are a filter file's, which can have lost the first of its two headers. `start`: as above.
[[nodiscard]] bool is_filter_file(std::span<const std::byte> start) noexcept;
// The same for dumps of a module's filters (handle/dump_file.hpp).
inline constexpr std::array<char, 8> kDumpMagic = {'\x89', 'B', 'L', 'D', '\r', '\n', '\x1a', '\n'};
[[nodiscard]] bool is_dump(std::span<const std::byte> start) noexcept;

}  // namespace bloomery::detail
