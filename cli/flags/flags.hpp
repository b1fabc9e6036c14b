// The one table of verbs and flags: parsing, help, man page and completions all come from it.
//
// A new flag is one row in flags.cpp, with the member of Options that it sets; or with a FlagId of its own
// and a case in flag_values.cpp, if it has a value.
#pragma once

#include "flags/options.hpp"

#include <bloomery/plan.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

enum class FlagId : std::uint8_t {
  on,  // any flag without a value that sets one member of Options
  items,
  fpr,
  bits,
  hashes,
  layout,
  kind,
  counter_bits,
  growth,
  window,
  slices,
  delta,
  scheme,
  hash,
  seed,
  filter,
  durability,
  batch,
  null,
  key,
  delimiter,
  whitespace,
  json_key,
  ignore_case,
  compress,
  out,
  threads,
  format,
  no_progress,
  help_short,
  help_long,
};

// A set of verbs, as bits.
using VerbSet = std::uint32_t;
constexpr VerbSet verb_bit(Verb verb) noexcept { return VerbSet{1} << static_cast<unsigned>(verb); }

struct Flag {
  FlagId id;
  char short_name;  // 0: none
  VerbSet verbs;
  std::string_view long_name;     // without dashes; empty: none
  std::string_view value;         // the name of its value; empty: a switch
  std::string_view choices;       // what the value may be, joined by '|'; empty: not a fixed list
  std::string_view help;          // one line
  std::string_view detail;        // what the long help and the man page add; may be empty
  bool Options::*sets = nullptr;  // of FlagId::on
};

// "--items", or "-h" if there is no long name.
[[nodiscard]] std::string flag_name(const Flag& flag);
// "add, remove": the verbs that have it.
[[nodiscard]] std::string verbs_of(const Flag& flag);

struct Example {
  std::string_view command;
  std::string_view meaning;
};

struct VerbInfo {
  Verb verb;
  std::string_view name;
  std::string_view arguments;  // for the usage line
  std::string_view summary;    // one line
  std::string_view detail;
  std::span<const Example> examples;
  std::uint32_t least_files;
  std::uint32_t most_files;
};

constexpr std::uint32_t kAnyNumber = UINT32_MAX;

[[nodiscard]] constexpr bool has(const VerbInfo& verb, const Flag& flag) noexcept {
  return (flag.verbs & verb_bit(verb.verb)) != 0;
}

[[nodiscard]] std::span<const Flag> all_flags() noexcept;
[[nodiscard]] std::span<const VerbInfo> all_verbs() noexcept;
[[nodiscard]] const VerbInfo& info_of(Verb verb) noexcept;

// The flag that gives a number of a plan.
[[nodiscard]] std::string_view flag_of(PlanField field);

// What the tool is, in one line; and the paragraphs that apply to every verb.
extern const std::string_view kTagline;
struct Topic {
  std::string_view title;
  std::string_view text;
};
[[nodiscard]] std::span<const Topic> all_topics() noexcept;

}  // namespace bloomery::cli
