// Magic bytes, from the documents of the formats.
#include "compressed/formats.hpp"

#include <algorithm>

namespace bloomery::cli {

namespace {

// A byte of a magic: any from `least` to `most`.
struct Bytes {
  unsigned char least, most;
  constexpr Bytes(unsigned char byte) : least(byte), most(byte) {}
  constexpr Bytes(unsigned char first, unsigned char last) : least(first), most(last) {}
};

struct Magic {
  std::optional<Format> format;  // none: a filter
  std::size_t size;
  Bytes bytes[kMostMagic];
};

constexpr Bytes kNone{0};
constexpr Magic kMagics[] = {
    // RFC 1952: two bytes, "deflate", and five flags in a byte.
    {Format::gzip, 4, {0x1F, 0x8B, 0x08, {0x00, 0x1F}, kNone, kNone, kNone, kNone, kNone, kNone}},
    // RFC 8878: a frame, or one of sixteen that a reader skips.
    {Format::zstd, 4, {0x28, 0xB5, 0x2F, 0xFD, kNone, kNone, kNone, kNone, kNone, kNone}},
    {Format::zstd, 4, {{0x50, 0x5F}, 0x2A, 0x4D, 0x18, kNone, kNone, kNone, kNone, kNone, kNone}},
    {Format::xz, 6, {0xFD, '7', 'z', 'X', 'Z', 0x00, kNone, kNone, kNone, kNone}},
    // "BZh", the block size, and then a block (the digits of pi) or the end (those of the root of pi).
    {Format::bzip2, 10, {'B', 'Z', 'h', {'1', '9'}, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59}},
    {Format::bzip2, 10, {'B', 'Z', 'h', {'1', '9'}, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90}},
    // docs/format.md: a filter, and a dump of one.
    {std::nullopt, 8, {0x89, 'B', 'L', 'M', '\r', '\n', 0x1A, '\n', kNone, kNone}},
    {std::nullopt, 8, {0x89, 'B', 'L', 'D', '\r', '\n', 0x1A, '\n', kNone, kNone}},
};

}  // namespace

std::string_view to_string(Format format) noexcept {
  switch (format) {
    case Format::gzip:
      return "gzip";
    case Format::zstd:
      return "zstd";
    case Format::xz:
      return "xz";
    case Format::bzip2:
      return "bzip2";
  }
  return "";
}

Sniffed sniff(std::string_view start) noexcept {
  Sniffed sniffed;
  for (const Magic& magic : kMagics) {
    const std::size_t there = std::min(magic.size, start.size());
    const bool same = std::equal(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(there),
                                 magic.bytes, [](char c, Bytes wanted) {
                                   const auto byte = static_cast<unsigned char>(c);
                                   return byte >= wanted.least && byte <= wanted.most;
                                 });
    if (!same) continue;
    if (there == magic.size) return {true, magic.format, !magic.format};
    sniffed.decided = false;
  }
  return sniffed;
}

}  // namespace bloomery::cli
