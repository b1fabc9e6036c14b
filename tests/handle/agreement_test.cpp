// What was asked for is compared with what is there, field by field, and the first difference is named.
#include <gtest/gtest.h>
#include <bloomery/any_filter.hpp>

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

TEST(Agreement, NamesTheFirstDifference) {
  const Scratch scratch;
  const Window week{WindowUnit::seconds, 7 * 86'400};
  AnyFilter::create(scratch / "plain", {.capacity = 1'000, .fpr = 0.01, .layout = Layout::blocked2},
                    {.seed = Seed{5, 0}});
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
      {"plain", {.layout = Layout::blocked}, {}, PlanField::layout, "layout blocked2, and layout"},
      {"plain", {}, {.hash = HashFamily::siphash}, PlanField::kind, "another hash"},
      {"plain", {}, {.seed = Seed{6, 0}}, PlanField::kind, "another seed"},
      {"counting", {.kind = Kind::counting, .capacity = 1'000}},
      {"counting", {.counter_bits = 4}},
      {"counting",
       {.counter_bits = 8},
       {},
       PlanField::counter_bits,
       "counters of 4 bits, and bits of a counter says 8"},
      {"scalable", {.growth = 2}, {}, PlanField::growth, "grows by 4, and growth says 2"},
      {"scalable", {.growth = 4}},
      {"window", {.window = week}},
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
  for (const Asked& asked : all) {
    std::string said;
    try {
      (void)AnyFilter::open_or_create(scratch / asked.there, asked.spec, asked.options);
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

}  // namespace
}  // namespace bloomery::test
