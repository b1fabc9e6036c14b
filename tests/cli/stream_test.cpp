// The engine of add, check and dedup: when it ends.
#include "stream/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>

#include "input/block.hpp"
#include "input/inputs.hpp"
#include "store/scratch.hpp"

namespace bloomery::cli {
namespace {

// Gets a signal, and then takes longer for its first lines than anybody waits.
class SlowSink : public LineSink {
 public:
  KeysWanted wanted() const override { return {.hasher = Hasher()}; }
  std::size_t decide_lines(const Lines& lines, std::span<bool> answers) override {
    if (++calls == 1) {
      // Further blocks are read meanwhile.
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::raise(SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    }
    std::fill(answers.begin(), answers.end(), false);
    return lines.count;
  }
  std::size_t calls = 0;
};

TEST(Stream, EndsAfterASignalIfTheLinesThatWereReadTakeSeconds) {
  const test::Scratch scratch;
  const std::string path = scratch / "lines";
  std::ofstream(path) << std::string(4 * Block::kUsualBytes, '\n');
  Options options;
  options.threads = 1;
  options.progress = false;
  SlowSink sink;
  const StreamResult result = run_stream(options, find_inputs({path}, false), {}, sink);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(sink.calls, 1U);
  EXPECT_GT(result.lines, 0U);
  EXPECT_LT(result.lines, 4 * Block::kUsualBytes);
}

}  // namespace
}  // namespace bloomery::cli
