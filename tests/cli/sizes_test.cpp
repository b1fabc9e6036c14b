// Counts, sizes, rates and seeds as people write them, and what is refused.
#include "sizes.hpp"
#include "options.hpp"

#include <gtest/gtest.h>
#include <bloomery/error.hpp>

#include <cmath>
#include <string>

namespace bloomery::cli {
namespace {

TEST(Sizes, CountsAreDecimalAndExact) {
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_count("12345"), 12345u);
  EXPECT_EQ(parse_count("1K"), 1000u);
  EXPECT_EQ(parse_count("100M"), 100'000'000u);
  EXPECT_EQ(parse_count("1.5G"), 1'500'000'000u);
  EXPECT_EQ(parse_count("10T"), 10'000'000'000'000u);
  EXPECT_EQ(parse_count("1e6"), 1'000'000u);
  EXPECT_EQ(parse_count("2.5E+3k"), 2'500'000u);
  EXPECT_EQ(parse_count("1000e-3"), 1u);
  EXPECT_EQ(parse_count(".5k"), 500u);
  EXPECT_EQ(parse_count("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(parse_count("0e999"), 0u);
}

TEST(Sizes, WhatIsNoCountIsRefused) {
  for (const std::string text : {"",
                                 "K",
                                 "-1",
                                 "+1",
                                 " 1",
                                 "1 ",
                                 "1KB",
                                 "1KiB",
                                 "1.2.3",
                                 "0.5",
                                 "1e-1",
                                 "1.0001K",
                                 "1e",
                                 "1e+",
                                 "1e+-3",
                                 "1e--3",
                                 "1e99999999999",
                                 "18446744073709551616",
                                 "1e20",
                                 "19e18K",
                                 "0x10",
                                 "ten",
                                 "inf",
                                 "nan",
                                 ".",
                                 "1,000",
                                 "99999999999999999999999999999999999999999"})
    EXPECT_THROW((void)parse_count(text), Error) << text;
  EXPECT_THROW((void)parse_count(std::string("1\0", 2)), Error);
  EXPECT_THROW((void)parse_count(std::string(100'000, '1')), Error);
}

TEST(Sizes, SizesAreBitsOrBytes) {
  EXPECT_EQ(parse_bits("8G"), 8'000'000'000u);
  EXPECT_EQ(parse_bits("512"), 512u);
  EXPECT_EQ(parse_bits("64B"), 512u);
  EXPECT_EQ(parse_bits("1KiB"), 8192u);
  EXPECT_EQ(parse_bits("1.5MiB"), 1536u * 1024 * 8);
  EXPECT_EQ(parse_bits("128GiB"), std::uint64_t{1} << 40);
  for (const std::string text : {"", "1KB", "1iB", "1XiB", "GiB", "-1GiB", "1GiBs", "0.3KiB x",
                                 "99999999TiB", "1e30KiB", "0.001B"})
    EXPECT_THROW((void)parse_bits(text), Error) << text;
}

TEST(Sizes, WindowsAreTimesOrCounts) {
  const auto time = [](std::uint64_t seconds) { return Window{WindowUnit::seconds, seconds}; };
  EXPECT_EQ(parse_window("90s"), time(90));
  EXPECT_EQ(parse_window("30min"), time(1800));
  EXPECT_EQ(parse_window("1.5h"), time(5400));
  EXPECT_EQ(parse_window("7d"), time(7 * 86'400));
  EXPECT_EQ(parse_window("2w"), time(14 * 86'400));
  EXPECT_EQ(parse_window("10M"), (Window{WindowUnit::insertions, 10'000'000}));
  EXPECT_EQ(parse_window("5000"), (Window{WindowUnit::insertions, 5000}));
  // A small m is a minute to some and a million to others.
  for (const char* text : {"", "0", "0d", "7m", "d", "7 d", "-7d", "0.1s", "1e19w", "7dd"}) {
    EXPECT_THROW((void)parse_window(text), Error) << text;
  }
}

TEST(Sizes, FprsAreSharesPercentsAndFractions) {
  EXPECT_EQ(parse_fpr("0.001"), 0.001);
  EXPECT_EQ(parse_fpr("0.1%"), 0.001);
  EXPECT_EQ(parse_fpr("1e-1%"), 0.001);
  EXPECT_EQ(parse_fpr("1/1000"), 0.001);
  EXPECT_EQ(parse_fpr("1/1M"), 1e-6);
  EXPECT_EQ(parse_fpr("1e-3"), 0.001);
  EXPECT_EQ(parse_fpr("1e-15"), 1e-15);
  for (const std::string text :
       {"",       "0",      "1",     "-0.1",  "+0.1",    "100%",  "%",      "1/0",
        "0/5",    "5/5",    "/",     "1/",    "/2",      "1/2/3", "nan",    "inf",
        "0x1p-3", "1e-400", "0.1%%", "0.1 %", "1 in 10", "e-2",   "-1e-1%", "1e400"})
    EXPECT_THROW((void)parse_fpr(text), Error) << text;
}

TEST(Sizes, SeedsAreNumbersOrHexadecimal) {
  EXPECT_EQ(parse_seed("0"), (Seed{0, 0}));
  EXPECT_EQ(parse_seed("18446744073709551615"), (Seed{~std::uint64_t{0}, 0}));
  EXPECT_EQ(parse_seed("0xff"), (Seed{255, 0}));
  EXPECT_EQ(parse_seed("0x1fedcba9876543210"), (Seed{0xfedcba9876543210, 1}));
  EXPECT_EQ(parse_seed("0xffffffffffffffffffffffffffffffff"),
            (Seed{~std::uint64_t{0}, ~std::uint64_t{0}}));
  for (const std::string text : {"", "0x", "-1", "0xg", "12a", "18446744073709551616", "0x-1",
                                 "0x100000000000000000000000000000000"})
    EXPECT_THROW((void)parse_seed(text), Error) << text;
}

TEST(Sizes, MessagesQuoteTheTextAndGiveAMend) {
  try {
    (void)parse_count("many");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("'many'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("100M"), std::string::npos);
  }
}

}  // namespace
}  // namespace bloomery::cli
