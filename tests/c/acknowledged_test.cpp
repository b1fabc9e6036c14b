// How many keys of its last call a filter has for certain, also after one that failed.
#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "c/handles.hpp"
#include "store/scratch.hpp"
#include "support/file_limit.hpp"

namespace bloomery::test {
namespace {

// The count is that of the last call that was to change the filter, also of one that did nothing.
TEST(CKeysOf, EachCallAcknowledgesItsOwn) {
  const Handle c = in_memory();
  bloomery_filter* const f = c.get();
  const std::uint64_t numbers[] = {1, 2};
  const std::int32_t falling[] = {2, 1};
  bool bits[64];
  const auto two = [&] {
    ASSERT_EQ(bloomery_insert_fixed(f, "ab", 1, 2, nullptr, nullptr) % 2, 0);
    ASSERT_EQ(bloomery_acknowledged(f), 2U);
  };
  const std::function<std::int64_t()> look_ups[] = {
      [&] { return bloomery_contains(f, "a", 1, nullptr); },
      [&] { return bloomery_contains(f, nullptr, 1, nullptr); },
      [&] { return bloomery_contains_u64(f, 1, nullptr); },
      [&] { return bloomery_contains_fixed(f, "ab", 1, 2, nullptr, nullptr); },
      [&] { return bloomery_contains_u64s(f, numbers, 2, nullptr, nullptr); },
  };
  const std::function<std::int64_t()> changes[] = {
      [&] { return bloomery_remove(f, "a", 1, nullptr); },
      [&] { return bloomery_remove_u64(f, 1, nullptr); },
      [&] { return bloomery_remove_fixed(f, "ab", 1, 2, nullptr, nullptr); },
      [&] { return bloomery_remove_u64s(f, numbers, 2, nullptr, nullptr); },
      [&] { return bloomery_insert_fixed(f, "", 1, 0, nullptr, nullptr); },
      [&] { return bloomery_insert_u64s(f, numbers, 0, nullptr, nullptr); },
      [&] { return bloomery_insert(f, nullptr, 1, nullptr); },
      [&] { return bloomery_insert_u64s(f, nullptr, 2, nullptr, nullptr); },
      [&] { return bloomery_insert_offsets32(f, "abc", falling, 1, nullptr, nullptr); },
      [&] { return bloomery_insert_bits(f, "a", 1, bits, 64, nullptr); },
      [&] { return bloomery_insert_bits(f, "a", 1, nullptr, 64, nullptr); },
  };
  two();
  for (const auto& look_up : look_ups) {
    (void)look_up();
    EXPECT_EQ(bloomery_acknowledged(f), 2U);
  }
  for (const auto& change : changes) {
    two();
    EXPECT_LE(change(), 0);
    EXPECT_EQ(bloomery_acknowledged(f), 0U);
  }
}

TEST(CKeysOf, APartThatFailsIsNotAcknowledged) {
  const Scratch scratch;
  auto options = sized<bloomery_options>();
  options.php_bits = 1 << 20;
  options.php_items = 1 << 20;  // one hash
  auto none = sized<bloomery_spec>();
  const auto made = [&](const char* name) {
    return Handle(bloomery_create((scratch / name).c_str(), &none, &options, nullptr));
  };
  // A key whose bit is in the first page, and one whose bit is not.
  std::vector<std::uint64_t> keys(65'536), last(1);
  const PhpScheme scheme = PhpScheme::crc32_mt(1 << 20, 1 << 20);
  const auto page_of = [&](std::uint64_t key) {
    const std::string_view bytes(reinterpret_cast<const char*>(&key), sizeof key);
    std::uint64_t at = 0;
    scheme.positions({&bytes, 1}, {&at, 1});
    return at / 8 / 4096;
  };
  while (page_of(keys[0]) != 0) ++keys[0];
  while (page_of(last[0]) == 0) ++last[0];
  std::fill(keys.begin(), keys.end(), keys[0]);
  keys.push_back(last[0]);
  const Handle bits = made("bits");
  ASSERT_NE(bits, nullptr);
  const FileLimit limit(4096);
  bloomery_error error{};
  EXPECT_EQ(bloomery_insert_fixed(bits.get(), keys.data(), 8, keys.size(), nullptr, &error),
            -BLOOMERY_IO);
  EXPECT_EQ(bloomery_acknowledged(bits.get()), 65'536U) << error.text;
}

// More keys than the journal takes, and no room for the file that takes the place of the old one.
TEST(CKeysOf, ALoadThatFailsIsNotAcknowledged) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  const bloomery_spec spec = spec_of(BLOOMERY_COUNTING, 1000, 0.01);
  const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
  ASSERT_EQ(insert(file, "first"), 1);
  const std::vector<std::uint64_t> keys(200'000);
  const FileLimit limit(4096);
  bloomery_error error{};
  EXPECT_EQ(bloomery_insert_fixed(file.get(), keys.data(), 8, keys.size(), nullptr, &error),
            -BLOOMERY_IO);
  EXPECT_EQ(bloomery_acknowledged(file.get()), 0U) << error.text;
}

// A filter that cannot grow on refuses the last part of a call. Then the file cannot take the parts before it either.
TEST(CKeysOf, APartThatFailsInALoadThatFailsIsNotAcknowledged) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  bloomery_spec spec = spec_of(BLOOMERY_SCALABLE, 3'000, 0.01);
  spec.growth = 1;  // 64 sub-filters: 192,000 keys
  const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
  ASSERT_EQ(insert(file, "first"), 1);
  std::vector<std::uint64_t> keys(300'000);
  std::iota(keys.begin(), keys.end(), 0);
  const FileLimit limit(4096);
  bloomery_error error{};
  EXPECT_EQ(bloomery_insert_fixed(file.get(), keys.data(), 8, keys.size(), nullptr, &error),
            -BLOOMERY_TOO_LARGE)
      << error.text;
  EXPECT_EQ(bloomery_acknowledged(file.get()), 0U) << error.text;
}

// More keys than the journal takes are one load, after which the file has no journal.
TEST(CKeysOf, ALoadOfManyPartsIsNotJournaled) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  const bloomery_spec spec = spec_of(BLOOMERY_COUNTING, 1000, 0.01);
  const Handle file(bloomery_create(path.c_str(), &spec, nullptr, nullptr));
  const auto with_journal = std::filesystem::file_size(path);
  const std::vector<std::uint64_t> keys(200'000);
  ASSERT_EQ(bloomery_insert_fixed(file.get(), keys.data(), 8, keys.size(), nullptr, nullptr), 1);
  EXPECT_LT(std::filesystem::file_size(path), with_journal);
}

}  // namespace
}  // namespace bloomery::test
