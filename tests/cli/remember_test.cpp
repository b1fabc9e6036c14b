// `dedup --filter` across runs: printed before remembered, and never lost between the two.
#include "support/effort.hpp"
#include "tool.hpp"
#include "traced.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_set>

namespace bloomery::test {
namespace {

using nlohmann::json;

class Remember : public ToolTest {
 protected:
  [[nodiscard]] std::string filter() const { return path("seen.bloom"); }
};

TEST_F(Remember, RepeatsWithinABatchAndAcrossBatchesAreCaught) {
  // 400,000 different lines are more than one batch, and each comes three times.
  const std::string once = numbers(0, 400'000);
  for (const std::string level : {"none", "process", "sync"}) {
    const std::string name = path(level);
    const json found = json::parse(
        run({"dedup", "-c", "--json", "--durability", level, "--filter", name, "-n", "1M"},
            once + once + once)
            .out);
    EXPECT_EQ(found["lines"], 1'200'000);
    EXPECT_LE(found["new"], 400'000);
    // Expected false positives: below 0.4; more than 10 has a chance below 1e-11.
    EXPECT_GE(found["new"], 400'000 - 10);
    EXPECT_EQ(run({"dedup", "-c", "--filter", name}, once).out, "0\n");
  }
}

// A slice of a window is full in the middle of a block of lines, which are printed before they are remembered. The
// output is full and nobody reads it, so the signal comes there.
TEST_F(Remember, ASignalBetweenTwoSlicesEndsTheRunWithWhatIsRemembered) {
  constexpr int kLines = 400'000;  // more than the largest pipe holds
  ASSERT_EQ(run({"create", filter(), "--window", "6400", "--slices", "64", "-p", "1e-12"}).code, 0);
  Running tool({"dedup", "--json", "--filter", filter(), file("lines", numbers(0, kLines))});
  const std::string first = tool.read(1);
  tool.signal(SIGTERM);
  const Ran ran = tool.finish();
  EXPECT_EQ(ran.code, 128 + SIGTERM) << ran.err;
  const std::string printed = first + ran.out;
  const auto count = static_cast<int>(std::count(printed.begin(), printed.end(), '\n'));
  EXPECT_LT(count, kLines);
  EXPECT_TRUE(printed == numbers(0, count));
  const json told = json::parse(ran.err);
  EXPECT_EQ(told["lines"], count);
  EXPECT_EQ(told["new"], count);
  EXPECT_EQ(told["bytes"], printed.size());
  EXPECT_EQ(run({"check", filter()}, numbers(std::max(0, count - 6400), count + 1000)).out,
            numbers(std::max(0, count - 6400), count));
}

TEST_F(Remember, FlagsThatContradictTheFileAreErrors) {
  const Arguments base{"dedup", "-q", "--filter", filter(), "-n", "1K", "-p", "0.1%"};
  ASSERT_EQ(run(base, "a\n").code, 0);
  EXPECT_EQ(run(base, "b\n").code, 0);  // the same again agrees
  const auto with = [&](const Arguments& more) {
    Arguments all{"dedup", "--filter", filter()};
    all.insert(all.end(), more.begin(), more.end());
    return run(all, "c\n");
  };
  EXPECT_TRUE(is_error(with({"-n", "2K"}), {filter(), "1,000 keys"}));
  EXPECT_TRUE(is_error(with({"-p", "1%"}), {filter(), "0.001"}));
  EXPECT_TRUE(is_error(with({"--layout", "blocked2"}), {filter(), "blocked"}));
  EXPECT_TRUE(is_error(with({"--hash", "siphash"}), {filter(), "hash"}));
  EXPECT_TRUE(is_error(with({"--seed", "5"}), {filter(), "seed"}));
  EXPECT_EQ(run({"check", "-c", filter()}, "c\n").out, "0\n");
}

TEST_F(Remember, ASlowPipeIsRememberedWithinASecond) {
  Running tool({"dedup", "-q", "--filter", filter(), "-n", "1K"});
  tool.write("one\n");
  EXPECT_EQ(tool.read(4), "one\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  tool.signal(SIGKILL);
  EXPECT_EQ(tool.finish().signal, SIGKILL);
  EXPECT_EQ(run({"dedup", "-q", "--filter", filter()}, "one\ntwo\n").out, "two\n");
}

TEST_F(Remember, AKilledRunRepeatsLinesAndLosesNone) {
  // Each round kills a run at some moment; the lines of all outputs together must be all.
  std::unordered_set<std::string> printed;
  const std::string in = file("in", numbers(0, 600'000));
  for (int round = 0; round < 10; ++round) {
    const std::string out = path("out" + std::to_string(round));
    Running tool({"dedup", "-q", "--durability", round % 2 == 0 ? "sync" : "process", "--filter",
                  filter(), "-n", "1M", in},
                 {.out = out});
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 13 * round));
    tool.signal(SIGKILL);
    (void)tool.finish();
    std::string text = text_of(out);
    // A kill may cut the last line; its rest is not in the output, and it is not remembered.
    text.resize(text.rfind('\n') + 1);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) printed.insert(line);
  }
  const Ran rest = run({"dedup", "-q", "--filter", filter(), "-n", "1M", in});
  std::istringstream lines(rest.out);
  for (std::string line; std::getline(lines, line);) printed.insert(line);
  // Expected false positives: below 0.6; more than 10 has a chance below 1e-9.
  EXPECT_GE(printed.size(), 600'000u - 10);
}

TEST_F(Remember, NoLineIsRememberedBeforeItIsWritten) {
  // Nobody reads the pipe, so more than a batch of lines waits to be written when the kill
  // comes; the next run must print what did not get into the pipe.
  const std::string in = file("in", numbers(0, 400'000));
  Running tool({"dedup", "-q", "--durability", "process", "--filter", filter(), "-n", "1M", in});
  std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  tool.signal(SIGKILL);
  std::string written = tool.finish().out;
  EXPECT_LT(written.size(), 1'100'000u);  // a pipe's room, or somebody did read
  written.resize(written.rfind('\n') + 1);
  const Ran rest = run({"dedup", "-q", "--filter", filter(), in});
  EXPECT_GE(std::count(written.begin(), written.end(), '\n') +
                std::count(rest.out.begin(), rest.out.end(), '\n'),
            400'000 - 10);  // expected false positives: below 0.4
}

TEST_F(Remember, WhatCouldNotBePrintedIsNotRemembered) {
  const Ran full = run({"dedup", "--filter", filter(), "-n", "1K"}, "a\nb\n", {.out = "/dev/full"});
  EXPECT_TRUE(is_error(full, {"No space left"}));
  EXPECT_EQ(run({"dedup", "-q", "--filter", filter()}, "a\nb\n").out, "a\nb\n");
  EXPECT_EQ(run({"verify", filter()}).code, 0);
}

// With `sync` the output waits for its device before lines are remembered; where it is not a file, for nothing.
TEST_F(Remember, EveryDurabilityWritesToEveryOutput) {
  const std::string text = numbers(0, 300'000);  // more than one batch
  for (const std::string durability : {"none", "process", "sync"}) {
    const std::string name = path(durability), out = path("out of " + durability);
    const Ran to_file =
        run({"dedup", "--durability", durability, "--filter", name, "-n", "1M", "-p", "1e-12"},
            text, {.out = out});
    EXPECT_EQ(to_file.code, 0) << to_file.err;
    EXPECT_TRUE(text_of(out) == text) << durability;
    const Arguments again{"dedup", "-q", "--durability", durability, "--filter", name};
    EXPECT_EQ(run(again, text + "new\n", {.out = "/dev/null"}).code, 0);
    const Ran to_pipe = run(again, text + "new\nnewer\n");
    EXPECT_EQ(to_pipe.out, "newer\n");
    EXPECT_EQ(to_pipe.code, 0) << to_pipe.err;
    EXPECT_EQ(run({"check", "-c", name}, text + "new\nnewer\n").out, "300002\n");
  }
}

// So a power loss takes no line that the filter has.
TEST_F(Remember, NoLineIsRememberedBeforeItIsOnTheDisk) {
  if (kSanitized) GTEST_SKIP() << "no ptrace";
  file("lines", "a\nb\n");
  for (const std::string durability : {"process", "sync"}) {
    const std::string name = path(durability);
    ASSERT_EQ(run({"create", name, "-n", "1K", "-p", "1e-6"}).code, 0);
    const int status = run_to_sync_of_output(
        {"dedup", "-q", "--durability", durability, "--filter", name, "-o", "out", "lines"},
        path(""));
    EXPECT_EQ(text_of(path("out")), "a\nb\n");
    const bool syncs = durability == "sync";
    EXPECT_EQ(WIFSIGNALED(status), syncs) << status;
    EXPECT_EQ(run({"check", "-c", name}, "a\nb\n").out, syncs ? "0\n" : "2\n");
  }
}

TEST_F(Remember, AnInterruptLeavesAWholeFile) {
  for (const int number : {SIGINT, SIGTERM}) {
    const std::string name = path(std::to_string(number));
    Running tool({"dedup", "-q", "--filter", name, "-n", "1K"});
    tool.write("one\ntwo\nthr");
    EXPECT_EQ(tool.read(8), "one\ntwo\n");
    tool.signal(number);
    EXPECT_EQ(tool.finish(false).code, 128 + number);
    EXPECT_TRUE(says(run({"verify", name}).out, "whole"));
    EXPECT_EQ(run({"dedup", "-q", "--filter", name}, "one\ntwo\nthr\n").out, "thr\n");
  }
}

TEST_F(Remember, ABrokenPipeLeavesAWholeFile) {
  Running tool({"dedup", "--filter", filter(), "-n", "1M"});
  tool.write("a\n");
  EXPECT_EQ(tool.read(2), "a\n");
  tool.close_output();
  tool.write("b\n");
  const Ran ran = tool.finish();
  EXPECT_EQ(ran.signal, SIGPIPE);
  EXPECT_EQ(ran.err, "");
  EXPECT_TRUE(says(run({"verify", filter()}).out, "whole"));
  EXPECT_EQ(run({"dedup", "-q", "--filter", filter()}, "b\n").out, "b\n");
}

}  // namespace
}  // namespace bloomery::test
