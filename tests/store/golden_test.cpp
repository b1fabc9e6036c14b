// Files of format 1 as they were first written: every later version opens them, on every machine, and
// the same filter is the same bytes.
//
// tests/store/golden/*.bloom.xz were written once, by WriteGolden below, and packed by xz -9e. Never write
// them again: a change that fails here is a change of the format, and needs a new version of it.
#include <bloomery/bloomery.hpp>

#include "store/fake_os.hpp"
#include "store/scratch.hpp"

#include <algorithm>

namespace bloomery::test {
namespace {

const std::string kGolden = BLOOMERY_GOLDEN;
constexpr std::uint64_t kIntegers = 100;

struct Golden {
  const char* name;
  Plan plan;
  Hasher hasher;
};

std::vector<Golden> golden() {
  return {
      {"blocked-1.bloom", {Layout::blocked, 512 * 20, 7, 1000, 0.01}, Hasher()},
      {"blocked2-1.bloom",
       {Layout::blocked2, 512 * 1030, 12, 30000, 0.001},
       Hasher(HashFamily::xxh3, {.low = 0x0123456789ABCDEF})},
      {"standard-1.bloom",
       {Layout::standard, 512 * 20, 6, 1000, 0.02},
       Hasher(HashFamily::siphash, {.low = 0x0123456789ABCDEF, .high = 0xFEDCBA9876543210})},
  };
}

Filter filled(const Golden& golden) {
  Filter filter(golden.plan, golden.hasher);
  for (std::uint64_t key = 0; key < kIntegers; ++key) filter.insert(key);
  for (int i = 0; i < 100; ++i) filter.insert("https://example.org/" + std::to_string(i));
  return filter;
}

void expect_all_keys(const FilterView& view) {
  EXPECT_EQ(missing(view, 0, kIntegers), 0U);
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(view.may_contain("https://example.org/" + std::to_string(i)));
}

// What a `sync` writer of a block filter left when it was killed.
constexpr const char* kJournaled = "journaled-1.bloom";
std::vector<std::byte> journaled() {
  FakeOs os;
  auto file = Files(os).create("/dir/f", golden()[0].plan);
  const Hasher hasher = file.view().hasher();
  file.insert_hashes(hashes_of(hasher, 0, 50));
  file.close();
  file = Files(os).open("/dir/f", {.access = Access::write});
  for (std::uint64_t key = 50; key < kIntegers; ++key) file.insert(key);
  std::vector<Hash128> hashes;
  for (int i = 0; i < 100; ++i)
    hashes.push_back(hasher("https://example.org/" + std::to_string(i)));
  file.insert_hashes(hashes);
  return os.after_kill()->contents("/dir/f");
}

TEST(WriteGolden, DISABLED_Once) {
  for (const Golden& one : golden()) write_bytes(kGolden + one.name, encode(filled(one)));
  write_bytes(kGolden + kJournaled, journaled());
}

TEST(GoldenFiles, AreWhatTheSameFilterEncodesTo) {
  for (const Golden& one : golden()) {
    SCOPED_TRACE(one.name);
    const auto bytes = read_bytes(kGolden + one.name);
    EXPECT_TRUE(verify(kGolden + one.name).ok());
    const auto reader = FilterFile::open(kGolden + one.name);
    EXPECT_EQ(reader.view().plan(), one.plan);
    EXPECT_EQ(reader.view().hasher().seed(), one.hasher.seed());
    expect_all_keys(reader.view());
    const Filter decoded = decode(bytes);
    expect_all_keys(decoded);
    EXPECT_EQ(encode(decoded), bytes);
    EXPECT_EQ(encode(filled(one)), bytes);
  }
}

TEST(GoldenFiles, AreCarriedOn) {
  Scratch scratch;
  for (const Golden& one : golden()) {
    for (const Durability durability : kDurabilities) {
      const std::string path = scratch / "f";
      write_bytes(path, read_bytes(kGolden + one.name));
      FilterFile::open(path, {.access = Access::write, .durability = durability}).insert(1000);
      const auto reader = FilterFile::open(path);
      expect_all_keys(reader.view());
      EXPECT_TRUE(reader.may_contain(1000));
      EXPECT_TRUE(verify(path).ok());
    }
  }
}

TEST(GoldenFiles, JournalIsReplayed) {
  const auto bytes = read_bytes(kGolden + kJournaled);
  EXPECT_EQ(journaled(), bytes);
  const Filter whole = filled(golden()[0]);
  for (const Access access : {Access::read, Access::write}) {
    Scratch scratch;
    write_bytes(scratch / "f", bytes);
    const auto file = FilterFile::open(scratch / "f", {.access = access});
    EXPECT_TRUE(std::ranges::equal(file.view().bytes(), whole.bytes()));
    EXPECT_EQ(file.inserted(), 200U);
  }
}

}  // namespace
}  // namespace bloomery::test
