// The PHP families beside the real PHP, which runs tests/legacy/php_families.php.
#include <bloomery/php_filter.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "legacy/php_formulas.hpp"
#include "support/hex.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

// What PHP answers, one line per question.
class Php {
 public:
  // The question as it was put.
  std::string ask(const std::vector<std::string>& words) {
    std::string question;
    for (const std::string& word : words) question.append(question.empty() ? "" : " ").append(word);
    questions_.append(question).append("\n");
    return question;
  }
  std::vector<std::string> answers() const {
    std::string name = std::filesystem::temp_directory_path() / "bloomery-php-XXXXXX";
    close(mkstemp(name.data()));
    std::ofstream(name) << questions_;
    std::string command = "php '" BLOOMERY_PHP_PROGRAM "' < '";
    std::FILE* pipe = popen(command.append(name).append("'").c_str(), "r");
    std::string text;
    std::array<char, 65'536> part;
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe))
      text.append(part.data(), size);
    EXPECT_EQ(pclose(pipe), 0) << "PHP failed; is php-cli installed?";
    std::filesystem::remove(name);
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::string questions_;
};

std::string joined(const auto& numbers) {
  std::string line;
  for (const auto number : numbers)
    line.append(line.empty() ? "" : " ").append(std::to_string(number));
  return line;
}

void expect_same(const std::vector<std::string>& php, const std::vector<std::string>& ours,
                 const std::vector<std::string>& names) {
  ASSERT_EQ(php.size(), ours.size());
  for (std::size_t i = 0; i < php.size(); ++i)
    EXPECT_EQ(php[i], ours[i]) << names[i].substr(0, 200);
}

// The key whose bytes, read as digits of `base`, are `target`: what a hash of the form
// hash * base + byte passes through when it comes to `target`.
std::string digits_of(std::uint64_t target, std::uint64_t base) {
  std::uint64_t power = 1;
  for (std::uint64_t most = 255; most < target; most += 255 * power) power *= base;
  std::string key;
  for (; power != 0; power /= base) {
    const std::uint64_t digit = std::min<std::uint64_t>(255, target / power);
    key += static_cast<char>(digit);
    target -= digit * power;
  }
  EXPECT_EQ(target, 0U);
  return key;
}

