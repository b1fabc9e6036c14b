// A Hasher: which keys are equal, which seeds it takes, and what it refuses.
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/hash.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/colliding_lines.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

const Hasher& some_hasher(HashFamily family) {
  static const Hasher xxh3;
  static const Hasher siphash(HashFamily::siphash, {.low = 1, .high = 2});
  return family == HashFamily::xxh3 ? xxh3 : siphash;
}

class EachFamily : public testing::TestWithParam<HashFamily> {};
INSTANTIATE_TEST_SUITE_P(Hasher, EachFamily, testing::Values(HashFamily::xxh3, HashFamily::siphash),
                         [](const auto& param) {
                           return param.param == HashFamily::xxh3 ? "xxh3" : "siphash";
                         });

// A character is no integer: char is signed on one CPU and unsigned on the next.
static_assert(!std::is_invocable_v<const Hasher&, char>);
static_assert(!std::is_invocable_v<const Hasher&, char32_t>);

TEST_P(EachFamily, IntegersHashByValueWhateverTheirType) {
  const Hasher& hasher = some_hasher(GetParam());
  const Hash128 expected = hasher(std::uint64_t{97});
  EXPECT_EQ(hasher(97), expected);
  EXPECT_EQ(hasher(std::int8_t{97}), expected);
  EXPECT_EQ(hasher(std::uint16_t{97}), expected);
  EXPECT_EQ(hasher(-1), hasher(~std::uint64_t{0}));
  EXPECT_EQ(hasher(std::int8_t{-5}), hasher(std::int64_t{-5}));
  EXPECT_NE(hasher(std::uint32_t{0xFFFFFFFF}), hasher(-1));
}

TEST_P(EachFamily, BytesHashByContentWhateverTheirTypeAndAddress) {
  const Hasher& hasher = some_hasher(GetParam());
  const Filter filter(plan(100, 0.01), hasher);
  const std::string text = "a key that is longer than sixteen bytes";
  const Hash128 expected = hasher(std::string_view(text));
  EXPECT_EQ(hasher(std::as_bytes(std::span(text))), expected);
  EXPECT_EQ(filter.hash(text), expected);
  EXPECT_EQ(filter.hash(text.c_str()), expected);
  EXPECT_EQ(filter.hash(std::string_view(text)), expected);
  EXPECT_EQ(filter.hash(std::as_bytes(std::span(text))), expected);
  for (std::size_t offset = 0; offset < 17; ++offset) {
    const std::string padded = std::string(offset, 'x') + text;
    EXPECT_EQ(hasher(std::string_view(padded).substr(offset)), expected) << offset;
  }
}

TEST_P(EachFamily, KeysHoldAnyBytes) {
  const Hasher& hasher = some_hasher(GetParam());
  using namespace std::string_view_literals;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  for (const std::string_view key :
       {""sv, "\0"sv, "\0\0"sv, "a"sv, "a\0"sv, "\0a"sv, "A"sv, "\xFF"sv}) {
    const Hash128 hash = hasher(key);
    EXPECT_TRUE(seen.emplace(hash.high, hash.low).second);
  }
  EXPECT_EQ(hasher(std::string_view()), hasher(""sv));
}

TEST_P(EachFamily, TheSeedChangesEveryHash) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::vector<Seed> seeds = {{.low = 0, .high = 0}};
  for (unsigned bit = 0; bit < 64; ++bit)
    seeds.push_back({.low = std::uint64_t{1} << bit, .high = 0});
  if (GetParam() == HashFamily::siphash)
    for (unsigned bit = 0; bit < 64; ++bit)
      seeds.push_back({.low = 0, .high = std::uint64_t{1} << bit});
  for (const Seed& seed : seeds) {
    const Hasher hasher(GetParam(), seed);
    EXPECT_EQ(hasher.seed(), seed);
    EXPECT_EQ(hasher.family(), GetParam());
    const Hash128 integer = hasher(7), text = hasher(std::string_view("seven"));
    EXPECT_TRUE(seen.emplace(integer.high, integer.low).second);
    EXPECT_TRUE(seen.emplace(text.high, text.low).second);
  }
}

TEST(Hasher, RefusesWhatXxh3CannotTake) {
  expect_error(ErrorCode::invalid_argument, {"64-bit seed", "siphash"},
               [] { Hasher(HashFamily::xxh3, {.low = 1, .high = 1}); });
}

TEST(Hasher, RefusesAnUnknownFamily) {
  for (const int family : {0, 3, 255})
    expect_error(ErrorCode::invalid_argument, {"use xxh3 or siphash"},
                 [&] { Hasher(static_cast<HashFamily>(family)); });
}

TEST(Hasher, IsEqualToOneOfTheSameFamilyAndSeed) {
  const Hasher all[] = {Hasher(), Hasher(HashFamily::xxh3, {.low = 1}),
                        Hasher(HashFamily::siphash, {.low = 1}),
                        Hasher(HashFamily::siphash, {.low = 1, .high = 2}),
                        Hasher(HashFamily::siphash, {.low = 2, .high = 2})};
  for (const Hasher& one : all)
    for (const Hasher& other : all) EXPECT_EQ(one == other, &one == &other);
  EXPECT_EQ(all[3], Hasher(HashFamily::siphash, {.low = 1, .high = 2}));
}

TEST(Hasher, RandomSeedsDifferAndFitTheirFamily) {
  const Seed one = random_seed(HashFamily::xxh3), two = random_seed(HashFamily::xxh3);
  EXPECT_NE(one, two);
  EXPECT_EQ(one.high, 0U);
  EXPECT_NO_THROW(Hasher(HashFamily::xxh3, one));
  const Seed keyed = random_seed(HashFamily::siphash);
  EXPECT_NE(keyed.high, 0U);
  EXPECT_NE(keyed.high, keyed.low);
}

// What docs/configuration.md says of a seed of xxh3: half of it makes keys that collide. (Of a guess that
// is near that half some still do.)
TEST(Hasher, HalfOfASeedOfXxh3MakesKeysThatCollide) {
  for (const std::uint64_t seed : {0x0ULL, 0x1ULL, 0x5EED00000000ULL, 0xFEDCBA9876543210ULL}) {
    const auto lines = colliding_lines(static_cast<std::uint32_t>(seed), 1000);
    EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), 1000U);
    const Hasher known(HashFamily::xxh3, {.low = seed});
    const Hasher same_half(HashFamily::xxh3, {.low = seed ^ 0xABCDEF0100000000});
    const Hasher other_half(HashFamily::xxh3, {.low = seed ^ 0x5A5A5A5A});
    const Hasher siphash(HashFamily::siphash, {.low = seed});
    std::set<std::uint64_t> of_known, of_same, of_other, of_siphash;
    for (const std::string& line : lines) {
      of_known.insert(known(line).low);
      of_same.insert(same_half(line).low);
      of_other.insert(other_half(line).low);
      of_siphash.insert(siphash(line).low);
    }
    EXPECT_EQ(of_known.size(), 1U);
    EXPECT_EQ(of_same.size(), 1U);
    EXPECT_EQ(of_other.size(), 1000U);
    EXPECT_EQ(of_siphash.size(), 1000U);
  }
}

}  // namespace
}  // namespace bloomery::test
