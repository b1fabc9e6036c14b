// Numbers as people write them: the table that the planner page is tried with too, and seeds.
#include "flags/numbers.hpp"
#include "flags/parse.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

#include "support/expect_error.hpp"

namespace bloomery::cli {
namespace {

using nlohmann::json;

// tests/cli/numbers.json, which tests/web/numbers_test.mjs uses too.
json table_of(const std::string& what) {
  std::ifstream file(BLOOMERY_SOURCE_DIR "/tests/cli/numbers.json");
  return json::parse(file).at(what);
}

// 2^64 - 1 is no number of JavaScript, so it is a text.
std::uint64_t whole(const json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>()) : value.get<std::uint64_t>();
}

template <class Read, class Check>
void try_table(const std::string& what, Read read, Check check) {
  const json table = table_of(what);
  for (const json& row : table.at("read")) {
    SCOPED_TRACE(row.dump());
    const auto value = read(row[0].get<std::string>());
    ASSERT_TRUE(value.has_value());
    check(*value, row[1]);
  }
  for (const json& text : table.at("refused"))
    EXPECT_FALSE(read(text.get<std::string>()).has_value()) << text;
}

TEST(Numbers, CountsAreExact) {
  try_table("counts", read_count,
            [](std::uint64_t count, const json& wanted) { EXPECT_EQ(count, whole(wanted)); });
}

TEST(Numbers, AmountsNeedNotBeWhole) {
  try_table("amounts", read_amount,
            [](double amount, const json& wanted) { EXPECT_EQ(amount, wanted.get<double>()); });
}

TEST(Numbers, FprsAreSharesPercentsAndFractions) {
  try_table("fprs", read_fpr,
            [](double fpr, const json& wanted) { EXPECT_EQ(fpr, wanted.get<double>()); });
}

TEST(Numbers, SizesAreBitsOrBytesOrForEachKey) {
  try_table("sizes", read_size, [](const Size& size, const json& wanted) {
    EXPECT_EQ(size.bits, wanted.value("bits", std::uint64_t{0}));
    EXPECT_EQ(size.bits_per_key, wanted.value("bits_per_key", 0.0));
  });
  EXPECT_EQ((Size{512, 0}).bits_for(1000), 512U);
  EXPECT_EQ((Size{0, 9.6}).bits_for(1000), 9600U);
  EXPECT_GT((Size{0, 1e300}).bits_for(1000), kMaxBits);
}

TEST(Numbers, WindowsAreTimesOrInsertions) {
  try_table("windows", read_window, [](const Window& window, const json& wanted) {
    const auto unit = std::string(to_string(window.unit));
    ASSERT_TRUE(wanted.contains(unit));
    EXPECT_EQ(window.length, wanted[unit].get<std::uint64_t>());
  });
}

// ---- as values of flags -------------------------------------------------------------------------

Seed seed_of(const std::string& text) {
  return *parse_options({"create", "f", "--seed=" + text}).seed;
}

TEST(Numbers, SeedsAreNumbersOrHexadecimal) {
  EXPECT_EQ(seed_of("0"), (Seed{0, 0}));
  EXPECT_EQ(seed_of("18446744073709551615"), (Seed{~std::uint64_t{0}, 0}));
  EXPECT_EQ(seed_of("0xff"), (Seed{255, 0}));
  EXPECT_EQ(seed_of("0x1fedcba9876543210"), (Seed{0xfedcba9876543210, 1}));
  EXPECT_EQ(seed_of("0xffffffffffffffffffffffffffffffff"),
            (Seed{~std::uint64_t{0}, ~std::uint64_t{0}}));
  for (const std::string text :
       {"0x", "-1", "0xg", "12a", "18446744073709551616", "0x-1",
        "0x100000000000000000000000000000000", "0x000000000000000000000000000000000"})
    EXPECT_THROW((void)seed_of(text), Error) << text;
}

std::string refusal(const std::vector<std::string>& arguments) {
  return test::error_of([&] { (void)parse_options(arguments); }, ErrorCode::invalid_argument);
}

TEST(Numbers, AnErrorQuotesTheTextAndSaysWhatTheFlagTakes) {
  EXPECT_EQ(refusal({"plan", "-n", "many"}),
            "-n 'many' is not a count: give a whole number below 2^64, such as 100M, 1.5G, 1e6 or "
            "1,000,000");
  EXPECT_NE(refusal({"plan", "--bits", "big"}).find("--bits 'big' is not a size"),
            std::string::npos);
  EXPECT_NE(refusal({"plan", "-n", std::string(1000, '1')}).find("111...'"), std::string::npos);
}

TEST(Numbers, BitsPerKeyTakeTheNumberOfKeys) {
  EXPECT_EQ(parse_options({"plan", "--bits", "16 bits/key", "-n", "1M"}).spec.bits, 16'000'000U);
  EXPECT_EQ(parse_options({"plan", "--bits", "16/key", "--bits", "8G"}).spec.bits, 8'000'000'000U);
  EXPECT_NE(refusal({"plan", "--bits", "16/key", "-p", "1%"}).find("goes with -n"),
            std::string::npos);
}

}  // namespace
}  // namespace bloomery::cli
