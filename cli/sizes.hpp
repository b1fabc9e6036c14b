// Numbers as people write them on a command line, to the numbers that a plan takes.
//
//   count   100M  1.5G  1e6  12345          K M G T are powers of 1000; must come out whole
//   bits    8G (bits)  1GiB (bytes)         KiB MiB GiB TiB are bytes, powers of 1024
//   window  7d 12h 30min 90s 2w (time)      anything else is a count, but for M written as m
//   rate    0.001  0.1%  1/1000  1e-3       1e-15 to 0.5
//
// Error{invalid_argument} quotes the text and says what would do.
#pragma once

#include <bloomery/hash.hpp>

#include <cstdint>
#include <string_view>

namespace bloomery::cli {

[[nodiscard]] std::uint64_t parse_count(std::string_view text);
[[nodiscard]] std::uint64_t parse_bits(std::string_view text);
struct Window;
[[nodiscard]] Window parse_window(std::string_view text);
[[nodiscard]] double parse_fpr(std::string_view text);
// A decimal number of 64 bits, or 0x and up to 32 hexadecimal digits.
[[nodiscard]] Seed parse_seed(std::string_view text);

}  // namespace bloomery::cli
