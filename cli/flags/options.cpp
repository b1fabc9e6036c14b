// From arguments to Options, through CLI11 and the one table.
#include "flags/options.hpp"

#include "flags/flag_values.hpp"
#include "flags/nearest.hpp"
#include "flags/numbers.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <memory>

namespace bloomery::cli {

namespace {

std::string flag_names(const Flag& flag) {
  std::string names;
  if (flag.short_name != 0) names = fmt::format("-{}", flag.short_name);
  if (!flag.long_name.empty())
    names += fmt::format("{}--{}", names.empty() ? "" : ",", flag.long_name);
  return names;
}

std::string flag_name(const Flag& flag) {
  return flag.long_name.empty() ? fmt::format("-{}", flag.short_name)
                                : fmt::format("--{}", flag.long_name);
}

// CLI11 takes an argument like [a,b] for a list of two; a mark in front keeps it whole.
constexpr char kMark = '\x01';
std::string marked(const std::string& argument) {
  const bool list = argument.size() >= 2 && argument.front() == '[' && argument.back() == ']';
  return list || (!argument.empty() && argument.front() == kMark) ? kMark + argument : argument;
}
std::string unmarked(const std::string& argument) {
  return !argument.empty() && argument.front() == kMark ? argument.substr(1) : argument;
}

// What CLI11 fills for one verb.
struct Parsed {
  CLI::App* app = nullptr;
  std::map<FlagId, CLI::Option*> flags;
  CLI::Option* files = nullptr;
};

// An argument that no flag of the verb is: tells where it belongs, or what is near it.
[[noreturn]] void refuse_unknown(const VerbInfo& verb, const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  std::vector<std::string> names;
  for (const Flag& flag : all_flags()) {
    const bool here = (flag.verbs & verb_bit(verb.verb)) != 0;
    const bool same = flag_name(flag) == name ||
                      (flag.short_name != 0 && name == fmt::format("-{}", flag.short_name));
    if (same && !here) {
      std::string where;
      for (const VerbInfo& other : all_verbs())
        if ((flag.verbs & verb_bit(other.verb)) != 0)
          where += fmt::format("{}{}", where.empty() ? "" : ", ", other.name);
      refuse(fmt::format("{}: {} is a flag of {}; see bloomery {} -h", verb.name, name, where,
                         verb.name));
    }
    if (here) names.push_back(flag_name(flag));
  }
  const std::string near = name.starts_with("--") ? suggestion(name, names) : std::string();
  refuse(fmt::format("{}: unknown flag {}{}", verb.name, name,
                     near.empty() ? fmt::format("; see bloomery {} -h", verb.name) : near));
}

// CLI11 stops at one thing that we let through to it: a flag whose value is missing. Its
// sentence begins with the flag's name.
[[noreturn]] void refuse_parse(const VerbInfo& verb, const CLI::ParseError& error) {
  const std::string sentence = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    refuse(fmt::format("{}: {} needs a value; see bloomery {} -h", verb.name,
                       sentence.substr(0, sentence.find(':')), verb.name));
  refuse(fmt::format("{}: {}; see bloomery {} -h", verb.name, sentence, verb.name));
}

void check_files(const Options& options, const VerbInfo& verb) {
  const std::size_t given = options.files.size();
  if (given < verb.least_files)
    refuse(fmt::format("{}: a file is missing; usage: bloomery {} {}", verb.name, verb.name,
                       verb.arguments));
  if (given > verb.most_files)
    refuse(fmt::format("{}: '{}' is one argument too many; usage: bloomery {} {}", verb.name,
                       options.files[verb.most_files], verb.name, verb.arguments));
  for (const auto& file : options.files)
    if (file.empty()) refuse(fmt::format("{}: '' names no file", verb.name));
}

void check_together(const Options& options, const VerbInfo& verb, bool durability_given) {
  if (verb.verb == Verb::check && options.json && !options.count)
    refuse("check: --json goes with -c: the lines themselves are not JSON");
  if (options.prometheus && (options.json || options.plot))
    refuse(fmt::format("{}: --format prometheus prints metrics; leave out {}", verb.name,
                       options.json ? "--json" : "--plot"));
  if (options.plot && (options.json || options.table))
    refuse(fmt::format("{}: --plot draws for people; leave out {}", verb.name,
                       options.json ? "--json" : "--table"));
  if (verb.verb == Verb::dedup && !options.filter && durability_given)
    refuse("dedup: --durability goes with --filter: nothing else is written to a file");
  const std::string& filter = options.filter          ? *options.filter
                              : options.files.empty() ? std::string()
                                                      : options.files.front();
  if (durability_given && (options.scheme || AnyFilter::is_address(filter)))
    refuse(
        fmt::format("{}: --durability is about filter files; what a filter on a server survives "
                    "is the server's to say",
                    verb.name));
}

// What a key is, and where its line goes.
void check_lines(const Options& options, const VerbInfo& verb, bool delimiter_given) {
  const KeyRule& key = options.key;
  if (key.fields.empty() && (delimiter_given || key.whitespace))
    refuse(fmt::format("{}: {} goes with -k: without it the whole line is the key", verb.name,
                       delimiter_given ? "-d" : "--whitespace"));
  if (delimiter_given && key.whitespace)
    refuse(fmt::format("{}: -d and --whitespace both say what is between fields", verb.name));
  if (!key.fields.empty() && !key.json_field.empty())
    refuse(fmt::format("{}: -k and --json-key both say what the key is", verb.name));
  const bool prints = !options.count && !(verb.verb == Verb::check && options.quiet);
  if ((options.compress || options.out) && !prints)
    refuse(fmt::format("{}: {} goes with lines that are printed, and {} prints none", verb.name,
                       options.out ? "-o" : "-Z", options.count ? "-c" : "-q"));
}

// `plan` prints the numbers of a filter, prints a table, or writes its page.
void check_plan(const Options& options) {
  if (!options.web && !options.files.empty())
    refuse(fmt::format("plan: '{}' is one argument too many: a FILE goes with --web",
                       options.files.front()));
  if (!options.web && options.force) refuse("plan: --force goes with --web");
  if (options.table && options.kind)
    refuse("plan: --kind does not go with --table, which shows a formula");
  const bool numbers = options.items || options.fpr || options.bits || options.hashes ||
                       options.layout || options.kind || options.table || options.json;
  if (options.web && numbers)
    refuse("plan: --web takes a FILE and --force alone: the numbers are typed into the page");
}

// A scheme says all that a plan would say, and -n and --bits of look-ups are a scheme's.
void resolve_scheme(const Options& options, const VerbInfo& verb) {
  const auto refuse_with = [&](bool given, std::string_view flag) {
    if (given)
      refuse(fmt::format("{}: {} does not go with --scheme, which says where the bits are",
                         verb.name, flag));
  };
  if (options.scheme) {
    if (verb.verb == Verb::dedup && !options.filter)
      refuse("dedup: --scheme goes with --filter: it says what bits there are");
    refuse_with(options.fpr.has_value(), "-p");
    refuse_with(options.hashes.has_value(), "--hashes");
    refuse_with(options.layout.has_value(), "--layout");
    refuse_with(options.kind.has_value(), "--kind");
    refuse_with(options.hash.has_value(), "--hash");
    refuse_with(options.seed || options.random_seed, "--seed");
    if (verb.verb == Verb::create) refuse_with(options.force, "--force");
    return;
  }
  const bool sizes = verb.verb == Verb::plan || verb.verb == Verb::create ||
                     verb.verb == Verb::rebuild || verb.verb == Verb::dedup;
  if (options.items && !sizes)
    refuse(fmt::format("{}: -n goes with --scheme: a filter knows its own", verb.name));
  if (options.bits && (!sizes || verb.verb == Verb::dedup))
    refuse(fmt::format("{}: --bits goes with --scheme{}", verb.name,
                       sizes ? "; give -n and -p" : ": a filter knows its own"));
}

void resolve_size(Options& options, const VerbInfo& verb) {
  if (options.bits_per_key == 0) return;
  if (!options.items)
    refuse(fmt::format("{}: --bits {} bits/key goes with -n, the number of keys", verb.name,
                       options.bits_per_key));
  options.bits = Size{0, options.bits_per_key}.bits_for(*options.items);
}

// The flags of one kind go with that kind; a window is enough to name its kind.
void resolve_kind(Options& options, const VerbInfo& verb) {
  if (options.window && !options.kind) options.kind = Kind::window;
  if (verb.verb == Verb::rebuild) return;  // the file may say the kind
  const auto require = [&](bool given, std::string_view flag, Kind kind) {
    if (given && options.kind != kind)
      refuse(fmt::format("{}: {} goes with --kind {}", verb.name, flag, to_string(kind)));
  };
  require(options.counter_bits.has_value(), "--counter-bits", Kind::counting);
  require(options.growth.has_value(), "--growth", Kind::scalable);
  require(options.window.has_value(), "--window", Kind::window);
  require(options.slices.has_value(), "--slices", Kind::window);
  require(options.delta.has_value(), "--delta", Kind::frozen);
  if (verb.verb == Verb::dedup && options.kind && !options.filter && options.kind != Kind::window)
    refuse(fmt::format("dedup: --kind {} goes with --filter: without a file {}",
                       to_string(*options.kind),
                       options.kind == Kind::scalable ? "it grows when -n is left out"
                                                      : "nothing else is of use"));
}

// Lines are read by create for a kind that is built from them, and by no other.
void check_create(const Options& options, const Parsed& parsed, const VerbInfo& verb) {
  if (options.kind == Kind::frozen) return;
  if (options.files.size() > 1)
    refuse(
        fmt::format("create: '{}' is one argument too many; add puts lines into a filter, or "
                    "--kind frozen makes one of them",
                    options.files[1]));
  for (const Flag& flag : all_flags()) {
    const auto found = parsed.flags.find(flag.id);
    const VerbSet lines = verb_bit(verb.verb) | verb_bit(Verb::remove) | verb_bit(Verb::check);
    if (found != parsed.flags.end() && found->second->count() > 0 &&
        (flag.verbs & lines) == lines && (flag.verbs & verb_bit(Verb::info)) == 0)
      refuse(fmt::format("create: {} goes with --kind frozen", flag_name(flag)));
  }
}

Options read_flags(const Parsed& parsed, const VerbInfo& verb) {
  Options options;
  options.has_verb = true;
  options.verb = verb.verb;
  for (const Flag& flag : all_flags()) {
    const auto found = parsed.flags.find(flag.id);
    if (found == parsed.flags.end() || found->second->count() == 0) continue;
    const std::string value = unmarked(found->second->results().back());
    if (flag.value.empty() && value != "true")
      refuse(fmt::format("{}: {} takes no value", verb.name, flag_name(flag)));
    set_value(options, flag, value);
    if (options.ask != Options::Ask::run) return options;
  }
  for (const auto& file : parsed.files->results()) options.files.push_back(unmarked(file));
  for (const auto& extra : parsed.app->remaining())
    if (extra != "--") refuse_unknown(verb, unmarked(extra));
  check_files(options, verb);
  const auto given = [&](FlagId id) {
    const auto flag = parsed.flags.find(id);
    return flag != parsed.flags.end() && flag->second->count() > 0;
  };
  check_together(options, verb, given(FlagId::durability));
  check_lines(options, verb, given(FlagId::delimiter));
  resolve_size(options, verb);
  resolve_kind(options, verb);
  if (verb.verb == Verb::plan) check_plan(options);
  if (verb.verb == Verb::create) check_create(options, parsed, verb);
  resolve_scheme(options, verb);
  return options;
}

// CLI11 would take the next argument for the value of --FLAG=.
void refuse_empty_values(const std::vector<std::string>& arguments, const VerbInfo& verb) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    for (const Flag& flag : all_flags())
      if ((flag.verbs & verb_bit(verb.verb)) != 0 && !flag.long_name.empty() &&
          argument == flag_name(flag) + "=")
        refuse(fmt::format("{}: {} {}", verb.name, flag_name(flag),
                           flag.value.empty() ? "takes no value" : "needs a value"));
  }
}

