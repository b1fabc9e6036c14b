// Lines and their moving together, against the plainest code that does the same.
#include "input/block.hpp"

#include "input/reader.hpp"
#include "store/scratch.hpp"
#include "support/effort.hpp"
#include "support/used_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace bloomery::cli {
namespace {

std::vector<std::size_t> plain_ends(const std::string& text, char end) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == end) ends.push_back(i + 1);
  return ends;
}

TEST(Lines, EndsAreFoundAtEveryPlace) {
  std::mt19937_64 random(1);
  std::vector<std::size_t> ends{99};  // what was there before is gone
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 300, 'x');
    const std::size_t every = 1 + random() % 100;
    for (char& c : text) c = random() % every == 0 ? '\n' : static_cast<char>(random());
    find_ends(text, '\n', ends);
    ASSERT_EQ(ends, plain_ends(text, '\n'));
    find_ends(text, '\0', ends);
    ASSERT_EQ(ends, plain_ends(text, '\0'));
  }
}

TEST(Lines, KeptLinesStandTogether) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 500; ++round) {
    std::string text, kept;
    std::vector<std::size_t> ends;
    const std::size_t lines = random() % 40;
    const auto answers = std::make_unique<bool[]>(lines);
    const bool wanted = random() % 2 == 0;
    for (std::size_t i = 0; i < lines; ++i) {
      const std::string line = std::string(random() % 9, static_cast<char>('a' + i % 26)) + "\n";
      answers[i] = random() % 3 == 0;
      if (answers[i] == wanted) kept += line;
      text += line;
      ends.push_back(text.size());
    }
    const std::size_t bytes = keep_lines(text.data(), 0, ends, {answers.get(), lines}, wanted);
    ASSERT_EQ(text.substr(0, bytes), kept);
  }
}

TEST(Lines, ABlockHasTheRoomThatIsAskedFor) {
  Block block(100);
  block.size = 60;
  block.reserve(40);
  EXPECT_EQ(block.capacity(), 100U);
  block.reserve(41);
  EXPECT_GE(block.capacity(), 101U);
  std::fill_n(block.data(), block.size, 'x');
  block.reserve(100'000);  // much more than a half again
  EXPECT_GE(block.capacity(), 100'060U);
  EXPECT_EQ(std::string(block.data(), block.size), std::string(60, 'x'));
  EXPECT_THROW(block.reserve(std::numeric_limits<std::size_t>::max() - 50), std::bad_alloc);
  EXPECT_THROW(block.reserve(std::numeric_limits<std::size_t>::max() / 5), std::bad_alloc);
  block.reset();
  EXPECT_EQ(block.size, 0U);
  EXPECT_GE(block.capacity(), 100'060U) << "it is not much larger than usual";
  block.reserve(5 * Block::kUsualBytes);
  block.reset();
  EXPECT_EQ(block.capacity(), Block::kUsualBytes);
}

TEST(Lines, WhatKeepsThemFromBeingFoundIsThrown) {
  if (test::kSanitized) GTEST_SKIP() << "the sanitizer itself takes the address space";
  Block block(std::size_t{16} << 20);
  block.size = block.capacity();
  std::fill_n(block.data(), block.size, '\n');  // eight bytes for the end of each
  for (const unsigned threads : {1U, 2U}) {
    FoundLinesQueue full(threads, '\n', {}, {std::nullopt, true});
    full.push(&block);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
    const rlimit few{test::used_memory().reserved + (rlim_t{64} << 20), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &few), 0);
    bool idle = false;
    EXPECT_THROW((void)full.next_for(std::chrono::minutes(1), idle), std::bad_alloc);
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  }
}

// What a reader and its caller pass to each other.
struct TwoBlocks {
  TwoBlocks() {
    free.push(&first);
    free.push(&second);
  }
  Interrupt interrupt;
  Block first, second;
  BlockQueue free;
  FoundLinesQueue full{1, '\n', {}, {std::nullopt, true}};
};

// A reader whose lines nobody takes waits for a block, and ends when there will be none.
TEST(Lines, AReaderThatWaitsForABlockEndsWithTheQueue) {
  const test::Scratch scratch;
  const std::string path = scratch / "lines";
  std::ofstream(path) << std::string(4 * Block::kUsualBytes, '\n');
  TwoBlocks with;
  const std::vector<Input> inputs{{path, std::nullopt}};
  std::optional<Reader> reader(std::in_place, inputs, ReadRule{}, with.interrupt, with.free,
                               with.full);
  bool idle = true;
  const FoundLines* const found = with.full.next_for(std::chrono::minutes(1), idle);
  ASSERT_EQ(found != nullptr && !idle ? found->block : nullptr, &with.first);
  EXPECT_EQ(found->ends.size(), with.first.size);
  with.free.close();
  reader.reset();
  EXPECT_EQ(with.full.next_for(std::chrono::minutes(1), idle), nullptr);
}

// The progress counts them. A line that a block has no room for goes to the next one, but was read for the one before.
TEST(Lines, EachByteOfTheInputIsReadForOneBlock) {
  const test::Scratch scratch;
  const std::string path = scratch / "lines";
  const std::string line = std::string(999, 'x') + '\n';
  constexpr std::size_t kLines = 5 * Block::kUsualBytes / 1000;
  std::ofstream out(path);
  for (std::size_t i = 0; i < kLines; ++i) out << line;
  out.close();
  TwoBlocks with;
  const std::vector<Input> inputs{{path, std::nullopt}};
  Reader reader(inputs, ReadRule{}, with.interrupt, with.free, with.full);
  bool timed_out = false;
  std::uint64_t blocks = 0, lines = 0, bytes = 0;
  while (const FoundLines* const found = with.full.next_for(std::chrono::minutes(1), timed_out)) {
    ++blocks;
    lines += found->ends.size();
    bytes += found->block->bytes_read;
    with.free.push(found->block);
  }
  EXPECT_GT(blocks, 2U) << "a block comes again";
  EXPECT_EQ(lines, kLines);
  EXPECT_EQ(bytes, kLines * line.size());
}

}  // namespace
}  // namespace bloomery::cli
