// Escapes control characters in a message, and hides what looks like a password.
#include "output/message.hpp"

#include <bloomery/any_filter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bloomery::cli {

namespace {

constexpr std::string_view kHidden = "***";
constexpr std::string_view kSpace = " \t\r\n\v\f";

// A text with a password in it. Everything but its first and its last characters is hidden.
struct Secret {
  std::string text;
  std::size_t before = 0, after = 0;
};

// The text before an @ in the arguments of this run, with the @, the longest first: one may contain another.
std::vector<Secret>& known_secrets() {
  static std::vector<Secret> secrets;
  return secrets;
}

std::size_t position_in(std::string_view text, std::string_view part) {
  return static_cast<std::size_t>(part.data() - text.data());
}

std::string without_known(std::string text) {
  for (const auto& [secret, before, after] : known_secrets())
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;
         at += before + kHidden.size() + after)
      text.replace(at + before, secret.size() - before - after, kHidden);
  return text;
}

// The UTF-8 character at the start of a text: how many bytes it has (0: it is not valid), and its number.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t number = 0;
};

Character character_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes > text.size()) return {};
  std::uint32_t number = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    number = number << 6 | (byte(i) & 0x3FU);
  }
  const bool shorter = (bytes == 3 && number < 0x800) || (bytes == 4 && number < 0x10000);
  const bool none = (number >= 0xD800 && number <= 0xDFFF) || number > 0x10FFFF;
  return shorter || none ? Character{} : Character{bytes, number};
}

bool is_shown(std::uint32_t number) {
  const auto within = [&](std::uint32_t first, std::uint32_t last) {
    return number >= first && number <= last;
  };
  const bool control = number < 0x20 || within(0x7F, 0x9F);
  const bool unseen = number == 0xAD || within(0x200B, 0x200F) || number == 0xFEFF;
  const bool moves = within(0x2028, 0x202E) || within(0x2060, 0x206F) || number == 0x61C;
  return !control && !unseen && !moves && !within(0xE0000, 0xE007F);
}

constexpr std::string_view kDigits = "0123456789abcdef";

void append_quoted(std::string& to, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    to += "\\n";
  } else if (c == '\r') {
    to += "\\r";
  } else if (c == '\t') {
    to += "\\t";
  } else {
    to.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
  }
}

// One unit of UTF-16, as JSON writes it: \u202e.
void append_unit(std::string& to, std::uint32_t unit) {
  to += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) to += kDigits[unit >> shift & 15];
}

// The text with quote(to, character, its bytes) for each character that is not valid or not shown.
template <class Quote>
std::string quoted(std::string_view text, Quote quote) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = character_of(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(character.bytes, 1));
    if (character.bytes != 0 && is_shown(character.number))
      out += bytes;
    else
      quote(out, character, bytes);
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return quoted(text, [](std::string& out, const Character&, std::string_view bytes) {
    for (const char c : bytes) append_quoted(out, c);
  });
}

std::string printable_json(std::string_view json) {
  return quoted(json, [](std::string& out, const Character& character, std::string_view bytes) {
    const std::uint32_t number = character.number;
    if (bytes == "\n") {
      out += bytes;
    } else if (number < 0x10000) {
      append_unit(out, number);
    } else {
      append_unit(out, 0xD800 + ((number - 0x10000) >> 10));
      append_unit(out, 0xDC00 + (number & 0x3FF));
    }
  });
}

std::string without_secrets(std::string_view text) {
  const std::string known_hidden = without_known(std::string(text));
  std::string_view rest = known_hidden;
  std::string out;
  while (!rest.empty()) {
    const std::size_t begin = std::min(rest.find_first_not_of(kSpace), rest.size());
    out += rest.substr(0, begin);
    rest.remove_prefix(begin);
    const std::string_view word = rest.substr(0, rest.find_first_of(kSpace));
    rest.remove_prefix(word.size());
    const auto secret = AnyFilter::secret_of(word);
    const std::size_t before = secret ? position_in(word, *secret) : word.size();
    out += word.substr(0, before);
    if (secret) out.append(kHidden).append(word.substr(before + secret->size()));
  }
  return out;
}

void hide_secrets_of(std::span<const std::string> arguments) {
  std::vector<Secret>& secrets = known_secrets();
  secrets.clear();
  for (const std::string& argument : arguments) {
    const auto secret = AnyFilter::secret_of(argument);
    if (!secret || secret->empty()) continue;
    const std::size_t begin = position_in(argument, *secret), at = begin + secret->size();
    secrets.push_back({argument.substr(begin, at + 1 - begin), 0, 1});
    // The text before a '=' may be shown without the rest, if it is not a flag; and that before a '/', which would be
    // the directory of a file of this name.
    const std::size_t end = argument.find('=');
    for (std::size_t part = begin + 1; part < at; ++part)
      if (part == end || argument[part] == '/')
        secrets.push_back({argument.substr(0, part), begin, 0});
  }
  std::ranges::sort(secrets,
                    [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
}

std::string message_line(std::string_view text) {
  return "bloomery: " + printable(without_secrets(text)) + "\n";
}

}  // namespace bloomery::cli
