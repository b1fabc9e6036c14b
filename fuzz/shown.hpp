// What the tool may print: no byte that a terminal obeys, by other means than the tool's own code, and no password.
#pragma once

#include <cstddef>
#include <string_view>

namespace bloomery::fuzz {

constexpr std::string_view kSecret = "Pa55W0rd";

// No byte below a space, no DEL, and no two bytes that are a control character in UTF-8 (0xC2 and 0x80 to
// 0x9F); each byte from 0x80 on belongs to a character.
inline bool is_shown(std::string_view text) {
  std::size_t following = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < ' ' || byte == 0x7F) return false;
    const bool continues = byte >= 0x80 && byte < 0xC0;
    if (continues != (following > 0)) return false;
    if (continues)
      --following;
    else
      following = byte < 0xC0 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0)
      return false;
  }
  return following == 0;
}

}  // namespace bloomery::fuzz
