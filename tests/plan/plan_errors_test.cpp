// Impossible requests are errors that name what is wrong and what would do, never a number.
#include <bloomery/counting_filter.hpp>
#include <bloomery/counting_plan.hpp>
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/scalable_plan.hpp>
#include <bloomery/window_plan.hpp>

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "plan/refuse.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Plan ask(std::optional<std::uint64_t> capacity, std::optional<double> fpr,
         std::optional<std::uint64_t> bits = {}, std::optional<std::uint32_t> hashes = {},
         std::optional<Layout> layout = {}) {
  return solve(
      {.capacity = capacity, .fpr = fpr, .bits = bits, .hashes = hashes, .layout = layout});
}

TEST(PlanErrors, Capacity) {
  expect_error(ErrorCode::invalid_argument, {"capacity is 0", "at least 1"},
               [] { (void)plan(0, 0.01); });
  expect_error(ErrorCode::too_large, {"capacity 10,000,000,000,001", "10^13"},
               [] { (void)plan(kMaxCapacity + 1, 0.01); });
  expect_error(ErrorCode::too_large, {"18,446,744,073,709,551,615", "10^13"},
               [] { (void)plan(~std::uint64_t{0}, 0.01); });
  expect_error(ErrorCode::invalid_argument, {"capacity is 0"}, [] { ask(0, {}, 5120); });
}

TEST(PlanErrors, Fpr) {
  for (const double fpr : {0.0, -0.0, -0.01, 0.500001, 1.0, 2.0, 0.9e-15, 1e-300, 5e-324, kNan,
                           -kNan, kInfinity, -kInfinity}) {
    SCOPED_TRACE(fpr);
    const std::initializer_list<std::string> words = {"rate", "out of range", "from 1e-15 to 0.5"};
    expect_error(ErrorCode::invalid_argument, words, [=] { (void)plan(1000, fpr); });
    expect_error(ErrorCode::invalid_argument, words, [=] { ask({}, fpr, 5120); });
    expect_error(ErrorCode::invalid_argument, words, [=] { ask(10, fpr, 5120); });
    expect_error(ErrorCode::invalid_argument, words, [=] { Filter(1000, fpr); });
  }
}

