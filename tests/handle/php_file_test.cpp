// The bits of a PHP class in a file, through the handle.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <bloomery/bloomery.hpp>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "handle/places.hpp"
#include "store/scratch.hpp"
#include "support/dumps.hpp"
#include "support/expect_error.hpp"
#include "support/file_limit.hpp"
#include "support/refused_calls.hpp"
#include "support/used_memory.hpp"

namespace bloomery::test {
namespace {

// Nobody may read from the bits which keys were in a file that they may not read.
TEST(AnyPhpBits, AreForNobodyWhomTheirKeysDeny) {
  const Scratch scratch;
  const std::string keys = scratch / "keys", path = scratch / "bits";
  std::ofstream(keys) << "a\n";
  for (const auto mode : {0640U, 0600U}) {
    std::filesystem::permissions(keys, std::filesystem::perms{mode});
    AnyFilter::create(path, {}, {.scheme = PhpScheme::crc32_mt(8'000, 100), .sources = {keys}})
        .close();
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms{mode});
    std::filesystem::remove(path);
  }
}

TEST(AnyPhpBits, ThatHaveNoMemoryLeaveNoFile) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer itself takes the address space";
  const Scratch scratch;
  const std::string path = scratch / "bits";
  const int failed = failed_in_child([&] {
    const rlimit few{used_memory().reserved + (rlim_t{64} << 20), RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &few) != 0) return 1;
    return code_of([&] {  // 512 MiB
             (void)AnyFilter::create(path, {}, {.scheme = PhpScheme::string_hashes("BKDR")});
           }) == ErrorCode::no_memory
               ? 0
               : 2;
  });
  EXPECT_EQ(failed, 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(AnyPhpBits, ReadsAndWritesTheBitsOfAPhpClass) {
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(8'000, 100)};
  const std::string path = scratch / "bits";
  for (const Access access : {Access::read, Access::write})
    expect_error(ErrorCode::missing, {path, "bloomery create makes an empty one"},
                 [&] { (void)AnyFilter::open(path, access, php); });
  {
    AnyFilter bits = AnyFilter::create(path, {}, php);
    EXPECT_EQ(bits.hasher(), nullptr);
    EXPECT_TRUE(bits.insert("a"));
    EXPECT_FALSE(bits.insert("a"));
    expect_error(ErrorCode::wrong_kind, {}, [&] { (void)bits.insert(7); });
    expect_error(ErrorCode::wrong_kind, {"cannot be removed"}, [&] { (void)bits.remove("a"); });
    expect_error(ErrorCode::wrong_kind, {"convert"}, [&] { (void)bits.encode(); });
    expect_error(ErrorCode::locked, {}, [&] { (void)AnyFilter::open(path, Access::write, php); });
    bits.close();
    expect_error(ErrorCode::read_only, {path, "is closed"}, [&] { bits.insert("late"); });
    EXPECT_FALSE(bits.may_contain("late"));
  }
  AnyFilter reader = AnyFilter::open(path, Access::read, php);
  expect_error(ErrorCode::read_only, {path, "for writing"}, [&] { reader.insert("late"); });
  EXPECT_FALSE(reader.may_contain("late"));
  EXPECT_TRUE(reader.may_contain("a"));
  EXPECT_FALSE(reader.may_contain("b"));
  const FilterStats stats = reader.stats();
  EXPECT_EQ(stats.scheme, php.scheme);
  EXPECT_EQ(AnyFilter::verify(path, php).detail, detail::kPhpVerified);
  ASSERT_EQ(reader.arrays().size(), 1U);
  EXPECT_EQ(reader.arrays()[0].bytes.size(), 1'000U);
  reader.require_match({}, {.seed = Seed{5, 0}});  // it has no hash that could be compared
  expect_error(ErrorCode::wrong_kind, {path, "no numbers"},
               [&] { reader.require_match({.capacity = 100}); });
  EXPECT_FALSE(stats.kind);
  EXPECT_EQ(stats.bytes, 1'000U);
  EXPECT_NEAR(stats.estimated_items, 1, 0.1);
  expect_error(ErrorCode::exists, {}, [&] { (void)AnyFilter::create(path, {}, php); });
  AnyFilter::convert(path, scratch / "copy", php);
  EXPECT_TRUE(AnyFilter::open(scratch / "copy", Access::read, php).may_contain("a"));
  std::ofstream(scratch / "taken") << "text";
  expect_error(ErrorCode::exists, {"taken"},
               [&] { AnyFilter::convert(path, scratch / "taken", php); });
  EXPECT_EQ(std::filesystem::file_size(scratch / "taken"), 4U);
  // A filter file does not have the bits of a PHP class, also with only its second header; but those can begin with a
  // part of the magic.
  const AnyOptions large{.scheme = PhpScheme::string_hashes("BKDR")};
  AnyFilter::create(scratch / "f", {.capacity = 10, .fpr = 0.1});
  for (int headers = 2; headers > 0; --headers) {
    expect_error(ErrorCode::mismatch, {},
                 [&] { (void)AnyFilter::open(scratch / "f", Access::read, large); });
    std::fstream(scratch / "f", std::ios::in | std::ios::out) << std::string(512, '\0');
  }
  std::ofstream(scratch / "f") << "\x89"
                                  "BL";
  EXPECT_GT(AnyFilter::open(scratch / "f", Access::read, large).stats().fill, 0);
}

// 245 pages and a part of one; a key has one bit.
TEST(AnyPhpBits, AreWrittenWhereTheyHaveChanged) {
  constexpr std::size_t kBytes = 1'000'003, kPage = 4096;
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(8 * kBytes, 8'000'000)};
  ASSERT_EQ(php.scheme->hash_count(), 1);
  const std::string path = scratch / "bits", key = "a";
  AnyFilter bits = AnyFilter::create(path, {}, php);
  std::vector<std::uint64_t> first(1);
  php.scheme->positions(key, first);
  bits.insert(key);
  std::vector<std::byte> there = read_bytes(path);
  EXPECT_NE(there[first[0] / 8], std::byte{});
  there[first[0] / 8] = {};
  write_bytes(path, there);
  for (int i = 0; i < 30; ++i) {
    const std::string next = std::to_string(i);
    std::vector<std::uint64_t> position(1);
    php.scheme->positions(next, position);
    if (position[0] / 8 / kPage == first[0] / 8 / kPage) continue;
    bits.insert(next);
    EXPECT_NE(read_bytes(path)[position[0] / 8], std::byte{});
  }
  EXPECT_EQ(read_bytes(path)[first[0] / 8], std::byte{});
}

// What the disk did not take comes with the next key, and no key is acknowledged before it is on the device.
TEST(AnyPhpBits, ThatTheDiskDidNotTakeComeWithTheNextKey) {
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(400'000, 20'000)};
  const std::string path = scratch / "bits";
  AnyFilter bits = AnyFilter::create(path, {}, php);
  for (const std::uint64_t room : {0, 4'096, 20'000}) {
    const auto keys = text_keys("key " + std::to_string(room), 100);
    {
      const FileLimit limit(room);
      expect_error(ErrorCode::io, {path}, [&] { bits.insert_many(keys); });
    }
    EXPECT_EQ(bits.acknowledged(), 0U);
    bits.insert("next");
    EXPECT_EQ(AnyFilter::open(path, Access::read, php).may_contain_many(keys), keys.size());
  }
  const int failed = failed_in_child([&] {
    AnyFilter other = AnyFilter::create(scratch / "other", {}, php);
    if (!refuse_from_now_on(SYS_fdatasync, EIO)) return kNoFilter;
    try {
      other.insert("a");
      return 1;
    } catch (const Error& error) {
      return error.code() == ErrorCode::io && other.acknowledged() == 0 ? 0 : 2;
    }
  });
  EXPECT_TRUE(failed == 0 || failed == kNoFilter) << failed;
}

// Some file systems that cannot be written refuse to sync. Then nothing is taken for a hole, or even asked for. On one
// that knows no holes all is data.
TEST(AnyPhpBits, OfASparseFileAreReadWhereTheSystemRefuses) {
  using Calls = std::vector<std::pair<unsigned, int>>;
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(16'000'000, 800'000)};
  const auto keys = text_keys("key", 10);
  AnyFilter::create(scratch / "bits", {}, php).insert_many(keys);
  for (const Calls& refused :
       {Calls{{SYS_fdatasync, EINVAL}, {SYS_lseek, EIO}}, Calls{{SYS_lseek, EINVAL}}}) {
    const int failed = failed_in_child([&] {
      for (const auto& [call, error] : refused)
        if (!refuse_from_now_on(call, error)) return kNoFilter;
      return AnyFilter::open(scratch / "bits", Access::read, php).may_contain_many(keys) ==
                     keys.size()
                 ? 0
                 : 1;
    });
    EXPECT_TRUE(failed == 0 || failed == kNoFilter) << refused.size() << " " << failed;
  }
}

TEST(AnyPhpBits, AreOverTheirCapacityAboveHalf) {
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(8'000, 100)};
  const std::string path = scratch / "bits", half(500, '\xFF');
  for (const std::string& bits : {std::string(), half, half + '\1'}) {
    std::ofstream(path) << bits;
    const FilterStats stats = AnyFilter::open(path, Access::read, php).stats();
    EXPECT_EQ(stats.over_capacity, bits.size() > half.size());
    EXPECT_EQ(stats.estimated_items == 0, bits.empty());
    EXPECT_FALSE(std::signbit(stats.estimated_items));
  }
}

TEST(AnyPhpBits, AreAFileNoLargerThanTheScheme) {
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(8'000, 100)};
  const std::string path = scratch / "bits";
  for (const std::size_t bytes : {std::size_t{1'000}, std::size_t{1'001}}) {
    std::ofstream(path) << std::string(bytes, '\xFF');
    if (bytes == 1'000) {
      AnyFilter full = AnyFilter::open(path, Access::read, php);
      EXPECT_TRUE(full.may_contain("a"));
      const FilterStats stats = full.stats();
      EXPECT_EQ(stats.fill, 1);
      EXPECT_EQ(stats.current_fpr, 1);
      EXPECT_TRUE(std::isinf(stats.estimated_items));
      EXPECT_TRUE(stats.over_capacity);
    } else {
      expect_error(ErrorCode::mismatch, {path, "1001 bytes, more than the 1000"},
                   [&] { (void)AnyFilter::open(path, Access::read, php); });
    }
  }
  // A last byte that the scheme does not fill, and a file of nothing but the first.
  const AnyOptions odd{.scheme = PhpScheme::crc32_mt(8'001, 100)};
  for (const std::size_t bytes : {1, 1'001, 1'002}) {
    std::ofstream(path) << std::string(bytes, '\x80');
    if (bytes == 1'002) {
      expect_error(ErrorCode::mismatch, {path, "more than the 1001"},
                   [&] { (void)AnyFilter::open(path, Access::read, odd); });
      continue;
    }
    const FilterStats stats = AnyFilter::open(path, Access::read, odd).stats();
    EXPECT_NEAR(stats.fill, static_cast<double>(bytes) / 8'001, 1e-12);
    EXPECT_EQ(stats.bytes, 1'001U);
  }
  expect_error(ErrorCode::mismatch, {"/dev/null", "is not a file"},
               [&] { (void)AnyFilter::open("/dev/null", Access::read, php); });
}

TEST(AnyPhpBits, AreNoDump) {
  const Scratch scratch;
  Filter filter(plan(100, 0.01));
  write_dump(scratch / "dump", filter, 0);
  const AnyOptions php{.scheme = PhpScheme::string_hashes("BKDR")};
  expect_error(ErrorCode::mismatch, {"dump", "leave the scheme out"},
               [&] { (void)AnyFilter::open(scratch / "dump", Access::read, php); });
}

TEST(AnyPhpBits, SayWhatCannotBeOpened) {
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(8'000, 100)};
  expect_error(ErrorCode::missing, {"none/bits", "the directory", "does not exist"},
               [&] { (void)AnyFilter::create(scratch / "none/bits", {}, php); });
  expect_error(ErrorCode::io, {scratch / ".", "open"},
               [&] { (void)AnyFilter::open(scratch / ".", Access::write, php); });
  // Neither there nor free: it is not tried without end.
  std::filesystem::create_symlink("nowhere", scratch / "link");
  expect_error(ErrorCode::exists, {"link"},
               [&] { (void)AnyFilter::open_or_create(scratch / "link", {}, php); });
  AnyOptions shared = php;
  shared.shared = true;
  expect_error(ErrorCode::invalid_argument,
               {"writers share filter files", "PHP class", "one writer"},
               [&] { (void)AnyFilter::create(scratch / "new", {}, shared); });
  AnyOptions durable = php;
  durable.durability = Durability::process;
  const std::string text = error_of([&] { (void)AnyFilter::create(scratch / "new", {}, durable); },
                                    ErrorCode::invalid_argument);
  EXPECT_TRUE(text.ends_with("a durability is for filter files; leave it out")) << text;
  EXPECT_FALSE(std::filesystem::exists(scratch / "new"));
}

// The bits are found by the class's hashes of the bytes.
TEST(AnyPhpBits, TakeNoHashes) {
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(8'000, 100)};
  const Hash128 hash{1, 2};
  const std::string_view key = "a";
  AnyFilter memory(*php.scheme), file = AnyFilter::create(scratch / "bits", {}, php);
  for (AnyFilter* bits : {&memory, &file}) {
    expect_error(ErrorCode::wrong_kind, {bits->name(), "give their bytes"}, [&] {
      (void)bits->apply(AnyFilter::Operation::insert, {&hash, 1});
    });
    expect_error(ErrorCode::wrong_kind, {bits->name(), "ask first"}, [&] {
      (void)bits->apply(AnyFilter::Operation::insert_absent, AnyFilter::Keys(&key, 1));
    });
    EXPECT_EQ(bits->stats().fill, 0);
  }
}

TEST(AnyPhpBits, InMemoryAreCleared) {
  AnyFilter bits(PhpScheme::crc32_mt(8'000, 100));
  EXPECT_TRUE(bits.insert("a"));
  EXPECT_TRUE(bits.in_memory());
  expect_error(ErrorCode::wrong_kind, {"create them in a file"}, [&] { (void)bits.encode(); });
  bits.clear();
  EXPECT_FALSE(bits.may_contain("a"));
  EXPECT_EQ(bits.stats().fill, 0);
}

TEST(AnyPhpBits, AnIntegerThatIsRefusedIsNotAcknowledged) {
  AnyFilter bits(PhpScheme::crc32_mt(8'000, 100));
  const std::vector<std::string> keys{"a", "b", "c"};
  for (const bool inserts : {true, false}) {
    bits.insert_many(keys);
    EXPECT_EQ(bits.acknowledged(), 3U);
    expect_error(ErrorCode::wrong_kind, {"write integers as text"},
                 [&] { (void)(inserts ? bits.insert(7) : bits.remove(7)); });
    EXPECT_EQ(bits.acknowledged(), 0U);
  }
}

// Keys whose bits are in different pages, in calls that change one page or all of them.
TEST(AnyPhpBits, AreWrittenPageByPage) {
  const Scratch scratch;
  const AnyOptions php{.scheme = PhpScheme::crc32_mt(400'000, 20'000)};
  AnyFilter bits = AnyFilter::create(scratch / "bits", {}, php);
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) {
    bits.insert(keys.emplace_back(std::to_string(i)));
    ASSERT_EQ(AnyFilter::open(scratch / "bits", Access::read, php).may_contain_many(keys),
              keys.size());
  }
  keys.clear();
  for (int i = 0; i < 1'000; ++i) keys.push_back("more " + std::to_string(i));
  bits.insert_many(keys);
  EXPECT_EQ(AnyFilter::open(scratch / "bits", Access::read, php).may_contain_many(keys),
            keys.size());
}

TEST(AnyPhpBits, AreOpenedOrCreated) {
  const Scratch scratch;
  for (const AnyOptions& php : {AnyOptions{.scheme = PhpScheme::crc32_mt(8'000, 100)},
                                AnyOptions{.scheme = PhpScheme::string_hashes("BKDR")}})
    for (const bool there : {false, true}) {
      const std::string path = scratch / std::to_string(php.scheme->hash_count());
      AnyFilter bits = AnyFilter::open_or_create(path, {}, php);
      EXPECT_EQ(bits.may_contain("a"), there);
      bits.insert("a");
      bits.close();
    }
}

TEST(AnyPhpBits, HaveNoOptionsBesideTheirScheme) {
  const Scratch scratch;
  const std::string path = scratch / "bits";
  const auto scheme = PhpScheme::crc32_mt(8'000, 800);
  AnyFilter::create(path, {}, {.scheme = scheme});
  const FilterSpec specs[] = {{.kind = Kind::plain}, {.capacity = 800},
                              {.fpr = 0.01},         {.bits = 8'000},
                              {.hashes = 7},         {.layout = Layout::standard}};
  AnyOptions all[std::size(specs) + 3];
  for (AnyOptions& options : all) options.scheme = scheme;
  all[std::size(specs)].hash = HashFamily::xxh3;
  all[std::size(specs) + 1].seed = Seed{};
  all[std::size(specs) + 2].random_seed = true;
  for (std::size_t i = 0; i < std::size(all); ++i) {
    SCOPED_TRACE(i);
    const FilterSpec spec = i < std::size(specs) ? specs[i] : FilterSpec{};
    const char* const says = "says all about its bits";
    expect_error(ErrorCode::invalid_argument, {says},
                 [&] { (void)AnyFilter::create(scratch / "new", spec, all[i]); });
    expect_error(ErrorCode::invalid_argument, {says},
                 [&] { (void)AnyFilter::open_or_create(path, spec, all[i]); });
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "new"));
}

}  // namespace
}  // namespace bloomery::test
