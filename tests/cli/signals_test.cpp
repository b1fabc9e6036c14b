// A signal at any moment of a verb that writes: what has begun is finished or taken back, and nothing is left
// beside it.
//
// The tool runs under ptrace. From the system call that puts the handlers in their place to the one that
// takes them away, each call of the main thread is a moment: the test sends the signal there, lets go, and
// looks at what there is afterwards.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "traced.hpp"

namespace bloomery {
namespace {

using test::Arguments;
using test::numbers;
using test::run;

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

// Runs the tool, and sends it the signal at this moment.
Ended run_until(const Arguments& words, const std::string& directory, std::size_t moment,
                int number) {
  Ended ended;
  int handlers = 0;  // 1: in their places, 2: gone again
  const auto step_in = [&](pid_t tool, const __ptrace_syscall_info& call) {
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
    if (handlers < 2 && is_boundary(call, handlers == 1)) {
      ++handlers;
    } else if (handlers == 1 && ended.moments++ == moment) {
      ended.signalled = true;
      ::kill(tool, number);
      return true;
    }
    return false;
  };
  ended.status = test::run_traced(words, directory, "/dev/null", step_in);
  return ended;
}

constexpr const char* kPage = "planner.html";
constexpr const char* kLines = "old";  // of -o

struct SignalCase {
  std::string name;
  Arguments words;
  std::string target;    // the file that it writes
  bool resumes = false;  // the same again puts all lines of `new` in, whatever the first run did
};

void PrintTo(const SignalCase& what, std::ostream* out) { *out << what.name; }

// Filters of all kinds and lines in a directory; each run works on a copy of it.
class Signals : public test::ToolTest, public testing::WithParamInterface<SignalCase> {
 protected:
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "a sanitizer makes thousands of calls of its own";
    std::filesystem::create_directory(path("base"));
    const auto in_base = [&](Arguments words) {
      for (std::string& word : words)
        if (word.starts_with("@")) word = path("base/" + word.substr(1));
      EXPECT_EQ(run(words).code, 0) << words[0] << " " << words[1];
    };
    file("base/old", numbers(0, 500));
    file("base/new", numbers(500, 1000));
    in_base({"create", "@plain", "-n", "10K", "-p", "1e-6"});
    in_base({"create", "@other", "-n", "10K", "-p", "1e-6"});
    in_base({"create", "@counting", "--kind", "counting", "-n", "10K", "-p", "1e-6"});
    in_base({"create", "@scalable", "--kind", "scalable", "-n", "100", "-p", "1e-6"});
    in_base({"create", "@window", "--window", "10K", "-p", "1e-6"});
    for (const char* name : {"@plain", "@counting", "@scalable", "@window"})
      in_base({"add", "-q", name, "@old"});
    in_base({"add", "-q", "@other", "@new"});
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
};

// Temporary files: of the library, and of -o.
std::vector<std::string> leftovers(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".new" || entry.path().stem() == kLines)
      if (entry.path().filename() != kLines) names.push_back(entry.path().filename());
  return names;
}

TEST_P(Signals, FinishOrTakeBackWhatHasBegun) {
  const SignalCase& what = GetParam();
  if (what.target == kPage && !has_page()) GTEST_SKIP() << "this build has no page";
  const Ended whole = run_until(what.words, work(), SIZE_MAX, 0);
  ASSERT_TRUE(WIFEXITED(whole.status));
  ASSERT_EQ(WEXITSTATUS(whole.status), 0) << "the verb itself";
  ASSERT_GE(whole.moments, 5U) << "no handlers around it";

  const std::size_t most = test::nightly() ? SIZE_MAX : 15;
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
    ASSERT_EQ(leftovers(directory), std::vector<std::string>{});
    if (what.target == kPage) continue;
    if (what.target == kLines) {
      const std::string lines = text_of(directory + "/" + kLines);
      ASSERT_TRUE(lines == numbers(0, 500) || lines == numbers(0, 1000)) << lines;
      continue;
    }
    const std::string target = directory + "/" + what.target;
    ASSERT_EQ(run({"verify", "-q", target}).code, 0);
    // The keys of before are in it, whatever came of the new ones.
    if (what.words[0] != "create" && what.words[0] != "remove" &&
        std::filesystem::exists(path("base/" + what.target))) {
      ASSERT_EQ(run({"check", "-v", "-c", "-q", target, path("base/old")}).out, "0\n");
    }
    // And the same again ends what was stopped.
    if (!what.resumes) continue;
    const Ended again = run_until(what.words, directory, SIZE_MAX, 0);
    ASSERT_TRUE(WIFEXITED(again.status) && WEXITSTATUS(again.status) <= 1);
    ASSERT_EQ(run({"check", "-v", "-c", "-q", target, path("base/new")}).out, "0\n");
  }
}

std::vector<SignalCase> signal_cases() {
  std::vector<SignalCase> all = {
      {"create", {"create", "made", "-n", "10K", "-p", "1%"}, "made"},
      {"create_window", {"create", "made", "--window", "1K", "-p", "1%"}, "made"},
      {"create_force", {"create", "--force", "plain", "-n", "10K", "-p", "1%"}, "plain"},
      {"remove", {"remove", "counting", "old"}, "counting"},
      {"remove_none", {"remove", "--durability", "none", "counting", "old"}, "counting"},
      {"dedup_new", {"dedup", "--filter", "made", "-n", "1K", "new"}, "made", true},
      {"dedup_output", {"dedup", "-q", "-o", kLines, "old", "new"}, kLines},
      {"check_output", {"check", "-v", "-o", kLines, "other", "old"}, kLines},
      {"merge", {"merge", "made", "plain", "other"}, "made"},
      {"merge_force", {"merge", "--force", "plain", "plain", "other"}, "plain"},
      {"salvage", {"salvage", "plain", "made"}, "made"},
      {"salvage_scalable", {"salvage", "scalable", "made"}, "made"},
      {"salvage_force", {"salvage", "--force", "plain", "plain"}, "plain"},
      {"convert", {"convert", "plain", "made"}, "made"},
      {"rebuild", {"rebuild", "plain", "old", "new"}, "plain", true},
      {"rebuild_window", {"rebuild", "window", "old", "new"}, "window", true},
      {"page", {"plan", "--web", kPage}, kPage},
      {"page_force", {"plan", "--web", "--force", kPage}, kPage},
  };
  for (const std::string kind : {"plain", "counting", "scalable", "window"})
    for (const std::string level : {"none", "process", "sync"}) {
      all.push_back(
          {"add_" + kind + "_" + level, {"add", "--durability", level, kind, "new"}, kind, true});
      all.push_back({"dedup_" + kind + "_" + level,
                     {"dedup", "--durability", level, "--filter", kind, "new"},
                     kind,
                     true});
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryVerbThatWrites, Signals, testing::ValuesIn(signal_cases()),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace bloomery
