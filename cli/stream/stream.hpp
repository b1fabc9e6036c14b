// The one engine of add, check and dedup: lines in, a decision for each, lines out.
//
// Threads share the work of a stream: one reads, some find the lines and hash their keys, the calling one
// decides, in order, and one writes. Memory: sixteen blocks of half a megabyte and one for each thread that
// finds, and 24 bytes for each line of these.
#pragma once

#include "flags/options.hpp"
#include "keys/key_finder.hpp"
#include "output/interrupt.hpp"

#include <bloomery/hash.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::cli {

struct Input;

// Consecutive lines, as what the sink needs to know about them.
struct Lines {
  std::size_t count = 0;
  std::span<const Hash128> hashes;
  std::span<const std::string_view> keys;

  // The lines from `begin` up to the one before `end`.
  [[nodiscard]] Lines part(std::size_t begin, std::size_t end) const {
    const auto of = [&](auto all) { return all.empty() ? all : all.subspan(begin, end - begin); };
    return {end - begin, of(hashes), of(keys)};
  }
};

// What a verb does with lines. All calls come from the thread that called run_stream.
class LineSink {
 public:
  LineSink() = default;
  LineSink(const LineSink&) = delete;
  LineSink& operator=(const LineSink&) = delete;
  virtual ~LineSink() = default;

  // What the sink needs to know about each line. Called once, before the first line; any thread may then hash.
  [[nodiscard]] virtual KeysWanted wanted() const = 0;
  // An answer for each of these lines, or for the first of them: returns for how many. The others are given again
  // after after_block().
  virtual std::size_t decide_lines(const Lines& lines, std::span<bool> answers) = 0;
  // The lines decided so far are on their way to the output. `drain` waits until they are written
  // and throws if they cannot be. Called after each block, and once a second while none comes.
  virtual void after_block(const std::function<void()>& drain) { (void)drain; }
  // The number of safe lines, if known: their effect survives what the durability promises.
  [[nodiscard]] virtual std::optional<std::uint64_t> acknowledged() const { return std::nullopt; }
  // Like after_block, at the end of the input that could be read.
  virtual void finish(const std::function<void()>& drain) { (void)drain; }
};

struct StreamRequest {
  bool print = false;       // the lines with the wanted answer
  bool wanted = true;       // which answer that is
  bool stop_early = false;  // at the first of them
  bool whole = false;       // after an error no line has had an effect
};

struct StreamResult {
  std::uint64_t lines = 0;
  std::uint64_t wanted = 0;  // lines with the wanted answer
  std::uint64_t bytes = 0;   // of text
  std::uint64_t empty = 0;   // lines that share the empty key, for they have no such field
  double seconds = 0;
  int signal = 0;  // what stopped it, or 0
};

// Reads the inputs to their end, an interrupt or an error. Errors are thrown after all lines before
// them were decided, written and passed on; BrokenPipe if the output's reader has closed it.
StreamResult run_stream(const Options& options, const std::vector<Input>& inputs,
                        const StreamRequest& request, LineSink& sink);

}  // namespace bloomery::cli
