// Frozen filters as contents: keys are collected, built into a list, and then go into the delta.
#include "format/empty_contents.hpp"

#include "store/kinds.hpp"
#include "support/expect_error.hpp"

#include <algorithm>

namespace bloomery::test {
namespace {

using namespace detail;

// One answer a key, which is that of a key alone, and their number; also if nobody asks for the answers.
std::vector<bool> found_in(const Contents& contents, std::span<const Hash128> hashes) {
  const std::unique_ptr<bool[]> found(new bool[hashes.size()]());
  const std::size_t count = contents.may_contain(hashes, std::span(found.get(), hashes.size()));
  std::vector<bool> answers(found.get(), found.get() + hashes.size());
  for (std::size_t i = 0; i < hashes.size(); ++i)
    EXPECT_EQ(answers[i], contents.may_contain(hashes[i])) << i;
  EXPECT_EQ(count, static_cast<std::size_t>(std::ranges::count(answers, true)));
  EXPECT_EQ(contents.may_contain(hashes, {}), count);
  return answers;
}

// More keys than a look-up takes at a time, in the list, in the delta and in neither of them, in turn.
TEST(FrozenContents, HaveTheKeysOfTheListAndOfTheDelta) {
  constexpr std::size_t kKeys = 2'000;
  const auto in_list = hashes_of(kHasher, 0, kKeys), in_delta = hashes_of(kHasher, kKeys, kKeys),
             absent = hashes_of(kHasher, 2 * kKeys, kKeys);
  std::vector<Hash128> mixed;
  for (std::size_t i = 0; i < kKeys; ++i)
    for (const auto* keys : {&in_list, &in_delta, &absent}) mixed.push_back((*keys)[i]);

  const FrozenPlan plan = frozen_plan(kKeys, 0.001, kKeys);
  const auto frozen = empty(plan);
  EXPECT_EQ(std::ranges::count(found_in(*frozen, mixed), true), 0);
  frozen->build_as(plan);
  frozen->insert(in_list, {});
  // Until it is built, it may have any key.
  EXPECT_EQ(std::ranges::count(found_in(*frozen, mixed), false), 0);
  const auto whole = frozen->complete();
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->inserted(), kKeys);
  const Stats list = whole->stats(Precision::exact);
  EXPECT_GT(list.current_fpr, 0);
  whole->insert(in_delta, {});

  const std::vector<bool> answers = found_in(*whole, mixed);
  int wrong = 0;
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    if (i % 3 == 2)
      wrong += answers[i];
    else
      EXPECT_TRUE(answers[i]) << i;
  }
  EXPECT_LE(wrong, 20) << "of 2,000 keys, 2 are expected: more than 20 by 1e-12";
  auto* const bits = dynamic_cast<BitContents*>(whole.get());
  ASSERT_NE(bits, nullptr);
  EXPECT_NEAR(static_cast<double>(bits->estimated_count()), 2 * kKeys, 0.05 * kKeys);
  const Stats both = whole->stats(Precision::exact);
  EXPECT_NEAR(both.estimated_items, 2 * kKeys, 0.05 * kKeys);
  EXPECT_EQ(both.fill, list.fill) << "that of the delta is not that of the filter";
  EXPECT_GT(both.current_fpr, list.current_fpr);
  EXPECT_EQ(whole->complete(), nullptr);
  Header header;
  whole->describe(header);
  EXPECT_EQ(header.hasher, kHasher) << "encoded, it would have other keys";
  EXPECT_EQ(header.plan, FilterPlan(plan));
  EXPECT_EQ(header.inserted, 2 * kKeys);
  whole->set_inserted(kKeys - 1);
  expect_error(ErrorCode::corrupt, {"fewer keys than its list"},
               [&] { (void)decode_contents(encode_contents(*whole)); });
}

std::unique_ptr<Contents> with_delta(const FrozenPlan& plan, std::span<const Hash128> keys) {
  const auto frozen = empty(plan);
  frozen->build_as(plan);
  if (!keys.empty()) frozen->insert(keys, {});
  return frozen->complete();
}

