// Parts of the grammar of JSON (RFC 8259) that simdjson checks later than a key needs it, or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bloomery::cli {

[[nodiscard]] bool is_json_number(std::string_view text) noexcept;

// What a string says whose escapes name halves of surrogate pairs alone, as text does that was cut inside of an
// emoji: the grammar allows it, and UTF-8 has no such character, so each half is three bytes as if it had
// (WTF-8). `literal` begins with the quotation mark and may go on behind the other one. Nothing: an escape is
// none of JSON, or there is no end.
[[nodiscard]] std::optional<std::string> text_with_halves(std::string_view literal);

}  // namespace bloomery::cli
