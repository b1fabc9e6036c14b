// How the lines of `add` reach a filter file: as loads, each with about as many lines as are still expected.
#include "stream/filter_lines.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "store/scratch.hpp"

namespace bloomery::cli {
namespace {

ino_t inode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_ino;
}

// The first lines are more than the journal takes, so their load replaces the file. The few that are left fit.
TEST(ApplyLines, ThatAreLeftAfterAnAcknowledgementGoToTheJournal) {
  constexpr std::uint64_t kFirst = 5'000, kLeft = 100;
  const test::Scratch scratch;
  const std::string path = scratch / "f";
  AnyFilter filter =
      AnyFilter::create(path, {.kind = Kind::counting, .capacity = 10'000, .fpr = 0.01});
  ApplyLines lines(filter, AnyFilter::Operation::insert, "added", false, 0, kFirst + kLeft);
  const auto give = [&](std::uint64_t first, std::uint64_t count) {
    const std::unique_ptr<bool[]> answers(new bool[count]);
    lines.decide_lines({count, test::hashes_of(*filter.hasher(), first, count), {}},
                       std::span(answers.get(), count));
  };
  const ino_t created = inode_of(path);
  give(0, kFirst);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // then they are acknowledged
  lines.after_block({});
  EXPECT_EQ(lines.acknowledged(), kFirst);
  const ino_t replaced = inode_of(path);
  EXPECT_NE(replaced, created);
  give(kFirst, kLeft);
  lines.finish({});
  EXPECT_EQ(lines.acknowledged(), kFirst + kLeft);
  EXPECT_EQ(inode_of(path), replaced);
}

}  // namespace
}  // namespace bloomery::cli
