// One line costs little of a large filter: what it needs of the file is read, and the statistics are sampled.
#include <gtest/gtest.h>
#include <bloomery/filter_file.hpp>

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/in_child.hpp"
#include "tool.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kLarge = std::uint64_t{512} << 20;
constexpr std::uint64_t kSmall = std::uint64_t{64} << 20;

struct LargeCase {
  std::string name;
  Arguments kind;                // words of create
  std::vector<Arguments> verbs;  // FILE stands for the filter
};
void PrintTo(const LargeCase& what, std::ostream* out) { *out << what.name; }

const std::vector<Arguments> kReading = {
    {"check", "FILE"}, {"check", "-q", "FILE"}, {"info", "FILE"}};
std::vector<LargeCase> large_cases() {
  std::vector<LargeCase> all = {
      {"plain", {"--bits", "512MiB", "-p", "1%"}, kReading},
      {"plain2", {"--bits", "512MiB", "-p", "1e-6", "--layout", "blocked2"}, kReading},
      {"standard", {"--bits", "512MiB", "-p", "1%", "--layout", "standard"}, kReading},
      {"counting", {"--kind", "counting", "-n", "110M", "-p", "1%"}, kReading},
      {"scalable", {"--kind", "scalable", "-n", "400M", "-p", "1%"}, kReading},
      {"window", {"--window", "300M", "-p", "1%"}, kReading},
      {"seconds", {"--window", "7d", "-n", "300M", "-p", "1%"}, kReading},
  };
  for (std::size_t plain = 0; plain < 3; ++plain)
    for (const std::string level : {"process", "sync"}) {
      all[plain].verbs.push_back({"add", "--durability", level, "FILE"});
      all[plain].verbs.push_back({"dedup", "--durability", level, "--filter", "FILE"});
    }
  for (LargeCase& one : all) one.verbs.push_back({"info", "--plot", "FILE"});
  return all;
}

class LargeFilter : public ToolTest, public testing::WithParamInterface<LargeCase> {};
INSTANTIATE_TEST_SUITE_P(, LargeFilter, testing::ValuesIn(large_cases()),
                         [](const auto& param) { return param.param.name; });

TEST_P(LargeFilter, IsNotReadForOneLine) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  const std::string filter = path("f");
  Arguments create = {"create", "-q", filter};
  create.insert(create.end(), GetParam().kind.begin(), GetParam().kind.end());
  const Ran made = run(create);
  if (made.err.find("No space left") != std::string::npos) GTEST_SKIP() << made.err;
  ASSERT_EQ(made.code, 0) << made.err;
  ASSERT_GE(std::filesystem::file_size(filter), kLarge);
  for (Arguments words : GetParam().verbs) {
    for (std::string& word : words)
      if (word == "FILE") word = filter;
    const bool reads_lines = words[0] != "info";
    const Ran ran = run(words, reads_lines ? "a line\n" : "");
    EXPECT_LE(ran.code, 1) << ran.err;
    // The system maps much around each of the 64 places that a plot looks at, but not all of the file.
    EXPECT_LT(ran.most_memory, words[1] == "--plot" ? kLarge : kSmall)
        << words[0] << " " << words[1];
  }
}

// Nor is the file of a window that must forget slices first, which a reader may not clear in it.
TEST_F(ToolTest, AWindowThatIsBehindIsNotCopiedForOneLine) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  const std::string filter = path("w");
  const Ran made = run({"create", "-q", filter, "--window", "80h", "-n", "100M", "-p", "1%"});
  ASSERT_EQ(made.code, 0) << made.err;
  ASSERT_GE(std::filesystem::file_size(filter), 3 * kSmall);
  // In another process, since the tool's memory counts that of the process which starts it.
  ASSERT_TRUE(in_child([&] {
    FilterFile file = FilterFile::open(filter, {.access = Access::write});
    std::vector<std::uint64_t> keys(400'000);  // in nearly every page
    std::iota(keys.begin(), keys.end(), 0);
    file.insert_many(keys);
    file.set_back(file.window().now() - std::uint64_t{15} * 3600);
    file.close();
    return true;
  }));
  for (const Arguments& words :
       {Arguments{"check", filter}, {"check", "-q", filter}, {"info", filter}}) {
    const Ran ran = run(words, "5\n");
    EXPECT_LE(ran.code, 1) << ran.err;
    EXPECT_LT(ran.most_memory, kSmall) << words[0] << " " << words[1];
  }
}

}  // namespace
}  // namespace bloomery::test
