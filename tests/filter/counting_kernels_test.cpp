// Counting kernels that disagree would lose keys on another CPU: every one is held against the
// scalar kernel, and that against the naive filter, counter by counter and answer by answer.
#include <bloomery/counting_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/counting.hpp"
#include "support/hashes.hpp"
#include "support/layouts.hpp"
#include "support/naive_counting.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

CountingFilter with_kernel(const Plan& plan, const detail::CountingKernel& kernel) {
  CountingFilter filter(plan);
  filter.use_kernel(kernel);
  return filter;
}

std::string describe(const CountingView& filter) {
  return std::to_string(filter.counter_bits()) + " bits, k " +
         std::to_string(filter.plan().hashes) + ", " + std::to_string(filter.plan().blocks()) +
         " blocks, kernel " + filter.kernel_name();
}

// Runs visit(reference, other) over a pair of empty filters for each width, hash count, size and
// kernel (the scalar one too: its bulk calls are held against its single ones).
template <class Visit>
void each_kernel(std::initializer_list<std::uint64_t> sizes, Visit visit) {
  for (const Layout layout : kNarrowLayouts)
    for (const std::uint32_t k : hash_counts(layout))
      for (const std::uint64_t size : sizes) {
        const auto kernels = detail::kernels_of<detail::CountingKernel>(layout);
        for (const detail::CountingKernel* kernel : kernels) {
          const Plan plan = plan_of(layout, size, k);
          CountingFilter reference = with_kernel(plan, *kernels.front());
          CountingFilter other = with_kernel(plan, *kernel);
          visit(reference, other);
          if (testing::Test::HasFatalFailure()) {
            ADD_FAILURE() << "with " << describe(other);
            return;
          }
        }
      }
}

TEST(CountingKernels, ScalarIsTheNaiveFilter) {
  for (const Layout layout : kNarrowLayouts)
    for (const std::uint32_t k : hash_counts(layout))
      for (const std::uint64_t size : {1, 2, 37}) {
        const Plan plan = plan_of(layout, size, k);
        CountingFilter filter =
            with_kernel(plan, *detail::kernels_of<detail::CountingKernel>(layout).front());
        NaiveCounting naive(plan);
        const std::vector<Hash128> hashes = mixed_hashes(k * 64 + size, 200);
        for (int round = 0; round < (size == 1 ? 2 : 6); ++round)
          for (const Hash128 hash : hashes) {
            ASSERT_EQ(filter.may_contain_hash(hash), naive.may_contain(hash));
            ASSERT_EQ(filter.insert_hash(hash), naive.insert(hash)) << describe(filter);
            ASSERT_EQ(filter.count_hash_at_most(hash), naive.count_at_most(hash));
          }
        Random random(k);
        for (int i = 0; i < 500; ++i) {
          const Hash128 hash = i % 2 == 0 ? random.hash() : hashes[random.below(hashes.size())];
          ASSERT_EQ(filter.remove_hash(hash), naive.remove(hash)) << describe(filter);
          ASSERT_EQ(filter.count_hash_at_most(hash), naive.count_at_most(hash));
        }
        const std::vector<std::byte> expected = naive.bytes();
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), filter.bytes().begin(),
                               filter.bytes().end()))
            << describe(filter);
      }
}

TEST(CountingKernels, SingleCallsAgree) {
  each_kernel({1, 3, 64, 1000}, [](CountingFilter& reference, CountingFilter& other) {
    const std::vector<Hash128> hashes =
        mixed_hashes(reference.plan().bits + reference.plan().hashes, 300);
    Random random(reference.plan().hashes);
    for (int i = 0; i < 1500; ++i) {
      const Hash128 hash = i % 8 == 0 ? random.hash() : hashes[random.below(hashes.size())];
      ASSERT_EQ(reference.may_contain_hash(hash), other.may_contain_hash(hash));
      ASSERT_EQ(reference.count_hash_at_most(hash), other.count_hash_at_most(hash));
      if (i % 3 == 2) {
        ASSERT_EQ(reference.remove_hash(hash), other.remove_hash(hash));
      } else {
        ASSERT_EQ(reference.insert_hash(hash), other.insert_hash(hash));
      }
    }
    ASSERT_TRUE(same_counters(reference, other));
  });
}

