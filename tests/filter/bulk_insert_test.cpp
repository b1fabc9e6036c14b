// Inserts of one call by several threads: the bits and counters of one thread, and its answers.
#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/counting.hpp"
#include "support/effort.hpp"
#include "support/layouts.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

constexpr std::size_t kOfAThread = 65'536;  // fewer keys are not shared out
// For three threads, under a sanitizer for two; the rest is not divided evenly.
const std::size_t kCount = (hurried() ? 2 : 3) * kOfAThread + 777;
constexpr std::size_t kOfSixtyFour = 64 * kOfAThread + 12'345;

using Keys = std::vector<std::uint64_t>;

// One in four comes again.
Keys some_keys(std::size_t count) {
  Keys keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = mix(i % 4 == 3 ? i / 2 : i);
  return keys;
}

struct Answers {
  explicit Answers(std::size_t count) : size(count), of(std::make_unique<bool[]>(count + 1)) {
    of[count] = true;
  }
  [[nodiscard]] std::span<bool> span() const { return {of.get(), size}; }
  [[nodiscard]] std::size_t yes() const {
    EXPECT_TRUE(of[size]) << "beyond the end";
    return static_cast<std::size_t>(std::ranges::count(span(), true));
  }
  bool operator==(const Answers& other) const { return std::ranges::equal(span(), other.span()); }
  std::size_t size;
  std::unique_ptr<bool[]> of;
};

