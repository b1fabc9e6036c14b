// Uses simdjson's on-demand parser, which does not parse the bytes after the field.
#include "keys/json_field.hpp"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>

namespace bloomery::cli {

namespace {

using simdjson::ondemand::document;
using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

// The field does not exist: the key is empty.
bool is_absence(simdjson::error_code error) noexcept {
  return error == simdjson::NO_SUCH_FIELD || error == simdjson::INDEX_OUT_OF_BOUNDS;
}

std::string_view without_blanks_behind(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// `buffer` holds the text if simdjson refuses the string.
simdjson::error_code string_in(value found, std::string& buffer, std::string_view& text) {
  const std::string_view literal = found.raw_json_token();
  const auto error = found.get_string().get(text);
  if (error != simdjson::STRING_ERROR) return error;
  auto lenient = text_with_halves(literal);
  if (!lenient) return error;
  text = buffer = std::move(*lenient);
  return simdjson::SUCCESS;
}

simdjson::error_code text_of(value found, std::string& buffer, std::string_view& text) {
  json_type type{};
  if (const auto error = found.type().get(type)) return error;
  switch (type) {
    case json_type::string:
      return string_in(found, buffer, text);
    case json_type::object: {
      simdjson::ondemand::object object;
      if (const auto error = found.get_object().get(object)) return error;
      if (const auto error = object.raw_json().get(text)) return error;
      break;
    }
    case json_type::array: {
      simdjson::ondemand::array array;
      if (const auto error = found.get_array().get(array)) return error;
      if (const auto error = array.raw_json().get(text)) return error;
      break;
    }
    case json_type::number:
      text = without_blanks_behind(found.raw_json_token());
      return is_json_number(text) ? simdjson::SUCCESS : simdjson::NUMBER_ERROR;
    case json_type::boolean: {
      bool which = false;
      text = found.raw_json_token();
      if (const auto error = found.get_bool().get(which)) return error;
      break;
    }
    case json_type::null:
      text = without_blanks_behind(found.raw_json_token());
      return text == "null" ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
  }
  text = without_blanks_behind(text);
  return simdjson::SUCCESS;
}

// Goes into an object or an array. Any other value has no fields.
simdjson::error_code take_step(value& found, const std::string& step) noexcept {
  json_type type{};
  if (const auto error = found.type().get(type)) return error;
  if (type == json_type::object) return found[step].get(found);
  if (type != json_type::array) return simdjson::NO_SUCH_FIELD;
  std::size_t index = 0;
  const char* const last = step.data() + step.size();
  const auto [end, error] = std::from_chars(step.data(), last, index);
  if (step.empty() || error != std::errc() || end != last) return simdjson::NO_SUCH_FIELD;
  simdjson::ondemand::array array;
  if (const auto not_one = found.get_array().get(array)) return not_one;
  return array.at(index).get(found);
}

// The names on the way to the field.
std::vector<std::string> path_of(std::string_view field) {
  if (!field.starts_with('/')) return {std::string(field)};
  std::vector<std::string> path;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '/') {
      path.emplace_back();
    } else if (field[i] == '~') {
      path.back() += field[++i] == '1' ? '/' : '~';
    } else {
      path.back() += field[i];
    }
  }
  return path;
}

}  // namespace

struct JsonField::Parser {
  simdjson::ondemand::parser parser;
  std::string buffer;

  simdjson::error_code find(simdjson::padded_string_view line, const std::vector<std::string>& path,
                            std::string_view& text) {
    document document_of_line;
    if (const auto error = parser.iterate(line).get(document_of_line)) return error;
    simdjson::ondemand::object object;
    if (const auto error = document_of_line.get_object().get(object)) return error;
    value found;
    if (const auto error = object[path.front()].get(found)) return error;
    for (const std::string& step : std::span(path).subspan(1))
      if (const auto error = take_step(found, step)) return error;
    return text_of(found, buffer, text);
  }
};

JsonField::JsonField(const std::string& field)
    : parser_(std::make_unique<Parser>()), path_(path_of(field)) {}

JsonField::~JsonField() = default;

std::optional<std::string_view> JsonField::value_in(std::string_view line) {
  // The parser may read past text that is not JSON. It then finds spaces there, not the start of the next line.
  padded_.assign(line.size() + simdjson::SIMDJSON_PADDING, ' ');
  std::copy(line.begin(), line.end(), padded_.begin());
  std::string_view text;
  const simdjson::padded_string_view padded(padded_.data(), line.size(), padded_.size());
  const auto error = parser_->find(padded, path_, text);
  if (error == simdjson::SUCCESS) return text;
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  const std::size_t first = line.find_first_not_of(" \t\r\n");
  const bool object = first != std::string_view::npos && line[first] == '{';
  if (object && is_absence(error)) return std::string_view();
  problem_ = object
                 ? std::string_view(simdjson::error_message(error))
                 : "it does not begin with {; leave such lines out, as with grep '^[[:space:]]*{'";
  return std::nullopt;
}

bool is_json_field(std::string_view field) noexcept {
  if (!field.starts_with('/')) return !field.empty();
  for (std::size_t at = 0; (at = field.find('~', at)) != std::string_view::npos; ++at)
    if (at + 1 == field.size() || (field[at + 1] != '0' && field[at + 1] != '1')) return false;
  return true;
}

}  // namespace bloomery::cli