// Whatever a counter holds, and whatever is beside it: counted up, down or left, and no other counter
// is touched. A kernel that forgets to look at a word gives a higher rate, not a crash.
TEST(CountingKernels, EveryCounterOfAKeyIsLookedAtAndNoOther) {
  each_kernel({1, 5}, [](CountingFilter& reference, CountingFilter& other) {
    const bool four = other.counter_bits() == 4;
    const unsigned full = four ? 15 : 255;
    const auto set = [&](CountingFilter& filter, std::uint64_t counter, unsigned value) {
      std::byte& byte = filter.mutable_bytes()[four ? counter / 2 : counter];
      const unsigned shift = four ? 4 * (counter % 2) : 0;
      byte =
          (byte & ~static_cast<std::byte>(full << shift)) | static_cast<std::byte>(value << shift);
    };
    Random random(reference.plan().hashes);
    const Hash128 hash = random.hash();
    for (const std::uint64_t position : positions(other.plan(), hash))
      for (const unsigned value : {0U, 1U, 2U, full / 2, full - 1, full}) {
        for (std::size_t i = 0; i < reference.bytes().size(); ++i)
          reference.mutable_bytes()[i] = other.mutable_bytes()[i] =
              static_cast<std::byte>(random() >> 56 | (four ? 0x11 : 1));
        set(reference, position, value);
        set(other, position, value);
        ASSERT_EQ(other.may_contain_hash(hash), value != 0);
        ASSERT_EQ(other.count_hash_at_most(hash), reference.count_hash_at_most(hash));
        ASSERT_EQ(other.count_hash_at_most(hash) == 0, value == 0);
        const bool removed = reference.remove_hash(hash);
        ASSERT_EQ(other.remove_hash(hash), removed);
        // Where both blocks are one, a counter of one may be refused.
        if (value == 0 || !has_two_blocks(other.plan().layout)) {
          ASSERT_EQ(removed, value != 0);
        }
        ASSERT_TRUE(same_counters(reference, other)) << value;
        ASSERT_EQ(other.insert_hash(hash), reference.insert_hash(hash));
        ASSERT_TRUE(same_counters(reference, other)) << value;
      }
  });
}

// Where both blocks of a key are one, it may have a counter in both halves: it counts by two.
TEST(CountingKernels, AKeyMayHaveACounterTwice) {
  each_kernel({1}, [](CountingFilter&, CountingFilter& other) {
    if (!has_two_blocks(other.plan().layout) || other.plan().hashes < 16) return;
    Random random(other.plan().hashes);
    std::vector<std::uint64_t> positions;
    std::uint64_t twice = 0;
    Hash128 hash;
    const auto comes_twice = [&](std::uint64_t position) {
      return std::count(positions.begin(), positions.end(), position) == 2;
    };
    do {
      hash = random.hash();
      positions = test::positions(other.plan(), hash);
      const auto found = std::find_if(positions.begin(), positions.end(), comes_twice);
      twice = found == positions.end() ? ~std::uint64_t{0} : *found;
    } while (twice == ~std::uint64_t{0});
    const bool four = other.counter_bits() == 4;
    const auto at = four ? twice / 2 : twice;
    const auto unit = std::byte{1} << (four ? 4 * static_cast<int>(twice % 2) : 0);
    const auto times = [](std::byte one, unsigned count) {
      return static_cast<std::byte>(std::to_integer<unsigned>(one) * count);
    };
    const CountingFilter empty = other.copy();
    const std::vector<Hash128> hashes(17, hash);
    ASSERT_TRUE(other.insert_hash(hash));
    ASSERT_EQ(other.bytes()[at] & (four ? times(unit, 15) : std::byte{255}), times(unit, 2));
    ASSERT_TRUE(other.remove_hash(hash));
    ASSERT_TRUE(same_counters(other, empty));
    // Seven times two is below fifteen.
    ASSERT_EQ(other.insert_hashes(std::span(hashes).first(7)), 1U);
    ASSERT_EQ(other.remove_hashes(hashes), 7U);
    ASSERT_TRUE(same_counters(other, empty));
    // No filter that has the key has only one there.
    other.insert_hash(hash);
    other.mutable_bytes()[at] = other.bytes()[at] ^ times(unit, 3);
    const CountingFilter before = other.copy();
    ASSERT_FALSE(other.remove_hash(hash));
    ASSERT_EQ(other.remove_hashes(hashes), 0U);
    ASSERT_TRUE(same_counters(other, before));
  });
}

// Around the block of 16 keys and the ring of 8 blocks; unaligned by one key.
std::vector<std::size_t> counting_bulk_counts() {
  std::vector<std::size_t> out = {0, 1, 2, 15, 16, 17, 31, 32, 33, 50};
  for (const std::size_t middle : {112, 128, 144, 160, 256})
    for (std::size_t count = middle - 1; count <= middle + 1; ++count) out.push_back(count);
  out.push_back(1000);
  return out;
}

template <class Single, class Bulk>
void bulk_agrees(CountingFilter& reference, CountingFilter& other, bool wanted, std::size_t count,
                 Single single, Bulk bulk) {
  std::vector<bool> expected;
  for (std::size_t i = 0; i < count; ++i) expected.push_back(single(i));
  const auto answers = std::make_unique<bool[]>(count);
  const std::size_t yes = bulk(wanted ? std::span<bool>(answers.get(), count) : std::span<bool>());
  ASSERT_EQ(yes, static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true)));
  for (std::size_t i = 0; wanted && i < count; ++i) ASSERT_EQ(answers[i], expected[i]) << i;
  ASSERT_TRUE(same_counters(reference, other));
}

