// The compressed formats that the tool reads and writes, and the first bytes that tell them, text and filters apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomery::cli {

enum class Format : std::uint8_t { gzip, zstd, xz, bzip2 };

[[nodiscard]] std::string_view to_string(Format format) noexcept;

// What the first bytes of an input tell about its format.
struct Sniffed {
  bool decided = true;           // false: they may still become the start of a format
  std::optional<Format> format;  // none: text, or a filter
  bool filter = false;           // one of Bloomery's own files
};

// This many bytes are enough to recognize every format.
constexpr std::size_t kMostMagic = 10;

// `start`: the first bytes of the input, at least kMostMagic of them unless the input is shorter. No
// UTF-8 text begins like gzip, a frame of zstd or xz; bzip2 begins with ten characters that a text
// could have, a skippable frame of zstd with three of them and a control character.
[[nodiscard]] Sniffed sniff(std::string_view start) noexcept;

}  // namespace bloomery::cli
