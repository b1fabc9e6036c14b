// The value of one field of a line of JSON.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

class JsonField {
 public:
  // The name of a field of the line's object, as it is written there; or a JSON pointer, which begins with a
  // slash: /request/url, /tags/0.
  explicit JsonField(const std::string& field);
  JsonField(const JsonField&) = delete;
  JsonField& operator=(const JsonField&) = delete;
  ~JsonField();

  // The content of a string, or any other value as it is written; empty if the line lacks the field.
  // Nothing: the part of the line that had to be read is not JSON; problem() says why. That part is the names and
  // punctuation up to the field, its value unless that is an object or array, and the last byte of the line; of the
  // rest only that its strings end, and that it is UTF-8. The view is valid until the next call.
  [[nodiscard]] std::optional<std::string_view> value_in(std::string_view line);
  [[nodiscard]] std::string_view problem() const noexcept { return problem_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::vector<std::string> path_;
  std::string padded_;
  std::string_view problem_;
};

// Whether JsonField accepts it: each ~ of a pointer must be part of ~0 or ~1.
[[nodiscard]] bool is_json_field(std::string_view field) noexcept;

// ---- parts of the grammar (RFC 8259) that simdjson checks later than a key needs it, or not at all
// (json_text.cpp) ---------------------------------------------------------------------------------

[[nodiscard]] bool is_json_number(std::string_view text) noexcept;

// The content of a string whose escapes have single halves of surrogate pairs, like text that was cut inside an
// emoji. The grammar allows them, but UTF-8 cannot encode a half, so each becomes three bytes as in WTF-8.
// `literal` begins with the quotation mark and may go on after the closing one. Nothing: an escape is not JSON,
// or the string has no end.
[[nodiscard]] std::optional<std::string> text_with_halves(std::string_view literal);

}  // namespace bloomery::cli
