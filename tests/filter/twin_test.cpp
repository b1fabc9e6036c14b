// Random operations against an exact set and a naive filter.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/shapes.hpp"
#include "support/twin.hpp"

namespace bloomery {
namespace {

using test::Operation;

rc::Gen<Operation> operations() {
  // Few distinct keys, so that keys meet themselves; batches over a block of the bulk calls.
  const auto key = rc::gen::weightedOneOf<std::uint16_t>(
      {{3, rc::gen::inRange<std::uint16_t>(0, 40)}, {1, rc::gen::arbitrary<std::uint16_t>()}});
  const auto few = rc::gen::container<std::vector<std::uint16_t>>(key);
  const auto many = rc::gen::container<std::vector<std::uint16_t>>(50, key);
  return rc::gen::build<Operation>(
      rc::gen::set(&Operation::kind,
                   rc::gen::map(rc::gen::inRange<int>(0, Operation::kinds),
                                [](int kind) { return static_cast<Operation::Kind>(kind); })),
      rc::gen::set(&Operation::answers, rc::gen::arbitrary<bool>()),
      rc::gen::set(&Operation::keys, rc::gen::oneOf(few, many)));
}

rc::Gen<Plan> shapes() {
  return rc::gen::map(rc::gen::tuple(rc::gen::elementOf(std::vector<Layout>(
                                         std::begin(test::kLayouts), std::end(test::kLayouts))),
                                     rc::gen::inRange<std::uint64_t>(1, 12),
                                     rc::gen::inRange<std::uint32_t>(0, 64)),
                      [](const std::tuple<Layout, std::uint64_t, std::uint32_t>& parts) {
                        const auto [layout, blocks, choice] = parts;
                        const std::vector<std::uint32_t> counts = test::hash_counts(layout);
                        return test::shape_of(layout, blocks, counts[choice % counts.size()]);
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
void showValue(const bloomery::test::Operation& operation, std::ostream& out) {
  out << "{" << static_cast<int>(operation.kind) << (operation.answers ? ", answers" : "") << ",";
  for (const std::uint16_t key : operation.keys) out << " " << key;
  out << "}";
}
void showValue(const bloomery::Plan& plan, std::ostream& out) {
  out << to_string(plan.layout) << " k " << plan.hashes << " lines " << plan.blocks();
}
void showValue(const bloomery::Hasher& hasher, std::ostream& out) {
  out << "family " << static_cast<int>(hasher.family()) << " seed " << hasher.seed().low;
}
}  // namespace rc

namespace bloomery {
namespace {

TEST(Twin, BehavesAsTheNaiveFilterUnderRandomOperations) {
  const int rounds = test::nightly() ? 60 : 3;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round)
    EXPECT_TRUE(rc::check("the twins stay alike", [] {
      const Plan shape = *shapes();
      test::Twin twin(shape, *hashers());
      for (const Operation& operation : *rc::gen::container<std::vector<Operation>>(operations())) {
        twin.apply(operation);
        twin.check();
      }
    }));
}

}  // namespace
}  // namespace bloomery
