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

  // What a string says, and any other value as it is written; empty if the line has no such field. Nothing:
  // it is no JSON, as far as it must be read for that; problem() says why. The view is good until the next
  // call.
  [[nodiscard]] std::optional<std::string_view> value_in(std::string_view line);
  [[nodiscard]] std::string_view problem() const noexcept { return problem_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::vector<std::string> path_;
  std::string padded_;
  std::string_view problem_;
};

// Whether it can be given to JsonField: a pointer's ~ stands in ~0 or ~1.
[[nodiscard]] bool is_json_field(std::string_view field) noexcept;

// ---- parts of the grammar (RFC 8259) that simdjson checks later than a key needs it, or not at all
// (json_text.cpp) ---------------------------------------------------------------------------------

[[nodiscard]] bool is_json_number(std::string_view text) noexcept;

// What a string says whose escapes name halves of surrogate pairs alone, as text does that was cut inside of an
// emoji: the grammar allows it, and UTF-8 has no such character, so each half is three bytes as if it had
// (WTF-8). `literal` begins with the quotation mark and may go on behind the other one. Nothing: an escape is
// none of JSON, or there is no end.
[[nodiscard]] std::optional<std::string> text_with_halves(std::string_view literal);

}  // namespace bloomery::cli
