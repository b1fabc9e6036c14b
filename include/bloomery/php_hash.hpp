// The eight string hashes that PHP classes for Bloom filters share, as 64-bit PHP computes them.
//
//   php_hash(PhpHash::bkdr, "a") == 97
//
// Each gives exactly the number that PHP gives, for any bytes of any length. PHP's integers are
// signed and have 64 bits. If +, - or * overflows, the result becomes and stays a double; a shift, ^,
// &, % or (int) turns it into an integer modulo 2^64. Each hash ends with `% 0xFFFFFFFF` and
// `& 0xFFFFFFFF`, and has 32 bits.
//
// They exist to read old filters; use hash.hpp for new ones. A double has 53 bits: once the product of
// BKDR overflows, from about the ninth byte on, nearly every byte is rounded away, and keys with the
// same first bytes have the same hash (docs/migrate.md).
//
// Source: the formulas of existing PHP classes, and PHP 8.2 itself (tests/legacy).
#pragma once

#include <bloomery/version.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomery {

enum class PhpHash : std::uint8_t { js, pjw, elf, bkdr, sdbm, djb, dek, fnv };

constexpr std::array<PhpHash, 8> kPhpHashes = {PhpHash::js,   PhpHash::pjw,  PhpHash::elf,
                                               PhpHash::bkdr, PhpHash::sdbm, PhpHash::djb,
                                               PhpHash::dek,  PhpHash::fnv};

[[nodiscard]] std::uint32_t php_hash(PhpHash hash, std::string_view key) noexcept;

// "JS", "PJW", ... and back, in upper or lower case.
[[nodiscard]] std::string_view to_string(PhpHash hash) noexcept;
[[nodiscard]] std::optional<PhpHash> php_hash_named(std::string_view name) noexcept;

}  // namespace bloomery
