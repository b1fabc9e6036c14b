// Any number of threads gives the same bytes, the same messages and the same files as one.
#include "files.hpp"
#include "input/found_lines.hpp"

#include <sched.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/in_child.hpp"

namespace bloomery::test {
namespace {

constexpr std::size_t kHeaders = 8192;  // of a filter file; each has a name of its own
const std::vector<const char*> kThreads =
    kSanitized ? std::vector{"1", "3"} : std::vector{"1", "2", "3", "8", "64"};

Arguments with_threads(Arguments words, const std::string& threads) {
  words.insert(words.begin() + 1, {"-j", threads});
  return words;
}

// What it says of the lines, without how long it took, and of the filter, without its fill, which is another
// one with another seed.
std::string remarks(const Ran& ran) {
  return std::regex_replace(ran.err, std::regex(" in [^;(]*\\([^)]*\\)|;.* of the bits are.*"), "");
}

// Lines of very different lengths, many of them repeats, and empty ones in long rows: several blocks of
// half a megabyte.
std::string many_lines(std::size_t megabytes = 6) {
  std::mt19937_64 random(11);
  std::string text;
  while (text.size() < megabytes << 20) {
    const std::size_t length = random() % 50 == 0 ? random() % 20'000 : random() % 60;
    const char letter = static_cast<char>('a' + random() % 3);
    if (random() % 2000 == 0) text += std::string(random() % 100'000, '\n');
    text += std::to_string(random() % 40'000) + "," + std::string(length, letter) + "\n";
  }
  return text + "the last has no end";
}

class Threads : public Files {
 protected:
  // The output, decompressed if -Z compressed it.
  [[nodiscard]] std::string output_of(const Arguments& words, const Ran& ran) const {
    const auto flag = std::ranges::find(words, "-Z");
    return flag == words.end() ? ran.out : unpacked(*(flag + 1), ran.out);
  }
  void expect_the_same_of_every_number(const Arguments& words,
                                       const std::vector<const char*>& numbers = kThreads) const {
    std::string all_words;
    for (const std::string& word : words) all_words += word + " ";
    SCOPED_TRACE(all_words);
    const Ran one = run(with_threads(words, "1"));
    EXPECT_LT(one.code, 2) << one.err;
    const std::string wanted = output_of(words, one);
    for (const char* const threads : numbers) {
      const Ran ran = run(with_threads(words, threads));
      EXPECT_EQ(ran.code, one.code);
      // dedup draws a seed for each run, and so other false positives. Here it has none: with 50,000 keys in
      // filters for a million the rate is below (1/30)^18, and 6 runs ask a window for
      // 27,000 lines that it has not: 5e-10.
      EXPECT_TRUE(output_of(words, ran) == wanted) << threads;
      EXPECT_EQ(remarks(ran), remarks(one)) << threads;
    }
    const Ran by_itself = run(words);
    EXPECT_EQ(by_itself.code, one.code);
    EXPECT_TRUE(output_of(words, by_itself) == wanted);
  }
};

TEST_F(Threads, PrintTheSame) {
  const std::string lines = file("lines", many_lines());
  const std::string filter = made("f.bloom", numbers(0, 20'000));
  const std::vector<Arguments> runs = {
      {"dedup", "-n", "1M", lines},
      {"dedup", "-v", "-n", "1M", lines, lines},
      {"dedup", "-c", "-p", "3e-15", "--window", "10K", "--slices", "1", lines},
      {"dedup", "-n", "1M", "-k", "2,1", "-d", ",", "--ignore-case", lines},
      {"check", "-k", "1", "-d", ",", filter, lines},
      {"check", "-v", "-c", "-k", "1", "-d", ",", filter, lines},
      {"check", "-q", "-k", "1", "-d", ",", filter, lines},
  };
  for (const Arguments& words : runs) expect_the_same_of_every_number(words);
}

TEST_F(Threads, PrintTheSameOfCompressedInputAndWithCompressedOutput) {
  const std::string text = many_lines(2), lines = file("lines", text);
  const std::string filter = made("f.bloom", numbers(0, 20'000));
  // Lines that are not compressed have every number.
  const std::vector<const char*> some = nightly() || kSanitized ? kThreads : std::vector{"3", "64"};
  for (const Program& program : kPrograms) {
    const std::string input = packed(program.name, "lines." + program.name, text);
    const std::vector<Arguments> runs = {
        {"dedup", "-n", "1M", input},
        {"dedup", "-v", "-n", "1M", input, lines, input},
        {"dedup", "-n", "1M", "-Z", program.name, lines},
        {"check", "-k", "1", "-d", ",", filter, input},
        {"check", "-k", "1", "-d", ",", "-Z", program.name, filter, input},
    };
    for (const Arguments& words : runs) expect_the_same_of_every_number(words, some);
    EXPECT_TRUE(run({"dedup", "-q", "-n", "1M", "-j", "3", input}).out ==
                run({"dedup", "-q", "-n", "1M", "-j", "1", lines}).out);
  }
}

// The bits are the same, so the files are.
TEST_F(Threads, MakeTheSameFiles) {
  const std::string text = many_lines(2), lines = file("lines", text);
  std::vector<std::string> inputs = {lines};
  for (const Program& program : kPrograms)
    inputs.push_back(packed(program.name, "lines." + program.name, text));
  std::string wanted;
  for (const std::string& input : inputs)
    for (const char* const threads : kThreads) {
      SCOPED_TRACE(input + ", -j " + threads);
      const std::string filter = path("made.bloom");
      std::filesystem::remove(filter);
      ASSERT_EQ(run({"create", "-q", filter, "-n", "100K", "-p", "1e-4"}).code, 0);
      const Ran added = run({"add", "-j", threads, filter, input});
      ASSERT_EQ(added.code, 0);
      const std::string bits = text_of(filter).substr(kHeaders);
      if (wanted.empty()) wanted = bits;
      EXPECT_TRUE(bits == wanted);
      ASSERT_EQ(run({"rebuild", "-q", "-j", threads, filter, input}).code, 0);
      EXPECT_TRUE(text_of(filter).substr(kHeaders) == wanted);
      EXPECT_EQ(run({"check", "-q", "-j", threads, "-v", "-c", filter, lines}).out, "0\n");
    }
}

TEST_F(Threads, StopAtTheSameLine) {
  std::string text;
  for (int i = 0; i < 150'000; ++i) text += "{\"a\":" + std::to_string(i % 90'000) + "}\n";
  const std::string lines = file("lines", text + "no\n" + text);
  const Ran one = run({"dedup", "-q", "-j", "1", "--json-key", "a", lines});
  EXPECT_EQ(one.code, 2);
  EXPECT_TRUE(says(one.err, "line 150,001 "));
  const std::string filter = made("f.bloom", "");
  for (const char* const threads : kThreads) {
    const Ran ran = run({"dedup", "-q", "-j", threads, "--json-key", "a", lines});
    EXPECT_TRUE(ran.out == one.out) << threads;
    EXPECT_EQ(ran.err, one.err);
    EXPECT_EQ(ran.code, 2);
  }
  // An input that ends with an error: the lines before it are the same, too.
  const Ran cut = run({"dedup", "-q", "-j", "1", lines, path("missing")});
  for (const char* const threads : kThreads)
    EXPECT_EQ(run({"dedup", "-q", "-j", threads, lines, path("missing")}).out, cut.out);
}

TEST_F(Threads, AnswerASlowPipeAndASignal) {
  Running tool({"dedup", "-q", "-j", "8"});
  for (int i = 0; i < 50; ++i) {
    tool.write(std::to_string(i) + "\n");
    const std::string wanted = std::to_string(i) + "\n";
    ASSERT_EQ(tool.read(wanted.size()), wanted);
  }
  tool.signal(SIGINT);
  EXPECT_EQ(tool.finish(false).code, 128 + SIGINT);
  // In the middle of much.
  const std::string lines = file("lines", many_lines());
  Running busy({"dedup", "-q", "-j", "8", lines, lines, "-"});
  busy.read(1000);
  busy.close_output();
  EXPECT_EQ(busy.finish().signal, SIGPIPE);
}

TEST_F(Threads, HaveABoundAndNeedNone) {
  for (const char* const wrong : {"0", "1025", "x", "-1", "1.5"})
    EXPECT_TRUE(is_error(run({"dedup", "-j", wrong}), {"-j"})) << wrong;
  EXPECT_EQ(run({"dedup", "-q", "-j", "1024"}, "a\n").out, "a\n");
}

// In a container, or under taskset, only some processors of the machine may be used.
TEST_F(Threads, AreAsManyAsTheProcessorsThatMayBeUsed) {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0)
    GTEST_SKIP() << "more processors than a cpu_set_t has";
  const int most = CPU_COUNT(&all);
  for (int count = 1; count <= std::min(most, 4); ++count)
    EXPECT_TRUE(in_child([&] {
      cpu_set_t some = all;
      for (int i = 0; CPU_COUNT(&some) > count; ++i) CPU_CLR(i, &some);
      return ::sched_setaffinity(0, sizeof some, &some) == 0 &&
             cli::usable_threads() == static_cast<unsigned>(count);
    })) << count;
  EXPECT_EQ(cli::usable_threads(), static_cast<unsigned>(most));
}

}  // namespace
}  // namespace bloomery::test
