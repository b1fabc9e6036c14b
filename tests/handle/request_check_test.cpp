// What was asked for is compared with what is there, field by field, and the first difference is named.
#include <gtest/gtest.h>
#include <bloomery/any_filter.hpp>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>

#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

struct Asked {
  std::string there;  // the name of a filter below
  FilterSpec spec;
  AnyOptions options = {};
  PlanField field = PlanField::kind;
  std::string says = {};  // empty: it agrees
};

template <class Compare>
void expect_as_it_says(std::span<const Asked> all, Compare compare) {
  for (const Asked& asked : all) {
    std::string said;
    try {
      compare(asked);
    } catch (const PlanError& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch);
      EXPECT_EQ(error.field(), asked.field) << error.what();
      said = error.what();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
      said = error.what();
    }
    EXPECT_EQ(said.empty(), asked.says.empty()) << said << asked.says;
    EXPECT_NE(said.find(asked.says), std::string::npos) << said << " lacks " << asked.says;
  }
}

TEST(Agreement, NamesTheFirstDifference) {
  const Scratch scratch;
  const Window week{WindowUnit::seconds, 7 * 86'400};
  AnyFilter::create(scratch / "plain", {.capacity = 1'000, .fpr = 0.01, .layout = Layout::blocked2},
                    {.seed = Seed{5, 0}});
  AnyFilter::create(scratch / "high", {.capacity = 1'000, .fpr = 0.4});
  AnyFilter::create(scratch / "counting", {.kind = Kind::counting, .capacity = 1'000, .fpr = 0.01});
  AnyFilter::create(scratch / "scalable",
                    {.kind = Kind::scalable, .capacity = 1'000, .fpr = 0.01, .growth = 4});
  AnyFilter::create(scratch / "window",
                    {.kind = Kind::window, .capacity = 1'000, .fpr = 0.01, .window = week});
  const Asked all[] = {
      {"plain", {}},
      {"plain", {.kind = Kind::plain, .capacity = 1'000, .fpr = 0.01, .layout = Layout::blocked2}},
      {"plain", {}, {.hash = HashFamily::xxh3, .seed = Seed{5, 0}}},
      {"plain",
       {.kind = Kind::counting},
       {},
       PlanField::kind,
       "a plain filter, and kind says count"},
      {"plain",
       {.capacity = 1'001},
       {},
       PlanField::capacity,
       "1,000 keys, and capacity says 1,001"},
      {"plain", {.fpr = 0.02}, {}, PlanField::fpr, "of 0.01, and false-positive rate says 0.02"},
      {"plain",
       {.fpr = 0.01 + 1e-9},
       {},
       PlanField::fpr,
       "of 0.01, and false-positive rate says 0.010000001"},
      {"high", {.fpr = 0.45}, {}, PlanField::fpr, "of 0.4, and false-positive rate says 0.45"},
      {"plain", {.layout = Layout::blocked}, {}, PlanField::layout, "layout blocked2, and layout"},
      {"plain", {.hashes = 3}, {}, PlanField::hashes, "hashes per key, and hashes says 3"},
      {"plain", {.bits = 5'120}, {}, PlanField::bits, "has 9,728 bits, and bits says 5,120"},
      {"plain",
       {.capacity = 1'000, .fpr = 0.01, .layout = Layout::blocked2},
       {.seed = Seed{6, 0}},
       PlanField::kind,
       "another seed"},
      {"plain", {}, {.hash = HashFamily::siphash}, PlanField::kind, "another hash"},
      {"plain", {}, {.seed = Seed{6, 0}}, PlanField::kind, "another seed"},
      {"counting", {.kind = Kind::counting, .capacity = 1'000}},
      {"counting", {.counter_bits = 4}},
      {"counting",
       {.counter_bits = 8},
       {},
       PlanField::counter_bits,
       "counters of 4 bits, and bits of a counter says 8"},
      {"counting", {.bits = 40'000'000}, {}, PlanField::bits, "bits, and bits says 40,000,000"},
      {"scalable", {.growth = 2}, {}, PlanField::growth, "grows by 4, and growth says 2"},
      {"scalable", {.bits = 8'192}, {}, PlanField::bits, "has no bits that can be compared"},
      {"scalable", {.hashes = 3}, {}, PlanField::hashes, "has no hashes that can be compared"},
      {"plain",
       {.growth = 2},
       {},
       PlanField::growth,
       "is a plain filter, and growth is for a scalable one"},
      {"plain", {.counter_bits = 4}, {}, PlanField::counter_bits, "is for a counting one"},
      {"plain", {.window = week}, {}, PlanField::window, "is for a window one"},
      {"counting", {.slices = 3}, {}, PlanField::slices, "is for a window one"},
      {"plain", {.delta = 5}, {}, PlanField::delta, "has no delta"},
      {"counting", {.delta = 5}, {}, PlanField::delta, "has no delta"},
      {"scalable", {.growth = 4}},
      {"window", {.window = week}},
      // 8 slices of whole seconds.
      {"window", {.window = Window{WindowUnit::seconds, 7 * 86'400 - 7}}},
      {"window",
       {.window = Window{WindowUnit::seconds, 7 * 86'400 - 8}},
       {},
       PlanField::window,
       "window of"},
      {"window",
       {.window = Window{WindowUnit::seconds, 7 * 86'400 + 1}},
       {},
       PlanField::window,
       "window of"},
      {"window", {.slices = 9}, {}, PlanField::slices, "has 8 slices, and slices says 9"},
      {"window",
       {.window = Window{WindowUnit::seconds, 86'400}},
       {},
       PlanField::window,
       "window of"},
      {"window",
       {.window = Window{WindowUnit::insertions, 7 * 86'400}},
       {},
       PlanField::window,
       "window of"},
  };
  const auto opened_or_created = [&](const Asked& asked) {
    (void)AnyFilter::open_or_create(scratch / asked.there, asked.spec, asked.options);
  };
  const auto opened = [&](const Asked& asked) {
    AnyFilter::open(scratch / asked.there).require_match(asked.spec, asked.options);
  };
  expect_as_it_says(all, opened_or_created);
  expect_as_it_says(all, opened);
}

// Whatever the plan makes of a request, it agrees with itself; with a key in the filter, too.
TEST(Agreement, ARequestAgreesWithTheFilterThatItHasMade) {
  const Scratch scratch;
  const Window week{WindowUnit::seconds, 7 * 86'400}, lines{WindowUnit::insertions, 1'001};
  const FilterSpec all[] = {
      {.capacity = 1'000, .fpr = 0.01},
      {.capacity = 1'000, .fpr = 0.5},
      {.capacity = 1'000, .fpr = 0.01, .bits = 100'000},
      {.capacity = 1'000, .fpr = 0.01, .hashes = 3},
      {.capacity = 1'000, .bits = 10'000},
      {.capacity = 1'000, .hashes = 3},
      {.fpr = 0.01, .bits = 8'192},
      {.fpr = 0.01, .bits = 10'000, .layout = Layout::standard},
      {.fpr = 1e-6, .bits = 10'000, .hashes = 20},
      {.bits = 8'192, .hashes = 5},
      {.bits = 100, .hashes = 5},
      {.kind = Kind::counting, .capacity = 1'000, .fpr = 1e-6, .counter_bits = 8},
      {.kind = Kind::counting, .fpr = 0.01, .bits = 50'000},
      {.kind = Kind::counting, .bits = 50'000, .hashes = 5},
      {.kind = Kind::scalable, .capacity = 1'000, .fpr = 0.3, .growth = 3},
      {.kind = Kind::window, .capacity = 1'000, .fpr = 0.4, .window = week, .slices = 3},
      {.kind = Kind::window, .fpr = 0.01, .window = lines},
      {.kind = Kind::window, .capacity = 500, .fpr = 0.01, .window = lines},
      {.kind = Kind::frozen, .fpr = 0.01, .delta = 5},
      {.kind = Kind::frozen, .capacity = 10, .fpr = 0.01, .delta = 5},
  };
  for (std::size_t i = 0; i < std::size(all); ++i) {
    const std::string path = scratch / std::to_string(i);
    for (int call = 0; call < 3; ++call) try {
        AnyFilter filter = AnyFilter::open_or_create(path, all[i]);
        if (call == 0) {
          filter.insert("a");
          filter.insert("b");
        }
        filter.close();
      } catch (const Error& error) {
        ADD_FAILURE() << "request " << i << ", call " << call << ": " << error.what();
      }
  }
}

TEST(Agreement, LeavesTheNameOfTheFilterAsItIs) {
  const Scratch scratch;
  const std::string path = scratch / "z{fpr}{}";
  for (const auto& [spec, words] :
       {std::pair(FilterSpec{}, " does not exist; -x N (and -x P)"),
        std::pair(FilterSpec{.capacity = 11}, " was made for 10 keys"),
        std::pair(FilterSpec{.fpr = 0.2}, " was made for a false-pos")}) {
    try {
      (void)AnyFilter::open_or_create(path, spec);
      FAIL();
    } catch (const PlanError& error) {
      const std::string said = error.message([](PlanField) { return std::string_view("-x"); });
      EXPECT_TRUE(said.starts_with(path + words)) << said;
      EXPECT_TRUE(std::string(error.what()).starts_with(path)) << error.what();
    }
    AnyFilter::create(path, {.capacity = 10, .fpr = 0.1}, {.replace = true});
  }
}

// A plan rounds the bits, so a request for as many after rounding is the same.
TEST(Agreement, ComparesBitsAsThePlanRoundsThem) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  AnyFilter::create(path, {.fpr = 0.01, .bits = 8'192});
  for (const std::uint64_t bits : {8'192U, 8'193U, 8'703U})
    EXPECT_NO_THROW((void)AnyFilter::open_or_create(path, {.bits = bits})) << bits;
  for (const std::uint64_t bits : {8'191U, 8'704U, 512U}) {
    try {
      (void)AnyFilter::open_or_create(path, {.bits = bits});
      ADD_FAILURE() << bits;
    } catch (const PlanError& error) {
      EXPECT_EQ(error.field(), PlanField::bits);
    }
  }
}

// How long keys are remembered does not say how many they are.
TEST(Agreement, OfNothingNamesWhatMakesASize) {
  const Scratch scratch;
  FilterSpec spec{.kind = Kind::window, .fpr = 0.01, .window = Window{WindowUnit::seconds, 60}};
  try {
    (void)AnyFilter::open_or_create(scratch / "f", spec);
    ADD_FAILURE();
  } catch (const PlanError& error) {
    EXPECT_EQ(error.field(), PlanField::capacity);
    EXPECT_NE(std::string(error.what()).find("does not exist"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "f"));
  spec.window->unit = WindowUnit::insertions;
  EXPECT_NO_THROW((void)AnyFilter::open_or_create(scratch / "f", spec));
}

TEST(Agreement, NamesWhatAFrozenFilterNeeds) {
  const Scratch scratch;
  try {
    (void)AnyFilter::open_or_create(scratch / "f", {.kind = Kind::frozen});
    FAIL();
  } catch (const PlanError& error) {
    EXPECT_EQ(error.field(), PlanField::fpr);
    EXPECT_NE(std::string(error.what()).find("does not exist; false-positive rate P"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace bloomery::test
