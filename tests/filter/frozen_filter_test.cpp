// Frozen filters: every size, every number of fingerprint bits, and one result for one set.
#include <bloomery/frozen_filter.hpp>

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/expect_error.hpp"

namespace bloomery {
namespace {

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = first + i;
  return keys;
}

FrozenFilter built(std::span<const std::uint64_t> keys, double fpr, unsigned threads = 1,
                   const Hasher& hasher = Hasher()) {
  FrozenBuilder builder(fpr, hasher);
  builder.insert_many(keys);
  return builder.build(threads);
}

std::vector<std::byte> bytes_of(const FrozenFilter& filter) {
  std::vector<std::byte> bytes;
  for (const auto piece : filter.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

std::uint64_t digest(const FrozenFilter& filter) {
  const auto bytes = bytes_of(filter);
  return XXH3_64bits(bytes.data(), bytes.size());
}

void expect_all_found(const FrozenFilter& filter, std::span<const std::uint64_t> keys) {
  ASSERT_EQ(filter.keys(), keys.size());
  ASSERT_EQ(filter.may_contain_many(keys), keys.size()) << keys.size() << " keys";
  for (std::size_t i = 0; i < keys.size(); i += 1 + keys.size() / 100)
    ASSERT_TRUE(filter.may_contain(keys[i])) << keys.size() << " keys";
}

// By day all sizes up to 1,500 and every 331st after it; the geometry has a step at each power of two.
TEST(FrozenFilter, FindsEveryKeyAtEverySize) {
  constexpr std::size_t kMost = 50'000;
  const std::size_t all_up_to = test::nightly() ? kMost : test::hurried() ? 300 : 1'500;
  const std::size_t step = test::hurried() ? 4'999 : 331;
  for (std::size_t size = 0; size <= kMost; size += size < all_up_to ? 1 : step)
    expect_all_found(built(keys_from(size << 32, size), 1.0 / 256), keys_from(size << 32, size));
  for (unsigned bits = 11; bits <= 15; ++bits)
    for (const std::size_t size : {(1U << bits) - 1, 1U << bits, (1U << bits) + 1})
      expect_all_found(built(keys_from(size << 32, size), 0.01), keys_from(size << 32, size));
}

TEST(FrozenFilter, FindsEveryKeyWithEveryNumberOfBits) {
  for (unsigned bits = 1; bits <= 29; ++bits)
    for (const double fpr :
         {std::ldexp(1.0, -static_cast<int>(bits)), std::ldexp(0.8, -static_cast<int>(bits))}) {
      const auto keys = keys_from(1, 3'000);
      const FrozenFilter filter = built(keys, fpr);
      expect_all_found(filter, keys);
      EXPECT_LE(filter.plan().fingerprint_fpr(), fpr);
    }
  EXPECT_EQ(built(keys_from(1, 10), 1e-9).plan().fingerprint_bits, 30U);
}

TEST(FrozenFilter, OfNoKeysHasNone) {
  const FrozenFilter none = built({}, 0.01);
  EXPECT_EQ(none.keys(), 0U);
  EXPECT_EQ(none.may_contain_many(keys_from(0, 100'000)), 0U);
  EXPECT_EQ(none.plan(), empty_frozen_plan(0.01));
  EXPECT_EQ(bytes_of(none), bytes_of(FrozenFilter(0.01)));
}

// The share of absent keys that is found is binomial with the rate that the fingerprints give: with 6000/p keys
// a difference of 10 % is 7.7 standard deviations, a false alarm below 1e-13 (Chernoff), and a rate that is 20 %
// higher is missed below 1e-11.
TEST(FrozenFilter, HasTheStatedRate) {
  for (const double fpr : {0.5, 0.3, 0.01, 0.004, 0.001}) {
    for (const std::size_t size : {100UL, 5'000UL, 300'000UL}) {
      const FrozenFilter filter = built(keys_from(0, size), fpr);
      const double said = filter.stats().current_fpr;
      EXPECT_LE(said, fpr);
      EXPECT_GT(said, fpr / 2.01);
      const auto count = static_cast<std::size_t>(6000 / said);
      const auto absent = keys_from(std::uint64_t{1} << 40, count);
      EXPECT_NEAR(static_cast<double>(filter.may_contain_many(absent)), 6000, 600)
          << size << " keys at " << fpr;
    }
  }
}

// Fingerprints of r bits: an absent key's is any of 2^r, whatever its cells hold. Bounds as above up to r = 13; from
// there on 300 are expected, and half of them more or less is a false alarm below 1e-14 (Chernoff).
TEST(FrozenFilter, HasTheRateOfEveryNumberOfBits) {
  const unsigned most = test::nightly() ? 20 : test::hurried() ? 10 : 16;
  for (unsigned bits = 1; bits <= most; ++bits) {
    const FrozenFilter filter =
        built(keys_from(0, 5'000), std::ldexp(1.0, -static_cast<int>(bits)));
    ASSERT_EQ(filter.plan().fingerprint_bits, bits);
    ASSERT_EQ(filter.plan().narrow_partitions, 0U);
    const std::uint64_t expected = bits <= 13 ? 6'000 : 300;
    std::uint64_t found = 0;
    constexpr std::uint64_t kPart = 1 << 20;
    for (std::uint64_t left = expected << bits, first = std::uint64_t{1} << 40; left != 0;) {
      const std::uint64_t part = std::min(left, kPart);
      found += filter.may_contain_many(keys_from(first, static_cast<std::size_t>(part)));
      first += part;
      left -= part;
    }
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected),
                static_cast<double>(expected) * (bits <= 13 ? 0.1 : 0.5))
        << bits << " bits";
  }
}

// Several partitions, of which some are narrow, each with as many keys as its buckets get.
TEST(FrozenFilter, MixesBitsAmongPartitions) {
  const auto keys = keys_from(0, 2'000'000);
  const FrozenFilter filter = built(keys, 0.01, 2);
  EXPECT_GT(filter.plan().narrow_partitions, 0U);
  EXPECT_LT(filter.plan().narrow_partitions, filter.plan().partitions);
  EXPECT_GT(filter.plan().fingerprint_fpr(), 0.009);
  expect_all_found(filter, keys);
  EXPECT_LT(filter.plan().array.bits_per_key(), 7.9);
}

// One partition, as many as one or two registers of a kernel have, and more; cells of every width; calls of every size up to several
// batches of a ring, on keys that are there and keys that are not.
TEST(FrozenFilter, EveryKernelAnswersAsSingleCallsDo) {
  const auto kernels = detail::kernels_of<detail::FrozenKernel>(Layout::standard);
  EXPECT_STREQ(kernels.front()->name, "scalar");
  std::vector<std::pair<std::size_t, double>> filters = {
      {0, 0.01}, {1, 0.01}, {50, 0.3}, {300'000, 0.01}, {300'000, 0.45}, {300'000, 0.49}};
  for (unsigned bits = 1; bits <= 29; ++bits)
    filters.emplace_back(2'000, std::ldexp(0.8, -static_cast<int>(bits)));
  std::set<std::uint32_t> partitions;
  for (const auto& [size, fpr] : filters) {
    FrozenFilter filter = built(keys_from(0, size), fpr);
    partitions.insert(filter.plan().partitions);
    const auto asked = keys_from(size - std::min<std::size_t>(size, 1'500), 3'000);
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
    auto keys = keys_from(7, size);
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

// A key that comes a million times is one key, and sizes its filter as one.
TEST(FrozenFilter, CountsKeysOnce) {
  const std::vector<std::uint64_t> same(1'000'000, 5);
  const FrozenFilter filter = built(same, 0.01);
  EXPECT_EQ(filter.keys(), 1U);
  EXPECT_EQ(digest(filter), digest(built(keys_from(5, 1), 0.01)));

  // Those that are equal must come to stand together, however many there are.
  std::vector<std::uint64_t> often;
  for (const std::size_t size : {20'000UL, 300'000UL}) {
    const auto once = keys_from(0, size);
    often.clear();
    for (int i = 0; i < 3; ++i) often.insert(often.end(), once.begin(), once.end());
    const FrozenFilter of_often = built(often, 0.01);
    EXPECT_EQ(of_often.keys(), size);
    EXPECT_EQ(digest(of_often), digest(built(once, 0.01)));
  }
}

// The bytes of a set are the same on every machine.
TEST(FrozenFilter, HasGoldenBytes) {
  const auto digest_of = [](std::size_t size, double fpr, const Hasher& hasher) {
    return digest(built(keys_from(1, size), fpr, 1, hasher));
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
  const FrozenFilter filter = built(keys_from(0, 20'000), 0.2);
  for (const std::size_t size : {0UL, 1UL, 63UL, 64UL, 65UL, 1'000UL, 5'000UL}) {
    const auto keys = keys_from(19'000, size);
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
    const auto keys = keys_from(0, size);
    const FrozenFilter filter = built(keys, 0.01, 2);
    const auto bytes = bytes_of(filter);
    ASSERT_EQ(bytes.size(), filter.plan().bytes());
    const FrozenFilter again =
        FrozenFilter::over(filter.plan(), filter.keys(), filter.hasher(), bytes);
    expect_all_found(again, keys);
    EXPECT_EQ(digest(again), digest(filter));
    const auto absent = keys_from(1U << 30, 10'000);
    EXPECT_EQ(again.may_contain_many(absent), filter.may_contain_many(absent));
  }
}

// Whatever the table says, look-ups stay within the bytes (a sanitizer would see) or it is refused.
TEST(FrozenFilter, BelievesNoTable) {
  const auto keys = keys_from(0, 400'000);
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
  test::expect_error(ErrorCode::corrupt, {}, [&] { with(plan, keys.size() + 1, right); });
  test::expect_error(ErrorCode::corrupt, {"bytes"},
                     [&] { with(plan, keys.size(), std::span(right).first(right.size() - 64)); });
  plan.partitions = 4096;
  test::expect_error(ErrorCode::corrupt, {}, [&] { with(plan, keys.size(), right); });
  plan = filter.plan();
  plan.fingerprint_bits = 33;
  test::expect_error(ErrorCode::invalid_argument, {}, [&] { with(plan, keys.size(), right); });
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

// The lower half of a hash counts once in a partition, so that for crafted hashes the number of keys depends on the
// partitions, which depend on the number of keys: at 1 %, 39,997 keys have four partitions, and 40,797 one.
TEST(FrozenBuilder, EndsWhateverTheHashes) {
  const auto hashes_of_set = [] {
    std::mt19937_64 random(7);
    std::vector<Hash128> hashes;
    for (int i = 0; i < 39'800; ++i) hashes.push_back({.high = random(), .low = random()});
    for (std::uint64_t i = 0; i < 150; ++i)
      for (std::uint64_t quarter = 0; quarter < 4; ++quarter)
        hashes.push_back({.high = quarter << 62, .low = i});
    return hashes;
  };
  std::vector<Hash128> hashes = hashes_of_set();
  FrozenBuilder builder(0.01);
  builder.insert_hashes(hashes);
  const FrozenFilter once = builder.build();
  EXPECT_EQ(once.may_contain_hashes(hashes), hashes.size());
  for (const std::size_t more : {std::size_t{1}, std::size_t{5'000}, hashes.size()}) {
    builder.insert_hashes(hashes);
    builder.insert_hashes(std::span(hashes).first(more));
    EXPECT_EQ(digest(builder.build(2)), digest(once)) << more;
  }
}

// Threads have a builder each; what they collected is one set, whoever had which key, and however few.
TEST(FrozenBuilder, TakesTheKeysOfOthers) {
  for (const std::size_t size : {10UL, 200'000UL}) {
    const auto keys = keys_from(0, size);
    const std::uint64_t expected = digest(built(keys, 0.01));
    for (const std::size_t at : {std::size_t{0}, size / 3, size}) {
      FrozenBuilder first(0.01), second(0.01), third(0.5);
      first.insert_many(std::span(keys).first(at));
      second.insert_many(std::span(keys).subspan(at / 2));  // some are in both
      third.insert(keys.front());
      second.merge(std::move(third));
      first.merge(std::move(second));
      first.merge(std::move(first));
      first.insert(keys.back());
      EXPECT_EQ(first.inserted(), at + (size - at / 2) + 2);
      EXPECT_EQ(second.inserted(), 0U);
      EXPECT_EQ(digest(first.build(2)), expected) << size << " keys, " << at;
      second.insert(keys.front());
      EXPECT_EQ(second.build().keys(), 1U);
    }
  }
  FrozenBuilder builder(0.01), other(0.01, Hasher(HashFamily::xxh3, {.low = 5}));
  other.insert(1);
  test::expect_error(ErrorCode::mismatch, {"hasher"}, [&] { builder.merge(std::move(other)); });
  EXPECT_EQ(other.inserted(), 1U);
}

// Each takes all that were merged before it, or gives itself to them: 200,000 calls deep, that would be the end of the
// stack. With repeats, all keys are counted bucket by bucket.
TEST(FrozenBuilder, TakesTheKeysOfVeryManyOthers) {
  const std::uint64_t builders = test::hurried() ? 80'000 : 200'000, different = builders / 4 * 3;
  FrozenBuilder all(0.01);
  for (std::uint64_t i = 0; i < builders; ++i) {
    FrozenBuilder one(0.01);
    one.insert(i % different);
    if (i % 3 == 0) {
      all.merge(std::move(one));
    } else {
      one.merge(std::move(all));
      all = std::move(one);
    }
  }
  EXPECT_EQ(all.inserted(), builders);
  const FrozenFilter filter = all.build();
  EXPECT_EQ(filter.keys(), different);
  EXPECT_EQ(digest(filter), digest(built(keys_from(0, different), 0.01)));
}

TEST(FrozenBuilder, BeginsAnewAfterBuilding) {
  FrozenBuilder builder(0.001);
  builder.insert_many(keys_from(0, 100'000));
  EXPECT_EQ(builder.inserted(), 100'000U);
  (void)builder.build();
  EXPECT_EQ(builder.inserted(), 0U);
  builder.insert("one");
  const FrozenFilter filter = builder.build();
  EXPECT_EQ(filter.keys(), 1U);
  EXPECT_TRUE(filter.may_contain("one"));
  EXPECT_FALSE(filter.may_contain("two"));
}

TEST(FrozenPlan, TakesTheBitsThatAreStated) {
  EXPECT_LE(frozen_plan(100'000'000, 0.01).array.bits_per_key(), 7.5);
  EXPECT_LE(frozen_plan(100'000'000, 0.004).array.bits_per_key(), 8.9);
  EXPECT_LE(frozen_plan(100'000'000, 0.001).array.bits_per_key(), 11.1);
  EXPECT_LE(frozen_plan(100'000'000, 1e-6).array.bits_per_key(), 22.2);
  // What is built is what was planned, as long as few partitions are tried twice.
  const FrozenFilter filter = built(keys_from(0, 1'000'000), 0.01);
  EXPECT_NEAR(filter.plan().array.bits_per_key(), frozen_plan(1'000'000, 0.01).array.bits_per_key(),
              0.1);
}

TEST(FrozenPlan, RefusesWhatCannotBe) {
  test::expect_error(ErrorCode::invalid_argument, {"0"}, [&] { (void)frozen_plan(0, 0.01); });
  test::expect_error(ErrorCode::too_large, {"2^35"},
                     [&] { (void)frozen_plan(kMaxFrozenKeys + 1, 0.01); });
  for (const double fpr : {0.0, -1.0, 0.51, 1.0, 1e-10, std::nan("")})
    test::expect_error(ErrorCode::invalid_argument, {"between"},
                       [&] { (void)frozen_plan(10, fpr); });
  test::expect_error(ErrorCode::invalid_argument, {"between"}, [&] { FrozenBuilder(0.0); });
  FrozenPlan lie = frozen_plan(1'000, 0.5);
  lie.array.fpr = 1e-9;
  test::expect_error(ErrorCode::invalid_argument, {"bits"}, [&] { validate(lie); });
  for (const double fpr : {0.5, 0.01, 1e-9})
    for (const std::uint64_t keys :
         {std::uint64_t{1}, std::uint64_t{1'000}, std::uint64_t{1} << 34})
      validate(frozen_plan(keys, fpr));
}

}  // namespace
}  // namespace bloomery
