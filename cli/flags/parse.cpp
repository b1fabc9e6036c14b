// Parses arguments to Options, with CLI11 and the table of flags.
#include "flags/parse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

namespace bloomery::cli {

namespace {

std::string flag_names(const Flag& flag) {
  std::string names;
  if (flag.short_name != 0) names = fmt::format("-{}", flag.short_name);
  if (!flag.long_name.empty())
    names += fmt::format("{}--{}", names.empty() ? "" : ",", flag.long_name);
  return names;
}

// CLI11 takes an argument like [a,b] for a list of two; a mark in front keeps it whole.
constexpr char kMark = '\x01';
std::string marked(const std::string& argument) {
  return argument.starts_with('[') || argument.starts_with(kMark) ? kMark + argument : argument;
}
std::string unmarked(const std::string& argument) {
  return argument.starts_with(kMark) ? argument.substr(1) : argument;
}

// The values that CLI11 fills for one verb.
struct Parsed {
  CLI::App* app = nullptr;
  std::map<const Flag*, CLI::Option*> flags;
  CLI::Option* files = nullptr;
};

// For an argument that is not a flag of the verb: tells where it belongs, or which flag is near it.
[[noreturn]] void refuse_unknown(const VerbInfo& verb, const std::string& given) {
  // What follows short flags without a value is left with a dash in front.
  const std::string name = given.starts_with("-=") ? given : given.substr(0, given.find('='));
  std::vector<std::string> names;
  for (const Flag& flag : all_flags()) {
    // A flag of the verb is none that CLI11 leaves.
    const bool same = flag_name(flag) == name ||
                      (flag.short_name != 0 && name == fmt::format("-{}", flag.short_name));
    if (same)
      refuse(fmt::format("{}: {} is a flag of {}; see bloomery {} -h", verb.name, name,
                         verbs_of(flag), verb.name));
    if (has(verb, flag)) names.push_back(flag_name(flag));
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

Options read_flags(const Parsed& parsed, const VerbInfo& verb) {
  Options options;
  options.has_verb = true;
  options.verb = verb.verb;
  GivenFlags given;
  for (const auto& [flag, option] : parsed.flags) {
    if (option->count() == 0) continue;
    // The last of several counts, but two fields would be meant as one key of both, as for sort.
    if (option->count() > 1 && (flag->id == FlagId::key || flag->id == FlagId::json_key))
      refuse(fmt::format("{}: {}", verb.name,
                         flag->id == FlagId::key
                             ? "-k comes twice; write -k 1,2 for a key of two fields"
                             : "--json-key comes twice; a key is the value of one field"));
    const std::string value = unmarked(option->results().back());
    set_value(options, *flag, value);
    if (options.ask != Options::Ask::run) return options;
    given.push_back(flag);
  }
  for (const auto& file : parsed.files->results()) options.files.push_back(unmarked(file));
  for (const auto& extra : parsed.app->remaining())
    if (extra != "--") refuse_unknown(verb, unmarked(extra));
  check_flags(options, verb, given);
  return options;
}

// CLI11 would take the next argument for the value of --FLAG=, and --FLAG=true for --FLAG.
void refuse_values(const std::vector<std::string>& arguments, const VerbInfo& verb) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    for (const Flag& flag : all_flags()) {
      const std::string start = flag_name(flag) + "=";
      if (has(verb, flag) && !flag.long_name.empty() &&
          (flag.value.empty() ? argument.starts_with(start) : argument == start))
        refuse(fmt::format("{}: {} {}", verb.name, flag_name(flag),
                           flag.value.empty() ? "takes no value" : "needs a value"));
    }
  }
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

Options parse_options(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1 && arguments.front() == "help") {
    if (arguments.size() > 2) refuse("help is about one verb; give one, as in bloomery help add");
    return parse_options({arguments.back(), "--help"});
  }
  const VerbInfo* verb = nullptr;
  for (const VerbInfo& candidate : all_verbs())
    if (!arguments.empty() && arguments.front() == candidate.name) verb = &candidate;
  if (verb == nullptr) return parse_bare(arguments);

  refuse_values(arguments, *verb);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Parsed parsed;
  parsed.app = &app;
  for (const Flag& flag : all_flags()) {
    if (!has(*verb, flag)) continue;
    CLI::Option* const option =
        flag.value.empty() ? app.add_flag(flag_names(flag)) : app.add_option(flag_names(flag));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    if (!flag.value.empty()) option->type_size(1)->expected(1)->type_name(std::string(flag.value));
    parsed.flags.emplace(&flag, option);
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
