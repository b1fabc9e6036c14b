// A signal at any moment of a verb that writes: what has begun is finished or taken back, and nothing is left
// beside it.
//
// The tool runs under ptrace. From the system call that puts the handlers in their place to the one that
// takes them away, each call of the main thread is a moment: the test sends the signal there, lets go, and
// looks at what there is afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "support/dumps.hpp"
#include "support/effort.hpp"
#include "traced.hpp"

namespace bloomery::test {
namespace {

struct Ended {
  std::size_t moments = 0;  // calls seen between the handlers
  bool signalled = false;
  int status = 0;
};

// The calls between which a signal is caught: SIGTERM is the last to get a handler; when the verb has
// ended, SIGHUP is the first that is asked about.
bool is_boundary(const __ptrace_syscall_info& call, bool inside) {
  if (call.entry.nr != SYS_rt_sigaction) return false;
  return inside ? call.entry.args[0] == SIGHUP
                : call.entry.args[0] == SIGTERM && call.entry.args[1] != 0;
}

// Runs the tool, and sends it the signal at this moment; and once more at the end of so many more calls of the
// main thread, if it makes them.
Ended run_until(const Arguments& words, const std::string& directory, std::size_t moment,
                int number, std::size_t calls_to_second = 0) {
  Ended ended;
  int handlers = 0;  // 1: in their places, 2: gone again
  const auto step_in = [&](pid_t tool, const __ptrace_syscall_info& call) {
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
    if (ended.signalled) {
      if (--calls_to_second != 0) return false;
      ::kill(tool, number);
      return true;
    }
    if (handlers < 2 && is_boundary(call, handlers == 1)) {
      ++handlers;
    } else if (handlers == 1 && ended.moments++ == moment) {
      ended.signalled = true;
      ::kill(tool, number);
      return calls_to_second == 0;
    }
    return false;
  };
  ended.status = run_traced(words, directory, "/dev/null", step_in);
  return ended;
}

constexpr const char* kPage = "planner.html";
constexpr const char* kLines = "old";  // of -o

// The same again puts all lines of `new` in, whatever the first run did.
constexpr unsigned kResumes = 1;
// Where the target was not there before, it is not there after a run that was stopped.
constexpr unsigned kMayBeAbsent = 2;
// A temporary file has a name of its own each time, so that the next run does not find what a killed one left.
constexpr unsigned kHasRandomName = 4;

struct SignalCase {
  std::string name;
  Arguments words;
  std::string target;  // the file that it writes
  unsigned traits = 0;
  [[nodiscard]] bool is(unsigned trait) const { return (traits & trait) != 0; }
};

void PrintTo(const SignalCase& what, std::ostream* out) { *out << what.name; }

// The filters that the words name, and lines, in a directory; each run works on a copy of it.
class Signals : public ToolTest, public testing::WithParamInterface<SignalCase> {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer makes thousands of calls of its own";
    std::filesystem::create_directory(path("base"));
    const auto in_base = [&](Arguments words) {
      for (std::string& word : words)
        if (word.starts_with("@")) word = path("base/" + word.substr(1));
      EXPECT_EQ(run(words).code, 0) << words[0] << " " << words[1];
    };
    file("base/old", numbers(0, 500));
    file("base/new", numbers(500, 1000));
    const auto add_kind = [&](const std::string& name, Arguments create, const char* lines) {
      if (!is_named(name)) return;
      create.insert(create.begin(), {"create", "@" + name, "-p", "1e-6"});
      in_base(create);
      if (name != "frozen") in_base({"add", "-q", "@" + name, lines});
    };
    add_kind("plain", {"-n", "10K"}, "@old");
    add_kind("other", {"-n", "10K"}, "@new");
    add_kind("counting", {"--kind", "counting", "-n", "10K"}, "@old");
    add_kind("scalable", {"--kind", "scalable", "-n", "100"}, "@old");
    add_kind("window", {"--window", "10K"}, "@old");
    add_kind("frozen", {"--kind", "frozen", "@old"}, "");
    for (const char* name : {"dump", "dump2"})
      if (is_named(name)) write_dump(path(std::string("base/") + name), Filter(10'000, 1e-6), 0);
  }
  [[nodiscard]] static bool is_named(const std::string& file) {
    return std::ranges::find(GetParam().words, file) != GetParam().words.end();
  }
  // --force replaces a page; without one there is nothing to replace.
  [[nodiscard]] bool has_page() const {
    if (run({"plan", "-q", "--web", path("base/" + std::string(kPage))}).code != 0) return false;
    if (GetParam().name == "page") std::filesystem::remove(path("base/" + std::string(kPage)));
    return true;
  }
  // A fresh copy.
  [[nodiscard]] std::string work() const {
    std::filesystem::remove_all(path("work"));
    std::filesystem::copy(path("base"), path("work"));
    return path("work");
  }
  // Temporary files: of the library, and of -o.
  [[nodiscard]] std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path("work"))) {
      const std::string name = entry.path().filename();
      if (name != GetParam().target && !std::filesystem::exists(path("base/" + name)))
        names.push_back(name);
    }
    return names;
  }
  // killed: nobody could take back what had begun.
  void expect_whole(const std::string& directory, bool killed) const;
};

