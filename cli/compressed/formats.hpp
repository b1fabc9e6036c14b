// The compressed formats that the tool reads and writes, and the first bytes that tell them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomery::cli {

enum class Format : std::uint8_t { gzip, zstd, xz, bzip2 };

[[nodiscard]] std::string_view to_string(Format format) noexcept;

// What the first bytes of an input say of all of it.
struct Sniffed {
  bool decided = true;           // false: they may still become the start of a format
  std::optional<Format> format;  // none: text
};

// No format needs more bytes than this to be told.
constexpr std::size_t kMostMagic = 10;

// `start` is the input's first bytes, all that there are of them or at least kMostMagic. No UTF-8 text
// begins as gzip, a frame of zstd or xz does; bzip2 begins with ten characters that a text could have,
// and a skippable frame of zstd with three and a control character.
[[nodiscard]] Sniffed sniff(std::string_view start) noexcept;

}  // namespace bloomery::cli
