// Random operations on a filter of every kind, against a naive filter and the exact set of its keys.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "support/checked_counting.hpp"
#include "support/checked_filter.hpp"
#include "support/checked_scalable.hpp"
#include "support/checked_window.hpp"
#include "support/layouts.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

rc::Gen<Layout> any_of(const auto& layouts) {
  return rc::gen::elementOf(std::vector<Layout>(std::begin(layouts), std::end(layouts)));
}

rc::Gen<Plan> plans_of(const auto& layouts) {
  return rc::gen::map(rc::gen::tuple(any_of(layouts), rc::gen::inRange<std::uint64_t>(1, 12),
                                     rc::gen::inRange<std::uint32_t>(0, 64)),
                      [](const std::tuple<Layout, std::uint64_t, std::uint32_t>& parts) {
                        const auto [layout, blocks, choice] = parts;
                        const std::vector<std::uint32_t> counts = hash_counts(layout);
                        return plan_of(layout, blocks, counts[choice % counts.size()]);
                      });
}

// How each checked filter is tried. Few distinct keys meet themselves; batches are longer than one of a
// kernel.
template <class Checked>
struct Trial;
template <>
struct Trial<CheckedFilter> {
  static constexpr int kRounds = 3, kBatch = 50, kFewKeys = 40, kFewOfFour = 3;
  static rc::Gen<Plan> plans() { return plans_of(kLayouts); }
};
template <>
struct Trial<CheckedCounting> {
  static constexpr int kRounds = 3, kBatch = 50, kFewKeys = 20, kFewOfFour = 3;
  static rc::Gen<Plan> plans() { return plans_of(kNarrowLayouts); }
};
template <>
struct Trial<CheckedScalable> {
  static constexpr int kRounds = 2, kBatch = 150, kFewKeys = 40, kFewOfFour = 1;
  // Few keys per sub-filter, so that a short list of operations grows it; rates at which keys look alike.
  static rc::Gen<ScalablePlan> plans() {
    return rc::gen::map(
        rc::gen::tuple(any_of(kLayouts), rc::gen::inRange<std::uint64_t>(10, 60),
                       rc::gen::inRange<std::uint32_t>(2, 9),
                       rc::gen::element(0.25, 0.5, 0.85, 0.95), rc::gen::element(0.4, 0.1, 0.001)),
        [](const std::tuple<Layout, std::uint64_t, std::uint32_t, double, double>& parts) {
          const auto [layout, first, growth, tightening, fpr] = parts;
          return scalable_plan(first, fpr, growth, std::max(tightening, min_tightening(fpr)),
                               layout);
        });
  }
};
template <>
struct Trial<CheckedWindow> {
  static constexpr int kRounds = 3, kBatch = 100, kFewKeys = 40, kFewOfFour = 3;
  static rc::Gen<WindowPlan> plans() {
    const auto slices = rc::gen::element<std::uint32_t>(1, 2, 3, 8, 64);
    const auto length = rc::gen::element<std::uint64_t>(1, 2, 5, 30, 1000);
    const auto capacity = rc::gen::inRange<std::uint64_t>(1, 300);
    const auto fpr = rc::gen::element(0.5, 0.01, 1e-6);
    return rc::gen::map(
        rc::gen::tuple(rc::gen::arbitrary<bool>(), slices, length, capacity, fpr),
        [](const std::tuple<bool, std::uint32_t, std::uint64_t, std::uint64_t, double>& parts) {
          const auto [seconds, count, slice, keys, share] = parts;
          if (seconds) return window_plan(WindowUnit::seconds, slice * count, keys, share, count);
          return window_plan(WindowUnit::insertions, slice * count, std::min(keys, slice * count),
                             share, count);
        });
  }
};

template <class Checked>
auto operations() {
  using Operation = typename Checked::Operation;
  using Call = typename Operation::Call;
  constexpr int few_of_four = Trial<Checked>::kFewOfFour;
  const auto key = rc::gen::weightedOneOf<std::uint16_t>(
      {{few_of_four, rc::gen::inRange<std::uint16_t>(0, Trial<Checked>::kFewKeys)},
       {4 - few_of_four, rc::gen::arbitrary<std::uint16_t>()}});
  const auto few = rc::gen::container<std::vector<std::uint16_t>>(key);
  const auto many = rc::gen::container<std::vector<std::uint16_t>>(Trial<Checked>::kBatch, key);
  return rc::gen::build<Operation>(
      rc::gen::set(&Operation::call,
                   rc::gen::map(rc::gen::inRange<int>(0, Operation::calls),
                                [](int call) { return static_cast<Call>(call); })),
      rc::gen::set(&Operation::answers, rc::gen::arbitrary<bool>()),
      rc::gen::set(&Operation::keys, rc::gen::oneOf(few, many)));
}

rc::Gen<Hasher> hashers() {
  return rc::gen::element(Hasher(), Hasher(HashFamily::xxh3, {.low = 3, .high = 0}),
                          Hasher(HashFamily::siphash, {.low = 5, .high = 8}));
}

}  // namespace
}  // namespace bloomery::test

// What RapidCheck prints of a failing case.
namespace rc {
template <class Call>
void showValue(const bloomery::test::CheckedOperation<Call>& operation, std::ostream& out) {
  out << "{" << static_cast<int>(operation.call) << (operation.answers ? ", answers" : "") << ",";
  for (const std::uint16_t key : operation.keys) out << " " << key;
  out << "}";
}
void showValue(const bloomery::Plan& plan, std::ostream& out) {
  out << to_string(plan.layout) << " k " << plan.hashes << " blocks " << plan.blocks();
}
void showValue(const bloomery::ScalablePlan& plan, std::ostream& out) {
  out << to_string(plan.first.layout) << " first " << plan.first.capacity << " growth "
      << plan.growth << " tightening " << plan.tightening << " fpr " << plan.fpr;
}
void showValue(const bloomery::WindowPlan& plan, std::ostream& out) {
  out << plan.window << " " << to_string(plan.unit) << " in " << plan.slices << " slices of ";
  showValue(plan.slice, out);
}
void showValue(const bloomery::Hasher& hasher, std::ostream& out) {
  out << "family " << static_cast<int>(hasher.family()) << " seed " << hasher.seed().low;
}
}  // namespace rc

namespace bloomery::test {
namespace {

template <class Checked>
class RandomOperations : public testing::Test {};
using AllKinds = testing::Types<CheckedFilter, CheckedCounting, CheckedScalable, CheckedWindow>;
TYPED_TEST_SUITE(RandomOperations, AllKinds);

TYPED_TEST(RandomOperations, AgreeWithANaiveFilterAndAnExactSet) {
  const int rounds = nightly() ? 60 : Trial<TypeParam>::kRounds;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round)
    EXPECT_TRUE(rc::check("they agree", [] {
      const auto plan = *Trial<TypeParam>::plans();
      TypeParam checked(plan, *hashers());
      for (const auto& operation : *rc::gen::container<std::vector<typename TypeParam::Operation>>(
               operations<TypeParam>())) {
        checked.apply(operation);
        checked.check();
      }
    }));
}

}  // namespace
}  // namespace bloomery::test
