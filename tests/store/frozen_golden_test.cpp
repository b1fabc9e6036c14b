// Files of frozen filters as format 1 first wrote them: every later version opens them, on every machine, and the same
// keys make the same bytes.
//
// tests/store/golden/ has them, written once by WriteFrozenGolden below, and packed by xz -9e. Never write them again:
// a change that fails here is a change of the format, and needs a new version of it.
#include <bloomery/bloomery.hpp>

#include "store/fake_os.hpp"
#include "store/images.hpp"
#include "store/scratch.hpp"

#include <string>

namespace bloomery::test {
namespace {

constexpr std::uint64_t kListed = 5'000, kAddedLater = 100;

struct GoldenFrozen {
  const char* name;
  FilterPlan plan;
  Hasher hasher;
  [[nodiscard]] std::string path() const { return BLOOMERY_GOLDEN + std::string(name); }
  [[nodiscard]] bool has_delta() const { return std::get<FrozenPlan>(plan).delta.has_value(); }
};

// At 1.5 % some partitions have fingerprints of one bit less.
std::vector<GoldenFrozen> golden_frozen() {
  return {{"frozen-1.bloom", frozen_plan(1, 0.015), Hasher()},
          {"frozen-siphash-1.bloom", frozen_plan(1, 1e-9),
           Hasher(HashFamily::siphash, {.low = 0x0123456789ABCDEF, .high = 0xFEDCBA9876543210})},
          {"frozen-delta-1.bloom", frozen_plan(1, 0.01, 300),
           Hasher(HashFamily::xxh3, {.low = 0x0123456789ABCDEF})}};
}

std::vector<std::byte> written(const GoldenFrozen& one) {
  FakeOs os;
  auto file = Files(os).create("dir/f", one.plan, {.hasher = one.hasher});
  file.insert_hashes(hashes_of(one.hasher, 0, kListed));
  file.close();
  if (one.has_delta()) {
    file = Files(os).open("dir/f", {.access = Access::write});
    file.insert_hashes(hashes_of(one.hasher, 1 << 20, kAddedLater));
    file.close();
  }
  return os.contents("dir/f");
}

void expect_all_keys(const FilterFile& file, const GoldenFrozen& one) {
  EXPECT_EQ(file.may_contain_hashes(hashes_of(one.hasher, 0, kListed)), kListed);
  if (one.has_delta()) {
    EXPECT_EQ(file.may_contain_hashes(hashes_of(one.hasher, 1 << 20, kAddedLater)), kAddedLater);
  }
}

TEST(WriteFrozenGolden, DISABLED_Once) {
  for (const GoldenFrozen& one : golden_frozen()) write_bytes(one.path(), written(one));
}

TEST(GoldenFrozen, AreWhatTheSameKeysWrite) {
  for (const GoldenFrozen& one : golden_frozen()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(written(one), read_bytes(one.path()));
  }
}

TEST(GoldenFrozen, AreRead) {
  for (const GoldenFrozen& one : golden_frozen()) {
    SCOPED_TRACE(one.name);
    const VerifyReport report = verify(one.path());
    EXPECT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
    const FilterFile reader = FilterFile::open(one.path());
    EXPECT_EQ(reader.kind(), Kind::frozen);
    EXPECT_EQ(reader.frozen().keys(), kListed);
    EXPECT_EQ(reader.hasher().seed(), one.hasher.seed());
    EXPECT_EQ(std::get<FrozenPlan>(reader.plan()).array.fpr,
              std::get<FrozenPlan>(one.plan).array.fpr);
    expect_all_keys(reader, one);
    // Absent keys are found as often as the file says, 1.5 % at most: 750 of 50,000, and not 950 but with a
    // probability below 1e-11 (Chernoff).
    EXPECT_LT(reader.may_contain_hashes(hashes_of(one.hasher, 1 << 30, 50'000)), 950U);
  }
}

TEST(GoldenFrozen, WithADeltaIsCarriedOn) {
  const Scratch scratch(fast_place());
  for (const Durability durability : kDurabilities) {
    const GoldenFrozen one = golden_frozen().back();
    const std::string path = scratch / "f";
    write_bytes(path, read_bytes(one.path()));
    FilterFile::open(path, {.access = Access::write, .durability = durability})
        .insert(std::uint64_t{1} << 40);
    const FilterFile reader = FilterFile::open(path);
    expect_all_keys(reader, one);
    EXPECT_TRUE(reader.may_contain(std::uint64_t{1} << 40));
    EXPECT_TRUE(verify(path).ok());
  }
}

}  // namespace
}  // namespace bloomery::test
