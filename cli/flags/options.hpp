// The contents of a command line, with every value parsed and checked.
#pragma once

#include "compressed/formats.hpp"
#include "keys/key_finder.hpp"

#include <bloomery/any_filter.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/spec.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bloomery::cli {

enum class Verb : std::uint8_t {
  plan,
  create,
  add,
  remove,
  check,
  dedup,
  info,
  merge,
  rebuild,
  verify,
  salvage,
  rotate,
  convert,
};

// What users may ask for; they ask for counting filters by the bits of a counter.
inline constexpr std::array kOfferedLayouts{Layout::blocked, Layout::blocked2, Layout::standard};

struct Options {
  enum class Ask : std::uint8_t {
    run,         // the verb
    short_help,  // -h: of the verb, or of the tool if has_verb is false
    long_help,   // --help
    version,     // --version
    generate,    // --generate KIND: the packager's verb
  };
  Ask ask = Ask::run;
  bool has_verb = false;
  Verb verb = Verb::plan;
  std::string generate;

  // The filter that the options ask for; its kind is window if --window is given without --kind.
  FilterSpec spec;
  double bits_per_key = 0;  // as given; spec.bits follows from it and spec.capacity
  std::optional<HashFamily> hash;
  std::optional<Seed> seed;
  bool random_seed = false;
  bool rotating = false;
  std::optional<std::string> scheme_text;  // as given; scheme follows from it, -n and --bits
  std::optional<PhpScheme> scheme;
  std::optional<Durability> durability;
  std::optional<std::string> batch;
  std::optional<std::string> filter;
  bool table = false;
  bool web = false;
  bool force = false;
  bool invert = false;
  bool count = false;
  bool quiet = false;
  bool json = false;
  bool prometheus = false;  // metrics
  bool plot = false;
  bool exact = false;
  bool progress = true;
  char end = '\n';                 // of a line
  bool raw = false;                // no input is decompressed
  std::optional<Format> compress;  // of the lines that are printed
  KeyRule key;                     // of a line
  unsigned threads = 0;            // to find lines and keys; 0: one per processor
  std::optional<std::string> out;  // the file for the lines that are printed
  std::vector<std::string> files;  // in the verb's order: FILE, OUT, INPUT...

  // The options of the place, from --scheme, --force, --durability and so on.
  [[nodiscard]] AnyOptions place() const;
};

// The scheme that --scheme, -n and --bits say. Error{invalid_argument}: it is unknown, or its numbers are missing or
// too many.
[[nodiscard]] PhpScheme php_scheme(const Options& options);

// Throws Error{invalid_argument}.
[[noreturn]] void refuse(const std::string& message);

}  // namespace bloomery::cli
