// What --plot draws, by its parts and through the real binary.
#include "tool.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "output/plots.hpp"

namespace bloomery::test {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++found;
  return found;
}

std::string whole(double value) { return std::to_string(static_cast<int>(value)); }

TEST(Chart, ColumnsAreAsHighAsTheirValuesToAnEighth) {
  EXPECT_EQ(cli::column_chart(std::vector<double>{0, 4, 8, 12, 99, 0.001}, 16, 2, 3, whole),
            "        16 ┤   ▄█\n"
            "           │ ▄███▁\n"
            "           └──┴──┴\n");
  EXPECT_EQ(cli::strip_chart(std::vector<double>{1, 0, 0.5, 0.125, 0}, 1), "█ ▄▁");
  EXPECT_EQ(cli::strip_chart(std::vector<double>{0, 0}, 1), "");
  EXPECT_EQ(cli::strip_chart(std::vector<double>{1, 2}, 0), "") << "nothing has a height";
}

class Plot : public ToolTest {};

TEST_F(Plot, PlanDrawsTheLayoutThatItTakes) {
  const auto ran = run({"plan", "-n", "1M", "-p", "1%", "--plot"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(says(ran.out, "\nblocked * "));
  EXPECT_TRUE(says(ran.out, "rate of blocked as it fills"));
  EXPECT_TRUE(says(ran.out, "1x: 1,000,000 keys"));
  EXPECT_TRUE(says(run({"plan", "-n", "1M", "-p", "1%", "--layout", "blocked2", "--plot"}).out,
                   "rate of blocked2 as it fills"));
  EXPECT_TRUE(
      says(run({"plan", "-n", "1M", "-p", "1e-6", "--plot"}).out, "rate of blocked2 as it fills"));
  EXPECT_TRUE(says(run({"plan", "--kind", "scalable", "-n", "1M", "-p", "1%", "--plot"}).out,
                   "rate of a scalable filter (blocked) as it grows"));
  EXPECT_TRUE(says(run({"plan", "--window", "7d", "-n", "1M", "-p", "1%", "--plot"}).out,
                   "rate of a window filter (blocked) as it fills"));
  // Five hashes are none for blocked2: the first layout that has a plan.
  EXPECT_TRUE(says(run({"plan", "-n", "1M", "--hashes", "5", "--plot"}).out, "rate of blocked"));
}

TEST_F(Plot, InfoDrawsWhereTheOnesAreOfEveryKind) {
  for (const std::string kind : {"plain", "counting", "scalable", "window"}) {
    std::vector<std::string> create{"create", path(kind), "--kind", kind, "-n", "2000", "-p", "1%"};
    if (kind == "window") create.insert(create.end(), {"--window", "7d"});
    ASSERT_EQ(run(create).code, 0);
    std::string lines;
    for (int i = 0; i < 4000; ++i) lines += std::to_string(i) + "\n";
    ASSERT_EQ(run({"add", path(kind), file("lines", lines)}).code, 0);
    const auto ran = run({"info", path(kind), "--plot"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(says(ran.out, "estimated items"));
    const std::string what = kind == "counting" ? "counters that are not zero" : "ones";
    EXPECT_TRUE(says(ran.out, "Share of " + what + " in "));
    EXPECT_EQ(count(ran.out, "100.0 %"), kind == "scalable" ? 0U : 1U);
    EXPECT_EQ(count(ran.out, " │"), kind == "scalable" ? 2U : 4U) << ran.out;
  }
  const std::string php = "--scheme=php-hashes=BKDR,ELF,DEK";
  ASSERT_EQ(run({"create", php, path("php")}).code, 0);
  ASSERT_EQ(run({"add", php, path("php")}, "a\nb\n").code, 0);
  EXPECT_TRUE(says(run({"info", php, path("php"), "--plot"}).out,
                   "Share of ones in 64 parts of the filter"));
  ASSERT_EQ(run({"create", path("frozen"), "--kind", "frozen", "-p", "1%"}, "a\nb\n").code, 0);
  EXPECT_TRUE(is_error(run({"info", path("frozen"), "--plot"}), {"leave it out"}));
  // Empty: nothing but the axes.
  ASSERT_EQ(run({"create", path("empty"), "-n", "2000", "-p", "1%"}).code, 0);
  EXPECT_EQ(count(run({"info", path("empty"), "--plot"}).out, "▁"), 0U);
}

// The mean height of the columns is the share of counters in use, whichever bit of a counter is set; with 64
// columns of 8 lines, rounded to an eighth of one, it is off by less than 1/128.
TEST_F(Plot, InfoDrawsCountersOfEveryWidthAndValue) {
  std::string lines;
  for (int i = 0; i < 1500; ++i) lines += std::to_string(i) + "\n";
  for (const unsigned bits : {4U, 8U}) {
    const std::string name = path(std::to_string(bits));
    ASSERT_EQ(run({"create", name, "--kind", "counting", "--counter-bits", std::to_string(bits),
                   "-n", "2000", "-p", "1%"})
                  .code,
              0);
    std::string first;
    // 1, 2, 4 times and so on, up to the highest bit alone.
    for (unsigned times = 0; times < 1U << (bits - 1); times = times == 0 ? 1 : 2 * times) {
      std::string more;
      for (unsigned i = 0; i < std::max(1U, times); ++i) more += lines;
      ASSERT_EQ(run({"add", "-q", name}, more).code, 0);
      const std::string out = run({"info", name, "--plot"}).out;
      const std::string drawn = out.substr(out.find("Share of counters"));
      if (first.empty()) first = drawn;
      EXPECT_EQ(drawn, first) << bits << " bits, " << 2 * times << " times";
    }
    constexpr std::string_view kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::size_t eighths = 0;
    for (std::size_t i = 0; i < 8; ++i) eighths += (i + 1) * count(first, kBlocks[i]);
    const std::string printed = run({"info", name, "--json"}).out;
    const double fill = std::stod(printed.substr(printed.find("\"fill\": ") + 8));
    EXPECT_NEAR(static_cast<double>(eighths) / (64 * 8 * 8), fill, 1.0 / 128) << first;
  }
}

TEST_F(Plot, GoesNotWithJson) {
  EXPECT_TRUE(
      is_error(run({"plan", "-n", "1", "-p", "1%", "--plot", "--json"}), {"leave out --json"}));
  EXPECT_TRUE(is_error(run({"plan", "--table", "--plot"}), {"leave out --table"}));
}

TEST(Table, SaysWhoseRatesItHas) {
  EXPECT_TRUE(says(cli::table_text(std::nullopt), "rates, the textbook's formula: "));
  EXPECT_TRUE(says(cli::table_text(Layout::blocked2), "rates, layout blocked2: "));
}

}  // namespace
}  // namespace bloomery::test