PhpScheme php_scheme(const Options& options) {
  constexpr std::string_view kHashes = "php-hashes=";
  const std::string_view text = *options.scheme;
  if (text == "php-crc32-mt") {
    if (!options.items || !options.bits)
      refuse("--scheme php-crc32-mt takes the m and n of the PHP class: add --bits M and -n N");
    return PhpScheme::crc32_mt(*options.bits, *options.items);
  }
  if (!text.starts_with(kHashes))
    refuse(fmt::format("--scheme '{}' is none of php-crc32-mt, php-hashes=NAMES", text));
  if (options.items || options.bits)
    refuse("--scheme php-hashes always has 2^32 bits; leave -n and --bits out");
  return PhpScheme::string_hashes(text.substr(kHashes.size()));
}

// The arguments in front of any verb.
Options parse_bare(const std::vector<std::string>& arguments) {
  Options options;
  if (arguments.empty())
    refuse(
        "no verb: give one of plan, create, add, remove, check, dedup, info, merge, rebuild, "
        "verify, salvage, rotate, convert; see bloomery -h");
  const std::string& first = arguments.front();
  if (first == "-h") {
    options.ask = Options::Ask::short_help;
  } else if (first == "--help" || first == "help") {
    options.ask = Options::Ask::long_help;
  } else if (first == "--version" || first == "-V") {
    options.ask = Options::Ask::version;
  } else if (first == "--generate" && arguments.size() == 2) {
    options.ask = Options::Ask::generate;
    options.generate = arguments[1];
  } else {
    std::vector<std::string> names{"--help", "--version"};
    for (const VerbInfo& verb : all_verbs()) names.emplace_back(verb.name);
    const std::string near = suggestion(first, names);
    refuse(fmt::format("unknown {} '{}'{}", first.starts_with("-") ? "flag" : "verb", first,
                       near.empty() ? "; see bloomery -h" : near));
  }
  return options;
}

}  // namespace

