// A run that was killed is repeated: with `--batch` each line counts once, and without it no line is missing.
#include <bloomery/encode.hpp>
#include <bloomery/filter_file.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/effort.hpp"
#include "support/random.hpp"
#include "tool.hpp"

namespace bloomery::test {
namespace {

using nlohmann::json;

class Batch : public ToolTest {
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

  Random random(1);
  int resumed = 0;
  for (int round = 0; round < (nightly() ? 200 : 5); ++round) {
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
  EXPECT_TRUE(resumed > 0 || !nightly());
}

// Of kinds to which lines are only added: what comes out is the filter of one run. Plain filters need no batch for
// that; the others without one have every line, and perhaps some of them twice.
class KilledAdd : public Batch, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, KilledAdd, testing::Values("plain", "scalable", "window"),
                         [](const auto& param) { return param.param; });

TEST_P(KilledAdd, IsWholeWhenItIsRepeated) {
  constexpr int kLines = 600'000;
  const std::string kind = GetParam(), lines = file("lines", numbers(0, kLines));
  const std::string empty = path("empty"), expected = path("expected"), f = path("f");
  ASSERT_EQ(run({"create", empty, "--kind", kind, kind == "window" ? "--window" : "-n",
                 kind == "scalable" ? "20K" : "1M", "-p", "1e-6"})
                .code,
            0);
  const auto copy = [&](const std::string& to) {
    std::filesystem::copy_file(empty, to, std::filesystem::copy_options::overwrite_existing);
  };
  const auto bits = [&](const std::string& filter) {
    const FilterFile file = FilterFile::open(filter);
    if (kind == "scalable") return encode(file.scalable());
    if (kind == "window") return encode(file.window());
    const auto bytes = file.view().bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  copy(expected);
  ASSERT_EQ(run({"add", "-q", expected, lines}).code, 0);

  Random random(2);
  const std::string text = text_of(lines);
  int found_some = 0;
  for (int round = 0; round < (nightly() ? 100 : hurried() ? 2 : 4); ++round) {
    const std::string durability = round % 2 == 0 ? "sync" : "process";
    const bool in_batch = kind != "plain" && (round + round / 2) % 2 == 0;
    SCOPED_TRACE("round " + std::to_string(round) + ", " + durability +
                 (in_batch ? ", in a batch" : ""));
    copy(f);
    Arguments words = {"add", "--json", "--durability", durability, f};
    if (in_batch) words.insert(words.begin() + 1, {"--batch", "monday"});
    // Mostly killed after a quarter of a million lines, the first that are put into the filter.
    for (int kill = 0; kill < 3; ++kill) {
      Running tool(words);
      tool.write(text.substr(0, text.size() / 2 + random.below(text.size() / 2)));
      tool.wait_until_read();
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(150)));
      tool.signal(SIGKILL);
      const Ran killed = tool.finish();
      ASSERT_EQ(killed.signal, SIGKILL) << killed.err;
      // What it had said is safe is there.
      int safe = 0;
      for (const std::string& line : lines_of(killed.err))
        if (line.starts_with("{\"acknowledged\"")) safe = json::parse(line)["acknowledged"];
      ASSERT_EQ(run({"check", "-v", "-c", "-q", f}, numbers(0, safe)).out, "0\n");
      found_some += run({"check", "-q", f}, "0\n").code == 0;
    }
    words.push_back(lines);
    const Ran ran = run(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(json::parse(lines_of(ran.err).back())["acknowledged"], kLines);
    ASSERT_EQ(run({"check", "-v", "-c", "-q", f, lines}).out, "0\n");
    ASSERT_EQ(run({"verify", "-q", f}).code, 0);
    if (in_batch || kind == "plain") {
      ASSERT_TRUE(bits(f) == bits(expected));
    }
    if (in_batch) {
      const Ran again = run(words);
      ASSERT_EQ(again.code, 0) << again.err;
      EXPECT_EQ(json::parse(lines_of(again.err).back())["done_before"], kLines);
    }
  }
  EXPECT_TRUE(found_some > 0 || !nightly());
}

TEST_F(Batch, SaysWhatIsSafe) {
  const std::string f = made("f");
  Running tool({"add", "--json", f});
  tool.write(numbers(0, 10));
  tool.wait_until_read();
  // A second later the lines that came are in the file.
  std::this_thread::sleep_for(std::chrono::seconds(3));
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
  EXPECT_FALSE(says(run({"add", "--json", "--durability", "none", f}, "x\n").err, "{\"ack"))
      << "nothing is safe before the end";
}

TEST_F(Batch, TakesTheSameLinesAgainAndNoOthers) {
  const std::string f = made("f");
  const Ran first = run({"add", "--batch", "a", f}, numbers(0, 10));
  EXPECT_EQ(first.code, 0);
  EXPECT_FALSE(says(first.err, "done before"));
  const Ran again = run({"add", "--batch", "a", f}, numbers(0, 20));
  EXPECT_TRUE(says(again.err, "10 done before in batch a"));
  EXPECT_EQ(run({"check", "-c", "-q", f}, numbers(0, 20)).out, "20\n");
  EXPECT_EQ(run({"remove", f}, numbers(0, 20)).code, 0);
  EXPECT_EQ(run({"check", "-c", "-q", f}, numbers(0, 20)).out, "0\n") << "each was there once";
  EXPECT_EQ(run({"add", "--batch", "b", f}, numbers(0, 10)).code, 0);
  EXPECT_TRUE(is_error(run({"add", "--batch", "b", f}, numbers(0, 5)), {f, "has 10 lines done"}));
  EXPECT_TRUE(is_error(run({"add", "--batch", "b", f}, numbers(1, 50)), {f, "first 10 keys"}));
  EXPECT_TRUE(is_error(run({"remove", "--batch", "b", f}, numbers(0, 50)), {f, "first 10 keys"}));
  EXPECT_TRUE(is_error(run({"add", "--batch", "", f}, "x\n"), {"--batch"}));
}

// Whether the first lines are those of the batch is known at the last of them. Until then none is safe: other lines are
// not in the filter.
TEST_F(Batch, AcknowledgesNoLineBeforeItHasComparedThem) {
  const std::string f = made("f");
  EXPECT_EQ(run({"add", "--batch", "a", f}, numbers(0, 1'000)).code, 0);
  const auto begin = [&](std::uint64_t from) {
    auto tool = std::make_unique<Running>(Arguments{"add", "--json", "--batch", "a", f});
    tool->write(numbers(from, from + 500));
    // A second later lines would be acknowledged.
    std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
    return tool;
  };
  auto stopped = begin(5'000);
  stopped->signal(SIGINT);
  const Ran cut = stopped->finish();
  EXPECT_EQ(cut.code, 130) << cut.err;
  EXPECT_FALSE(cut.err.starts_with("{\"acknowledged\"")) << cut.err;
  EXPECT_EQ(json::parse(lines_of(cut.err).back())["acknowledged"], 0);

  auto others = begin(5'000);
  others->write(numbers(5'500, 6'500));
  const Ran refused = others->finish();
  EXPECT_TRUE(is_error(refused, {f, "first 1000 keys"}));
  EXPECT_FALSE(says(refused.err, "are added"));

  auto same = begin(0);
  same->write(numbers(500, 1'500));
  const Ran done = same->finish();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(json::parse(lines_of(done.err).back())["acknowledged"], 1'500);
}

}  // namespace
}  // namespace bloomery::test
