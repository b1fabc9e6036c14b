// Random operations on a filter that grows, against an exact set and a list of naive filters.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/scalable_twin.hpp"
#include "support/shapes.hpp"

namespace bloomery {
namespace {

using test::ScalableOperation;

rc::Gen<ScalableOperation> operations() {
  const auto key = rc::gen::weightedOneOf<std::uint16_t>(
      {{1, rc::gen::inRange<std::uint16_t>(0, 40)}, {3, rc::gen::arbitrary<std::uint16_t>()}});
  const auto few = rc::gen::container<std::vector<std::uint16_t>>(key);
  const auto many = rc::gen::container<std::vector<std::uint16_t>>(150, key);
  return rc::gen::build<ScalableOperation>(
      rc::gen::set(
          &ScalableOperation::kind,
          rc::gen::map(rc::gen::inRange<int>(0, ScalableOperation::kinds),
                       [](int kind) { return static_cast<ScalableOperation::Kind>(kind); })),
      rc::gen::set(&ScalableOperation::answers, rc::gen::arbitrary<bool>()),
      rc::gen::set(&ScalableOperation::keys, rc::gen::oneOf(few, many)));
}

// Few keys a sub-filter, so that a short list of operations grows it; rates at which keys look alike.
rc::Gen<ScalablePlan> plans() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::elementOf(
                         std::vector<Layout>(std::begin(test::kLayouts), std::end(test::kLayouts))),
                     rc::gen::inRange<std::uint64_t>(10, 60), rc::gen::inRange<std::uint32_t>(2, 9),
                     rc::gen::element(0.25, 0.5, 0.85, 0.95), rc::gen::element(0.4, 0.1, 0.001)),
      [](const std::tuple<Layout, std::uint64_t, std::uint32_t, double, double>& parts) {
        const auto [layout, first, growth, tightening, fpr] = parts;
        return scalable_plan(first, fpr, growth, tightening, layout);
      });
}

rc::Gen<Hasher> hashers() {
  return rc::gen::element(Hasher(), Hasher(HashFamily::xxh3, {.low = 3, .high = 0}),
                          Hasher(HashFamily::siphash, {.low = 5, .high = 8}));
}

}  // namespace
}  // namespace bloomery

// What RapidCheck prints of a failing case.
namespace rc {
void showValue(const bloomery::test::ScalableOperation& operation, std::ostream& out) {
  out << "{" << static_cast<int>(operation.kind) << (operation.answers ? ", answers" : "") << ",";
  for (const std::uint16_t key : operation.keys) out << " " << key;
  out << "}";
}
void showValue(const bloomery::ScalablePlan& plan, std::ostream& out) {
  out << to_string(plan.first.layout) << " first " << plan.first.capacity << " growth "
      << plan.growth << " tightening " << plan.tightening << " rate " << plan.fpr;
}
}  // namespace rc

namespace bloomery {
namespace {

TEST(ScalableTwin, BehavesAsTheNaiveListUnderRandomOperations) {
  const int rounds = test::nightly() ? 60 : 2;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round)
    EXPECT_TRUE(rc::check("the twins stay alike", [] {
      const ScalablePlan plan = *plans();
      test::ScalableTwin twin(plan, *hashers());
      for (const ScalableOperation& operation :
           *rc::gen::container<std::vector<ScalableOperation>>(operations())) {
        twin.apply(operation);
        twin.check();
      }
    }));
}

}  // namespace
}  // namespace bloomery