// The file that the verb writes is as before, or as after it.
void Signals::expect_whole(const std::string& directory, bool killed) const {
  const SignalCase& what = GetParam();
  const std::string target = directory + "/" + what.target;
  const bool was_there = std::filesystem::exists(path("base/" + what.target));
  if (what.target == kPage) return;
  if (what.target == kLines) {
    const std::string lines = text_of(target);
    ASSERT_TRUE(lines == numbers(0, 500) || lines == numbers(0, 1000)) << lines;
    return;
  }
  if (!was_there && !std::filesystem::exists(target) && (killed || what.is(kMayBeAbsent))) return;
  ASSERT_EQ(run({"verify", "-q", target}).code, 0);
  // The keys of before are in it, whatever came of the new ones. A list has all of its lines, or is not there.
  const bool keeps_keys =
      what.words[0] != "create" && what.words[0] != "remove" && what.words[0] != "convert";
  if ((keeps_keys && was_there) || what.name.starts_with("create_frozen")) {
    ASSERT_EQ(run({"check", "-v", "-c", "-q", target, path("base/old")}).out, "0\n");
  }
}

TEST_P(Signals, FinishOrTakeBackWhatHasBegun) {
  const SignalCase& what = GetParam();
  if (what.target == kPage && !has_page()) GTEST_SKIP() << "this build has no page";
  const Ended whole = run_until(what.words, work(), SIZE_MAX, 0);
  ASSERT_TRUE(WIFEXITED(whole.status));
  ASSERT_EQ(WEXITSTATUS(whole.status), 0) << "the verb itself";
  ASSERT_GE(whole.moments, 5U) << "no handlers around it";

  const std::size_t most = nightly() ? SIZE_MAX : 10;
  const std::size_t step = 1 + whole.moments / most;
  for (std::size_t moment = 0; moment < whole.moments; moment += step) {
    const int number = moment / step % 3 == 0 ? SIGTERM : moment / step % 3 == 1 ? SIGINT : SIGHUP;
    const std::string directory = work();
    const Ended ended = run_until(what.words, directory, moment, number);
    if (!ended.signalled) continue;  // a run with fewer calls than the first
    SCOPED_TRACE(what.name + ", moment " + std::to_string(moment) + " of " +
                 std::to_string(whole.moments));
    ASSERT_TRUE(WIFEXITED(ended.status)) << "killed by " << WTERMSIG(ended.status);
    ASSERT_EQ(WEXITSTATUS(ended.status), 128 + number);
    ASSERT_EQ(leftovers(), std::vector<std::string>{});
    expect_whole(directory, false);
    ASSERT_FALSE(HasFatalFailure());
    // And the same again ends what was stopped.
    if (!what.is(kResumes)) continue;
    const Ended again = run_until(what.words, directory, SIZE_MAX, 0);
    ASSERT_TRUE(WIFEXITED(again.status) && WEXITSTATUS(again.status) <= 1);
    ASSERT_EQ(run({"check", "-v", "-c", "-q", directory + "/" + what.target, path("base/new")}).out,
              "0\n");
  }
}

