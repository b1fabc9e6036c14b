// Lines and their moving together, against the plainest code that does the same.
#include "input/block.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

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

}  // namespace
}  // namespace bloomery::cli
