// Frozen filters: every size, every number of fingerprint bits, and one result for one set.
#include <bloomery/frozen_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/expect_error.hpp"
#include "support/frozen.hpp"

namespace bloomery::test {
namespace {

void expect_all_found(const FrozenFilter& filter, std::span<const std::uint64_t> keys) {
  ASSERT_EQ(filter.keys(), keys.size());
  ASSERT_EQ(filter.may_contain_many(keys), keys.size()) << keys.size() << " keys";
  for (std::size_t i = 0; i < keys.size(); i += 1 + keys.size() / 100)
    ASSERT_TRUE(filter.may_contain(keys[i])) << keys.size() << " keys";
}

// By day all sizes up to 1,500 and every 331st after it; the geometry has a step at each power of two.
TEST(FrozenFilter, FindsEveryKeyAtEverySize) {
  constexpr std::size_t kMost = 50'000;
  const std::size_t all_up_to = nightly() ? kMost : hurried() ? 300 : 1'500;
  const std::size_t step = hurried() ? 4'999 : 331;
  for (std::size_t size = 0; size <= kMost; size += size < all_up_to ? 1 : step)
    expect_all_found(built(integers_from(size << 32, size), 1.0 / 256),
                     integers_from(size << 32, size));
  for (unsigned bits = 11; bits <= 15; ++bits)
    for (const std::size_t size : {(1U << bits) - 1, 1U << bits, (1U << bits) + 1})
      expect_all_found(built(integers_from(size << 32, size), 0.01),
                       integers_from(size << 32, size));
}

TEST(FrozenFilter, FindsEveryKeyWithEveryNumberOfBits) {
  for (unsigned bits = 1; bits <= 29; ++bits)
    for (const double fpr :
         {std::ldexp(1.0, -static_cast<int>(bits)), std::ldexp(0.8, -static_cast<int>(bits))}) {
      const auto keys = integers_from(1, 3'000);
      const FrozenFilter filter = built(keys, fpr);
      expect_all_found(filter, keys);
      EXPECT_LE(filter.plan().fingerprint_fpr(), fpr);
    }
  EXPECT_EQ(built(integers_from(1, 10), 1e-9).plan().fingerprint_bits, 30U);
}

TEST(FrozenFilter, KeepsItsKeysIfItIsMovedToItself) {
  static_assert(!std::is_copy_constructible_v<FrozenFilter>);
  const auto keys = integers_from(1, 1'000);
  FrozenFilter filter = built(keys, 0.01);
  FrozenFilter& itself = filter;
  filter = std::move(itself);
  expect_all_found(filter, keys);
  const FrozenFilter other = std::move(filter);
  expect_all_found(other, keys);
  // NOLINTNEXTLINE(bugprone-use-after-move): encode() refuses it by this
  EXPECT_TRUE(filter.pieces().empty());
}

TEST(FrozenFilter, OfNoKeysHasNone) {
  const FrozenFilter none = built({}, 0.01);
  EXPECT_EQ(none.keys(), 0U);
  EXPECT_EQ(none.may_contain_many(integers_from(0, 100'000)), 0U);
  EXPECT_EQ(none.plan(), empty_frozen_plan(0.01));
  EXPECT_EQ(bytes_of(none), bytes_of(FrozenFilter(0.01)));
}

// The share of absent keys that is found is binomial with the rate that the fingerprints give: with 6000/p keys
// a difference of 10 % is 7.7 standard deviations, a failure by chance below 1e-13 (Chernoff), and a rate that is 20 %
// higher is missed below 1e-11.
TEST(FrozenFilter, HasTheStatedRate) {
  for (const double fpr : {0.5, 0.3, 0.01, 0.004, 0.001}) {
    for (const std::size_t size : {100UL, 5'000UL, 300'000UL}) {
      const FrozenFilter filter = built(integers_from(0, size), fpr);
      const double said = filter.stats().current_fpr;
      EXPECT_FALSE(filter.stats().over_capacity);
      EXPECT_LE(said, fpr);
      EXPECT_GT(said, fpr / 2.01);
      const auto count = static_cast<std::size_t>(6000 / said);
      const auto absent = integers_from(std::uint64_t{1} << 40, count);
      EXPECT_NEAR(static_cast<double>(filter.may_contain_many(absent)), 6000, 600)
          << size << " keys at " << fpr;
    }
  }
}

// Fingerprints of r bits: an absent key's is any of 2^r, whatever its cells hold. Bounds as above up to r = 13; from
// there on 300 are expected, and half of them more or less is a failure by chance below 1e-14 (Chernoff).
TEST(FrozenFilter, HasTheRateOfEveryNumberOfBits) {
  const unsigned most = nightly() ? 20 : hurried() ? 10 : 16;
  for (unsigned bits = 1; bits <= most; ++bits) {
    const FrozenFilter filter =
        built(integers_from(0, 5'000), std::ldexp(1.0, -static_cast<int>(bits)));
    ASSERT_EQ(filter.plan().fingerprint_bits, bits);
    ASSERT_EQ(filter.plan().narrow_partitions, 0U);
    const std::uint64_t expected = bits <= 13 ? 6'000 : 300;
    std::uint64_t found = 0;
    constexpr std::uint64_t kPart = 1 << 20;
    for (std::uint64_t left = expected << bits, first = std::uint64_t{1} << 40; left != 0;) {
      const std::uint64_t part = std::min(left, kPart);
      found += filter.may_contain_many(integers_from(first, static_cast<std::size_t>(part)));
      first += part;
      left -= part;
    }
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected),
                static_cast<double>(expected) * (bits <= 13 ? 0.1 : 0.5))
        << bits << " bits";
  }
}

// Several partitions, some of them narrow, each with as many keys as its buckets get.
TEST(FrozenFilter, MixesBitsAmongPartitions) {
  const auto keys = integers_from(0, 2'000'000);
  const FrozenFilter filter = built(keys, 0.01, 2);
  EXPECT_GT(filter.plan().narrow_partitions, 0U);
  EXPECT_LT(filter.plan().narrow_partitions, filter.plan().partitions);
  EXPECT_GT(filter.plan().fingerprint_fpr(), 0.009);
  expect_all_found(filter, keys);
  EXPECT_LT(filter.plan().array.bits_per_key(), 7.9);
}

// One partition, as many as one or two registers of a kernel have, and more; cells of every width; calls of every size up
// to several batches of a ring, on keys that are there and keys that are not.
TEST(FrozenFilter, EveryKernelAnswersAsSingleCallsDo) {
  const auto kernels = detail::kernels_of<detail::FrozenKernel>(Layout::standard);
  EXPECT_STREQ(kernels.front()->name, "scalar");
  std::vector<std::pair<std::size_t, double>> filters = {
      {0, 0.01}, {1, 0.01}, {50, 0.3}, {300'000, 0.01}, {300'000, 0.45}, {300'000, 0.49}};
  for (unsigned bits = 1; bits <= 29; ++bits)
    filters.emplace_back(2'000, std::ldexp(0.8, -static_cast<int>(bits)));
  std::set<std::uint32_t> partitions;
  for (const auto& [size, fpr] : filters) {
    FrozenFilter filter = built(integers_from(0, size), fpr);
    partitions.insert(filter.plan().partitions);
    const auto asked = integers_from(size - std::min<std::size_t>(size, 1'500), 3'000);
    std::vector<Hash128> hashes;
    std::vector<char> expected;
    for (const std::uint64_t key : asked) {
      hashes.push_back(filter.hash(key));
      expected.push_back(filter.may_contain(key) ? 1 : 0);
    }
    for (const detail::FrozenKernel* kernel : kernels) {
      filter.use_kernel(*kernel);
      for (std::size_t count = 0; count <= asked.size(); count += count < 170 ? 1 : 283) {
        const std::size_t first = (asked.size() - count) / 2;
        std::vector<char> of_keys(count, 2), of_hashes(count, 2);
        const std::vector<char> wanted(
            expected.begin() + static_cast<std::ptrdiff_t>(first),
            expected.begin() + static_cast<std::ptrdiff_t>(first + count));
        const auto yes = static_cast<std::size_t>(std::ranges::count(wanted, 1));
        const auto some_keys = std::span(asked).subspan(first, count);
        const auto some_hashes = std::span(hashes).subspan(first, count);
        ASSERT_EQ(filter.may_contain_many(some_keys, of_keys), yes);
        ASSERT_EQ(filter.may_contain_hashes(some_hashes, of_hashes), yes);
        ASSERT_EQ(filter.may_contain_many(some_keys), yes);
        ASSERT_EQ(of_keys, wanted) << kernel->name << ", " << size << " keys at " << fpr;
        ASSERT_EQ(of_hashes, wanted) << kernel->name << ", " << size << " keys at " << fpr;
      }
    }
  }
  for (const std::uint32_t count : {1, 4, 9, 21}) EXPECT_TRUE(partitions.contains(count)) << count;
}

TEST(FrozenFilter, IsOneForOneSet) {
  for (const std::size_t size : {1UL, 10UL, 1'000UL, 70'000UL, 400'000UL}) {
    auto keys = integers_from(7, size);
    const std::uint64_t expected = digest(built(keys, 0.01));
    std::mt19937_64 random(size);
    std::ranges::shuffle(keys, random);
    EXPECT_EQ(digest(built(keys, 0.01)), expected);
    for (unsigned threads = 0; threads <= 16; ++threads)
      EXPECT_EQ(digest(built(keys, 0.01, threads)), expected) << threads;
    // One key twice, which no sample of the keys need show.
    keys.push_back(keys[size / 2]);
    EXPECT_EQ(digest(built(keys, 0.01)), expected);
    keys.pop_back();
    // Each key twice, and one key very often.
    keys.insert(keys.end(), keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(size));
    keys.insert(keys.end(), 10'000, keys.front());
    std::ranges::shuffle(keys, random);
    const FrozenFilter filter = built(keys, 0.01, 2);
    EXPECT_EQ(digest(filter), expected);
    EXPECT_EQ(filter.keys(), size);
  }
}

// At this rate there are partitions for more than 16 threads; the different keys are counted by all of 64.
TEST(FrozenFilter, IsOneByUpToSixtyFourThreads) {
  constexpr double kFpr = 0.49;
  auto keys = integers_from(7, 400'000);
  const FrozenFilter one = built(keys, kFpr);
  ASSERT_GT(one.plan().partitions, 16U);
  keys.insert(keys.end(), keys.begin(), keys.begin() + 1'000);
  for (const unsigned threads : {4U, 8U, 16U, 32U, 64U}) {
    EXPECT_EQ(digest(built(std::span(keys).first(400'000), kFpr, threads)), digest(one)) << threads;
    const FrozenFilter of_repeats = built(keys, kFpr, threads);
    EXPECT_EQ(digest(of_repeats), digest(one)) << threads;
    EXPECT_EQ(of_repeats.plan(), one.plan()) << threads;
  }
}

// A key that comes a million times is one key, and sizes its filter as one.
TEST(FrozenFilter, CountsKeysOnce) {
  const std::vector<std::uint64_t> same(1'000'000, 5);
  const FrozenFilter filter = built(same, 0.01);
  EXPECT_EQ(filter.keys(), 1U);
  EXPECT_EQ(digest(filter), digest(built(integers_from(5, 1), 0.01)));

  // Those that are equal must come to stand together, however many there are.
  std::vector<std::uint64_t> often;
  for (const std::size_t size : {20'000UL, 300'000UL}) {
    const auto once = integers_from(0, size);
    often.clear();
    for (int i = 0; i < 3; ++i) often.insert(often.end(), once.begin(), once.end());
    const FrozenFilter of_often = built(often, 0.01);
    EXPECT_EQ(of_often.keys(), size);
    EXPECT_EQ(digest(of_often), digest(built(once, 0.01)));
  }
  if (!nightly()) return;
  // Only the number of partitions differs between the plans of both numbers of keys.
  const auto once = integers_from(0, 10'000'000);
  often = once;
  often.insert(often.end(), once.begin(), once.begin() + 200'000);
  ASSERT_NE(frozen_plan(often.size(), 1.0 / 128).partitions,
            frozen_plan(once.size(), 1.0 / 128).partitions);
  ASSERT_EQ(frozen_plan(often.size(), 1.0 / 128).narrow_partitions, 0U);
  EXPECT_EQ(digest(built(often, 1.0 / 128)), digest(built(once, 1.0 / 128)));
}

// The bytes of a set are the same on every machine.
TEST(FrozenFilter, HasGoldenBytes) {
  const auto digest_of = [](std::size_t size, double fpr, const Hasher& hasher) {
    return digest(built(integers_from(1, size), fpr, 1, hasher));
  };
  const Hasher siphash(HashFamily::siphash, {.low = 1, .high = 2});
  EXPECT_EQ(digest_of(0, 0.01, Hasher()), 0x2FFB6918C12C256EU);
  EXPECT_EQ(digest_of(1, 0.01, Hasher()), 0xCEFE4F6FE0EA5C20U);
  EXPECT_EQ(digest_of(1'000, 0.01, Hasher()), 0xE2B90ED332AC2344U);
  EXPECT_EQ(digest_of(1'000, 1e-9, siphash), 0xC68EC1F36843DFE0U);
  EXPECT_EQ(digest_of(100'000, 0.3, Hasher()), 0x7EF66D63FC91642AU);
  EXPECT_EQ(digest_of(1'000'000, 0.01, Hasher()), 0xE076FD49F8B17A9CU);
}

TEST(FrozenFilter, AnswersTheSameInBulk) {
  const FrozenFilter filter = built(integers_from(0, 20'000), 0.2);
  for (const std::size_t size : {0UL, 1UL, 63UL, 64UL, 65UL, 1'000UL, 5'000UL}) {
    const auto keys = integers_from(19'000, size);
    const auto answers = std::make_unique<bool[]>(size);
    std::size_t count = 0;
    const std::size_t found = filter.may_contain_many(keys, std::span(answers.get(), size));
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(answers[i], filter.may_contain(keys[i])) << i;
      count += answers[i] ? 1 : 0;
    }
    EXPECT_EQ(found, count);
    EXPECT_EQ(filter.may_contain_many(keys), count);
  }
}

TEST(FrozenFilter, IsOverBytesWhatItWas) {
  for (const std::size_t size : {0UL, 1UL, 1'000UL, 1'000'000UL}) {
    const auto keys = integers_from(0, size);
    const FrozenFilter filter = built(keys, 0.01, 2);
    auto bytes = bytes_of(filter);
    ASSERT_EQ(bytes.size(), filter.plan().bytes());
    FrozenFilter again = FrozenFilter::over(filter.plan(), filter.keys(), filter.hasher(), bytes);
    expect_all_found(again, keys);
    EXPECT_EQ(digest(again), digest(filter));
    const auto absent = integers_from(1U << 30, 10'000);
    EXPECT_EQ(again.may_contain_many(absent), filter.may_contain_many(absent));

    const auto elsewhere = bytes;
    again.moved_to(elsewhere);
    std::ranges::fill(bytes, std::byte{});
    expect_all_found(again, keys);
    EXPECT_EQ(digest(again), digest(filter));
  }
}

// Crafted hashes leave the partitions before theirs empty.
TEST(FrozenFilter, HasPartitionsWithoutKeys) {
  std::mt19937_64 random(3);
  std::vector<Hash128> hashes;
  for (int i = 0; i < 300'000; ++i)
    hashes.push_back({.high = ~std::uint64_t{0} - (random() >> 40), .low = random()});
  FrozenBuilder builder(0.01);
  builder.insert_hashes(hashes);
  const FrozenFilter filter = builder.build();
  ASSERT_GT(filter.plan().partitions, 2U);
  EXPECT_EQ(filter.may_contain_hashes(hashes), hashes.size());
  EXPECT_FALSE(filter.may_contain_hash({.high = 0, .low = 0}));
  const auto bytes = bytes_of(filter);
  const FrozenFilter again =
      FrozenFilter::over(filter.plan(), filter.keys(), filter.hasher(), bytes);
  EXPECT_EQ(again.may_contain_hashes(hashes), hashes.size());
  EXPECT_EQ(digest(again), digest(filter));
  for (std::size_t at = 0; at < 32; ++at) {
    auto wrong = bytes;  // its first partition has no keys
    wrong[at] = std::byte{1};
    expect_error(ErrorCode::corrupt, {}, [&] {
      (void)FrozenFilter::over(filter.plan(), filter.keys(), filter.hasher(), wrong);
    });
  }
}

// Whatever the table says, look-ups stay within the bytes (a sanitizer would see) or it is refused.
TEST(FrozenFilter, BelievesNoTable) {
  const auto keys = integers_from(0, 400'000);
  const FrozenFilter filter = built(keys, 0.01);
  ASSERT_GT(filter.plan().partitions, 1U);
  const auto right = bytes_of(filter);
  const std::size_t table = filter.plan().partitions * 32;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < table; ++at)
    for (const unsigned flip : {1U, 128U, 255U}) {
      auto bytes = right;
      bytes[at] ^= static_cast<std::byte>(flip);
      try {
        const auto wrong = FrozenFilter::over(filter.plan(), filter.keys(), filter.hasher(), bytes);
        (void)wrong.may_contain_many(std::span(keys).first(2'000));
        EXPECT_TRUE(at % 32 >= 16 && at % 32 < 24) << "byte " << at << " is not of a seed";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::corrupt);
        ++refused;
      }
    }
  EXPECT_GE(refused, table / 32 * 24 * 3);
  const auto with = [&](FrozenPlan plan, std::uint64_t count, std::span<const std::byte> bytes) {
    (void)FrozenFilter::over(plan, count, filter.hasher(), bytes);
  };
  FrozenPlan plan = filter.plan();
  expect_error(ErrorCode::corrupt, {}, [&] { with(plan, keys.size() + 1, right); });
  expect_error(ErrorCode::corrupt, {"bytes"},
               [&] { with(plan, keys.size(), std::span(right).first(right.size() - 64)); });
  plan.partitions = 4096;
  expect_error(ErrorCode::corrupt, {}, [&] { with(plan, keys.size(), right); });
  plan = frozen_plan(keys.size(), 0.01, 100);
  expect_error(ErrorCode::invalid_argument, {"list()"}, [&] { with(plan, keys.size(), right); });
  plan = filter.plan();
  plan.fingerprint_bits = 33;
  expect_error(ErrorCode::invalid_argument, {}, [&] { with(plan, keys.size(), right); });
}

// Keys with one hash are one key; hashes that agree in one half are not.
TEST(FrozenFilter, TakesHashesThatAgreeInOneHalf) {
  FrozenBuilder builder(0.001);
  std::vector<Hash128> hashes;
  for (std::uint64_t i = 0; i < 2'000; ++i) hashes.push_back({.high = 5, .low = i});
  for (std::uint64_t i = 0; i < 2'000; ++i) hashes.push_back({.high = i << 50, .low = 77});
  builder.insert_hashes(hashes);
  const FrozenFilter filter = builder.build();
  EXPECT_EQ(filter.may_contain_hashes(hashes), hashes.size());
}

}  // namespace
}  // namespace bloomery::test
