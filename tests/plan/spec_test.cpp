// The plan of any kind: the one that the kind's own function makes, its errors by field, and what
// it predicts against filters that are really filled.
#include <bloomery/counting_filter.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/spec.hpp>
#include <bloomery/window_filter.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace bloomery {
namespace {

constexpr Window kWeek{WindowUnit::seconds, 7 * 86'400};

TEST(Spec, TheKindSaysWhichPlan) {
  EXPECT_EQ(plan({.capacity = 1000, .fpr = 0.01}), FilterPlan(plan(1000, 0.01)));
  EXPECT_EQ(plan({.bits = 1 << 20, .hashes = 7, .layout = Layout::standard}),
            FilterPlan(solve({.bits = 1 << 20, .hashes = 7, .layout = Layout::standard})));
  EXPECT_EQ(plan({.kind = Kind::counting, .capacity = 1000, .fpr = 0.01}),
            FilterPlan(CountingPlan{plan(1000, 0.01, Layout::blocked128)}));
  EXPECT_EQ(plan({.kind = Kind::counting, .capacity = 1000, .fpr = 0.01, .counter_bits = 8}),
            FilterPlan(CountingPlan{plan(1000, 0.01, Layout::blocked64)}));
  EXPECT_EQ(plan({.kind = Kind::scalable,
                  .capacity = 1000,
                  .fpr = 0.01,
                  .layout = Layout::blocked2,
                  .growth = 4}),
            FilterPlan(scalable_plan(1000, 0.01, 4, kDefaultTightening, Layout::blocked2)));
  EXPECT_EQ(plan({.kind = Kind::window, .capacity = 1000, .fpr = 0.01, .window = kWeek}),
            FilterPlan(window_plan(WindowUnit::seconds, 7 * 86'400, 1000, 0.01)));
  // A window of insertions says how many keys there are.
  EXPECT_EQ(plan({.kind = Kind::window,
                  .fpr = 0.01,
                  .window = Window{WindowUnit::insertions, 1000},
                  .slices = 4}),
            FilterPlan(window_plan(WindowUnit::insertions, 1000, 1000, 0.01, 4)));
}

TEST(Spec, BitsOfACountingFilterAreItsMemory) {
  for (const std::uint32_t width : {4U, 8U}) {
    const FilterPlan it =
        plan({.kind = Kind::counting, .capacity = 1000, .bits = 1 << 20, .counter_bits = width});
    const auto& counting = std::get<CountingPlan>(it);
    EXPECT_EQ(counting.bytes(), std::uint64_t{1} << 17);
    EXPECT_EQ(counting.counters(), (std::uint64_t{1} << 20) / width);
    EXPECT_EQ(totals(it).bytes, counting.bytes());
  }
}

TEST(Spec, TotalsAreOfTheWholeFilter) {
  const auto check = [](const FilterSpec& spec, std::uint64_t bytes, const Plan& part) {
    const PlanTotals all = totals(plan(spec));
    EXPECT_EQ(all.kind, spec.kind.value_or(Kind::plain));
    EXPECT_EQ(all.layout, part.layout);
    EXPECT_EQ(all.hashes, part.hashes);
    EXPECT_EQ(all.capacity, 1000U);
    EXPECT_EQ(all.fpr, 0.01);
    EXPECT_EQ(all.bytes, bytes) << to_string(all.kind);
    EXPECT_DOUBLE_EQ(all.bits_per_key(), static_cast<double>(bytes) * 8 / 1000);
  };
  check({.capacity = 1000, .fpr = 0.01}, plan(1000, 0.01).bytes(), plan(1000, 0.01));
  check({.kind = Kind::counting, .capacity = 1000, .fpr = 0.01},
        CountingFilter(1000, 0.01).bytes().size(), plan(1000, 0.01, Layout::blocked128));
  check({.kind = Kind::scalable, .capacity = 1000, .fpr = 0.01},
        ScalableFilter(1000, 0.01).bits() / 8, scalable_plan(1000, 0.01).first);
  check({.kind = Kind::window, .capacity = 1000, .fpr = 0.01, .window = kWeek},
        WindowFilter(window_plan(kWeek.unit, kWeek.length, 1000, 0.01)).bytes().size(),
        window_plan(kWeek.unit, kWeek.length, 1000, 0.01).slice);
  const FrozenPlan frozen = frozen_plan(1000, 0.01, 50);
  check({.kind = Kind::frozen, .capacity = 1000, .fpr = 0.01, .delta = 50},
        frozen.array.bytes() + frozen.delta->bytes(), frozen.array);
}

// A filter is made again from what it says of itself, with the same plan.
TEST(Spec, OfAPlanMakesThePlanAgain) {
  const FilterSpec specs[] = {
      {.capacity = 1000, .fpr = 0.01},
      {.capacity = 1000, .fpr = 1e-6, .layout = Layout::standard},
      {.kind = Kind::counting, .capacity = 1000, .fpr = 0.01, .counter_bits = 8},
      {.kind = Kind::scalable,
       .capacity = 1000,
       .fpr = 0.01,
       .layout = Layout::blocked2,
       .growth = 3},
      {.kind = Kind::window,
       .capacity = 1000,
       .fpr = 0.01,
       .layout = Layout::blocked2,
       .window = kWeek,
       .slices = 5},
      {.kind = Kind::window, .fpr = 0.01, .window = Window{WindowUnit::insertions, 1000}},
      {.kind = Kind::frozen, .capacity = 1000, .fpr = 0.01},
      {.kind = Kind::frozen, .capacity = 1000, .fpr = 0.01, .delta = 50}};
  for (const FilterSpec& spec : specs) {
    const FilterPlan made = plan(spec);
    const FilterSpec said = spec_of(made);
    EXPECT_EQ(said.kind, spec.kind.value_or(Kind::plain));
    EXPECT_EQ(plan(said), made) << to_string(*said.kind);
    EXPECT_FALSE(said.bits || said.hashes);
  }
}

// ---- errors ---------------------------------------------------------------------------------

std::string_view flag_of(PlanField field) {
  switch (field) {
    case PlanField::capacity:
      return "-n";
    case PlanField::fpr:
      return "-p";
    default:
      return "--other";
  }
}

struct Refused {
  FilterSpec spec;
  PlanField field;
  std::string text;   // a part of the message
  std::string flags;  // a part of the message with flags in it
};

TEST(Spec, AnErrorNamesItsFieldByAnyName) {
  const Refused cases[] = {
      {{}, PlanField::capacity, "two of capacity, false-positive rate, bits", "two of -n, -p, --o"},
      {{.capacity = 10}, PlanField::fpr, "give two of", ""},
      {{.capacity = 10, .fpr = 0.7}, PlanField::fpr, "rate of 0.7 is out of range", ""},
      {{.capacity = 0, .fpr = 0.1}, PlanField::capacity, "capacity is 0", ""},
      {{.fpr = 0.1, .hashes = 3}, PlanField::capacity, "give capacity or bits too", "give -n or"},
      {{.capacity = 10, .fpr = 0.1, .growth = 2},
       PlanField::growth,
       "growth is for a scalable filter",
       "--other is"},
      {{.capacity = 10, .fpr = 0.1, .window = kWeek}, PlanField::window, "not a plain filter", ""},
      {{.kind = Kind::counting, .capacity = 10, .fpr = 0.1, .slices = 2},
       PlanField::slices,
       "slices is for",
       ""},
      {{.kind = Kind::scalable, .capacity = 10, .fpr = 0.1, .counter_bits = 4},
       PlanField::counter_bits,
       "for a counting filter",
       ""},
      {{.kind = Kind::counting, .capacity = 10, .fpr = 0.1, .layout = Layout::blocked},
       PlanField::layout,
       "layout does not go",
       "--other does"},
      {{.kind = Kind::counting, .capacity = 10, .fpr = 0.1, .counter_bits = 5},
       PlanField::counter_bits,
       "5 bits; use 4 or 8",
       ""},
      {{.kind = Kind::scalable, .fpr = 0.1},
       PlanField::capacity,
       "capacity is missing",
       "-n is missing"},
      {{.kind = Kind::scalable, .capacity = 10},
       PlanField::fpr,
       "false-positive rate is missing",
       "-p is missing"},
      {{.kind = Kind::scalable, .capacity = 10, .fpr = 0.1, .bits = 512},
       PlanField::bits,
       "bits cannot be chosen",
       "from -n and -p"},
      {{.kind = Kind::scalable, .capacity = 10, .fpr = 0.1, .growth = 1001},
       PlanField::growth,
       "from 1 to 1000",
       ""},
      {{.kind = Kind::frozen, .fpr = 0.1, .layout = Layout::standard},
       PlanField::layout,
       "layout cannot be chosen for a frozen filter",
       "--other cannot"},
      {{.kind = Kind::frozen, .capacity = 10, .fpr = 0.1, .bits = 512},
       PlanField::bits,
       "bits cannot be chosen for a frozen filter",
       ""},
      {{.kind = Kind::window, .capacity = 10, .fpr = 0.1},
       PlanField::window,
       "window is missing",
       ""},
      {{.kind = Kind::window, .fpr = 0.1, .window = kWeek},
       PlanField::capacity,
       "capacity is missing",
       "-n is"},
      {{.kind = Kind::window, .capacity = 10, .window = kWeek},
       PlanField::fpr,
       "is missing",
       "-p is"},
      {{.kind = Kind::window, .capacity = 10, .fpr = 0.1, .hashes = 4, .window = kWeek},
       PlanField::hashes,
       "hashes cannot be chosen",
       ""},
      {{.kind = Kind::window,
        .capacity = 10,
        .fpr = 0.1,
        .layout = Layout::standard,
        .window = kWeek},
       PlanField::layout,
       "layout standard",
       ""},
      {{.kind = Kind::window, .capacity = 10, .fpr = 0.1, .window = kWeek, .slices = 65},
       PlanField::slices,
       "65 slices",
       ""},
      {{.kind = Kind{9}}, PlanField::kind, "kind 9 is unknown", "--other 9"},
  };
  for (const Refused& it : cases) {
    try {
      (void)plan(it.spec);
      ADD_FAILURE() << "no error: " << it.text;
    } catch (const PlanError& error) {
      EXPECT_EQ(error.field(), it.field) << error.what();
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(it.text), std::string::npos) << error.what();
      EXPECT_NE(error.message(flag_of).find(it.flags), std::string::npos) << error.message(flag_of);
      EXPECT_EQ(std::string(error.what()).find_first_of("{}"), std::string::npos);
    }
  }
}

// ---- predictions ----------------------------------------------------------------------------

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

// current_fpr() is what the bits imply. The fill that 10,000 keys and more leave varies by less than
// 0.3 % from one set of keys to another, and the fpr by its 10th power or less.
constexpr double kSpread = 0.05;

TEST(Spec, AScalableFilterHasThePredictedFpr) {
  const ScalablePlan it = scalable_plan(10'000, 0.01, 2, 0.5, Layout::standard);
  ScalableFilter filter(it);
  std::uint64_t inserted = 0;
  for (const std::uint64_t items : {5'000, 10'000, 15'000, 30'000, 65'000}) {
    filter.insert_many(keys_from(inserted, items - inserted));
    inserted = items;
    const double predicted = predicted_fpr(FilterPlan(it), static_cast<double>(items));
    EXPECT_LE(predicted, it.fpr);
    EXPECT_NEAR(filter.current_fpr() / predicted, 1, kSpread) << items;
  }
  EXPECT_EQ(predicted_fpr(it, 0), 0);
  EXPECT_THROW((void)predicted_fpr(it, 1e18), PlanError);
}

TEST(Spec, AWindowFilterHasThePredictedFprAtItsFullest) {
  const WindowPlan it = window_plan(WindowUnit::insertions, 80'000, 80'000, 0.01);
  WindowFilter filter(it);
  // All slices, and the one more that fills while the oldest is still needed.
  filter.insert_many(keys_from(0, 89'990));
  EXPECT_NEAR(filter.current_fpr() / predicted_fpr(FilterPlan(it), 80'000), 1, kSpread);
  EXPECT_LE(predicted_fpr(it, 80'000), it.fpr);
  EXPECT_NEAR(predicted_fpr(it, 80'000) / it.fpr, 1, 0.02);
  EXPECT_EQ(predicted_fpr(it, 160'000), predicted_fpr(it, 80'000));
  const WindowPlan week = window_plan(kWeek.unit, kWeek.length, 80'000, 0.01);
  EXPECT_GT(predicted_fpr(week, 160'000), 10 * week.fpr);
  EXPECT_EQ(predicted_fpr(it, 0), 0);
}

TEST(Spec, ACountingFilterHasThePredictedFpr) {
  const FilterPlan it = counting_plan({.capacity = 10'000, .fpr = 0.01}, 4);
  CountingFilter filter(std::get<CountingPlan>(it).plan);
  filter.insert_many(keys_from(0, 10'000));
  EXPECT_NEAR(filter.current_fpr() / predicted_fpr(it, 10'000), 1, kSpread);
  EXPECT_LE(predicted_fpr(it, 10'000), 0.01);
  EXPECT_LT(predicted_fpr(it, 5'000), 0.001);
}

// At least 1,000 saturated counters in each case: their number has a standard deviation of about
// 3 %, and the keys, and so the numbers, are always the same.
TEST(Spec, CountersSaturateAsPredicted) {
  constexpr std::uint64_t kKeys = 100'000;
  const auto keys = keys_from(0, kKeys);
  const struct {
    Layout layout;
    std::uint32_t times;
    double load;
  } cases[] = {{Layout::blocked128, 3, 1.6},  {Layout::blocked128, 5, 1},
               {Layout::blocked128, 20, 1},   {Layout::blocked64, 100, 1},
               {Layout::blocked64, 255, 1},   {Layout::blocked2x128, 3, 1.6},
               {Layout::blocked2x128, 20, 1}, {Layout::blocked2x64, 100, 1}};
  for (const auto& [layout, times, load] : cases) {
    const CountingPlan it{plan(static_cast<std::uint64_t>(kKeys / load), 0.01, layout)};
    CountingFilter filter(it.plan);
    for (std::uint32_t i = 0; i < times; ++i) filter.insert_many(keys);
    const double predicted = predicted_saturation(it, kKeys, times);
    const double counted = static_cast<double>(filter.saturated_counters());
    EXPECT_GT(counted, 1'000);
    EXPECT_NEAR(counted / static_cast<double>(it.counters()) / predicted, 1, 0.1)
        << to_string(layout) << ", " << times << " times";
  }
}

// Over the whole range, from shares that are none to those of every counter in use.
TEST(Spec, SaturationIsPinned) {
  const auto share = [](std::uint32_t width, std::uint32_t times) {
    return predicted_saturation({plan(10'000'000, 0.01, counting_layout(width))}, 1e7, times);
  };
  EXPECT_NEAR(share(4, 1) / 6e-17, 1, 0.1);
  EXPECT_NEAR(share(4, 2) / 1e-7, 1, 0.5);
  EXPECT_NEAR(share(4, 3), 0.0003, 0.00005);
  EXPECT_NEAR(share(4, 5), 0.018, 0.0005);
  EXPECT_NEAR(share(4, 20), 0.42, 0.005);
  EXPECT_NEAR(share(8, 20) / 1e-15, 1, 0.5);
  EXPECT_NEAR(share(8, 50) / 4e-6, 1, 0.15);
  EXPECT_NEAR(share(8, 100), 0.008, 0.0005);
  EXPECT_EQ(predicted_saturation({plan(1000, 0.01)}, 1000, 3), 0);
  EXPECT_EQ(share(4, 0), 0) << "no key was inserted";
  EXPECT_EQ(predicted_saturation({plan(1000, 0.01, Layout::blocked128)}, 1e300, 1), 1);
  // A counter that each key fills at once is as likely as a bit that is set.
  EXPECT_EQ(share(4, 15), share(4, 1000));
  EXPECT_LT(share(4, 14), share(4, 15));
  EXPECT_EQ(share(8, 255), share(8, 1000));
  // More keys saturate more, up to all.
  for (const Layout layout : {Layout::blocked128, Layout::blocked64})
    for (const std::uint32_t times : {1U, 20U, 1000U}) {
      double before = 0;
      for (double items = 1000; items < 1e8; items *= 1.5) {
        const double now = predicted_saturation({plan(1000, 0.01, layout)}, items, times);
        EXPECT_GE(now, before * (1 - 1e-6)) << to_string(layout) << " " << items << " " << times;
        before = now;
      }
      EXPECT_EQ(before, 1);
    }
}

}  // namespace
}  // namespace bloomery