template <class F>
bool same(const F& a, const F& b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

// `exactly`: the answers are those of one thread. Otherwise no key is told twice that it is new.
template <class F, class Range>
void expect_inserts_of_one_thread(F& filter, const Range& keys, bool exactly,
                                  std::initializer_list<unsigned> several = {2, 3}) {
  filter.clear();
  Answers one(keys.size());
  const std::size_t count = filter.insert_many(keys, one.span());
  const F expected = filter.copy();
  for (const unsigned threads : several) {
    if (hurried() && threads != *several.begin()) continue;
    SCOPED_TRACE(std::to_string(threads) + " threads");
    filter.clear();
    const std::size_t without = filter.insert_many(keys, {}, threads);
    ASSERT_TRUE(same(filter, expected));
    filter.clear();
    Answers answers(keys.size());
    const std::size_t yes = filter.insert_many(keys, answers.span(), threads);
    EXPECT_EQ(yes, answers.yes());
    ASSERT_TRUE(same(filter, expected));
    if (exactly) {
      EXPECT_EQ(without, count);
      EXPECT_TRUE(answers == one);
    }
  }
}

TEST(BulkInsert, OfEveryKernelGivesTheBitsOfOneThread) {
  const Keys keys = some_keys(kCount);
  for (const Layout layout : kLayouts)
    for (const std::uint64_t blocks : {1, 2, 1'009, 40'000}) {
      if (hurried() && blocks != 1'009) continue;
      const Plan some = plan_of(layout, blocks, 10);
      for (const detail::Kernel* kernel : detail::kernels_of(layout)) {
        if (hurried() && kernel != detail::kernels_of(layout).back()) continue;
        Filter filter = with_kernel(some, *kernel);
        SCOPED_TRACE(describe(filter));
        expect_inserts_of_one_thread(filter, keys,
                                     !has_two_blocks(layout) && layout != Layout::standard);
      }
    }
}

TEST(BulkInsert, OfEveryCountingKernelGivesTheCountersOfOneThread) {
  Keys keys = some_keys(kCount);
  std::fill_n(keys.begin() + 1'000, 300, keys[0]);  // until its counters are full
  for (const Layout layout : kNarrowLayouts)
    for (const std::uint64_t blocks : {1, 2, 1'009, 10'000}) {
      if (hurried() && blocks != 1'009) continue;
      CountingFilter filter(plan_of(layout, blocks, 10));
      for (const detail::CountingKernel* kernel :
           detail::kernels_of<detail::CountingKernel>(layout)) {
        if (hurried() && kernel != detail::kernels_of<detail::CountingKernel>(layout).back())
          continue;
        filter.use_kernel(*kernel);
        SCOPED_TRACE(std::string(to_string(layout)) + ", " + kernel->name);
        expect_inserts_of_one_thread(filter, keys, !has_two_blocks(layout));
      }
    }
}

TEST(BulkInsert, TakesTextAndOtherHashes) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kCount; ++i)
    texts.push_back("key " + std::to_string(i % (kCount - 7'000)));
  std::vector<std::int16_t> small(kCount);
  for (std::size_t i = 0; i < kCount; ++i) small[i] = static_cast<std::int16_t>(mix(i));
  const Hasher hashers[] = {Hasher(HashFamily::xxh3, {.low = 7, .high = 0}),
                            Hasher(HashFamily::siphash, {.low = 7, .high = 9})};
  for (const Hasher& hasher : hashers)
    for (const Layout layout : kPlainLayouts) {
      if (hurried() && layout != Layout::blocked) continue;
      Filter filter(plan(200'000, 1e-4, layout), hasher);
      SCOPED_TRACE(describe(filter));
      const bool exactly = layout == Layout::blocked;
      expect_inserts_of_one_thread(filter, texts, exactly);
      expect_inserts_of_one_thread(filter, small, exactly);
      expect_inserts_of_one_thread(filter, some_keys(kCount), exactly);
    }
}

// A twentieth of the capacity at 1e-6: an absent key with k = 18 is found with a probability below 1e-6 / 10^18,
// so that none of 400,000 is.
TEST(BulkInsert, EachKeyIsNewOnceWhereItHasTwoBlocks) {
  const Keys once = [] {
    Keys keys(kCount);
    for (std::size_t i = 0; i < kCount; ++i) keys[i] = i;
    return keys;
  }();
  Keys twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  Filter filter(plan(20 * kCount, 1e-6, Layout::blocked2));
  for (const unsigned threads : {2U, 3U, 6U}) {
    if (hurried() && threads != 3) continue;
    filter.clear();
    Answers answers(twice.size());
    EXPECT_EQ(filter.insert_many(twice, answers.span(), threads), kCount);
    EXPECT_EQ(std::ranges::count(answers.span().first(kCount), true), kCount) << "the first ones";
    EXPECT_EQ(filter.insert_many(twice, answers.span(), threads), 0U);
    EXPECT_EQ(answers.yes(), 0U);
  }
}

// Every key in one block, one list and chunk after chunk of it.
TEST(BulkInsert, OfOneKeyManyTimes) {
  const Keys keys(kCount, 42);
  for (const Layout layout : kPlainLayouts) {
    Filter filter(plan(1'000'000, 1e-3, layout));
    SCOPED_TRACE(describe(filter));
    expect_inserts_of_one_thread(filter, keys, layout == Layout::blocked);
    filter.clear();
    if (layout != Layout::standard) {
      EXPECT_EQ(filter.insert_many(keys, {}, 3), 1U);
    }
  }
  for (const std::uint32_t width : kWidths) {
    CountingFilter filter(100'000, 0.01, width);
    expect_inserts_of_one_thread(filter, keys, true);
    EXPECT_EQ(filter.count_at_most(42), kUncounted);
  }
}

// More threads than cores, and with 32 more keys than are divided at a time. Each thread has keys, and each filter has
// regions for all threads. Under a sanitizer one layout has two rounds, of two threads, and the other one more threads
// than cores.
TEST(BulkInsert, ByOneToSixtyFourThreadsInRounds) {
  static_assert(kOfSixtyFour > 2 * detail::kMostDivided);
  const Keys all = some_keys(hurried() ? 16 * kOfAThread + 12'345 : kOfSixtyFour);
  const auto expect_inserts = [&](auto& filter, bool exactly) {
    if (hurried()) {
      const bool in_rounds = filter.plan().layout == Layout::blocked;
      const auto keys = std::span(all).first(in_rounds ? all.size() : 8 * kOfAThread + 12'345);
      return expect_inserts_of_one_thread(filter, keys, exactly, {in_rounds ? 2U : 8U});
    }
    const bool few = !nightly() && filter.plan().layout != Layout::blocked;
    for (const unsigned threads : {0U, 1U, 4U, 8U, 16U, 32U, 64U}) {
      const bool is_between = threads == 16 || threads == 32;
      if (threads != 64 && (few || (is_between && !nightly()))) continue;
      const auto keys = std::span(all).first(std::max(threads, 4U) * kOfAThread + 12'345);
      expect_inserts_of_one_thread(filter, keys, exactly, {threads});
    }
  };
  for (const Layout layout : kLayouts) {
    if (hurried() && layout != Layout::blocked && layout != Layout::blocked2) continue;
    Filter filter(plan(kOfSixtyFour, 0.01, layout));
    SCOPED_TRACE(describe(filter));
    expect_inserts(filter, !has_two_blocks(layout) && layout != Layout::standard);
  }
  for (const Layout layout : kNarrowLayouts) {
    // For another kernel the keys are divided in the same way.
    if (!nightly() && layout != Layout::blocked128 && layout != Layout::blocked2x128) continue;
    if (hurried()) continue;
    CountingFilter filter(plan(kOfSixtyFour, 0.01, layout));
    SCOPED_TRACE("counting, " + std::string(to_string(layout)));
    expect_inserts(filter, !has_two_blocks(layout));
  }
}

// The keys of a round take half of the bytes of a large array: 3 million of them here, and there are two rounds.
TEST(BulkInsert, IntoALargeArrayInLargeRounds) {
  if (hurried()) GTEST_SKIP() << "the steps are those of small rounds";
  constexpr std::uint64_t kBlocksOf48MiB = (std::uint64_t{48} << 20) / 64;
  static_assert(kOfSixtyFour > std::size_t{24 << 20} / sizeof(std::uint64_t));
  Filter filter(plan_of(Layout::blocked, kBlocksOf48MiB, 8));
  expect_inserts_of_one_thread(filter, some_keys(kOfSixtyFour), true, {2});
}

// What the counts of threads alone do not show: that the keys are shared out.
TEST(BulkInsert, SharesOutWhatIsWorthIt) {
  const Keys keys = some_keys(2 * kOfAThread);
  Filter filter(plan(keys.size(), 0.01)), one_block(plan_of(Layout::blocked, 1, 8));
  const auto shares = [&](const Filter& into, std::size_t count, unsigned threads) {
    const auto target =
        detail::bulk_target(into.plan().layout, into.bit_array(), into.hasher(), into.kernel());
    return detail::insert_by_threads(target, {count, keys.data()}, nullptr, threads).has_value();
  };
  EXPECT_TRUE(shares(filter, keys.size(), 2));
  EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  filter.clear();
  EXPECT_FALSE(shares(filter, keys.size() - 1, 2));
  EXPECT_FALSE(shares(filter, keys.size(), 1));
  EXPECT_FALSE(shares(one_block, keys.size(), 2));
  // Without a number: by several threads, unless the array is in a core's cache.
  EXPECT_FALSE(shares(filter, keys.size(), 0));
  EXPECT_EQ(filter.fill(), 0);
  constexpr std::uint64_t kBlocksOf12MiB = (std::uint64_t{12} << 20) / 64;
  Filter below(plan_of(Layout::blocked, kBlocksOf12MiB - 1, 8)),
      large(plan_of(Layout::blocked, kBlocksOf12MiB, 8));
  EXPECT_FALSE(shares(below, keys.size(), 0));
  EXPECT_EQ(shares(large, keys.size(), 0), std::thread::hardware_concurrency() > 1);
  EXPECT_TRUE(shares(below, keys.size(), 2));
}

TEST(BulkInsert, OfNoKeysOrIntoAFilterThatWasMovedFrom) {
  Filter filter(1'000, 0.01);
  EXPECT_EQ(filter.insert_many(Keys(), {}, 4), 0U);
  EXPECT_EQ(filter.fill(), 0);
  const Filter taken = std::move(filter);
  EXPECT_EQ(filter.insert_many(some_keys(kCount), {}, 4), 0U);  // NOLINT(bugprone-use-after-move)
}

TEST(BulkInsert, WithTooLittleRoomIsAnErrorAndChangesNothing) {
  const Keys keys = some_keys(kCount);
  Filter filter(kCount, 0.01);
  CountingFilter counting(kCount, 0.01);
  Answers answers(kCount - 1);
  EXPECT_THROW((void)filter.insert_many(keys, answers.span(), 2), Error);
  EXPECT_THROW((void)counting.insert_many(keys, answers.span(), 2), Error);
  std::vector<bool> copied(kCount - 1);
  EXPECT_THROW((void)filter.insert_many(keys, copied, 2), Error);
  EXPECT_EQ(filter.fill(), 0);
  EXPECT_EQ(counting.fill(), 0);
  copied.resize(kCount);
  const std::size_t count = filter.insert_many(keys, copied, 2);
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(copied, true)), count);
  EXPECT_GT(count, kCount / 2);
}

}  // namespace
}  // namespace bloomery::test
