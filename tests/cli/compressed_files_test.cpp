// Compressed files and pipes are read as text is, and -Z writes what the formats' own programs read.
#include "tool.hpp"

#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "support/effort.hpp"

namespace bloomery::test {
namespace {

class CompressedFiles : public ToolTest {};

std::string random_lines(std::size_t lines) {
  std::mt19937_64 random(7);
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    std::string line(random() % 40, 'x');
    for (char& c : line) c = static_cast<char>(random());
    text += line + "\n";
  }
  return text;
}

// Each run draws a seed, and at the default rate one in a few thousand would print a line less.
constexpr const char* kExact = "2e-15";

TEST_F(CompressedFiles, AreTextWhateverTheFormatAndTheWay) {
  const std::string text = random_lines(40'000);  // and binary
  const std::string wanted = run({"dedup", "-q", "-p", kExact}, text).out;
  for (const Program& program : kPrograms) {
    SCOPED_TRACE(program.name);
    const std::string name = packed(program.name, "lines." + program.name, text);
    const std::string bytes = text_of(name);
    ASSERT_TRUE(bytes.starts_with(program.magic));
    EXPECT_TRUE(run({"dedup", "-q", "-p", kExact, name}).out == wanted);
    EXPECT_TRUE(run({"dedup", "-q", "-p", kExact}, bytes).out == wanted);
    EXPECT_TRUE(run({"dedup", "-q", "-p", kExact}, {}, {.in = name}).out == wanted);
    EXPECT_TRUE(run({"dedup", "-q", "-p", kExact}, bytes + bytes).out == wanted);
  }
}

TEST_F(CompressedFiles, StandBesideTextInOneRun) {
  std::vector<std::string> all = {"dedup", "-q", file("text", "0\n1"), file("nothing", "")};
  std::string wanted = "0\n1\n";
  for (const Program& program : kPrograms) {
    all.push_back(packed(program.name, "a." + program.name, "1\nof " + program.name));
    all.push_back(packed(program.name, "b." + program.name, ""));
    wanted += "of " + program.name + "\n";
  }
  all.push_back(file("text2", "0\n2"));
  EXPECT_EQ(run(all).out, wanted + "2\n");
}

TEST_F(CompressedFiles, EveryVerbThatReadsLinesReadsThem) {
  const std::string filter = path("f.bloom"), some = packed("gzip", "some.gz", "a\nb\nc\n");
  ASSERT_EQ(run({"create", "-q", filter, "--kind", "counting", "-n", "1K", "-p", "1e-6"}).code, 0);
  ASSERT_EQ(run({"add", "-q", filter, some}).code, 0);
  EXPECT_EQ(run({"check", "-q", "-c", filter, packed("xz", "c.xz", "a\nb\nz\n")}).out, "2\n");
  ASSERT_EQ(run({"remove", "-q", filter, packed("zstd", "b.zst", "b\n")}).code, 0);
  EXPECT_EQ(run({"check", "-q", "-c", filter, some}).out, "2\n");
  ASSERT_EQ(run({"rebuild", "-q", filter, packed("bzip2", "d.bz2", "d\n")}).code, 0);
  EXPECT_EQ(run({"check", "-q", "-c", filter}, "a\nb\nc\nd\n").out, "1\n");
}

TEST_F(CompressedFiles, ComeByteByByteAndLineByLine) {
  for (const Program& program : kPrograms) {
    SCOPED_TRACE(program.name);
    Running tool({"dedup", "-q"});
    for (const char byte : text_of(packed(program.name, "p", "a\nb\na\n"))) {
      tool.write(std::string(1, byte));
      tool.wait_until_read();
    }
    EXPECT_EQ(tool.finish().out, "a\nb\n");
  }
  // Text is answered at once though it begins as a format might.
  Running tool({"dedup", "-q"});
  tool.write("B");
  tool.wait_until_read();
  tool.write("\n");
  EXPECT_EQ(tool.read(2), "B\n");
  tool.write("BZh9");
  tool.wait_until_read();
  EXPECT_EQ(tool.finish().out, "BZh9\n");
}

// What is in a block of a format can be read while the rest is still to come.
TEST_F(CompressedFiles, AnswerWhatHasCome) {
  const std::string part = text_of(packed("gzip", "part", "a\n"));
  Running tool({"dedup", "-q"});
  tool.write(part);
  EXPECT_EQ(tool.read(2), "a\n");
  tool.write(text_of(packed("gzip", "part", "a\nb\n")));
  EXPECT_EQ(tool.read(2), "b\n");
  EXPECT_EQ(tool.finish().code, 0);
}

TEST_F(CompressedFiles, RawTakesThemForText) {
  const std::string bytes = text_of(packed("gzip", "x.gz", "a\n"));
  EXPECT_EQ(run({"dedup", "-q", "--raw"}, bytes + "\n").out, bytes + "\n");
  // printf 'BZh91AY&SY' is text, and the one that must be said to be.
  EXPECT_EQ(run({"dedup", "-q", "--raw"}, "BZh91AY&SY\n").out, "BZh91AY&SY\n");
  EXPECT_TRUE(is_error(run({"dedup", "-q"}, "BZh91AY&SY\n"), {"bzip2 data", "--raw", "byte"}) ||
              is_error(run({"dedup", "-q"}, "BZh91AY&SY\n"), {"ends too early, at byte 11"}));
}

TEST_F(CompressedFiles, DamageIsAnErrorAndTheWholeLinesBeforeItCount) {
  // A run without it draws its seed, and one in ten drops a line.
  const Arguments dedup = {"dedup", "-q", "--seed", "1"};
  const std::string text = numbers(0, 200'000);
  for (const Program& program : kPrograms) {
    SCOPED_TRACE(program.name);
    const std::string bytes = text_of(packed(program.name, "p", text));
    const std::string cut = file("cut", bytes.substr(0, bytes.size() * 3 / 4));
    const auto ran = run({"dedup", "-q", "--seed", "1", cut, file("next", "next\n")});
    EXPECT_EQ(ran.code, 2);
    EXPECT_TRUE(says(ran.err, "cut: the " + program.name + " data ends too early, at byte " +
                                  std::to_string(bytes.size() * 3 / 4)));
    EXPECT_TRUE(text.starts_with(ran.out));
    EXPECT_TRUE(ran.out.empty() || ran.out.ends_with("\n"));
    EXPECT_EQ(ran.out.empty(), program.name == "bzip2");  // whose one block is not whole
    // The same lines from a pipe.
    EXPECT_TRUE(run(dedup, text_of(cut)).out == ran.out);
    const auto garbage = run(dedup, bytes + "garbage of some length");
    EXPECT_EQ(garbage.code, 2);
    EXPECT_TRUE(garbage.out == text);
    EXPECT_TRUE(says(garbage.err, "standard input: damaged " + program.name));
  }
}

TEST_F(CompressedFiles, ABombTakesNoMemory) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer itself takes the address space";
  // 50 MiB of empty lines in 50 KB. A filter for so many lines that differ would take 190 MiB.
  const std::string bomb = packed("gzip", "bomb", std::string(std::size_t{50} << 20, '\n'));
  const auto ran = run({"dedup", "-j", "1", bomb}, {}, {.memory = std::size_t{192} << 20});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "\n");
}

// The bytes that it has read already would expand for long.
TEST_F(CompressedFiles, ABombStopsAtASignal) {
  constexpr int kFrames = 64;
  const std::string frame =
      text_of(packed("zstd", "frame", std::string(std::size_t{64} << 20, '\n')));
  std::string bomb;
  for (int i = 0; i < kFrames; ++i) bomb += frame;
  ASSERT_LT(bomb.size(), std::size_t{256} << 10);
  Running tool({"dedup", "-j", "1", file("bomb", bomb)});
  EXPECT_EQ(tool.read(1), "\n");
  tool.signal(SIGTERM);
  const auto ran = tool.finish();
  EXPECT_EQ(ran.code, 128 + SIGTERM);
  // Of the 4,294,967,296 lines, not all have come.
  EXPECT_FALSE(says(ran.err, "4,294,967,296"));
}

TEST_F(CompressedFiles, ALineOfABombHasALimit) {
  if (!nightly()) GTEST_SKIP() << "takes 2 GB of memory; part of the nightly tests";
  const std::string command = "head -c 1100000000 /dev/zero | gzip -1 >'" + path("bomb") + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_TRUE(is_error(run({"dedup", path("bomb")}),
                       {path("bomb"), "longer than 1.0 GiB", "the most in a compressed input"}));
}

TEST_F(CompressedFiles, OutputIsCompressed) {
  const std::string text = random_lines(20'000);
  const std::string wanted = run({"dedup", "-q", "-p", kExact}, text).out;
  const std::string filter = path("f.bloom");
  ASSERT_EQ(run({"create", "-q", filter, "-n", "1K", "-p", "1e-6"}).code, 0);
  ASSERT_EQ(run({"add", "-q", filter}, "a\nb\n").code, 0);
  for (const Program& program : kPrograms) {
    SCOPED_TRACE(program.name);
    const auto ran = run({"dedup", "-q", "-p", kExact, "-Z", program.name}, text);
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(ran.out.starts_with(program.magic));
    EXPECT_TRUE(unpacked(program.name, ran.out) == wanted);
    EXPECT_TRUE(run({"dedup", "-q", "-p", kExact}, ran.out).out == wanted);
    EXPECT_EQ(unpacked(program.name, run({"check", "--compress", program.name, filter}).out), "")
        << "no line, and a whole file of none";
  }
  const auto checked = run({"check", "-v", "-Z", "gzip", filter}, "a\nc\n");
  EXPECT_EQ(unpacked("gzip", checked.out), "c\n");
}

// A line that the filter remembers is in a part of the output that is whole.
TEST_F(CompressedFiles, RememberedLinesAreInWholeParts) {
  Running tool({"dedup", "-q", "-Z", "gzip", "--filter", path("f.bloom"), "-n", "1K", "-p", "1e-6"},
               {.out = path("out")});
  tool.write("a\nb\n");
  while (run({"check", "-q", "-c", path("f.bloom")}, "a\nb\n").out != "2\n") {
  }
  EXPECT_EQ(unpacked("gzip", text_of(path("out"))), "a\nb\n");
  tool.signal(SIGKILL);
  tool.finish();
  ASSERT_EQ(run({"dedup", "-q", "-Z", "gzip", "--filter", path("f.bloom")}, "a\nc\n",
                {.out = path("out")})
                .code,
            0);
  EXPECT_EQ(unpacked("gzip", text_of(path("out"))), "a\nb\nc\n");
}

TEST_F(CompressedFiles, ASignalLeavesWholeOutput) {
  Running tool({"dedup", "-q", "-Z", "zstd"}, {.out = path("out")});
  tool.write("a\nb\n");
  tool.wait_until_read();
  tool.signal(SIGTERM);
  EXPECT_EQ(tool.finish(false).code, 128 + SIGTERM);
  EXPECT_TRUE(std::string("a\nb\n").starts_with(unpacked("zstd", text_of(path("out")))));
}

TEST_F(CompressedFiles, CompressGoesWithLines) {
  EXPECT_TRUE(is_error(run({"dedup", "-c", "-Z", "gzip"}), {"-Z", "-c"}));
  EXPECT_TRUE(is_error(run({"dedup", "-Z", "lz4"}), {"lz4", "gzip, zstd, xz, bzip2"}));
  EXPECT_TRUE(is_error(run({"check", "-q", "-c", "-Z", "xz", path("f")}), {"-Z", "-c"}));
}

}  // namespace
}  // namespace bloomery::test
