// Parses the text of a flag: one case for each flag that takes a value.
#include "flags/parse.hpp"

#include "flags/numbers.hpp"
#include "keys/json_field.hpp"
#include "output/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace bloomery::cli {

namespace {

std::string name_of(const Flag& flag) {
  return flag.short_name != 0 ? fmt::format("-{}", flag.short_name)
                              : fmt::format("--{}", flag.long_name);
}

[[noreturn]] void refuse_choice(const Flag& flag, const std::string& text) {
  std::string names(flag.choices);
  for (std::size_t at; (at = names.find('|')) != std::string::npos;) names.replace(at, 1, ", ");
  refuse(fmt::format("{} '{}' is not one of {}", name_of(flag), text, names));
}

template <class T>
T choice(const Flag& flag, const std::string& text,
         std::initializer_list<std::pair<std::string_view, T>> choices) {
  for (const auto& [name, value] : choices)
    if (name == text) return value;
  refuse_choice(flag, text);
}

// Chooses among values that the library has names for.
template <class T, std::size_t N>
T choice(const Flag& flag, const std::string& text, const std::array<T, N>& values) {
  for (const T value : values)
    if (to_string(value) == text) return value;
  refuse_choice(flag, text);
}

char parse_delimiter(const std::string& text) {
  if (text == "\\t") return '\t';
  if (text.size() != 1)
    refuse(fmt::format("-d '{}' is not one byte: give a single one, or \\t", text));
  return text[0];
}

// Returns what was read from the text, or throws an error that says what the flag takes.
template <class T>
T taken(const Flag& flag, const std::string& text, const std::optional<T>& value,
        std::string_view what, std::string_view takes) {
  constexpr std::size_t kMostShown = 64;
  if (value) return *value;
  std::string shown = without_secrets(text);  // first: a part of a secret would not be recognized
  if (shown.size() > kMostShown) shown = shown.substr(0, kMostShown) + "...";
  refuse(fmt::format("{} '{}' is not {}: give {}", name_of(flag), shown, what, takes));
}

std::uint64_t count_of(const Flag& flag, const std::string& text) {
  return taken(flag, text, read_count(text), "a count",
               "a whole number below 2^64, such as 100M, 1.5G, 1e6 or 1,000,000");
}

std::vector<std::size_t> parse_fields(const Flag& flag, const std::string& text) {
  constexpr std::size_t kMost = 64;
  std::vector<std::size_t> fields;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t comma = text.find(',', at);
    const std::string field = text.substr(at, comma - at);
    fields.push_back(taken(flag, field, read_count(field), "the number of a field",
                           "one such as 2, or several as in 2,5"));
    at = comma == std::string::npos ? comma : comma + 1;
    if (fields.back() == 0) refuse("-k 0: fields are counted from 1");
    if (std::count(fields.begin(), fields.end(), fields.back()) > 1)
      refuse(fmt::format("-k {}: field {} comes twice", text, fields.back()));
    if (fields.size() > kMost) refuse(fmt::format("-k: a key has at most {} fields", kMost));
  }
  return fields;
}

std::optional<std::uint64_t> whole_number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, base);
  if (digits.empty() || error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<Seed> read_seed(std::string_view text) {
  if (!text.starts_with("0x")) {
    const auto low = whole_number(text, 10);
    return low ? std::optional(Seed{*low, 0}) : std::nullopt;
  }
  const std::string_view digits = text.substr(2);
  if (digits.size() > 32) return std::nullopt;
  const std::size_t split = digits.size() > 16 ? digits.size() - 16 : 0;
  const auto low = whole_number(digits.substr(split), 16);
  const auto high = split == 0 ? 0 : whole_number(digits.substr(0, split), 16);
  if (!low || !high) return std::nullopt;
  return Seed{*low, *high};
}

void set_size(Options& options, const Flag& flag, const std::string& text) {
  const Size size = taken(flag, text, read_size(text), "a size",
                          "bits such as 8G, bytes such as 512KiB or 200 MB, or 16 bits/key");
  options.bits_per_key = size.bits_per_key;
  if (size.bits_per_key == 0) options.spec.bits = size.bits;
}

// For numbers whose bounds the library knows, all of them small.
std::uint32_t small_count(const Flag& flag, const std::string& text) {
  const std::uint64_t count = count_of(flag, text);
  if (count > 1'000'000)
    refuse(fmt::format("{} {} is far out of range; see --help", name_of(flag), text));
  return static_cast<std::uint32_t>(count);
}

// The name of a field as a step of a path.
std::string step_of(std::string_view name) {
  std::string step;
  for (const char c : name) {
    if (c == '~' || c == '/')
      step += c == '~' ? "~0" : "~1";
    else
      step += c;
  }
  return step;
}

// jq's .tags[0].id is /tags/0/id, and its ."user-agent" or .["user-agent"] is /user-agent.
std::string path_of_jq(const std::string& text) {
  std::string path;
  bool quoted = false;
  for (const char c : step_of(text)) {
    if (c == '"')
      quoted = !quoted;
    else if (quoted || (c != '.' && c != '[' && c != ']'))
      path += c;
    else if (c != ']' && !path.ends_with('/'))
      path += '/';
  }
  return path;
}

// .request.url is how jq names a field; here it would be a field of that name, which no line has.
[[noreturn]] void refuse_jq_path(const std::string& text) {
  refuse(
      fmt::format("--json-key '{}' begins with a dot; give {} for that field, as a path, or /{} "
                  "for a field whose name has the dot",
                  text, path_of_jq(text), step_of(text)));
}

}  // namespace

