// Random operations of a counting filter against an exact multiset and a naive filter.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/counting_twin.hpp"
#include "support/shapes.hpp"

namespace bloomery {
namespace {

using test::CountingOperation;

rc::Gen<CountingOperation> operations() {
  // Few distinct keys, so that keys meet themselves; batches over a block of the bulk calls.
  const auto key = rc::gen::weightedOneOf<std::uint16_t>(
      {{3, rc::gen::inRange<std::uint16_t>(0, 20)}, {1, rc::gen::arbitrary<std::uint16_t>()}});
  const auto few = rc::gen::container<std::vector<std::uint16_t>>(key);
  const auto many = rc::gen::container<std::vector<std::uint16_t>>(50, key);
  return rc::gen::build<CountingOperation>(
      rc::gen::set(
          &CountingOperation::kind,
          rc::gen::map(rc::gen::inRange<int>(0, CountingOperation::kinds),
                       [](int kind) { return static_cast<CountingOperation::Kind>(kind); })),
      rc::gen::set(&CountingOperation::answers, rc::gen::arbitrary<bool>()),
      rc::gen::set(&CountingOperation::keys, rc::gen::oneOf(few, many)));
}

rc::Gen<Plan> shapes() {
  return rc::gen::map(rc::gen::tuple(rc::gen::element(Layout::blocked128, Layout::blocked64),
                                     rc::gen::inRange<std::uint64_t>(1, 12),
                                     rc::gen::inRange<std::uint32_t>(1, 17)),
                      [](const std::tuple<Layout, std::uint64_t, std::uint32_t>& parts) {
                        const auto [layout, blocks, hashes] = parts;
                        return test::shape_of(layout, blocks, hashes);
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
void showValue(const bloomery::test::CountingOperation& operation, std::ostream& out) {
  out << "{" << static_cast<int>(operation.kind) << (operation.answers ? ", answers" : "") << ",";
  for (const std::uint16_t key : operation.keys) out << " " << key;
  out << "}";
}
}  // namespace rc

namespace bloomery {
namespace {

TEST(CountingTwin, BehavesAsAMultisetUnderRandomOperations) {
  const int rounds = test::nightly() ? 60 : 3;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round)
    EXPECT_TRUE(rc::check("the twins stay alike", [] {
      const Plan shape = *shapes();
      test::CountingTwin twin(shape, *hashers());
      for (const CountingOperation& operation :
           *rc::gen::container<std::vector<CountingOperation>>(operations())) {
        twin.apply(operation);
        twin.check();
      }
    }));
}

}  // namespace
}  // namespace bloomery