// A second signal may kill, also while the first one's work is being finished. Then the file is as before or as
// after it, and the next new file removes what the killed run left.
TEST_P(Signals, ThatComeTwiceHarmNothing) {
  const SignalCase& what = GetParam();
  if (what.target == kPage && !has_page()) GTEST_SKIP() << "this build has no page";
  const Ended whole = run_until(what.words, work(), SIZE_MAX, 0);
  ASSERT_TRUE(WIFEXITED(whole.status));
  const std::size_t most = nightly() ? 20 : 2;
  const std::size_t step = 1 + whole.moments / most;
  for (std::size_t moment = step / 2; moment < whole.moments; moment += step)
    for (std::size_t calls = 1;; calls += 1 + whole.moments / (most + 1)) {
      const std::string directory = work();
      const Ended ended = run_until(what.words, directory, moment, SIGTERM, calls);
      if (!ended.signalled) break;
      SCOPED_TRACE(what.name + ", moments " + std::to_string(moment) + " and " +
                   std::to_string(calls) + " later, of " + std::to_string(whole.moments));
      if (WIFEXITED(ended.status)) {
        // The first signal has ended it before the second came.
        ASSERT_EQ(WEXITSTATUS(ended.status), 128 + SIGTERM);
        ASSERT_EQ(leftovers(), std::vector<std::string>{});
        break;
      }
      ASSERT_EQ(WTERMSIG(ended.status), SIGTERM);
      expect_whole(directory, true);
      ASSERT_FALSE(HasFatalFailure());
      // Without --force what is complete stays.
      const Ended again = run_until(what.words, directory, SIZE_MAX, 0);
      ASSERT_TRUE(WIFEXITED(again.status));
      ASSERT_TRUE(WEXITSTATUS(again.status) <= 1 ||
                  (!what.is(kResumes) && !std::filesystem::exists(path("base/" + what.target))));
      if (what.is(kHasRandomName) || leftovers().empty()) continue;
      // A run that had nothing new to write made no new file, which takes the name of the one that was left.
      ASSERT_EQ(run({"rebuild", "-q", directory + "/" + what.target, path("base/old")}).code, 0);
      ASSERT_EQ(leftovers(), std::vector<std::string>{});
    }
}

std::vector<SignalCase> signal_cases() {
  std::vector<SignalCase> all = {
      {"create", {"create", "made", "-n", "10K", "-p", "1%"}, "made"},
      {"create_window", {"create", "made", "--window", "1K", "-p", "1%"}, "made"},
      {"create_force", {"create", "--force", "plain", "-n", "10K", "-p", "1%"}, "plain"},
      {"create_frozen",
       {"create", "made", "--kind", "frozen", "-p", "1%", "old", "new"},
       "made",
       kMayBeAbsent},
      {"create_frozen_force",
       {"create", "--force", "frozen", "--kind", "frozen", "-p", "1%", "old", "new"},
       "frozen",
       kResumes},
      {"rebuild_frozen", {"rebuild", "frozen", "old", "new"}, "frozen", kResumes},
      {"remove", {"remove", "counting", "old"}, "counting"},
      {"remove_none", {"remove", "--durability", "none", "counting", "old"}, "counting"},
      {"dedup_new", {"dedup", "--filter", "made", "-n", "1K", "new"}, "made", kResumes},
      {"dedup_output", {"dedup", "-q", "-o", kLines, "old", "new"}, kLines, kHasRandomName},
      {"check_output", {"check", "-v", "-o", kLines, "other", "old"}, kLines, kHasRandomName},
      {"merge", {"merge", "made", "plain", "other"}, "made"},
      {"merge_force", {"merge", "--force", "plain", "plain", "other"}, "plain"},
      {"salvage", {"salvage", "plain", "made"}, "made"},
      {"salvage_scalable", {"salvage", "scalable", "made"}, "made"},
      {"salvage_force", {"salvage", "--force", "plain", "plain"}, "plain"},
      {"convert", {"convert", "plain", "made"}, "made"},
      {"convert_to_dump", {"convert", "dump", "made"}, "made", kHasRandomName},
      {"convert_over_dump", {"convert", "--force", "dump", "dump2"}, "dump2", kHasRandomName},
      {"convert_from_dump", {"convert", "dump", "made.bloom"}, "made.bloom"},
      {"rebuild", {"rebuild", "plain", "old", "new"}, "plain", kResumes},
      {"rebuild_window", {"rebuild", "window", "old", "new"}, "window", kResumes},
      {"page", {"plan", "--web", kPage}, kPage},
      {"page_force", {"plan", "--web", "--force", kPage}, kPage},
  };
  for (const std::string kind : {"plain", "counting", "scalable", "window"})
    for (const std::string level : {"none", "process", "sync"}) {
      all.push_back({"add_" + kind + "_" + level,
                     {"add", "--durability", level, kind, "new"},
                     kind,
                     kResumes});
      all.push_back({"dedup_" + kind + "_" + level,
                     {"dedup", "--durability", level, "--filter", kind, "new"},
                     kind,
                     kResumes});
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryVerbThatWrites, Signals, testing::ValuesIn(signal_cases()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace bloomery::test
