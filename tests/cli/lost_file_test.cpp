// A filter that is cut, or copied over, while the tool has it mapped: one line that names it and exit code 2, never
// a death by SIGBUS.
//
// The tool runs under ptrace. Each mapping of the file that it makes is a moment: there the test does that to the
// file, lets go, and looks at how the tool ends.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "traced.hpp"

namespace bloomery::test {
namespace {

bool is_mapping_of(pid_t tool, const __ptrace_syscall_info& call, const std::string& path) {
  std::error_code none;
  return call.entry.nr == SYS_mmap && (call.entry.args[3] & MAP_ANONYMOUS) == 0 &&
         std::filesystem::read_symlink("/proc/" + std::to_string(tool) + "/fd/" +
                                           std::to_string(static_cast<int>(call.entry.args[4])),
                                       none) == path;
}

struct HarmedRun {
  std::size_t mappings = 0;  // of the file
  int status = 0;
  std::string said;  // on stderr
};

// Runs the tool in the directory, and harms its file there once it is mapped for the `moment`-th time.
HarmedRun run_harmed_at(const Arguments& words, const std::string& directory,
                        const std::string& name, std::size_t moment,
                        const std::function<void(const std::string& path)>& harm) {
  const std::string path = directory + "/" + name;
  HarmedRun ended;
  bool maps = false;  // the call that the tool is in
  const auto step_in = [&](pid_t tool, const __ptrace_syscall_info& call) {
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
      maps = is_mapping_of(tool, call, path);
      return false;
    }
    if (!std::exchange(maps, false) || ended.mappings++ != moment) return false;
    harm(path);
    return true;
  };
  ended.status = run_traced(words, directory, "said", step_in);
  ended.said = (std::stringstream() << std::ifstream(directory + "/said").rdbuf()).str();
  return ended;
}

struct LostCase {
  std::string name;
  Arguments words;
  std::string file;  // what is cut
};

void PrintTo(const LostCase& what, std::ostream* out) { *out << what.name; }

class LostFile : public ToolTest, public testing::WithParamInterface<LostCase> {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer has a handler of its own, and no ptrace";
    std::filesystem::create_directory(path("base"));
    file("base/lines", numbers(0, 1000));
    const auto make = [&](const std::string& name, Arguments words) {
      if (std::ranges::find(GetParam().words, name) == GetParam().words.end()) return;
      const std::string filter = path("base/" + name);
      words.insert(words.begin(), {"create", filter});
      EXPECT_EQ(run(words).code, 0);
      EXPECT_EQ(run({"add", "-q", "--durability", "none", filter, path("base/lines")}).code, 0);
    };
    make("plain", {"-n", "100K", "-p", "1e-6"});
    make("other", {"-n", "100K", "-p", "1e-6"});
    make("counting", {"--kind", "counting", "-n", "100K", "-p", "1e-3"});
    make("scalable", {"--kind", "scalable", "-n", "100K", "-p", "1e-6"});
    make("window", {"--window", "100K", "-p", "1e-6"});
    make("delta", {"--kind", "frozen", "--delta", "100K", "-p", "1e-6"});
    // Lists of 100,000 keys, since a list has the size of its keys.
    if (GetParam().file == "frozen") {
      EXPECT_EQ(run({"create", "-q", path("base/frozen"), "--kind", "frozen", "-p", "1e-6"},
                    numbers(0, 100'000))
                    .code,
                0);
    }
    // What cp puts over them: a whole filter that is shorter than each of them.
    EXPECT_EQ(run({"create", "-q", path("short"), "-n", "100", "-p", "1%"}).code, 0);
  }
  [[nodiscard]] std::string work() const {
    std::filesystem::remove_all(path("work"));
    std::filesystem::copy(path("base"), path("work"));
    return std::filesystem::canonical(path("work"));
  }
};

// A verb that has what it needs of the file in memory already ends as without the harm. Any other says what
// happened to which file, in one line. What was copied over the file answers too where it reaches.
TEST_P(LostFile, IsNamedInOneLine) {
  const LostCase& what = GetParam();
  const HarmedRun whole = run_harmed_at(what.words, work(), what.file, SIZE_MAX, {});
  ASSERT_TRUE(WIFEXITED(whole.status));
  const int code = WEXITSTATUS(whole.status);
  ASSERT_LE(code, 1) << whole.said;
  struct Harm {
    const char* name;
    std::function<void(const std::string& path)> harm;
    bool answers = false;
    std::size_t lost = 0;
  };
  const auto cut = [](std::uintmax_t bytes) {
    return [bytes](const std::string& path) { std::filesystem::resize_file(path, bytes); };
  };
  const auto copy_over = [this](const std::string& to) {
    std::filesystem::copy_file(path("short"), to,
                               std::filesystem::copy_options::overwrite_existing);
  };
  // All of it; all but its header and the beginning of its bits.
  Harm harms[] = {{"cut to nothing", cut(0)},
                  {"cut to its header", cut(8192)},
                  {"copied over", copy_over, true}};
  for (Harm& harm : harms)
    for (std::size_t moment = 0; moment < whole.mappings; ++moment) {
      const std::string directory = work();
      const HarmedRun ended = run_harmed_at(what.words, directory, what.file, moment, harm.harm);
      SCOPED_TRACE(what.name + ", mapping " + std::to_string(moment) + ", " + harm.name + ": " +
                   ended.said);
      ASSERT_TRUE(WIFEXITED(ended.status)) << "killed by signal " << WTERMSIG(ended.status);
      const int ended_with = WEXITSTATUS(ended.status);
      if (ended_with == code || (harm.answers && ended_with <= 1)) continue;
      ASSERT_EQ(ended_with, 2);
      EXPECT_EQ(ended.said.find('\n'), ended.said.size() - 1);
      EXPECT_TRUE(ended.said.starts_with("bloomery: "));
      // The other file may also be one that does not fit the rest of the command.
      EXPECT_TRUE(harm.answers || ended.said.find(what.file) != std::string::npos);
      harm.lost += ended.said.find(directory + "/" + what.file +
                                   ": was truncated or overwritten in place while it was in "
                                   "use.") != std::string::npos;
    }
  // These read a filter where it is, in the mapping. (What copies a filter has checked its sums before.)
  for (const char* mapped : {"info_plain", "info_exact_plain", "check_frozen", "check_delta"})
    for (const Harm& harm : harms) {
      // The table of a list is checked before its cells are read.
      if (harm.answers && what.file == "frozen") continue;
      EXPECT_TRUE(what.name != mapped || harm.lost >= 1) << harm.name;
    }
}

std::vector<LostCase> harmed_cases() {
  std::vector<LostCase> all = {
      {"merge", {"merge", "-q", "made", "plain", "other"}, "plain"},
      {"merge_force", {"merge", "-q", "--force", "other", "other", "plain"}, "plain"},
      {"convert", {"convert", "-q", "plain", "made"}, "plain"},
      {"remove", {"remove", "-q", "counting", "lines"}, "counting"},
  };
  for (const std::string kind : {"plain", "counting", "scalable", "window", "frozen", "delta"}) {
    const auto add = [&](const std::string& name, Arguments words) {
      all.push_back({name + "_" + kind, std::move(words), kind});
    };
    add("check", {"check", "-q", kind, "lines"});
    add("info", {"info", kind});
    add("info_exact", {"info", "--exact", kind});
    add("verify", {"verify", "-q", kind});
    add("salvage", {"salvage", "-q", kind, "made"});
    add("rebuild", {"rebuild", "-q", kind, "lines"});
    if (kind == "frozen") continue;  // it takes no keys
    for (const std::string level : {"none", "process", "sync"}) {
      add("add_" + level, {"add", "-q", "--durability", level, kind, "lines"});
      add("dedup_" + level, {"dedup", "-q", "--durability", level, "--filter", kind, "lines"});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryVerbThatMaps, LostFile, testing::ValuesIn(harmed_cases()),
                         [](const auto& param) { return param.param.name; });

class CutFile : public ToolTest {};

// As it happens: a reader has answered, somebody cuts the file or copies another over it, and the reader goes on.
TEST_F(CutFile, EndsAReaderThatHasAnsweredAlready) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a handler of its own";
  // Nearly as long as a path can be, and four times as long when it is escaped.
  std::string deep;
  for (int i = 0; i < 15; ++i) deep += std::string(240, '\x1b') + "/";
  std::filesystem::create_directories(path(deep));
  const std::string filter = path(deep + "a\x1b[31mred.bloom"), other = path("other");
  ASSERT_EQ(run({"create", "-q", other, "-n", "100", "-p", "1%"}).code, 0);
  for (const bool frozen : {false, true})
    for (const bool copied : {false, true}) {
      SCOPED_TRACE(std::string(frozen ? "frozen" : "plain") + (copied ? ", copied over" : ", cut"));
      const std::string lines = numbers(0, 200'000);
      if (frozen) {
        ASSERT_EQ(run({"create", "--force", "--kind", "frozen", filter, "-p", "1e-6"}, lines).code,
                  0);
      } else {
        ASSERT_EQ(run({"create", filter, "-n", "10M", "-p", "1e-6"}).code, 0);
        ASSERT_EQ(run({"add", "-q", filter}, numbers(0, 1000)).code, 0);
      }
      Running reader({"check", filter});
      const std::string some = numbers(0, 1000);
      reader.write(some);
      EXPECT_EQ(reader.read(some.size()), some);
      if (copied)
        std::filesystem::copy_file(other, filter,
                                   std::filesystem::copy_options::overwrite_existing);
      else
        std::filesystem::resize_file(filter, 4096);
      reader.write(some);
      const Ran ran = reader.finish();
      EXPECT_EQ(ran.code, 2) << "signal " << ran.signal;
      EXPECT_TRUE(
          says(ran.err, std::string("/a\\x1b[31mred.bloom: ") +
                            (copied ? "was truncated or overwritten in place" : "is truncated")));
      std::filesystem::remove(filter);
    }
}

bool opens(pid_t tool, const __ptrace_syscall_info& call, std::string_view name) {
  if (call.entry.nr != SYS_openat) return false;
  std::string text(name.size() + 1, 'x');
  iovec here{text.data(), text.size()},
      there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(call.entry.args[1])), text.size()};
  return ::process_vm_readv(tool, &here, 1, &there, 1, 0) > 0 && text.c_str() == name;
}

#ifdef __x86_64__
void poke(pid_t tool, std::size_t at, long value) { ::ptrace(PTRACE_POKEUSER, tool, at, value); }
#endif

// As on a disk that fails: the file is long enough, and cannot be read. The file is cut when it is mapped, and long
// again when the handler asks what is mapped where. Signals interrupt the first call to read that, and to write the
// line.
TEST_F(CutFile, IsNotSaidOfAFileThatIsLongEnough) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a handler of its own, and no ptrace";
  const std::string filter = std::filesystem::canonical(path("")).string() + "/f.bloom";
  ASSERT_EQ(run({"create", filter, "-n", "100K", "-p", "1e-6"}).code, 0);
  const std::uintmax_t whole = std::filesystem::file_size(filter);
  bool maps = false, is_asked = false;
  [[maybe_unused]] bool skipped = false;
  std::vector<std::uint64_t> interrupted;
  const auto step_in = [&](pid_t tool, const __ptrace_syscall_info& call) {
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) {
      if (std::exchange(maps, false)) std::filesystem::resize_file(filter, 8192);
#ifdef __x86_64__
      if (std::exchange(skipped, false)) poke(tool, offsetof(user, regs.rax), -EINTR);
#endif
      return false;
    }
    maps = is_mapping_of(tool, call, filter);
    if (opens(tool, call, "/proc/self/maps")) {
      is_asked = true;
      std::filesystem::resize_file(filter, whole);
    }
#ifdef __x86_64__
    const std::uint64_t number = call.entry.nr;
    if (is_asked && (number == SYS_read || number == SYS_write) &&
        std::ranges::find(interrupted, number) == interrupted.end()) {
      interrupted.push_back(number);
      skipped = true;
      poke(tool, offsetof(user, regs.orig_rax), -1);
    }
#endif
    return false;
  };
  const int status = run_traced({"info", filter}, path(""), "said", step_in);
  ASSERT_TRUE(is_asked);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const std::string said = text_of(path("said"));
  EXPECT_TRUE(said.starts_with("bloomery: " + filter + ": its disk failed or is full")) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1);
}

TEST_F(CutFile, ASignalOfSomebodyElseKillsAsEver) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has a handler of its own";
  const std::string filter = path("f.bloom");
  ASSERT_EQ(run({"create", filter, "-n", "1K", "-p", "1%"}).code, 0);
  Running reader({"check", filter});
  reader.write("a line\n");
  reader.wait_until_read();
  reader.signal(SIGBUS);
  EXPECT_EQ(reader.finish().signal, SIGBUS);
}

}  // namespace
}  // namespace bloomery::test
