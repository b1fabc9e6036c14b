// `--batch`: a run that was killed is repeated, and each line counts once.
#include <bloomery/encode.hpp>
#include <bloomery/filter_file.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/effort.hpp"
#include "support/random.hpp"
#include "tool.hpp"

namespace bloomery {
namespace {

using nlohmann::json;
using test::is_error;
using test::numbers;
using test::Ran;
using test::run;
using test::Running;

class Batch : public test::ToolTest {
 protected:
  [[nodiscard]] std::string made(const std::string& name) const {
    EXPECT_EQ(run({"create", path(name), "--kind", "counting", "-n", "1M", "-p", "1e-4"}).code, 0);
    return path(name);
  }
  [[nodiscard]] static std::vector<std::byte> counters(const std::string& filter) {
    return encode(FilterFile::open(filter).counting());
  }
  [[nodiscard]] static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = text.find('\n', from);
      lines.push_back(text.substr(from, end - from));
      from = end + 1;
    }
    return lines;
  }
};

// An exact multiset beside it: every line twice, and some of them three times; then each removed once.
TEST_F(Batch, CountsEachLineOnceHoweverOftenItIsKilled) {
  const std::string twice = file("twice", numbers(0, 600'000) + numbers(0, 600'000));
  const std::string once = file("once", numbers(0, 600'000));
  const std::string expected = made("expected");
  ASSERT_EQ(run({"add", "-q", expected, twice}).code, 0);
  ASSERT_EQ(run({"remove", "-q", expected, once}).code, 0);
  const std::string filled = made("filled");
  ASSERT_EQ(run({"add", "-q", filled, twice}).code, 0);

  test::Random random(1);
  int resumed = 0;
  for (int round = 0; round < (test::nightly() ? 200 : 5); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::string f = path("f");
    std::filesystem::copy_file(filled, f, std::filesystem::copy_options::overwrite_existing);
    const std::string durability = round % 2 == 0 ? "sync" : "process";
    Ran ran;
    // Each time it has a little longer, so that it ends on a slow machine too.
    for (std::uint64_t most = 400; ran.code != 0 || ran.signal != 0; most += 200) {
      Running tool({"remove", "--batch", "monday", "--json", "--durability", durability, f, once});
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(most)));
      tool.signal(SIGKILL);
      ran = tool.finish();
    }
    const json last = json::parse(lines_of(ran.err).back());
    EXPECT_EQ(last["acknowledged"], 600'000);
    EXPECT_EQ(last["done_before"].get<int>() + last["removed"].get<int>(), 600'000);
    resumed += last["done_before"] > 0;
    ASSERT_EQ(counters(f), counters(expected));
  }
  // A few kills may all come before the first lines are safe.
  EXPECT_TRUE(resumed > 0 || !test::nightly());
}

TEST_F(Batch, SaysWhatIsSafe) {
  const std::string f = made("f");
  Running tool({"add", "--json", f});
  tool.write(numbers(0, 10));
  // A second later the lines that came are in the file.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  tool.write(numbers(10, 30));
  const Ran ran = tool.finish();
  EXPECT_EQ(ran.code, 0);
  const std::vector<std::string> lines = lines_of(ran.err);
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[0], R"({"acknowledged":10})");
  const json last = json::parse(lines.back());
  EXPECT_EQ(last["lines"], 30);
  EXPECT_EQ(last["acknowledged"], 30);
  EXPECT_EQ(last["new"], 30);
  EXPECT_EQ(last["filter"]["kind"], "counting");
  EXPECT_EQ(run({"add", "--json", "--durability", "none", f}, "x\n").err.find("{\"ack"),
            std::string::npos)
      << "nothing is safe before the end";
}

TEST_F(Batch, TakesTheSameLinesAgainAndNoOthers) {
  const std::string f = made("f");
  EXPECT_EQ(run({"add", "--batch", "a", f}, numbers(0, 10)).code, 0);
  const Ran again = run({"add", "--batch", "a", f}, numbers(0, 20));
  EXPECT_NE(again.err.find("10 done before in batch a"), std::string::npos) << again.err;
  EXPECT_EQ(run({"check", "-c", "-q", f}, numbers(0, 20)).out, "20\n");
  EXPECT_EQ(run({"remove", f}, numbers(0, 20)).code, 0);
  EXPECT_EQ(run({"check", "-c", "-q", f}, numbers(0, 20)).out, "0\n") << "each was there once";
  EXPECT_EQ(run({"add", "--batch", "b", f}, numbers(0, 10)).code, 0);
  EXPECT_TRUE(is_error(run({"add", "--batch", "b", f}, numbers(0, 5)), {f, "has 10 lines done"}));
  EXPECT_TRUE(is_error(run({"add", "--batch", "b", f}, numbers(1, 50)), {f, "first 10 keys"}));
  EXPECT_TRUE(is_error(run({"remove", "--batch", "b", f}, numbers(0, 50)), {f, "first 10 keys"}));
  EXPECT_TRUE(is_error(run({"add", "--batch", "", f}, "x\n"), {"--batch"}));
}

}  // namespace
}  // namespace bloomery