AnyOptions Options::place() const {
  return {.hash = hash,
          .seed = seed,
          .random_seed = random_seed,
          .durability = durability,
          .replace = force,
          .rotating = rotating,
          .scheme = scheme ? std::optional(php_scheme(*this)) : std::nullopt};
}

Options parse_options(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments.front() == "help")
    return parse_options({arguments.back(), "--help"});
  const VerbInfo* verb = nullptr;
  for (const VerbInfo& candidate : all_verbs())
    if (!arguments.empty() && arguments.front() == candidate.name) verb = &candidate;
  if (verb == nullptr) return parse_bare(arguments);

  refuse_empty_values(arguments, *verb);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Parsed parsed;
  parsed.app = &app;
  for (const Flag& flag : all_flags()) {
    if ((flag.verbs & verb_bit(verb->verb)) == 0) continue;
    CLI::Option* const option =
        flag.value.empty() ? app.add_flag(flag_names(flag)) : app.add_option(flag_names(flag));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (!flag.value.empty()) option->type_size(1)->expected(1)->type_name(std::string(flag.value));
    parsed.flags.emplace(flag.id, option);
  }
  parsed.files = app.add_option("files")->type_size(1)->expected(-1);
  parsed.files->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  std::vector<std::string> reversed;  // as CLI11 takes them
  for (std::size_t i = arguments.size(); i-- > 1;) reversed.push_back(marked(arguments[i]));
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    refuse_parse(*verb, error);
  }
  return read_flags(parsed, *verb);
}

}  // namespace bloomery::cli