TEST(CountingKernels, BulkCallsAgree) {
  const std::vector<Hash128> hashes = mixed_hashes(4, 1200);
  std::vector<std::uint64_t> keys(hashes.size());
  Random source(5);
  std::generate(keys.begin(), keys.end(), source);
  const Hasher hasher;
  each_kernel({1, 67}, [&](CountingFilter& reference, CountingFilter& other) {
    if (!nightly() && reference.plan().hashes > 4 && reference.plan().hashes % 5 > 1) return;
    for (const bool wanted : {false, true})
      for (const std::size_t count : counting_bulk_counts()) {
        const std::size_t from = 1 + count % 3;
        const auto part = std::span(hashes).subspan(from, count);
        const auto part_keys = std::span(std::as_const(keys)).subspan(from, count);
        if (count % 8 == 7) reference.clear(), other.clear();
        const auto hash_of = [&](std::size_t i) { return hasher(part_keys[i]); };
        bulk_agrees(
            reference, other, wanted, count,
            [&](std::size_t i) { return reference.insert_hash(part[i]); },
            [&](auto out) { return other.insert_hashes(part, out); });
        bulk_agrees(
            reference, other, wanted, count,
            [&](std::size_t i) { return reference.insert_hash(hash_of(i)); },
            [&](auto out) { return other.insert_many(part_keys, out); });
        bulk_agrees(
            reference, other, wanted, count,
            [&](std::size_t i) {
              return reference.may_contain_hash(hashes[2 * i % hashes.size()]);
            },
            [&](auto out) {
              std::vector<Hash128> some(count);
              for (std::size_t i = 0; i < count; ++i) some[i] = hashes[2 * i % hashes.size()];
              return other.may_contain_hashes(some, out);
            });
        bulk_agrees(
            reference, other, wanted, count,
            [&](std::size_t i) { return reference.may_contain_hash(hash_of(i)); },
            [&](auto out) { return other.may_contain_many(part_keys, out); });
        const auto others = std::span(hashes).subspan(200 - from, count);
        bulk_agrees(
            reference, other, wanted, count,
            [&](std::size_t i) { return reference.remove_hash(others[i]); },
            [&](auto out) { return other.remove_hashes(others, out); });
        bulk_agrees(
            reference, other, wanted, count,
            [&](std::size_t i) { return reference.remove_hash(hash_of(i)); },
            [&](auto out) { return other.remove_many(part_keys, out); });
        if (testing::Test::HasFatalFailure()) return;
      }
  });
}

// A bulk call that loads a block, waits, and stores it again would lose what another key counted
// there meanwhile. Many keys in one block, the same key many times in one batch.
TEST(CountingKernels, NoCountIsLostWhereKeysShareABlock) {
  each_kernel({2, 1024}, [](CountingFilter& reference, CountingFilter& other) {
    Random source(7);
    std::vector<Hash128> hashes;
    for (int i = 0; i < 100; ++i) hashes.push_back({0x8000000000000000, source()});
    for (int i = 0; i < 200; ++i) hashes.push_back(hashes[source.below(hashes.size())]);
    for (int i = 0; i < 300; ++i) hashes.push_back(hashes[0]);
    for (const Hash128 hash : hashes) reference.insert_hash(hash);
    other.insert_hashes(hashes);
    ASSERT_TRUE(same_counters(reference, other));
    for (const Hash128 hash : hashes) reference.remove_hash(hash);
    ASSERT_EQ(other.remove_hashes(hashes), hashes.size());
    ASSERT_TRUE(same_counters(reference, other));
  });
}

TEST(CountingKernels, UsedAndSaturatedCountersAreCounted) {
  each_kernel({1, 3, 1001}, [](CountingFilter&, CountingFilter& other) {
    if (other.plan().hashes != 1) return;
    const bool four = other.counter_bits() == 4;
    Random source(other.plan().bits);
    std::uint64_t used = 0, saturated = 0;
    for (std::byte& byte : other.mutable_bytes()) {
      constexpr std::uint8_t kChoices[] = {0, 0, 0xFF, 0x0F, 0xF0, 1, 0x80, 0x7F, 0xFE, 0xEF};
      byte =
          static_cast<std::byte>(source() % 2 == 0 ? kChoices[source.below(10)] : source() >> 56);
      const auto value = std::to_integer<unsigned>(byte);
      used += four ? (value % 16 != 0) + (value / 16 != 0) : value != 0;
      saturated += four ? (value % 16 == 15) + (value / 16 == 15) : value == 255;
    }
    ASSERT_EQ(other.saturated_counters(), saturated);
    ASSERT_DOUBLE_EQ(other.fill(),
                     static_cast<double>(used) / static_cast<double>(other.plan().bits));
  });
}

TEST(CountingKernels, NamesAreThoseOfBlock) {
  for (const Layout layout : kNarrowLayouts) {
    const auto kernels = detail::kernels_of<detail::CountingKernel>(layout);
    const auto blocks = detail::kernels_of(Layout::blocked);
    ASSERT_EQ(kernels.size(), blocks.size());
    for (std::size_t i = 0; i < kernels.size(); ++i)
      EXPECT_STREQ(kernels[i]->name, blocks[i]->name);
    if (std::getenv("BLOOMERY_KERNEL") == nullptr) {
      EXPECT_EQ(&detail::kernel_for<detail::CountingKernel>(layout), kernels.back());
    }
  }
}

}  // namespace
}  // namespace bloomery::test
