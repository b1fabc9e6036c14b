// PHP's filters: positions, bits in the order of a Redis string, answers, and what is refused.
#include <bloomery/error.hpp>
#include <bloomery/php_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "legacy/php_crc32_mt.hpp"
#include "legacy/php_golden.hpp"
#include "legacy/random_keys.hpp"
#include "support/hex.hpp"
#include "support/read_once.hpp"

namespace bloomery::test {
namespace {

std::vector<std::uint64_t> positions(const PhpScheme& scheme, std::string_view key) {
  std::vector<std::uint64_t> offsets(scheme.hash_count());
  scheme.positions(key, offsets);
  return offsets;
}

std::string refusal(auto&& make) {
  try {
    make();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(PhpScheme, DrawsThePositionsThatPhpPrinted) {
  const auto vectors = php_vectors();
  ASSERT_EQ(vectors["mt"].size(), 320U);
  for (const auto& vector : vectors["mt"]) {
    const std::string key = from_hex(vector["key_hex"].get<std::string>());
    const auto scheme = PhpScheme::crc32_mt(vector["m"], vector["n"]);
    EXPECT_EQ(scheme.hash_count(), vector["k"]);
    EXPECT_EQ(detail::crc32(key), vector["crc32"]);
    EXPECT_EQ(positions(scheme, key), vector["positions"].get<std::vector<std::uint64_t>>());
  }
}

TEST(PhpScheme, TwisterIsMt19937) {
  for (const std::uint32_t seed : {0U, 1U, 5489U, 0x80000000U, 0xFFFFFFFFU}) {
    std::mt19937 standard(seed);
    detail::MersenneTwister lazy(seed);
    for (int i = 0; i < 2'000; ++i) ASSERT_EQ(lazy(), standard()) << seed << " " << i;
  }
}

TEST(PhpScheme, DrawsWithoutBias) {
  // Of 3 * 2^30, a quarter of all draws is rejected; the last accepted one is not.
  const std::array<std::uint32_t, 4> draws = {0xC0000000, 0xFFFFFFFF, 0xBFFFFFFF, 7};
  std::size_t next = 0;
  const auto draw = [&] { return draws[next++]; };
  EXPECT_EQ(detail::draw_below(std::uint64_t{3} << 30, draw), 0xBFFFFFFFU);
  EXPECT_EQ(next, 3U);
  next = 0;
  EXPECT_EQ(detail::draw_below(std::uint64_t{1} << 32, draw), 0xC0000000U);
  next = 0;
  EXPECT_EQ(detail::draw_below(std::uint64_t{1} << 33, draw), 0x1C0000000U);
  EXPECT_EQ(next, 2U);
}

TEST(PhpScheme, GivesManyKeysTheirOwnPositions) {
  const Keys keys = random_keys(45, 20, 1);
  const std::array<PhpScheme, 8> schemes = {
      PhpScheme::crc32_mt(1'000'003, 100'000), PhpScheme::crc32_mt(1, 1),
      PhpScheme::crc32_mt(3'221'225'472, 300'000'000),  // a quarter of the draws rejected
      PhpScheme::crc32_mt((std::uint64_t{1} << 33) + 1, 1'000'000'000),  // two words a draw
      // As many hashes as the lanes hold, and one or two draws rejected for more than half of the keys.
      PhpScheme::crc32_mt(4'209'067'950, 47'439'000),
      PhpScheme::crc32_mt(10'000, 10),      // more hashes than the lanes hold
      PhpScheme::crc32_mt(1'000'000, 700),  // and more than a state
      PhpScheme::string_hashes("JS,FNV")};
  ASSERT_EQ(schemes[4].hash_count(), detail::TwisterLanes::kMaxDraws - 2);
  for (const PhpScheme& scheme : schemes) {
    std::vector<std::uint64_t> all(keys.views.size() * scheme.hash_count());
    scheme.positions(keys.views, all);
    std::vector<std::uint64_t> one_by_one;
    for (const std::string_view key : keys.views)
      for (const std::uint64_t offset : positions(scheme, key)) one_by_one.push_back(offset);
    EXPECT_EQ(all, one_by_one) << scheme.description();
    for (const std::uint64_t offset : all) ASSERT_LT(offset, scheme.bits());
  }
}

TEST(PhpScheme, RefusesWhatNoClassCanHave) {
  EXPECT_EQ(refusal([] { PhpScheme::crc32_mt(0, 1); }),
            "a PHP filter of 0 bits holds nothing; give the m of its class");
  EXPECT_EQ(refusal([] { PhpScheme::crc32_mt(8, 0); }),
            "a PHP filter for 0 items has no number of hashes; give the n of its class");
  EXPECT_NE(refusal([] {
              PhpScheme::crc32_mt((std::uint64_t{1} << 40) + 1, 1'000'000'000);
            }).find("beyond the limit of 2^40"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              PhpScheme::crc32_mt(1'000'000, 10);
            }).find("make 69315 hashes per key, beyond the limit of 65536"),
            std::string::npos);
  EXPECT_EQ(PhpScheme::crc32_mt(945'000, 10).hash_count(), 65'503U);
  EXPECT_EQ(refusal([] { PhpScheme::string_hashes(""); }),
            "no string hash is named; give one or more of JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV");
  EXPECT_EQ(refusal([] { PhpScheme::string_hashes("JS,md5"); }),
            "'md5' is not a string hash of PHP; use JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV");
  for (const char* const names : {"JS,,FNV", "JS,", ",", ",JS"})
    EXPECT_EQ(refusal([&] { PhpScheme::string_hashes(names); }),
              "a name in the list of string hashes is empty; use "
              "JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV");
  EXPECT_EQ(refusal([] { PhpScheme::string_hashes("JS,FNV,js"); }),
            "JS is named twice; name it once, its bit is the same both times");
  std::string endless;
  for (int i = 0; i < 100'000; ++i) endless += "FNV,";
  EXPECT_EQ(refusal([&] { PhpScheme::string_hashes(endless); }),
            "FNV is named twice; name it once, its bit is the same both times");
}

TEST(PhpScheme, HasAsMuchAsItsLimits) {
  const std::string every = "JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV";
  EXPECT_EQ(PhpScheme::string_hashes(every).hash_count(), kPhpHashes.size());
  EXPECT_TRUE(std::ranges::equal(PhpScheme::string_hashes(every).hashes(), kPhpHashes));
  // What comes after all of them is not left out.
  EXPECT_EQ(refusal([&] { PhpScheme::string_hashes(every + ",JS"); }),
            "JS is named twice; name it once, its bit is the same both times");
  EXPECT_EQ(refusal([&] { PhpScheme::string_hashes(every + ",md5"); }),
            "'md5' is not a string hash of PHP; use " + every);
  EXPECT_EQ(refusal([&] { PhpScheme::string_hashes(every + ","); }),
            "a name in the list of string hashes is empty; use " + every);
  std::vector<PhpHash> hashes(kPhpHashes.begin(), kPhpHashes.end());
  hashes.push_back(PhpHash::fnv);
  EXPECT_EQ(refusal([&] { PhpScheme::string_hashes(hashes); }),
            "FNV is named twice; name it once, its bit is the same both times");
  EXPECT_EQ(PhpScheme::crc32_mt(std::uint64_t{1} << 40, 1'000'000'000).bits(),
            std::uint64_t{1} << 40);
  EXPECT_EQ(PhpScheme::crc32_mt(945'481, 10).hash_count(), kMaxPhpHashes);
  EXPECT_NE(refusal([] { PhpScheme::crc32_mt(945'490, 10); }).find("make 65537 hashes"),
            std::string::npos);
  EXPECT_EQ(PhpScheme::crc32_mt(1, 1).hash_count(), 1U);
}

TEST(PhpScheme, SaysWhatItIs) {
  EXPECT_EQ(PhpScheme::string_hashes("bkdr,SDBM,js").description(), "php-hashes=BKDR,SDBM,JS");
  EXPECT_EQ(PhpScheme::crc32_mt(1000, 100).description(), "php-crc32-mt of 1000 bits and 7 hashes");
  EXPECT_NE(PhpScheme::string_hashes("JS,FNV"), PhpScheme::string_hashes("FNV,JS"));
  EXPECT_EQ(PhpScheme::string_hashes("JS"), PhpScheme::string_hashes("js"));
}

TEST(PhpScheme, WantsRoomForTheOffsets) {
  const Keys keys = random_keys(100, 10, 1);
  std::vector<std::uint64_t> offsets(700);
  const std::span all(offsets);
  for (const PhpScheme& scheme :
       {PhpScheme::crc32_mt(1000, 100), PhpScheme::string_hashes("JS,PJW,ELF,BKDR,SDBM,DJB,DEK")}) {
    ASSERT_EQ(scheme.hash_count(), 7U);
    scheme.positions(keys.views, all);
    EXPECT_EQ(refusal([&] { scheme.positions(keys.views, all.first(699)); }),
              "there is room for 699 offsets; make room for 7 of each of 100 keys");
    EXPECT_EQ(refusal([&] { scheme.positions(keys.views[0], all.first(6)); }),
              "there is room for 6 offsets; make room for 7 of each of 1 keys");
  }
}

TEST(PhpFilter, ChangesNothingWithoutRoomForTheAnswers) {
  const Keys keys = random_keys(1'000, 10, 1);
  PhpFilter filter(PhpScheme::crc32_mt(1'000'000, 100'000));
  const auto room = std::make_unique<bool[]>(1'000);
  const std::span<bool> answers(room.get(), 1'000);
  std::fill_n(room.get(), 1'000, true);
  const std::string refused =
      "there is room for 1 answers, but 1000 keys are given; make room for one answer each";
  EXPECT_EQ(refusal([&] { filter.insert_many(keys.views, answers.first(1)); }), refused);
  EXPECT_EQ(refusal([&] { filter.may_contain_many(keys.views, answers.first(1)); }), refused);
  EXPECT_TRUE(std::all_of(answers.begin(), answers.end(), [](bool each) { return each; }));
  EXPECT_EQ(filter.fill(), 0);
  EXPECT_EQ(filter.insert_many(keys.views, answers), 1'000U);
}

// Text and bytes in any range, also in one that can be read only once, and answers in any range.
TEST(PhpFilter, TakesAnyRangeOfKeysAndOfAnswers) {
  const std::vector<std::string> texts = {"one", "two", "three", "two"};
  const std::vector<bool> expected = {true, true, true, false};
  const auto expect_new = [&](auto&& keys, auto answers) {
    PhpFilter filter(PhpScheme::crc32_mt(1'000'000, 100'000));
    answers.assign(5, true);
    EXPECT_EQ(filter.insert_many(keys, answers), 3U);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), answers.begin()));
    EXPECT_TRUE(answers.back()) << "it is behind the answers";
    const PhpFilter& full = filter;
    answers.assign(4, false);
    EXPECT_EQ(full.may_contain_many(texts, answers), 4U);
    EXPECT_EQ(std::ranges::count(answers, true), 4);
    EXPECT_EQ(full.may_contain_many(texts), 4U);
  };
  expect_new(texts, std::vector<bool>());
  expect_new(std::list<std::string>(texts.begin(), texts.end()), std::vector<char>());
  expect_new(std::vector<const char*>{"one", "two", "three", "two"}, std::deque<bool>());
  expect_new(ReadOnce{std::span<const std::string>(texts)}, std::vector<int>());
  std::vector<std::vector<std::byte>> bytes;
  for (const std::string& text : texts) {
    const auto view = std::as_bytes(std::span(text.data(), text.size()));
    bytes.emplace_back(view.begin(), view.end());
  }
  expect_new(bytes, std::vector<bool>());

  PhpFilter filter(PhpScheme::crc32_mt(1'000, 100));
  std::vector<bool> too_few(3);
  EXPECT_EQ(refusal([&] { filter.insert_many(texts, too_few); }),
            "there is room for 3 answers, but 4 keys are given; make room for one answer each");
  EXPECT_EQ(filter.fill(), 0);
}

TEST(PhpFilter, SetsItsBitsInTheOrderOfARedisString) {
  PhpFilter filter(PhpScheme::crc32_mt(10, 2));
  EXPECT_TRUE(filter.insert(""));  // its positions are 4, 9, 3 and 0
  ASSERT_EQ(filter.bytes().size(), 2U);
  EXPECT_EQ(filter.bytes()[0], std::byte{0b1001'1000});
  EXPECT_EQ(filter.bytes()[1], std::byte{0b0100'0000});
  EXPECT_DOUBLE_EQ(filter.fill(), 0.4);
  EXPECT_DOUBLE_EQ(filter.least_fpr(), 0.4 * 0.4 * 0.4 * 0.4);
}

TEST(PhpFilter, RemembersEveryKey) {
  // Of short keys, whose bits by these three hashes are among the first 2^28: a page that is
  // touched is 2 MiB.
  const Keys keys = random_keys(2'000, 3, 2);
  for (const PhpScheme& scheme :
       {PhpScheme::crc32_mt(30'011, 2'000), PhpScheme::string_hashes("BKDR,ELF,DJB")}) {
    PhpFilter one(scheme);
    PhpFilter many(scheme);
    EXPECT_FALSE(one.may_contain(keys.views[0]));
    EXPECT_FALSE(one.may_contain_all(keys.views));
    EXPECT_TRUE(one.may_contain_all({}));

    const auto answers = std::make_unique<bool[]>(keys.views.size());
    const std::span<bool> fresh(answers.get(), keys.views.size());
    std::size_t expected = 0;
    EXPECT_EQ(many.insert_many({}), 0U);
    const std::size_t count = many.insert_many(keys.views, fresh);
    for (std::size_t i = 0; i < keys.views.size(); ++i) {
      const bool was_fresh = one.insert(keys.views[i]);
      expected += was_fresh ? 1 : 0;
      ASSERT_EQ(was_fresh, fresh[i]) << i;
    }
    EXPECT_EQ(count, expected);
    EXPECT_GT(count, 1'990U);
    EXPECT_TRUE(std::equal(one.bytes().begin(), one.bytes().begin() + 3'000, many.bytes().begin()));
    EXPECT_TRUE(one.may_contain_all(keys.views));
    EXPECT_EQ(many.may_contain_many(keys.views), keys.views.size());
    EXPECT_EQ(many.insert_many(keys.views), 0U);

    const Keys others = random_keys(500, 4, 3);
    const std::span<bool> found(answers.get(), others.views.size());
    one.may_contain_many(others.views, found);
    for (std::size_t i = 0; i < others.views.size(); ++i)
      ASSERT_EQ(found[i], one.may_contain(others.views[i])) << i;
    EXPECT_FALSE(one.may_contain_all(others.views));
  }
}

TEST(PhpFilter, IsLoadedFromARedisString) {
  const auto scheme = PhpScheme::crc32_mt(1'001, 100);
  PhpFilter filter(scheme);
  filter.insert("a key");
  const PhpFilter whole = PhpFilter::load(scheme, filter.bytes());
  EXPECT_TRUE(whole.may_contain("a key"));
  EXPECT_TRUE(std::ranges::equal(whole.bytes(), filter.bytes()));

  // Redis keeps no zeros past the last byte that was written.
  auto written = filter.bytes();
  while (written.back() == std::byte{0}) written = written.first(written.size() - 1);
  EXPECT_TRUE(std::ranges::equal(PhpFilter::load(scheme, written).bytes(), filter.bytes()));
  ASSERT_LT(written.size(), filter.bytes().size());
  EXPECT_EQ(filter.string_bytes().data(), filter.bytes().data());
  EXPECT_EQ(filter.string_bytes().size(), written.size());
  EXPECT_EQ(PhpFilter(scheme).string_bytes().size(), 1U);  // a string of no bytes would be no key
  EXPECT_FALSE(PhpFilter::load(scheme, {}).may_contain("a key"));

  std::vector<std::byte> string(126);
  string.back() = std::byte{0b1000'0000};  // bit 1,000: the last
  EXPECT_GT(PhpFilter::load(scheme, string).fill(), 0);
  string.back() = std::byte{0b0100'0000};
  EXPECT_EQ(refusal([&] { PhpFilter::load(scheme, string); }),
            "the string has ones past the last bit of php-crc32-mt of 1001 bits and 7 hashes; "
            "check its bits");
  string.back() = std::byte{0};
  string.resize(127);
  const auto never = [](std::span<std::byte>) { ADD_FAILURE() << "it is read unchecked"; };
  EXPECT_EQ(refusal([&] { PhpFilter::load(scheme, string.size(), never); }),
            "the string has 127 bytes, and php-crc32-mt of 1001 bits and 7 hashes at most 126; "
            "check the scheme and the key");
}

}  // namespace
}  // namespace bloomery::test
