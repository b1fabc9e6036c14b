// Random operations on windows of all kinds, against naive filters and a queue.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/random.hpp"
#include "support/window_twin.hpp"

namespace bloomery {
namespace {

using test::WindowOperation;

rc::Gen<WindowOperation> operations() {
  // Few distinct keys, so that keys meet themselves again in other slices.
  const auto key = rc::gen::weightedOneOf<std::uint16_t>(
      {{3, rc::gen::inRange<std::uint16_t>(0, 40)}, {1, rc::gen::arbitrary<std::uint16_t>()}});
  const auto few = rc::gen::container<std::vector<std::uint16_t>>(key);
  const auto many = rc::gen::container<std::vector<std::uint16_t>>(100, key);
  return rc::gen::build<WindowOperation>(
      rc::gen::set(&WindowOperation::kind,
                   rc::gen::map(rc::gen::inRange<int>(0, WindowOperation::kinds),
                                [](int kind) { return static_cast<WindowOperation::Kind>(kind); })),
      rc::gen::set(&WindowOperation::answers, rc::gen::arbitrary<bool>()),
      rc::gen::set(&WindowOperation::keys, rc::gen::oneOf(few, many)));
}

rc::Gen<WindowPlan> plans() {
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

}  // namespace
}  // namespace bloomery

// What RapidCheck prints of a failing case.
namespace rc {
void showValue(const bloomery::test::WindowOperation& operation, std::ostream& out) {
  out << "{" << static_cast<int>(operation.kind) << (operation.answers ? ", answers" : "") << ",";
  for (const std::uint16_t key : operation.keys) out << " " << key;
  out << "}";
}
void showValue(const bloomery::WindowPlan& plan, std::ostream& out) {
  out << plan.window << " " << to_string(plan.unit) << " in " << plan.slices << " slices, "
      << to_string(plan.slice.layout) << " k " << plan.slice.hashes << " lines "
      << plan.slice.blocks();
}
}  // namespace rc

namespace bloomery {
namespace {

TEST(WindowTwin, BehavesAsNaiveFiltersAndAQueueUnderRandomOperations) {
  const int rounds = test::nightly() ? 60 : 3;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round)
    EXPECT_TRUE(rc::check("the twins stay alike", [] {
      const WindowPlan plan = *plans();
      const Hasher hasher = *rc::gen::arbitrary<bool>()
                                ? Hasher(HashFamily::xxh3, {.low = 3, .high = 0})
                                : Hasher(HashFamily::siphash, {.low = 5, .high = 8});
      test::WindowTwin twin(plan, hasher);
      for (const WindowOperation& operation :
           *rc::gen::container<std::vector<WindowOperation>>(operations())) {
        twin.apply(operation);
        twin.check();
      }
    }));
}

}  // namespace
}  // namespace bloomery
