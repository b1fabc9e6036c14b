// One case a flag, as the table of flags has one row.
#include "flag_values.hpp"

#include "sizes.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

namespace bloomery::cli {

namespace {

template <class T>
T choice(const Flag& flag, const std::string& text,
         std::initializer_list<std::pair<std::string_view, T>> choices) {
  for (const auto& [name, value] : choices)
    if (name == text) return value;
  std::string names(flag.choices);
  for (std::size_t at; (at = names.find('|')) != std::string::npos;) names.replace(at, 1, ", ");
  refuse(fmt::format("--{} '{}' is none of {}", flag.long_name, text, names));
}

char parse_delimiter(const std::string& text) {
  if (text == "\\t") return '\t';
  if (text.size() != 1)
    refuse(fmt::format("-d '{}' is not one byte: give a single one, or \\t", text));
  return text[0];
}

// For numbers whose bounds the library knows, all of them small.
std::uint32_t small_count(const Flag& flag, const std::string& text) {
  const std::uint64_t count = parse_count(text);
  if (count > 1'000'000)
    refuse(fmt::format("--{} {} is far out of range; see --help", flag.long_name, text));
  return static_cast<std::uint32_t>(count);
}

}  // namespace

void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

void set_value(Options& options, const Flag& flag, const std::string& text) {
  switch (flag.id) {
    case FlagId::items:
      options.items = parse_count(text);
      break;
    case FlagId::fpr:
      options.fpr = parse_fpr(text);
      break;
    case FlagId::bits:
      options.bits = parse_bits(text);
      break;
    case FlagId::hashes:
      options.hashes = small_count(flag, text);
      break;
    case FlagId::layout:
      options.layout = choice<Layout>(flag, text,
                                      {{"blocked", Layout::blocked},
                                       {"blocked2", Layout::blocked2},
                                       {"standard", Layout::standard}});
      break;
    case FlagId::kind:
      options.kind = choice<Kind>(flag, text,
                                  {{"plain", Kind::plain},
                                   {"counting", Kind::counting},
                                   {"scalable", Kind::scalable},
                                   {"window", Kind::window}});
      break;
    case FlagId::counter_bits:
      options.counter_bits = choice<std::uint32_t>(flag, text, {{"4", 4}, {"8", 8}});
      break;
    case FlagId::growth:
      options.growth = small_count(flag, text);
      break;
    case FlagId::window:
      options.window = parse_window(text);
      break;
    case FlagId::slices:
      options.slices = small_count(flag, text);
      break;
    case FlagId::hash:
      options.hash = choice<HashFamily>(
          flag, text, {{"xxh3", HashFamily::xxh3}, {"siphash", HashFamily::siphash}});
      break;
    case FlagId::seed:
      options.random_seed = text == "random";
      options.seed.reset();
      if (!options.random_seed) options.seed = parse_seed(text);
      break;
    case FlagId::filter:
      if (text.empty()) refuse("--filter '' names no file");
      options.filter = text;
      break;
    case FlagId::durability:
      options.durability = choice<Durability>(flag, text,
                                              {{"none", Durability::none},
                                               {"process", Durability::process},
                                               {"sync", Durability::sync}});
      break;
    case FlagId::key:
      options.key = parse_count(text);
      if (options.key == 0) refuse("-k 0: fields are counted from 1");
      break;
    case FlagId::delimiter:
      options.delimiter = parse_delimiter(text);
      break;
    case FlagId::rotating:
      options.rotating = true;
      break;
    case FlagId::scheme:
      options.scheme = text;
      break;
    case FlagId::table:
      options.table = true;
      break;
    case FlagId::web:
      options.web = true;
      break;
    case FlagId::force:
      options.force = true;
      break;
    case FlagId::invert:
      options.invert = true;
      break;
    case FlagId::count:
      options.count = true;
      break;
    case FlagId::quiet:
      options.quiet = true;
      break;
    case FlagId::null:
      options.end = '\0';
      break;
    case FlagId::json:
      options.json = true;
      break;
    case FlagId::plot:
      options.plot = true;
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