// However they are asked: with an answer for each, for their number, or one by one.
TEST(FrozenContents, CallThoseKeysNewThatNeitherHas) {
  constexpr std::size_t kKeys = 2'000;
  const auto in_list = hashes_of(kHasher, 0, kKeys), others = hashes_of(kHasher, kKeys, kKeys);
  const FrozenPlan plan = frozen_plan(kKeys, 0.001, kKeys);
  std::vector<Hash128> mixed;
  for (std::size_t i = 0; i < kKeys; ++i)
    for (const auto* keys : {&in_list, &others}) mixed.push_back((*keys)[i]);
  const auto answered = with_delta(plan, in_list), counted = with_delta(plan, in_list),
             single = with_delta(plan, in_list);
  EXPECT_EQ(answered->frozen()->keys(), kKeys);
  EXPECT_EQ(answered->delta()->plan(), *plan.delta);

  const std::unique_ptr<bool[]> fresh(new bool[mixed.size()]());
  const std::span<bool> room(fresh.get(), mixed.size());
  const std::size_t count = answered->insert(mixed, room);
  EXPECT_EQ(count, static_cast<std::size_t>(std::ranges::count(room, true)));
  EXPECT_GE(count, kKeys - 20) << "2 of 2,000 are false positives: more than 20 by 1e-12";
  EXPECT_EQ(counted->insert(mixed, {}), count);
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_EQ(single->insert(mixed[i]), room[i]) << i;
    if (i % 2 == 0) {
      EXPECT_FALSE(room[i]) << i;
    }
  }
  EXPECT_EQ(encode_contents(*counted), encode_contents(*answered));
  EXPECT_EQ(encode_contents(*single), encode_contents(*answered));
  EXPECT_EQ(answered->insert(mixed, room), 0U);
  EXPECT_EQ(std::ranges::count(room, true), 0);
  expect_error(ErrorCode::wrong_kind, {"a frozen filter with a delta; decode them with AnyFilter"},
               [&] { (void)decode_frozen(encode_contents(*answered)); });
}

TEST(FrozenContents, OfNoKeysHaveAnEmptyListAndADelta) {
  const FrozenPlan plan = frozen_plan(1'000, 0.001, 100);
  const auto none = with_delta(plan, {});
  ASSERT_NE(none, nullptr);
  const auto bytes = encode_contents(*none);
  const auto again = decode_contents(bytes);
  EXPECT_EQ(encode_contents(*again), bytes);
  for (Contents* each : {none.get(), again.get()}) {
    EXPECT_EQ(each->inserted(), 0U);
    EXPECT_EQ(each->frozen()->keys(), 0U);
    EXPECT_FALSE(each->may_contain(kHasher(std::uint64_t{1})));
    EXPECT_TRUE(each->insert(kHasher(std::uint64_t{1})));
    EXPECT_TRUE(each->may_contain(kHasher(std::uint64_t{1})));
    EXPECT_EQ(each->inserted(), 1U);
  }
}

TEST(FrozenContents, CollectKeysUntilTheyAreBuiltAndThenTakeNone) {
  const FrozenPlan plan = frozen_plan(1'000, 0.001);
  const auto frozen = empty(plan);
  EXPECT_FALSE(frozen->is_collecting());
  EXPECT_EQ(frozen->built_as(), nullptr);
  frozen->build_as(frozen_plan(1'000, 0.001, 10));
  ASSERT_NE(frozen->built_as(), nullptr);
  EXPECT_EQ(frozen->built_as()->delta->capacity, 10U);
  frozen->build_as(plan);
  EXPECT_EQ(frozen->built_as(), nullptr) << "without a delta it becomes the filter itself";
  EXPECT_EQ(frozen->delta(), nullptr);
  EXPECT_EQ(frozen->inserted(), 0U);
  for (std::uint64_t key = 0; key < 5; ++key)
    EXPECT_FALSE(frozen->insert(kHasher(key))) << "only the build tells which keys are new";
  EXPECT_TRUE(frozen->is_collecting());
  EXPECT_EQ(frozen->inserted(), 5U);
  EXPECT_TRUE(frozen->may_contain(kHasher(std::uint64_t{77}))) << "it is not known yet";
  EXPECT_EQ(frozen->complete(), nullptr);
  EXPECT_FALSE(frozen->is_collecting());
  EXPECT_EQ(frozen->inserted(), 5U);
  const Stats stats = frozen->stats(Precision::exact);
  EXPECT_EQ(stats.estimated_items, 5);
  EXPECT_EQ(stats.current_fpr, frozen->frozen()->stats().current_fpr);
  expect_error(ErrorCode::wrong_kind, {"takes no more keys; rebuild it"},
               [&] { (void)frozen->insert(kHasher(std::uint64_t{6})); });
  // Nor does a stored one, which nobody has told what it becomes.
  const auto stored = decode_contents(encode_contents(*frozen));
  EXPECT_EQ(stored->complete(), nullptr);
  EXPECT_EQ(stored->inserted(), 5U);
  expect_error(ErrorCode::wrong_kind, {"f: is a frozen filter; no key can be added to it"},
               [&] { stored->require(Ability::merge, "f"); });
}

// Who completes them goes on with them, and may complete them again.
TEST(FrozenContents, AreTheListWhenTheyAreComplete) {
  constexpr std::size_t kKeys = 2'000;
  const auto keys = hashes_of(kHasher, 0, kKeys), absent = hashes_of(kHasher, kKeys, kKeys);
  const FrozenPlan plan = frozen_plan(kKeys, 0.001);
  const auto frozen = empty(plan);
  frozen->build_as(plan);
  frozen->insert(keys, {});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(frozen->complete(), nullptr);
    EXPECT_EQ(frozen->inserted(), kKeys);
    EXPECT_EQ(std::ranges::count(found_in(*frozen, keys), true), kKeys);
    EXPECT_LE(std::ranges::count(found_in(*frozen, absent), true), 20);
  }
}

}  // namespace
}  // namespace bloomery::test
