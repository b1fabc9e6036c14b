// How many ranges of a filter's bits are counted, where they are, and the mean and the error that come of them.
#include "redis/strings/ones_sample.hpp"

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bloomery::detail {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// "*4\r\n$8\r\nBITCOUNT\r\n$1\r\nk\r\n$2\r\n96\r\n..." as words.
std::vector<std::string> words_of(const Commands& commands) {
  std::vector<std::string> words;
  std::istringstream in{std::string(commands.bytes())};
  for (std::string line; std::getline(in, line);)
    if (line[0] != '*' && line[0] != '$') words.push_back(line.substr(0, line.size() - 1));
  return words;
}

void take(OnesSample& sample, long long ones) {
  redisReply reply{};
  reply.type = REDIS_REPLY_INTEGER;
  reply.integer = ones;
  sample.take(reply, "k");
}

TEST(OnesSample, CountsAllBitsUpToFourMiB) {
  for (const std::uint64_t strings : {std::uint64_t{1}, std::uint64_t{4}}) {
    OnesSample sample(4 * kMiB / strings, strings);
    EXPECT_EQ(sample.ranges(), 1U);
    Commands commands;
    sample.ask(0, "k", 96, commands);
    EXPECT_EQ(words_of(commands),
              (std::vector<std::string>{"BITCOUNT", "k", "96",
                                        std::to_string(96 + 4 * kMiB / strings - 1)}));
    take(sample, static_cast<long long>(kMiB / strings));
    const Share share = sample.share();
    EXPECT_EQ(share.ones, 1.0 / 32);
    EXPECT_EQ(share.error, 0);
    EXPECT_FALSE(share.sampled);
  }
}

// One range of 4 KiB in each stratum; the strata have equal lengths, and are 1,024 or few more.
TEST(OnesSample, CountsARangeOfEachStratumOfMore) {
  struct Row {
    std::uint64_t bytes, strings, ranges;
  };
  for (const Row& row : {Row{4 * kMiB + 1, 1, 1024},
                         {2 * kMiB + 1, 2, 512},
                         {512 * kMiB, 1, 1024},
                         {5 * kMiB, 3, 342},
                         {kMiB, 1023, 2},
                         {kMiB, 1024, 1},
                         {kMiB, 5000, 1},
                         {1000, 5000, 1}}) {
    SCOPED_TRACE(std::to_string(row.strings) + " of " + std::to_string(row.bytes));
    OnesSample sample(row.bytes, row.strings);
    ASSERT_EQ(sample.ranges(), row.ranges);
    const std::uint64_t stratum = row.bytes / row.ranges;
    const std::uint64_t range = std::min<std::uint64_t>(4096, stratum);
    std::set<std::uint64_t> places;
    for (std::uint64_t i = 0; i < row.ranges; ++i) {
      Commands commands;
      sample.ask(i, "k", 96, commands);
      const auto words = words_of(commands);
      ASSERT_EQ(words.size(), 4U);
      const std::uint64_t from = std::stoull(words[2]), to = std::stoull(words[3]);
      EXPECT_EQ(to - from + 1, range);
      EXPECT_GE(from, 96 + i * stratum);
      EXPECT_LT(to, 96 + (i + 1) * stratum);
      places.insert(from - 96 - i * stratum);
    }
    // At places that no pattern of the bits has.
    if (stratum > 100 * range) {
      EXPECT_GT(places.size(), row.ranges * 9 / 10);
    }
  }
}

TEST(OnesSample, HasTheErrorOfItsRanges) {
  OnesSample sample(512 * kMiB);
  for (int i = 0; i < 1024; ++i) take(sample, i % 2 == 0 ? 4096 * 2 : 4096 * 4);
  const Share share = sample.share();
  EXPECT_TRUE(share.sampled);
  EXPECT_DOUBLE_EQ(share.ones, 3.0 / 8);
  // The ranges are an eighth above or below; each is 1/128 of its stratum.
  EXPECT_DOUBLE_EQ(share.error, std::sqrt(1.0 / 64 / 1023 * (1 - 1.0 / 128)));
}

}  // namespace
}  // namespace bloomery::detail
