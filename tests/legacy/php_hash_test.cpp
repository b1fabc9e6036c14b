// The eight string hashes give what PHP gave.
#include <bloomery/php_hash.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "legacy/php_formulas.hpp"
#include "legacy/php_golden.hpp"
#include "support/hex.hpp"

namespace bloomery::test {
namespace {

TEST(PhpHash, DoublesBecomeIntegersModulo2To64) {
  using bloomery::detail::php::to_integer;
  EXPECT_EQ(to_integer(0.0), 0);
  EXPECT_EQ(to_integer(-0.0), 0);
  EXPECT_EQ(to_integer(1.0), 1);
  EXPECT_EQ(to_integer(-3.0), -3);
  EXPECT_EQ(to_integer(0x1p52 + 1), (std::int64_t{1} << 52) + 1);
  EXPECT_EQ(to_integer(0x1p63), INT64_MIN);
  EXPECT_EQ(to_integer(0x1p64 + 0x1p12), 4096);
  EXPECT_EQ(to_integer(-0x1p64 - 0x1p12), -4096);
  EXPECT_EQ(to_integer(0x1p115), 0);
}

TEST(PhpHash, IsWhatPhpPrinted) {
  const auto vectors = php_vectors();
  ASSERT_EQ(vectors["hashes"].size(), 151U);
  for (const auto& vector : vectors["hashes"]) {
    const std::string key = from_hex(vector["key_hex"].get<std::string>());
    for (const PhpHash hash : kPhpHashes)
      EXPECT_EQ(php_hash(hash, key), vector[std::string(to_string(hash)) + "Hash"])
          << to_string(hash) << " of " << vector["key_hex"];
  }
}

TEST(PhpHash, LosesTheBytesBehindAnOverflow) {
  // What docs/migrate.md says of BKDR: these two differ in the last of 21 characters.
  EXPECT_EQ(php_hash(PhpHash::bkdr, "http://example.com/11"),
            php_hash(PhpHash::bkdr, "http://example.com/12"));
  EXPECT_NE(php_hash(PhpHash::sdbm, "http://example.com/11"),
            php_hash(PhpHash::sdbm, "http://example.com/12"));
}

// PHP's integer of a double is the rest modulo 2^64. fmod is exact.
TEST(PhpHash, MakesAnIntegerOfADoubleAsPhpDoes) {
  for (const double digits : {4503599627370496.0, 4503599627370497.0, 9007199254740991.0})
    for (int exponent = -52; exponent <= 63; ++exponent)
      for (const double sign : {1.0, -1.0}) {
        const double number = sign * std::trunc(std::ldexp(digits, exponent));
        const auto rest =
            static_cast<std::uint64_t>(std::fmod(std::abs(number), std::ldexp(1, 64)));
        EXPECT_EQ(detail::php::to_integer(number),
                  static_cast<std::int64_t>(number < 0 ? 0 - rest : rest))
            << number;
      }
}

TEST(PhpHash, HasANameThatIsReadBack) {
  std::set<std::string_view> names;
  for (const PhpHash hash : kPhpHashes) {
    names.insert(to_string(hash));
    EXPECT_EQ(php_hash_named(to_string(hash)), hash);
  }
  EXPECT_EQ(names.size(), kPhpHashes.size());
  EXPECT_EQ(php_hash_named("bkdr"), PhpHash::bkdr);
  EXPECT_EQ(php_hash_named("Sdbm"), PhpHash::sdbm);
  for (const char* name : {"", "BKD", "BKDRHash", "SHA1", "JS "})
    EXPECT_EQ(php_hash_named(name), std::nullopt) << name;
}

}  // namespace
}  // namespace bloomery::test
