// One loop for each form of a key; each loop passes on the keys one by one.
#include "keys/key_finder.hpp"

#include "keys/fields.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

namespace bloomery::cli {

namespace {

Delimiter delimiter_of(const KeyRule& rule) noexcept {
  return Delimiter(rule.delimiter, rule.whitespace);
}

// Returns the end of the copy.
char* put(char* to, std::string_view part) noexcept {
  if (!part.empty()) std::memcpy(to, part.data(), part.size());
  return to + part.size();
}

}  // namespace

void to_lower(std::span<char> text) noexcept {
  for (char& c : text) c = static_cast<char>(c + ((c >= 'A' && c <= 'Z') ? 'a' - 'A' : 0));
}

KeyFinder::KeyFinder(KeyRule rule) : rule_(std::move(rule)), by_number_(rule_.fields.size()) {
  std::iota(by_number_.begin(), by_number_.end(), std::size_t{0});
  std::sort(by_number_.begin(), by_number_.end(),
            [this](std::size_t a, std::size_t b) { return rule_.fields[a] < rule_.fields[b]; });
  found_.resize(rule_.fields.size());
  if (!rule_.json_field.empty()) json_.emplace(rule_.json_field);
}

// Fields are found in the line as it is, since their delimiter may be a letter.
std::string_view KeyFinder::in_case(std::string_view part, std::string_view text) const noexcept {
  if (!rule_.ignore_case || part.empty()) return part;
  return std::string_view(lower_).substr(static_cast<std::size_t>(part.data() - text.data()),
                                         part.size());
}

// A field has no delimiter in it, so different fields never make the same key. In lower case a field may have the
// letter of the delimiter, but not in upper case.
template <class Use>
void KeyFinder::each_joined(std::string_view text, std::span<const std::size_t> ends, Use use) {
  const bool letter = rule_.ignore_case && rule_.delimiter >= 'a' && rule_.delimiter <= 'z';
  const char upper = static_cast<char>(rule_.delimiter - (letter ? 'a' - 'A' : 0));
  const char between = rule_.whitespace ? ' ' : upper;
  const Delimiter delimiter = delimiter_of(rule_);
  // Bytes that have just been stored in pieces are slow to load, so some keys are put together before one is used.
  constexpr std::size_t kKeys = 32;
  std::array<std::size_t, kKeys> sizes;
  std::size_t begin = 0;
  while (!ends.empty()) {
    const std::span<const std::size_t> some = ends.first(std::min(kKeys, ends.size()));
    ends = ends.subspan(some.size());
    // A key is no longer than its line and the bytes between its fields.
    key_.resize(std::max(key_.size(), some.back() - begin + some.size() * found_.size()));
    char* to = key_.data();
    std::size_t* size = sizes.data();
    for (const std::size_t end : some) {
      Fields fields(text.substr(begin, end - begin - 1), text.data() + text.size(), delimiter);
      for (const std::size_t place : by_number_)
        found_[place] = in_case(fields.field(rule_.fields[place]), text);
      const char* const start = to;
      to = put(to, found_.front());
      for (const std::string_view field : std::span(found_).subspan(1)) {
        *to++ = between;
        to = put(to, field);
      }
      *size++ = static_cast<std::size_t>(to - start);
      begin = end;
    }
    const char* key = key_.data();
    for (const std::size_t bytes : std::span(sizes).first(some.size())) {
      use(std::string_view(key, bytes));
      key += bytes;
    }
  }
}

template <class Use>
void KeyFinder::each_json(std::string_view text, std::span<const std::size_t> ends,
                          std::string& problem, Use use) {
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const auto value = json_->value_in(text.substr(begin, end - begin - 1));
    if (!value) {
      problem = json_->problem();
      return;
    }
    if (rule_.ignore_case) {
      key_ = *value;
      to_lower(key_);
      use(std::string_view(key_));
    } else {
      use(*value);
    }
    begin = end;
  }
}

template <class Use>
void KeyFinder::each_key(std::string_view text, std::span<const std::size_t> ends,
                         std::string& problem, Use use) {
  if (json_) {
    each_json(text, ends, problem, use);
    return;
  }
  if (rule_.ignore_case) {
    lower_ = text;
    to_lower(lower_);
  }
  if (rule_.fields.size() > 1) {
    each_joined(text, ends, use);
    return;
  }
  const Delimiter delimiter = delimiter_of(rule_);
  const std::size_t number = rule_.fields.empty() ? 0 : rule_.fields.front();
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const std::string_view line = text.substr(begin, end - begin - 1);
    const std::string_view part =
        number == 0 ? line : Fields(line, text.data() + text.size(), delimiter).field(number);
    use(in_case(part, text));
    begin = end;
  }
}

void KeyFinder::find(std::string_view text, std::span<const std::size_t> ends,
                     const KeysWanted& wanted, Keys& keys) {
  const std::optional<Hasher>& hasher = wanted.hasher;
  keys.hashes.resize(hasher ? ends.size() : 0);
  keys.views.clear();
  keys.problem.clear();
  keys.text.clear();
  // The bytes between the fields of a key.
  const std::size_t between = rule_.fields.empty() ? 0 : rule_.fields.size() - 1;
  const bool is_part = json_ || !rule_.fields.empty();  // of the line
  std::uint64_t empty = 0;
  if (!wanted.views) {
    Hash128* at = keys.hashes.data();
    each_key(text, ends, keys.problem, [&](std::string_view key) {
      empty += key.size() == between;
      *at++ = (*hasher)(key);
    });
    keys.hashes.resize(static_cast<std::size_t>(at - keys.hashes.data()));
    keys.empty = is_part ? empty : 0;
    return;
  }
  // Keys that are not part of a line are gathered in the text first, which may move until all of them are there.
  const bool in_place = !json_ && !rule_.ignore_case && rule_.fields.size() <= 1;
  std::vector<std::size_t> key_ends;
  each_key(text, ends, keys.problem, [&](std::string_view key) {
    empty += key.size() == between;
    if (hasher) keys.hashes[keys.views.size()] = (*hasher)(key);
    if (!in_place) {
      keys.text += key;
      key_ends.push_back(keys.text.size());
    }
    keys.views.push_back(key);
  });
  keys.empty = is_part ? empty : 0;
  if (hasher) keys.hashes.resize(keys.views.size());
  if (in_place) return;
  for (std::size_t i = 0, begin = 0; i < key_ends.size(); begin = key_ends[i++])
    keys.views[i] = std::string_view(keys.text).substr(begin, key_ends[i] - begin);
}

}  // namespace bloomery::cli