void set_value(Options& options, const Flag& flag, const std::string& text) {
  switch (flag.id) {
    case FlagId::on:
      options.*flag.sets = true;
      break;
    case FlagId::items:
      options.spec.capacity = count_of(flag, text);
      break;
    case FlagId::fpr:
      options.spec.fpr = taken(flag, text, read_fpr(text), "a false-positive rate",
                               "one from 1e-15 to 0.5, such as 0.001, 0.1%, 1/1000 or '1 in 1000'");
      break;
    case FlagId::bits:
      set_size(options, flag, text);
      break;
    case FlagId::hashes:
      options.spec.hashes = small_count(flag, text);
      break;
    case FlagId::layout:
      options.spec.layout = choice(flag, text, kOfferedLayouts);
      break;
    case FlagId::kind:
      options.spec.kind = choice(flag, text, kKinds);
      break;
    case FlagId::counter_bits:
      options.spec.counter_bits = choice<std::uint32_t>(flag, text, {{"4", 4}, {"8", 8}});
      break;
    case FlagId::growth:
      options.spec.growth = small_count(flag, text);
      break;
    case FlagId::window:
      options.spec.window =
          taken(flag, text, read_window(text), "a window",
                "a time such as 90s, 30min, 12h, 7d or 2w, or a number of lines such as 10M, from "
                "1 up");
      break;
    case FlagId::slices:
      options.spec.slices = small_count(flag, text);
      break;
    case FlagId::delta:
      options.spec.delta = count_of(flag, text);
      break;
    case FlagId::hash:
      options.hash = choice<HashFamily>(
          flag, text, {{"xxh3", HashFamily::xxh3}, {"siphash", HashFamily::siphash}});
      break;
    case FlagId::seed:
      options.random_seed = text == "random";
      options.seed.reset();
      if (!options.random_seed)
        options.seed = taken(flag, text, read_seed(text), "a seed",
                             "a number below 2^64, 0x and up to 32 hexadecimal digits, or random");
      break;
    case FlagId::filter:
      if (text.empty()) refuse("--filter '' names no file");
      options.filter = text;
      break;
    case FlagId::batch:
      if (text.empty()) refuse("--batch '' is no name");
      options.batch = text;
      break;
    case FlagId::durability:
      options.durability = choice<Durability>(flag, text,
                                              {{"none", Durability::none},
                                               {"process", Durability::process},
                                               {"sync", Durability::sync}});
      break;
    case FlagId::key:
      options.key.fields = parse_fields(flag, text);
      break;
    case FlagId::delimiter:
      options.key.delimiter = parse_delimiter(text);
      break;
    case FlagId::whitespace:
      options.key.whitespace = true;
      break;
    case FlagId::json_key:
      if (!is_json_field(text))
        refuse(
            fmt::format("--json-key '{}' is neither the name of a field nor a path such as "
                        "/request/url, with ~0 for ~ and ~1 for /",
                        text));
      if (text.size() > 1 && text.front() == '.') refuse_jq_path(text);
      options.key.json_field = text;
      break;
    case FlagId::ignore_case:
      options.key.ignore_case = true;
      break;
    case FlagId::out:
      if (text.empty()) refuse("-o '' names no file");
      if (text == "-")
        refuse(
            "-o -: lines go to the standard output without -o; give ./- for a file of that name");
      options.out = text;
      break;
    case FlagId::threads: {
      auto threads = whole_number(text, 10);
      if (threads && (*threads == 0 || *threads > 1024)) threads.reset();
      options.threads = static_cast<unsigned>(
          taken(flag, text, threads, "a number of threads", "one from 1 to 1024"));
      break;
    }
    case FlagId::compress:
      options.compress = choice<Format>(flag, text,
                                        {{"gzip", Format::gzip},
                                         {"zstd", Format::zstd},
                                         {"xz", Format::xz},
                                         {"bzip2", Format::bzip2}});
      break;
    case FlagId::scheme:
      options.scheme_text = text;
      break;
    case FlagId::null:
      options.end = '\0';
      break;
    case FlagId::format:
      options.prometheus = choice<bool>(flag, text, {{"json", false}, {"prometheus", true}});
      options.json |= !options.prometheus;
      break;
    case FlagId::no_progress:
      options.progress = false;
      break;
    case FlagId::help_short:
      options.ask = Options::Ask::short_help;
      break;
    case FlagId::help_long:
      options.ask = Options::Ask::long_help;
      break;
  }
}

}  // namespace bloomery::cli
