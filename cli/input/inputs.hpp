// The inputs of a verb: their names, whether they can be read, and how large they are.
#pragma once

#include "output/system.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bloomery::cli {

// How the bytes of the inputs are read.
struct ReadRule {
  char end = '\n';   // of a line
  bool raw = false;  // text, even if they look compressed, or like a filter
};

struct Input {
  std::string path;  // "-": the standard input
  // How many bytes are still to be read; nothing for pipes, terminals and the like.
  std::optional<std::uint64_t> bytes;
  [[nodiscard]] std::string name() const { return path == "-" ? "standard input" : path; }
};

// Checks every path, and opens only regular files (a named pipe can be opened once). No paths: the
// standard input. Error: missing, unreadable, a directory, unless raw a filter.
[[nodiscard]] std::vector<Input> find_inputs(const std::vector<std::string>& paths, bool raw);

// Throws the error of a filter among the inputs, which is a mistake: `check a.bloom b.bloom`, or
// `rebuild a.bloom < a.bloom`.
[[noreturn]] void refuse_filter(const Input& input);

// Error if the standard output is one of the inputs: the run would eat its own output.
void refuse_own_output(const std::vector<Input>& inputs);
// Error if the standard output is the filter's file: the results would be written over its bits.
void refuse_output_into(const std::string& filter);
// Error if the output is to replace a file with a filter.
void refuse_filter_as_output(const std::optional<std::string>& path);

// The rights that every file among the inputs gives to others, and to this group.
[[nodiscard]] mode_t rights_of_others(const std::vector<Input>& inputs, gid_t group);
// The same with the file of a filter, if it is one: which lines are printed tells what the filter has.
[[nodiscard]] mode_t rights_of_others(const std::vector<Input>& inputs, const std::string& filter,
                                      gid_t group);
// The files among the inputs, for AnyOptions: a reader of a filter learns which lines are in it.
[[nodiscard]] std::vector<std::string> sources_of(const std::vector<Input>& inputs);

[[nodiscard]] FileDescriptor open_input(const Input& input);

// The size of all inputs together, if every size is known.
[[nodiscard]] std::optional<std::uint64_t> total_bytes(const std::vector<Input>& inputs);

// About how many lines there are, on the high side, from the line lengths at 64 places, or at the beginning
// of what is compressed. Nothing unless every input is a regular file.
[[nodiscard]] std::optional<std::uint64_t> estimate_lines(const std::vector<Input>& inputs,
                                                          const ReadRule& rule);

}  // namespace bloomery::cli
