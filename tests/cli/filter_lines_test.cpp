// How the lines of `add` reach a filter file: as loads, each with about as many lines as are still expected.
#include "stream/filter_lines.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "store/scratch.hpp"
#include "tool.hpp"

namespace bloomery::cli {
namespace {

// Another name of a file shows what happened to it before it was replaced.
class LoadedLines : public test::ToolTest {
 protected:
  [[nodiscard]] std::string named_too(const std::string& filter, const std::string& name) const {
    std::filesystem::create_hard_link(filter, path(name));
    return path(name);
  }
};

// The first lines are more than the journal takes, so their load replaces the file. The few that are left fit.
TEST_F(LoadedLines, ThatAreLeftAfterAnAcknowledgementGoToTheJournal) {
  constexpr std::uint64_t kFirst = 5'000, kLeft = 100;
  const std::string name = path("f");
  AnyFilter filter =
      AnyFilter::create(name, {.kind = Kind::counting, .capacity = 10'000, .fpr = 0.01});
  ApplyLines lines(filter, AnyFilter::Operation::insert, "added", false, 0, kFirst + kLeft);
  const auto give = [&](std::uint64_t first, std::uint64_t count) {
    const std::unique_ptr<bool[]> answers(new bool[count]);
    lines.decide_lines({count, test::hashes_of(*filter.hasher(), first, count), {}},
                       std::span(answers.get(), count));
  };
  const std::string created = named_too(name, "created");
  give(0, kFirst);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // then they are acknowledged
  lines.after_block({});
  EXPECT_EQ(lines.acknowledged(), kFirst);
  EXPECT_FALSE(std::filesystem::equivalent(name, created));
  const std::string replaced = named_too(name, "replaced");
  give(kFirst, kLeft);
  lines.finish({});
  EXPECT_EQ(lines.acknowledged(), kFirst + kLeft);
  EXPECT_TRUE(std::filesystem::equivalent(name, replaced));
}

TEST_F(LoadedLines, ThatFillTheJournalWriteNoneIfTheirNumberIsKnown) {
  const std::string filter = path("f"), lines = file("lines", test::numbers(0, 5'000));
  for (const bool known : {true, false}) {
    ASSERT_EQ(
        test::run({"create", "-q", "--force", filter, "--kind", "counting", "-n", "1K", "-p", "1%"})
            .code,
        0);
    const std::string clean = text_of(filter);
    const std::string before = named_too(filter, known ? "known" : "unknown");
    const auto ran = known ? test::run({"add", "-q", filter, lines})
                           : test::run({"add", "-q", filter}, text_of(lines));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_FALSE(std::filesystem::equivalent(filter, before));
    EXPECT_EQ(text_of(before).starts_with(clean), known);
  }
}

}  // namespace
}  // namespace bloomery::cli
