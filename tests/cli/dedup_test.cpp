// `dedup` prints each line once, whatever the lines, the way they come, or their number.
#include "tool.hpp"

#include <bloomery/plan.hpp>
#include <nlohmann/json.hpp>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_set>

#include "support/colliding_lines.hpp"
#include "support/effort.hpp"

namespace bloomery::test {
namespace {

using nlohmann::json;

class Dedup : public ToolTest {};

// What dedup must print, by exact memory. A filter for the lines that it expects may be nearly full, so a test of many
// lines asks for 2e-15: of 20,000 lines in each of 20 runs one is a false positive with a chance below 8e-10.
std::string exact(const std::string& text, bool repeats = false) {
  std::unordered_set<std::string> seen;
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (seen.insert(line).second != repeats) out += line + "\n";
  return out;
}

std::string random_lines(std::uint64_t seed, std::size_t lines, std::size_t longest) {
  std::mt19937_64 random(seed);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    std::string line(random() % longest, 'x');
    for (char& c : line) c = static_cast<char>(random() % 3 == 0 ? 0 : 'a' + random() % 4);
    text += line + "\n";
  }
  return text;
}

TEST_F(Dedup, PrintsEachLineOnceInOrder) {
  const auto ran = run({"dedup"}, "b\na\nb\nc\na\n");
  EXPECT_EQ(ran.out, "b\na\nc\n");
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(says(ran.err, "5 lines, 3 new, 2 repeats"));
  EXPECT_TRUE(says(ran.err, "current fpr"));
}

TEST_F(Dedup, IsExactOnLinesOfAllLengthsAndBytes) {
  for (const std::size_t longest : {2, 5, 80, 3000}) {
    const std::string text = random_lines(longest, 20'000, longest);
    const std::string in = file("in", text);
    const std::string wanted = exact(text);
    EXPECT_EQ(run({"dedup", "-q", "-p", "2e-15", in}).out, wanted) << longest;
    EXPECT_EQ(run({"dedup", "-q", "-p", "2e-15"}, text).out, wanted) << longest;
    EXPECT_EQ(run({"dedup", "-q", "-p", "2e-15", "-n", "1M"}, text).out, wanted) << longest;
    EXPECT_EQ(run({"dedup", "-q", "-p", "2e-15", "-"}, {}, {.in = in}).out, wanted) << longest;
    EXPECT_EQ(run({"dedup", "-q", "-p", "2e-15", "-v", in}).out, exact(text, true)) << longest;
  }
}

// Lines that somebody made against a known seed are dropped as repeats by a filter that has that seed.
// A run without a filter file has nothing to share a seed with, so it draws its own, for every kind. A tenth
// of the lines still collide where the halves of the two words have a ratio of small numbers p / q, both up
// to about 10, which a random seed gives with a chance of about 20 / 2^32; false positives at 1e-12 are none.
TEST_F(Dedup, DropsNoLinesThatWereMadeForAKnownSeed) {
  constexpr std::size_t kLines = 20'000;
  std::string text;
  for (const std::string& line : colliding_lines(0, kLines)) text += line + "\n";
  const auto lines_of = [&](Arguments flags) {
    flags.insert(flags.begin(), {"dedup", "-q"});
    const std::string out = run(flags, text).out;
    return static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
  };
  ASSERT_EQ(lines_of({"--seed", "0"}), 1U) << "the lines do not collide";
  constexpr std::size_t kMost = kLines - kLines / 10;
  EXPECT_GE(lines_of({"-p", "1e-12"}), kMost);
  EXPECT_GE(lines_of({"-p", "1e-12", "-n", "20K"}), kMost);
  EXPECT_GE(lines_of({"-p", "1e-12", "--window", "20K"}), kMost);
  EXPECT_GE(lines_of({"-p", "1e-12", "--hash", "xxh3"}), kMost);
  EXPECT_GE(lines_of({"-p", "1e-12", "--hash", "siphash"}), kMost);
  EXPECT_GE(lines_of({"-p", "1e-12", "--seed", "random"}), kMost);
  // A file keeps the seed that others can have too, unless it is asked for another one.
  EXPECT_EQ(lines_of({"--filter", path("public.bloom"), "-p", "1e-12", "-n", "20K"}), 1U);
  EXPECT_GE(
      lines_of({"--filter", path("own.bloom"), "-p", "1e-12", "-n", "20K", "--seed", "random"}),
      kMost);
}

TEST_F(Dedup, TheLastLineNeedsNoEnd) {
  EXPECT_EQ(run({"dedup", "-q"}, "a\nb\na").out, "a\nb\n");
  EXPECT_EQ(run({"dedup", "-q"}, "a").out, "a\n");
  // The last line of one file is not the beginning of the next one's first.
  const std::string one = file("one", "a\nb"), two = file("two", "b\nc\n");
  EXPECT_EQ(run({"dedup", "-q", one, two}).out, "a\nb\nc\n");
  EXPECT_EQ(run({"dedup", "-q", one, "-", two}, "x").out, "a\nb\nx\nc\n");
}

TEST_F(Dedup, EmptyLinesAreLines) { EXPECT_EQ(run({"dedup", "-q"}, "\n\n\na\n\n").out, "\na\n"); }

TEST_F(Dedup, ACarriageReturnBelongsToTheLine) {
  EXPECT_EQ(run({"dedup", "-q"}, "a\r\na\na\r\n").out, "a\r\na\n");
}

TEST_F(Dedup, NothingToPrintIsCodeOne) {
  const auto none = run({"dedup"}, "");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_TRUE(says(none.err, "0 lines"));
  EXPECT_EQ(run({"dedup", file("empty", "")}).code, 1);
  EXPECT_EQ(run({"dedup", "-v"}, "a\nb\n").code, 1);
  EXPECT_EQ(run({"dedup", "-v"}, "a\na\n").code, 0);
}

TEST_F(Dedup, NulEndsLinesWithZero) {
  using namespace std::string_literals;
  EXPECT_EQ(run({"dedup", "-q", "-0"}, "a\nb\0c\0a\nb\0d"s).out, "a\nb\0c\0d\0"s);
}

TEST_F(Dedup, AFieldIsTheKeyAndTheLineIsPrinted) {
  const std::string text = "1,a,x\n2,b,x\n3,a,y\n4\n5\n";
  EXPECT_EQ(run({"dedup", "-q", "-k", "2", "-d", ","}, text).out, "1,a,x\n2,b,x\n4\n");
  EXPECT_EQ(run({"dedup", "-q", "-k", "2"}, "a\tb\nc\tb\n").out, "a\tb\n");
}

TEST_F(Dedup, Counts) {
  EXPECT_EQ(run({"dedup", "-c"}, "a\nb\na\n").out, "2\n");
  EXPECT_EQ(run({"dedup", "-c", "-v"}, "a\nb\na\n").out, "1\n");
  const json found = json::parse(run({"dedup", "-c", "--json"}, "a\nb\na\n").out);
  EXPECT_EQ(found["lines"], 3);
  EXPECT_EQ(found["new"], 2);
  EXPECT_EQ(found["repeats"], 1);
  EXPECT_EQ(found["bytes"], 6);
  EXPECT_EQ(found["filter"]["over_capacity"], false);
}

TEST_F(Dedup, JsonStatisticsGoToStderr) {
  const auto ran = run({"dedup", "--json"}, "a\na\n");
  EXPECT_EQ(ran.out, "a\n");
  EXPECT_EQ(json::parse(ran.err)["repeats"], 1);
}

TEST_F(Dedup, AFilterOverCapacityIsTold) {
  std::string text;
  for (int i = 0; i < 3'000; ++i) text += std::to_string(i) + "\n";
  EXPECT_EQ(
      json::parse(run({"dedup", "--json", "-n", "1000"}, text).err)["filter"]["over_capacity"],
      true);
  const auto warned = run({"dedup", "-n", "1000"}, text);
  EXPECT_TRUE(says(warned.err, "warning: the filter holds about"));
  // With every bit set there is no estimate.
  text.clear();
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  const auto full = run({"dedup", "-n", "1", "-p", "0.5"}, text);
  EXPECT_TRUE(says(full.err, "holds more keys than can be estimated"));
}

TEST_F(Dedup, QuietIsQuiet) { EXPECT_EQ(run({"dedup", "-q"}, "a\n").err, ""); }

TEST_F(Dedup, LinesLongerThanABlock) {
  // 3 MB lines that differ in their last byte only, between short ones.
  const std::string head(3'000'000, 'x');
  const std::string text = "s\n" + head + "1\n" + head + "2\ns\n" + head + "1\nt\n";
  EXPECT_EQ(run({"dedup", "-q"}, text).out, exact(text));
  EXPECT_EQ(run({"dedup", "-q", file("in", text)}).out, exact(text));
}

TEST_F(Dedup, SizesItselfForAFile) {
  // Lines of 10 bytes in the first half and 100 in the second: the places must see both.
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(100'000'000 + i) + "\n";
  for (int i = 0; i < 30'000; ++i)
    text += std::string(90, 'y') + std::to_string(100'000'000 + i) + "\n";
  const json found = json::parse(run({"dedup", "-c", "--json", file("in", text)}).out);
  const double capacity = found["filter"]["capacity"];
  EXPECT_GE(capacity, 330'000);
  EXPECT_LE(capacity, 330'000 * 1.15);
  EXPECT_EQ(found["filter"]["over_capacity"], false);
  EXPECT_EQ(found["filter"]["fpr"], 1e-6);
}

TEST_F(Dedup, APipeStartsSmallAndGrows) {
  std::string text;
  for (int i = 0; i < 1'200'000; ++i) text += std::to_string(i) + "\n";
  const auto few = run({"dedup", "-c", "--json"}, "a\nb\n");
  EXPECT_EQ(json::parse(few.out)["filter"]["capacity"], 1'000'000);
  // 1.2 million lines, each twice: what was seen before the growth is still seen after it, and
  // the larger filter keeps all of them within the rate.
  const auto many = run({"dedup", "-c", "--json"}, text + text);
  const json found = json::parse(many.out);
  EXPECT_EQ(found["filter"]["capacity"], 2'000'000);
  EXPECT_EQ(found["filter"]["over_capacity"], false);
  EXPECT_LE(found["filter"]["current_fpr"], 1e-6);
  EXPECT_EQ(found["lines"], 2'400'000);
  EXPECT_LE(found["new"], 1'200'000);
  // Expected false positives: below 1.2; more than 12 has a chance below 1e-9.
  EXPECT_GE(found["new"], 1'200'000 - 12);
}

TEST_F(Dedup, RemembersInTheBitsOfAPhpClass) {
  const Arguments words = {"dedup", "-q", "--scheme", "php-crc32-mt", "--bits",
                           "8K",    "-n", "100",      "--filter",     path("bits")};
  EXPECT_EQ(run(words, "a\nb\na\n").out, "a\nb\n");
  EXPECT_EQ(std::filesystem::file_size(path("bits")), 1000U);
  EXPECT_EQ(run(words, "c\na\n").out, "c\n");
}

// Bytes that a process has had in memory at its peak. (ru_maxrss counts the test too: a child has its parent's memory
// until it executes the tool.)
std::uint64_t peak_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  ADD_FAILURE() << "no peak of process " << process;
  return 0;
}

// Gives dedup so many lines in a pipe, different ones or all the same, and then `last`, with which its output ends
// when it has taken them all. Returns the memory at its peak.
std::uint64_t peak_of_dedup(std::uint64_t lines, bool different) {
  // Nothing else is printed, except false positives. -j 1: each thread has buffers of its own.
  const std::string last = different ? "10000000\n" : "11111111\n";
  Running tool(different ? Arguments{"dedup", "-q", "-j", "1", "-v"}
                         : Arguments{"dedup", "-q", "-j", "1"});
  std::string text;
  for (std::uint64_t i = 0; i < lines; ++i) {
    text += std::to_string(10'000'000 + (different ? i : 0)) + "\n";
    if (i % 10'000 != 9'999 && i + 1 != lines) continue;
    tool.write(text);
    text.clear();
  }
  tool.write(last);
  std::string out;
  while (!out.ends_with(last)) {
    const std::string next = tool.read(1);
    if (next.empty()) {
      ADD_FAILURE() << "it has ended: " << tool.finish().err;
      return 0;
    }
    out += next;
  }
  const std::uint64_t peak = peak_of(tool.pid());
  EXPECT_EQ(tool.finish().code, 0);
  return peak;
}

// The filter has room for a million lines, then for 2, 4, 8 and 16 million: at most twice as many as there are, and
// twice the memory. The smaller filter is gone before the larger one is made. The hashes from which that is filled
// take 2 MiB: 65,536 of 16 bytes that are not on disk yet, and as many that are read back; huge pages round up by at
// most 2 MiB. That is 59.6 + 4 MiB for 8,400,000 lines, 2.03 times the right size. With a growth of 4 the filter for
// 4,200,000 lines would be 3.8 times as large as the right one; with the smaller filter in memory too, 8,400,000 lines
// would take 2.9 times.
TEST_F(Dedup, APipeTakesTheMemoryThatIsPromised) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  const char* const given = std::getenv("TMPDIR");
  struct statfs system {};
  if (::statfs(given != nullptr ? given : "/var/tmp", &system) != 0 || system.f_type == TMPFS_MAGIC)
    GTEST_SKIP() << "no disk for the hashes, so it grows by sub-filters";
  // The tool's own, without the buffers of lines that wait: 17 of half a MiB, and a fast run does not use all of them.
  constexpr double kBuffers = 17 << 19;
  const std::uint64_t own = peak_of_dedup(3'000'000, false);
  for (const std::uint64_t lines : {3'000'000UL, 4'200'000UL, 8'400'000UL}) {
    const auto right = static_cast<double>(plan(lines, 1e-6).bytes());
    const auto taken = static_cast<double>(peak_of_dedup(lines, true) - own);
    EXPECT_LE(taken, 2.3 * right + kBuffers)
        << lines << " lines, " << own << " bytes are the tool's own";
    EXPECT_GE(taken, right / 2) << "something was measured";
  }
}

TEST_F(Dedup, BeyondItsCapacityItSaysSo) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + "\n";
  const auto ran = run({"dedup", "-c", "-n", "1000"}, text);
  EXPECT_TRUE(says(ran.err, "warning: the filter holds"));
  EXPECT_TRUE(says(ran.err, "larger -n"));
  EXPECT_EQ(ran.code, 0);
}

TEST_F(Dedup, ASlowPipeIsAnsweredLineByLine) {
  Running tool({"dedup", "-q"});
  for (const std::string line : {"one\n", "two\n", "three\n"}) {
    tool.write(line);
    EXPECT_EQ(tool.read(line.size()), line);
  }
  // Half of a line waits for the other half.
  tool.write("one\nfo");
  tool.write("ur\n");
  EXPECT_EQ(tool.read(5), "four\n");
  EXPECT_EQ(tool.finish().code, 0);
}

TEST_F(Dedup, AnInterruptFinishesWhatCameWhole) {
  for (const int number : {SIGINT, SIGTERM}) {
    Running tool({"dedup"});
    tool.write("one\ntwo\nthr");
    EXPECT_EQ(tool.read(8), "one\ntwo\n");
    tool.signal(number);
    const auto ran = tool.finish(false);
    EXPECT_EQ(ran.code, 128 + number);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(says(ran.err, "2 lines"));
  }
}

TEST_F(Dedup, TheSecondInterruptKills) {
  // The output is full and nobody reads it, so the first one cannot be obeyed.
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  for (const int second : {SIGINT, SIGTERM}) {
    Running tool({"dedup", "-q"});
    tool.write(text);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    tool.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(tool.pid()), &info, WEXITED | WNOWAIT | WNOHANG),
              0);
    EXPECT_EQ(info.si_pid, 0) << "the first one killed";
    tool.signal(second);
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(tool.pid()), &info, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(info.si_code, CLD_KILLED);
    EXPECT_EQ(info.si_status, second);
  }
}

TEST_F(Dedup, ABrokenPipeEndsQuietly) {
  Running tool({"dedup"});
  tool.write("a\n");
  EXPECT_EQ(tool.read(2), "a\n");
  tool.close_output();
  tool.write("b\n");
  const auto ran = tool.finish();
  EXPECT_EQ(ran.signal, SIGPIPE);
  EXPECT_EQ(ran.err, "");
}

// The reader goes while all blocks are on their way, as `head -1` does: none of them is lost or freed twice.
TEST_F(Dedup, ABrokenPipeEndsALongRun) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += std::string(90, 'x') + std::to_string(i) + "\n";
  const std::string in = file("in", text);
  for (const Arguments& flags :
       {Arguments{}, {"-n", "1M"}, {"-v"}, {"--filter", path("seen"), "-n", "1M"}}) {
    Arguments words{"dedup", "-q", in, in};
    words.insert(words.end(), flags.begin(), flags.end());
    for (const std::size_t taken : {std::size_t{0}, std::size_t{92}, std::size_t{1} << 20}) {
      Running tool(words);
      (void)tool.read(taken);
      tool.close_output();
      const auto ran = tool.finish();
      EXPECT_EQ(ran.signal, SIGPIPE) << ran.code;
      EXPECT_EQ(ran.err, "");
    }
  }
}

TEST_F(Dedup, NamedPipesAreOpenedOnce) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  Running tool({"dedup", "-q", path("fifo")});
  {
    std::ofstream fifo(path("fifo"));
    fifo << "a\nb\na\n";
  }
  EXPECT_EQ(tool.finish().out, "a\nb\n");
}

}  // namespace
}  // namespace bloomery::test
