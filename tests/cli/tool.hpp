// Runs the real binary with pipes on its standard files, as a shell would.
#pragma once

#include <gtest/gtest.h>

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bloomery::test {

using Arguments = std::vector<std::string>;

struct Ran {
  int code = -1;   // the exit code, or -1 if a signal killed it
  int signal = 0;  // that signal
  // The most memory that it had. No less than that of the test when it started the tool.
  std::uint64_t most_memory = 0;
  std::string out;
  std::string err;
};

// Where a standard file comes from or goes to, if not a pipe of the harness.
struct Redirect {
  std::string in = {};            // a path for the standard input
  std::string out = {};           // a path for the standard output
  std::string err = {};           // a path for stderr
  bool close_out = false;         // as >&-
  bool close_in = false;          // as <&-
  bool nobody = false;            // run by a user without rights
  bool close_err_reader = false;  // nobody reads stderr
  std::size_t memory = 0;         // a limit of the address space, in bytes
  std::size_t file_blocks = 0;    // a limit of a file's length, in units of 512 bytes
  std::size_t open_files = 0;     // a limit of their number
};

// Feeds `input`, reads all output, waits for the end.
Ran run(const Arguments& arguments, const std::string& input = {}, const Redirect& redirect = {});

// A tool that runs while the test does something else with it.
class Running {
 public:
  explicit Running(const Arguments& arguments, const Redirect& redirect = {});
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running();

  void write(const std::string& text);
  // Waits until the tool has taken all that was written, a minute at most.
  void wait_until_read() const;
  void close_input();
  void close_output();
  // The next `bytes` of its output; fewer at its end.
  std::string read(std::size_t bytes);
  void signal(int number);
  // Reads the rest and waits; closes the input first, or once it has ended.
  Ran finish(bool close_first = true);
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
};

// The programs of the formats that are read, and how their data begins.
struct Program {
  std::string name, magic;
};
inline const std::vector<Program> kPrograms = {
    {"gzip", "\x1F\x8B"}, {"zstd", "\x28\xB5"}, {"xz", "\xFD\x37"}, {"bzip2", "BZ"}};

// A directory of the test's own, removed at its end.
class ToolTest : public testing::Test {
 protected:
  ToolTest();
  ~ToolTest() override;
  // The path of a file of this name in it.
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  // Writes one, and returns its path.
  std::string file(const std::string& name, const std::string& text) const;
  [[nodiscard]] static std::string text_of(const std::string& path);
  // How many of the lines are in a filter.
  [[nodiscard]] static int found(const std::string& filter, const std::string& lines) {
    return std::stoi(run({"check", "-c", "-q", filter}, lines).out);
  }
  // A file with the text as `program` compresses it, and its path.
  [[nodiscard]] std::string packed(const std::string& program, const std::string& name,
                                   const std::string& text) const;
  [[nodiscard]] std::string unpacked(const std::string& program, const std::string& bytes) const;

 private:
  std::filesystem::path directory_;
};

// The numbers of a range, each in a line.
[[nodiscard]] std::string numbers(int from, int to);

// Is `ran` the end of an error: code 2, nothing printed, one line on stderr, with `words`.
testing::AssertionResult is_error(const Ran& ran, const std::vector<std::string>& words);
testing::AssertionResult says(const std::string& text, const std::string& words);

}  // namespace bloomery::test
