// Which flags go with each other, with the verb and with its files.
#include "flags/parse.hpp"

#include "flags/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bloomery::cli {

namespace {

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

void check_together(const Options& options, const VerbInfo& verb) {
  if (verb.verb == Verb::check && options.json && !options.count)
    refuse("check: --json goes with -c: the lines themselves are not JSON");
  if (options.prometheus && (options.json || options.plot))
    refuse(fmt::format("{}: --format prometheus prints metrics; leave out {}", verb.name,
                       options.json ? "--json" : "--plot"));
  if (options.plot && (options.json || options.table))
    refuse(fmt::format("{}: --plot draws for people; leave out {}", verb.name,
                       options.json ? "--json" : "--table"));
  if (verb.verb == Verb::dedup && !options.filter && options.durability)
    refuse("dedup: --durability goes with --filter: nothing else is written to a file");
  const std::string& filter = options.filter          ? *options.filter
                              : options.files.empty() ? std::string()
                                                      : options.files.front();
  if (options.durability && (options.scheme_text || AnyFilter::is_address(filter)))
    refuse(fmt::format(
        "{}: --durability is for filter files; leave it out: the server's settings decide "
        "what a filter on it survives",
        verb.name));
}

// The flags that say what the key of a line is and where the line goes.
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
  // -o would make the file, and then it would be no filter.
  if (options.out && options.out == options.filter)
    refuse(fmt::format("{} is the output as well; write to another file", *options.out));
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
  if (options.table && options.spec.kind)
    refuse("plan: --kind does not go with --table, which shows a formula");
  const bool numbers = options.spec.capacity || options.spec.fpr || options.spec.bits ||
                       options.spec.hashes || options.spec.layout || options.spec.kind ||
                       options.table || options.json;
  if (options.web && numbers)
    refuse("plan: --web takes a FILE and --force alone: the numbers are typed into the page");
}

// A scheme replaces the plan: -n and --bits are its parameters.
void resolve_scheme(Options& options, const VerbInfo& verb) {
  const auto refuse_with = [&](bool given, std::string_view flag) {
    if (given)
      refuse(fmt::format("{}: {} does not go with --scheme, which says where the bits are",
                         verb.name, flag));
  };
  if (options.scheme_text) {
    if (verb.verb == Verb::dedup && !options.filter)
      refuse("dedup: --scheme goes with --filter: it says what bits there are");
    refuse_with(options.spec.fpr.has_value(), "-p");
    refuse_with(options.spec.hashes.has_value(), "--hashes");
    refuse_with(options.spec.layout.has_value(), "--layout");
    refuse_with(options.spec.kind.has_value(), "--kind");
    refuse_with(options.hash.has_value(), "--hash");
    refuse_with(options.seed || options.random_seed, "--seed");
    if (verb.verb == Verb::create) refuse_with(options.force, "--force");
    options.scheme = php_scheme(options);
    options.spec.capacity.reset();
    options.spec.bits.reset();
    return;
  }
  const bool sizes = verb.verb == Verb::plan || verb.verb == Verb::create ||
                     verb.verb == Verb::rebuild || verb.verb == Verb::dedup;
  if (options.spec.capacity && !sizes)
    refuse(fmt::format("{}: -n goes with --scheme: a filter knows its own", verb.name));
  if (options.spec.bits && (!sizes || verb.verb == Verb::dedup))
    refuse(fmt::format("{}: --bits goes with --scheme{}", verb.name,
                       sizes ? "; give -n and -p" : ": a filter knows its own"));
}

void resolve_size(Options& options, const VerbInfo& verb) {
  if (options.bits_per_key == 0) return;
  if (!options.spec.capacity)
    refuse(fmt::format("{}: --bits {} bits/key goes with -n, the number of keys", verb.name,
                       options.bits_per_key));
  options.spec.bits = Size{0, options.bits_per_key}.bits_for(*options.spec.capacity);
}

// The flags of one kind go with that kind; --window alone implies the kind window.
void resolve_kind(Options& options, const VerbInfo& verb) {
  if (options.spec.window && !options.spec.kind) options.spec.kind = Kind::window;
  if (verb.verb == Verb::rebuild) return;  // the file may say the kind
  const auto require = [&](bool given, std::string_view flag, Kind kind) {
    if (given && options.spec.kind != kind)
      refuse(fmt::format("{}: {} goes with --kind {}", verb.name, flag, to_string(kind)));
  };
  require(options.spec.counter_bits.has_value(), "--counter-bits", Kind::counting);
  require(options.spec.growth.has_value(), "--growth", Kind::scalable);
  require(options.spec.window.has_value(), "--window", Kind::window);
  require(options.spec.slices.has_value(), "--slices", Kind::window);
  require(options.spec.delta.has_value(), "--delta", Kind::frozen);
  if (verb.verb == Verb::dedup && options.spec.kind == Kind::frozen)
    refuse(
        "dedup: --kind frozen goes with create and rebuild, which build the filter from all lines");
  if (verb.verb == Verb::dedup && options.spec.kind && !options.filter &&
      options.spec.kind != Kind::window)
    refuse(fmt::format(
        "dedup: --kind {} goes with --filter: without a file {}", to_string(*options.spec.kind),
        options.spec.kind == Kind::scalable ? "it grows when -n is left out"
                                            : "only the default and --kind window are of use"));
}

// create reads lines only for a kind that is built from them.
void check_create(const Options& options, const GivenFlags& given) {
  if (options.spec.kind == Kind::frozen) return;
  if (options.files.size() > 1)
    refuse(
        fmt::format("create: '{}' is one argument too many; add puts lines into a filter, and "
                    "create --kind frozen builds one from lines",
                    options.files[1]));
  const VerbSet lines = verb_bit(Verb::create) | verb_bit(Verb::remove) | verb_bit(Verb::check);
  for (const Flag* const flag : given)
    if ((flag->verbs & lines) == lines && (flag->verbs & verb_bit(Verb::info)) == 0)
      refuse(fmt::format("create: {} goes with --kind frozen", flag_name(*flag)));
}

}  // namespace

void check_flags(Options& options, const VerbInfo& verb, const GivenFlags& flags) {
  const auto given = [&](FlagId id) {
    return std::any_of(flags.begin(), flags.end(),
                       [&](const Flag* flag) { return flag->id == id; });
  };
  check_files(options, verb);
  check_together(options, verb);
  check_lines(options, verb, given(FlagId::delimiter));
  resolve_size(options, verb);
  resolve_kind(options, verb);
  if (verb.verb == Verb::plan) check_plan(options);
  if (verb.verb == Verb::create) check_create(options, flags);
  resolve_scheme(options, verb);
}

}  // namespace bloomery::cli