std::vector<std::string> keys_of_many_lengths() {
  Random random(7);
  std::vector<std::string> keys = {""};
  for (std::size_t size = 1; size <= 64; ++size) {
    keys.push_back(random.bytes(size));
    keys.emplace_back(size, '\0');
    keys.emplace_back(size, '\xFF');
    keys.emplace_back(size, static_cast<char>(random()));
  }
  const std::size_t long_ones = nightly() ? 1'000 : 50;
  for (std::size_t i = 0; i < long_ones; ++i) keys.push_back(random.bytes(random.below(10'001)));
  keys.push_back(random.bytes(10'000));
  for (int i = 0; i < (nightly() ? 100'000 : 400); ++i)
    keys.push_back(random.bytes(random.below(40)));
  for (int i = 0; i < 100; ++i)
    keys.push_back("https://www.example.org/" + std::to_string(random()) + "/index.html");
  // A byte that alone overflows the hash of PJW or BKDR, the last and with more behind it.
  constexpr std::uint64_t kMost = 0x7FFFFFFFFFFFFFFF;
  for (const std::string& head : {digits_of(kMost / 16, 16), digits_of(kMost / 131, 131)})
    for (const char* tail : {"", "\xFF", "\xFF\x01", "\xFFmore", "\xFF\xFF\xFF"})
      keys.push_back(head + tail);
  return keys;
}

TEST(PhpItself, HashesKeysAsWeDo) {
  Php php;
  std::vector<std::string> ours, names;
  for (const std::string& key : keys_of_many_lengths()) {
    names.push_back(php.ask({"hash", to_hex(key)}));
    std::vector<std::uint32_t> hashes;
    for (const PhpHash hash : kPhpHashes) hashes.push_back(php_hash(hash, key));
    ours.push_back(joined(hashes));
  }
  expect_same(php.answers(), ours, names);
}

// The edges of 64 bits and of a double's 53, where random keys hardly come.
std::vector<std::int64_t> states() {
  Random random(8);
  std::vector<std::int64_t> out;
  for (const std::uint64_t factor : {1, 3, 5, 31, 33, 64, 131, 65'535, 65'600})
    for (unsigned shift = 0; shift < 64; ++shift)
      for (const std::uint64_t edge :
           {(std::uint64_t{1} << shift) / factor, (~std::uint64_t{0} << shift) / factor})
        for (int i = 0; i < 3; ++i)
          out.push_back(static_cast<std::int64_t>(edge + random.below(5) - 2));
  for (int i = 0; i < (nightly() ? 1'000'000 : 4'000); ++i) {
    const std::uint64_t state = random() >> random.below(40) << random.below(24);
    out.push_back(static_cast<std::int64_t>(state));
  }
  return out;
}

TEST(PhpItself, OverflowsAsWeDo) {
  using namespace detail::php;
  Php php;
  Random random(9);
  std::vector<std::vector<std::int64_t>> ours;
  const auto all = states();
  for (const Integer state : all) {
    const auto byte = static_cast<Integer>(random.below(2) == 0 ? random.below(256) : 255);
    php.ask({"step", std::to_string(state), std::to_string(byte)});
    // ELF and FNV only from the hashes that they can reach: the others overflow.
    constexpr Integer kElf = 0x11111110FFFFFFF;
    const bool small = state >= 0 && state <= 0xFFFFFFFF;
    ours.push_back({Js::step(state, byte), Pjw::step(state, byte),
                    (state & ~kElf) == 0 ? Elf::step(state, byte) : 0, Bkdr::step(state, byte),
                    Sdbm::step(state, byte), Djb::step(state, byte), Dek::step(state, byte),
                    small ? Fnv::step(state, byte) : -1});
  }
  const auto answers = php.answers();
  ASSERT_EQ(answers.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    std::istringstream line(answers[i]);
    for (std::size_t formula = 0; formula < kPhpHashes.size(); ++formula) {
      std::int64_t php_says = 0;
      line >> php_says;
      if ((formula == 2 && (all[i] & ~Integer{0x11111110FFFFFFF}) != 0) ||
          (formula == 7 && ours[i][formula] == -1))
        continue;
      EXPECT_EQ(php_says, ours[i][formula]) << to_string(kPhpHashes[formula]) << " from " << all[i];
    }
  }
}

// PJW and DJB carry a sum that overflowed by a byte into the next step, as the double 2^63.
TEST(PhpItself, CarriesADoubleAsWeCarryTheLeastInteger) {
  using namespace detail::php;
  Php php;
  for (int byte = 0; byte < 256; ++byte)
    php.ask({"step", "9223372036854775808.0", std::to_string(byte)});
  const auto answers = php.answers();
  ASSERT_EQ(answers.size(), 256U);
  for (int byte = 0; byte < 256; ++byte) {
    std::array<std::int64_t, 8> says;
    std::istringstream line(answers[static_cast<std::size_t>(byte)]);
    for (std::int64_t& number : says) line >> number;
    EXPECT_EQ(says[1], Pjw::step(kLeast, byte)) << byte;
    EXPECT_EQ(says[5], Djb::step(kLeast, byte)) << byte;
  }
}

TEST(PhpItself, DrawsAsWeDo) {
  Php php;
  Random random(10);
  std::vector<std::string> ours, names;
  for (int i = 0; i < (nightly() ? 20'000 : 400); ++i) {
    const std::uint64_t bits = 1 + (random() >> (24 + random.below(40)));
    const std::uint64_t items = 1 + random.below(bits) / 3;
    const double hashes = static_cast<double>(bits) / static_cast<double>(items);
    if (hashes > 20'000 || (hashes > 900 && i % 8 != 0)) continue;
    const auto scheme = PhpScheme::crc32_mt(bits, items);
    const std::string key = random.bytes(random.below(i % 20 == 0 ? 10'001 : 100));
    names.push_back(php.ask({"count", std::to_string(bits), std::to_string(items)}));
    ours.push_back(std::to_string(scheme.hash_count()));
    names.push_back(
        php.ask({"mt", std::to_string(bits), std::to_string(scheme.hash_count()), to_hex(key)}));
    std::vector<std::uint64_t> offsets(scheme.hash_count());
    scheme.positions(key, offsets);
    ours.push_back(joined(offsets));
  }
  expect_same(php.answers(), ours, names);
}

TEST(PhpItself, AndWeReadEachOthersFilters) {
  Random random(11);
  for (const std::uint64_t bits : {9, 1'000, 20'011}) {
    const auto scheme = PhpScheme::crc32_mt(bits, bits / 8);
    PhpFilter filter(scheme);
    std::vector<std::string> inserted, asked;
    std::vector<int> found;
    for (std::uint64_t i = 0; i < bits / 8; ++i) {
      const std::string key = random.bytes(random.below(30));
      filter.insert(key);
      inserted.push_back(to_hex(key));
    }
    for (int i = 0; i < 300; ++i) {
      const std::string key = random.bytes(8);
      found.push_back(filter.may_contain(key) ? 1 : 0);
      asked.push_back(to_hex(key));
    }
    const std::string own =
        to_hex({reinterpret_cast<const char*>(filter.bytes().data()), filter.bytes().size()});

    Php php;
    const auto ask = [&](std::vector<std::string> words, const std::vector<std::string>& keys) {
      words.insert(words.begin() + 1, {std::to_string(bits), std::to_string(scheme.hash_count())});
      words.insert(words.end(), keys.begin(), keys.end());
      php.ask(words);
    };
    ask({"filter"}, inserted);
    ask({"contains", own}, inserted);
    ask({"contains", own}, asked);
    const auto answers = php.answers();
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[0], own);
    EXPECT_EQ(answers[1].find('0'), std::string::npos);
    EXPECT_EQ(answers[2], joined(found));
  }
}

}  // namespace
}  // namespace bloomery::test