TEST(PlanErrors, Bits) {
  expect_error(ErrorCode::invalid_argument, {"0 bits", "at least 512"}, [] { ask(10, {}, 0); });
  for (const std::uint64_t bits : {kMaxBits + 1, kMaxBits + 512, ~std::uint64_t{0}}) {
    expect_error(ErrorCode::too_large, {"2^40", "split"}, [=] { ask(10, {}, bits); });
    expect_error(ErrorCode::too_large, {"2^40", "split"}, [=] { ask({}, 0.01, bits); });
  }
  expect_error(ErrorCode::too_large,
               {"2^40 bits", "split", "higher false-positive rate", "10,000,000,000,000"},
               [] { (void)plan(kMaxCapacity, 0.01); });
  expect_error(ErrorCode::too_large, {"2^40 bits"},
               [] { (void)plan(10'000'000'000, 1e-15, Layout::blocked); });
  expect_error(ErrorCode::invalid_argument, {"too few", "more bits"},
               [] { ask(1'000'000'000, {}, 512); });
}

// With all counters of a key in one or two blocks, low rates would take gigabytes.
TEST(PlanErrors, CountersBeyondTheMostBitsPerKey) {
  struct Row {
    std::uint64_t capacity;
    double fpr;
    Layout layout;
    const char* bits;
  };
  for (const Row& row :
       {Row{100'000, 1e-12, Layout::blocked64, "555,283 bits per key"},
        Row{100'000, 1e-12, Layout::blocked128, "9,159 bits per key"},
        Row{1000, 1e-15, Layout::blocked64, "121,157,992 bits per key"},
        Row{1'000'000, 1e-10, Layout::blocked128, "2,502 bits per key"},
        Row{1'000'000, 1e-7, Layout::blocked64, "2,958 bits per key"},
        Row{100'000, 1e-12, Layout::blocked2x64, "2,829 bits per key"},
        Row{1'000'000, 1e-15, Layout::blocked2x64, "8,808 bits per key"},
        Row{100'000'000, 1e-15, Layout::blocked64, "more than 10,995 bits per key"}}) {
    SCOPED_TRACE(row.bits);
    const std::uint32_t width = counter_bits(row.layout);
    const std::string counters = "counters of " + std::to_string(width) + " bits";
    const auto complains = [&](auto plan) {
      expect_error(ErrorCode::too_large,
                   {row.bits, counters.c_str(), "limit of 2,048", "higher false-positive rate"},
                   plan);
    };
    complains([&] { (void)plan(row.capacity, row.fpr, row.layout); });
    if (row.layout == counting_layout(width, row.fpr)) {
      complains([&] { (void)counting_plan({.capacity = row.capacity, .fpr = row.fpr}, width); });
      complains([&] { (void)CountingFilter(row.capacity, row.fpr, width); });
    }
    // Where the memory is given, that is what it takes; and what was planned before stays valid.
    const CountingPlan given =
        counting_plan({.capacity = 1000, .bits = std::uint64_t{1} << 30}, width);
    EXPECT_GT(given.bytes() * 8, 1000 * kMostCountingBitsPerKey);
    validate(given.plan);
  }
  expect_error(ErrorCode::too_large,
               {"with 3 hashes need", "2,048; leave hashes out, or allow a higher"},
               [] { (void)counting_plan({.capacity = 1000, .fpr = 1e-8, .hashes = 3}, 4); });
}

// What the message and the documents say is taken, for any number of keys; and the smallest filter.
TEST(PlanErrors, CountersWithinTheMostBitsPerKey) {
  for (std::uint64_t capacity = 1; capacity < 500'000'000; capacity = capacity * 3 / 2 + 1)
    for (const auto& [width, fpr] : {std::pair(4U, kMinFpr), std::pair(8U, 1e-10)}) {
      const CountingPlan it = counting_plan({.capacity = capacity, .fpr = fpr}, width);
      const double bits = it.plan.bits_per_key() * width;
      EXPECT_EQ(bits, counting_bits_per_key(capacity, fpr, it.plan.layout));
      EXPECT_LE(
          bits * static_cast<double>(capacity),
          static_cast<double>(std::max(capacity * kMostCountingBitsPerKey, kSmallCountingBits)))
          << capacity;
    }
  EXPECT_EQ(counting_bits_per_key(10'000'000, 1e-15, Layout::blocked64),
            std::numeric_limits<double>::infinity());
  EXPECT_NEAR(counting_bits_per_key(10'000'000, 0.01, Layout::blocked128), 43.7, 0.05);
  expect_error(ErrorCode::invalid_argument, {"capacity is 0"},
               [] { (void)counting_bits_per_key(0, 0.01, Layout::blocked128); });
  expect_error(ErrorCode::invalid_argument, {"out of range"},
               [] { (void)counting_bits_per_key(9, 1e-16, Layout::blocked128); });
  expect_error(ErrorCode::invalid_argument, {"4 or 8"}, [] { (void)counting_layout(5, 0.01); });
}

TEST(PlanErrors, Hashes) {
  for (const std::uint32_t k : {0U, 17U, ~0U})
    expect_error(ErrorCode::invalid_argument, {"hashes", "layout blocked", "1 to 16"},
                 [=] { ask(10, 0.01, {}, k, Layout::blocked); });
  for (const std::uint32_t k : {0U, 65U})
    expect_error(ErrorCode::invalid_argument, {"hashes", "layout standard", "1 to 64"},
                 [=] { ask(10, 0.01, {}, k, Layout::standard); });
  for (const std::uint32_t k : {1U, 3U, 31U})
    expect_error(ErrorCode::invalid_argument,
                 {"even number of hashes, 2 to 32, not " + std::to_string(k)},
                 [=] { ask(10, 0.01, {}, k, Layout::blocked2); });
  expect_error(ErrorCode::invalid_argument, {"hashes", "layout blocked2", "32"},
               [] { ask(10, 0.01, {}, 34, Layout::blocked2); });
}

// A rate is written with so many digits that it is not within the range that the message names.
TEST(PlanErrors, RatesAreWrittenAsTheyAre) {
  expect_error(ErrorCode::invalid_argument,
               {"rate of 0.50001 is out of range; give one from 1e-15 to 0.5"},
               [] { ask(10, 0.50001); });
  expect_error(ErrorCode::invalid_argument, {"rate of 9.99999e-16 is"},
               [] { ask(10, 9.99999e-16); });
  expect_error(ErrorCode::invalid_argument, {"rate of nan is"}, [] { ask(10, kNan); });
  expect_error(ErrorCode::invalid_argument, {"rate of 1e+300 is"}, [] { ask(10, 1e300); });
  expect_error(ErrorCode::invalid_argument, {"0.50001 is out of range for a filter that grows"},
               [] { (void)scalable_plan(10, 0.50001); });
  expect_error(ErrorCode::invalid_argument, {"0.50001 is out of range; with 8 slices"},
               [] { (void)window_plan(WindowUnit::seconds, 80, 10, 0.50001, 8); });
  // 8 bits per key reach 2.4 %.
  const double reached = ask(1000, {}, 8192, 6).fpr;
  try {
    ask(1000, reached * 0.999999, 8192, 6);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    const std::size_t a = text.find("rate of ") + 8, b = text.find(", not "), c = text.find(';');
    ASSERT_TRUE(a < b && b < c) << text;
    EXPECT_GT(std::stod(text.substr(a, b - a)), std::stod(text.substr(b + 6, c - b - 6))) << text;
  }
}

TEST(PlanErrors, NumbersHaveAsManyDigitsAsTellThemApart) {
  EXPECT_EQ(detail::digits_apart(0.5, 0.25), 4);
  EXPECT_EQ(detail::digits_apart(0.50001, 0.5), 5);
  EXPECT_EQ(detail::digits_apart(0.1, std::nextafter(0.1, 1)), 17);
  EXPECT_EQ(detail::digits_apart(0.1, 0.1), 17) << "no more would";
}

// The numeric locale of this process, made in a directory of its own; a system may have none but "C".
class NumericLocale {
 public:
  explicit NumericLocale(const std::string& name) {
    if (::mkdtemp(place_.data()) == nullptr) return;
    // It warns of what the locale's definition has wrong.
    const std::string make =
        "localedef -c -i " + name + " -f UTF-8 '" + place_ + "/numbers' >/dev/null 2>&1";
    (void)!std::system(make.c_str());
    ::setenv("LOCPATH", place_.c_str(), 1);
    is_there_ = std::setlocale(LC_NUMERIC, "numbers") != nullptr;
  }
  ~NumericLocale() {
    std::setlocale(LC_NUMERIC, "C");
    ::unsetenv("LOCPATH");
    std::error_code ignored;
    std::filesystem::remove_all(place_, ignored);
  }
  NumericLocale(const NumericLocale&) = delete;
  NumericLocale& operator=(const NumericLocale&) = delete;
  [[nodiscard]] bool is_there() const noexcept { return is_there_; }

 private:
  std::string place_ = (std::filesystem::temp_directory_path() / "bloomery-test-XXXXXX").string();
  bool is_there_ = false;
};

// A comma, and U+066B, which has two bytes.
TEST(PlanErrors, AreTheSameInEveryLocale) {
  const auto messages = [] {
    std::vector<std::string> all;
    for (const auto& call : std::initializer_list<std::function<void()>>{
             [] { ask(10, 0.50001); }, [] { ask(10, 9.99999e-16); }, [] { ask(10, kNan); },
             [] { (void)scalable_plan(10, 1e-15, 2, 0.77); },
             [] { (void)scalable_plan(10, 0.01, 2, 0.125); }, [] { ask(1000, 0.001, 5120); },
             [] { ask({}, 0.01, {}, 7, Layout::standard); }})
      try {
        call();
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        all.emplace_back(error.what());
      }
    return all;
  };
  const std::vector<std::string> expected = messages();
  EXPECT_NE(expected[0].find("rate of 0.50001 is"), std::string::npos);
  for (const auto& [name, separator] : {std::pair{"de_DE", ","}, {"ps_AF", "\xD9\xAB"}}) {
    const NumericLocale locale(name);
    if (!locale.is_there()) GTEST_SKIP() << "no locales can be made here";
    ASSERT_STREQ(std::localeconv()->decimal_point, separator);
    EXPECT_EQ(messages(), expected) << name;
  }
}

TEST(PlanErrors, CountersAreCalledThat) {
  const auto counting = [](PlanRequest request) { (void)counting_plan(request, 4); };
  expect_error(ErrorCode::invalid_argument, {"counters are too few for 1,000,000 keys"},
               [&] { counting({.capacity = 1'000'000, .bits = 2048}); });
  expect_error(ErrorCode::invalid_argument, {"not one key fits into 512 counters"},
               [&] { counting({.fpr = 1e-15, .bits = 2048, .hashes = 2}); });
  expect_error(ErrorCode::invalid_argument, {"1,000 keys in 512 counters give"},
               [&] { counting({.capacity = 1000, .fpr = 0.01, .bits = 2048}); });
}

TEST(PlanErrors, ASetTooLargeForOneHashIsNotToHaveFewer) {
  try {
    ask(kMaxCapacity, {}, {}, 1, Layout::blocked);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("1 hash is the best for"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("2^40 bits (128 GiB); split the set")) << text;
  }
}

TEST(PlanErrors, TooLittleIsKnown) {
  const std::function<void()> calls[] = {[] { ask(10, {}); }, [] { ask({}, 0.1); },
                                         [] { ask({}, {}, 5120); }, [] { ask({}, {}, {}, 3); },
                                         [] { ask({}, {}); }};
  for (const auto& call : calls)
    expect_error(ErrorCode::invalid_argument,
                 {"two of capacity, false-positive rate, bits and hashes"}, call);
}

// The textbook's bits per key for a rate and k: -k / ln(1 - p^(1/k)), 9.593 for 1 % and 7.
TEST(PlanErrors, AFprAndHashesDetermineOnlyARatio) {
  expect_error(
      ErrorCode::invalid_argument,
      {"rate of 0.01 and 7 hashes", "only the ratio", " 9.593 bits per key", "capacity or bits"},
      [] { ask({}, 0.01, {}, 7, Layout::standard); });
  expect_error(ErrorCode::invalid_argument, {"only the ratio", "layout blocked"},
               [] { ask({}, 0.01, {}, 7); });
  expect_error(ErrorCode::too_large, {"1 hash ", "bits per key", "more hashes"},
               [] { ask({}, 1e-15, {}, 1, Layout::standard); });
}

TEST(PlanErrors, BestHashesBeyondTheLargestFilter) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
    expect_error(ErrorCode::too_large, {"2^40 bits", "split", "fewer hashes"},
                 [=] { ask(1'000'000'000'000, {}, {}, 16, layout); });
}

TEST(PlanErrors, APromiseThatCannotBeKept) {
  expect_error(ErrorCode::invalid_argument,
               {"1,000 keys", "5,120 bits", "rate of", "not 0.001", "more bits"},
               [] { ask(1000, 0.001, 5120); });
  expect_error(ErrorCode::invalid_argument, {"not one key", "512 bits", "more bits"},
               [] { ask({}, 1e-15, 512, 1); });
}

TEST(PlanErrors, UnknownLayout) {
  expect_error(ErrorCode::invalid_argument, {"layout", "blocked, blocked2 or standard"},
               [] { (void)plan(10, 0.1, static_cast<Layout>(9)); });
  expect_error(ErrorCode::invalid_argument, {"layout", "blocked, blocked2 or standard"},
               [] { ask(10, {}, 512, {}, static_cast<Layout>(9)); });
  expect_error(ErrorCode::invalid_argument, {"layout", "blocked, blocked2 or standard"},
               [] { ask({}, 0.1, 512, {}, static_cast<Layout>(9)); });
  expect_error(ErrorCode::invalid_argument, {"layout", "blocked, blocked2 or standard"},
               [] { ask(10, 0.1, 512, {}, static_cast<Layout>(9)); });
  expect_error(ErrorCode::invalid_argument, {"layout", "blocked, blocked2 or standard"}, [] {
    validate(Plan{static_cast<Layout>(0), 512, 1, 1, 0.1});
  });
}

TEST(PlanErrors, PredictedFpr) {
  const std::initializer_list<std::string> bad_items = {"number of keys"};
  expect_error(ErrorCode::invalid_argument, bad_items,
               [] { (void)predicted_fpr(Layout::blocked, 512, 1, kNan); });
  expect_error(ErrorCode::invalid_argument, bad_items,
               [] { (void)predicted_fpr(Layout::blocked, 512, 1, -1); });
  expect_error(ErrorCode::invalid_argument, {"bits"},
               [] { (void)predicted_fpr(Layout::blocked, 511, 1, 1); });
  expect_error(ErrorCode::invalid_argument, {"hashes"},
               [] { (void)predicted_fpr(Layout::blocked, 512, 17, 1); });
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
    EXPECT_EQ(predicted_fpr(layout, 512, 2, kInfinity), 1) << to_string(layout);
    EXPECT_EQ(predicted_fpr(layout, 512, 2, 1e300), 1) << to_string(layout);
    EXPECT_EQ(predicted_fpr(layout, kMaxBits, 2, 0), 0) << to_string(layout);
  }
}

TEST(PlanErrors, ValidateChecksEveryField) {
  const Plan good{Layout::blocked2, 1024, 4, 10, 0.1};
  EXPECT_NO_THROW(validate(good));
  const auto with = [&](auto change) {
    Plan bad = good;
    change(bad);
    return [bad] { validate(bad); };
  };
  for (const std::uint64_t bits : {0, 1, 511, 513, 1023})
    expect_error(ErrorCode::invalid_argument, {" out of range", "multiple of 512"},
                 with([&](Plan& it) { it.bits = bits; }));
  expect_error(ErrorCode::too_large, {"bits", "2^40"},
               with([](Plan& it) { it.bits = kMaxBits + 512; }));
  for (const std::uint32_t k : {0, 3, 33, 34})
    expect_error(ErrorCode::invalid_argument, {"hashes"}, with([&](Plan& it) { it.hashes = k; }));
  expect_error(ErrorCode::invalid_argument, {"capacity"}, with([](Plan& it) { it.capacity = 0; }));
  expect_error(ErrorCode::too_large, {"capacity"},
               with([](Plan& it) { it.capacity = kMaxCapacity + 1; }));
  for (const double fpr : {0.0, 1.0, -1.0, kNan, kInfinity})
    expect_error(ErrorCode::invalid_argument, {"rate"}, with([&](Plan& it) { it.fpr = fpr; }));
}

}  // namespace
}  // namespace bloomery::test
