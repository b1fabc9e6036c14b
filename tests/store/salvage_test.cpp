// verify finds what was damaged; salvage keeps every key.
#include <bloomery/bloomery.hpp>

#include "format/header_bytes.hpp"
#include "format/kinds.hpp"
#include "store/fake_os.hpp"
#include "store/kinds.hpp"
#include "support/expect_error.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <vector>

namespace bloomery::test {
namespace {

constexpr std::uint64_t kKeys = 20'000;

class Salvage : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    auto file = FilterFile::create(path_, plan_, {.durability = Durability::none});
    file.insert_hashes(hashes_of(file.view().hasher(), 0, kKeys));
    inserted_ = file.inserted();
    file.close();
    bytes_ = read_bytes(path_);
  }
  void damage(std::uint64_t from, std::uint64_t count) {
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(from), count, std::byte{0});
    write_bytes(path_, bytes_);
  }
  void expect_all_keys(const std::string& path) const {
    EXPECT_TRUE(verify(path).ok()) << verify(path).detail;
    auto file = FilterFile::open(path, {.access = Access::write});
    EXPECT_EQ(missing(file.view(), 0, kKeys), 0U);
    EXPECT_EQ(file.view().plan(), plan_);
    EXPECT_EQ(file.inserted(), inserted_);
    file.insert(kKeys);
    file.close();
    EXPECT_TRUE(verify(path).ok());
  }

  Scratch scratch_;
  std::string path_ = scratch_ / "seen.bloom";
  std::string out_ = scratch_ / "saved.bloom";
  // Ten chunks, the last one 4 KiB long.
  const Plan plan_ = plan_of(GetParam(), 512 * (1024 * 9 + 64));
  const detail::FileLayout layout_{plan_};
  std::vector<std::byte> bytes_;
  std::uint64_t inserted_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, Salvage, testing::ValuesIn(kLayouts), kNameOfOne);

TEST_P(Salvage, CopiesAWholeFile) {
  const SalvageReport report = salvage(path_, out_);
  EXPECT_EQ(report.chunks, 10U);
  EXPECT_EQ(report.filled_chunks, 0U);
  EXPECT_EQ(report.current_fpr, FilterFile::open(path_).view().current_fpr());
  expect_all_keys(out_);
}

// As `cp` copies it: where it has zeros, nothing is written.
TEST_P(Salvage, CopiesAFileWithHoles) {
  FilterFile::create(path_, plan_, {.durability = Durability::none, .replace = true}).close();
  bytes_ = read_bytes(path_);
  std::filesystem::remove(path_);
  {
    std::ofstream sparse(path_, std::ios::binary);
    const auto bits = static_cast<std::streamoff>(plan_.bytes());
    const auto* const text = reinterpret_cast<const char*>(bytes_.data());
    sparse.write(text, detail::kBitsAt);
    sparse.seekp(bits, std::ios::cur);
    sparse.write(text + detail::kBitsAt + bits,
                 static_cast<std::streamsize>(bytes_.size() - detail::kBitsAt) - bits);
  }
  ASSERT_EQ(read_bytes(path_), bytes_);
  EXPECT_EQ(salvage(path_, out_).filled_chunks, 0U);
  EXPECT_TRUE(verify(out_).ok()) << verify(out_).detail;
}

TEST_P(Salvage, FillsDamagedChunks) {
  damage(detail::kBitsAt + 3 * detail::kChunkBytes + 1000, 500);
  damage(detail::kBitsAt + 9 * detail::kChunkBytes, 64);
  const VerifyReport found = verify(path_);
  EXPECT_FALSE(found.ok());
  EXPECT_EQ(found.damaged_chunks, (std::vector<std::uint64_t>{3, 9}));
  EXPECT_EQ(code_of([&] { (void)decode(read_bytes(path_)); }), ErrorCode::corrupt);
  const double before = FilterFile::open(path_).view().current_fpr();
  const SalvageReport report = salvage(path_, out_);
  EXPECT_EQ(report.filled_chunks, 2U);
  EXPECT_GT(report.current_fpr, before);
  expect_all_keys(out_);
}

// A copy that left out what it could not read.
TEST_P(Salvage, FillsChunksThatHaveBecomeHoles) {
  const std::string sparse = scratch_ / "sparse.bloom";
  const std::size_t from = detail::kBitsAt + 3 * detail::kChunkBytes;
  const std::size_t to = from + 2 * detail::kChunkBytes;
  write_bytes(sparse, std::span(bytes_).first(from));
  std::fstream file(sparse, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(to))
      .write(reinterpret_cast<const char*>(bytes_.data() + to),
             static_cast<std::streamsize>(bytes_.size() - to));
  file.close();
  ASSERT_EQ(read_bytes(sparse).size(), bytes_.size());
  EXPECT_EQ(verify(sparse).damaged_chunks, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(salvage(sparse, out_).filled_chunks, 2U);
  expect_all_keys(out_);
}

TEST_P(Salvage, KeepsTheBitsWhereOnlyTheirSumsAreDamaged) {
  damage(layout_.sums_at, layout_.chunks * 8);
  const VerifyReport found = verify(path_);
  EXPECT_TRUE(found.spare_damaged);
  EXPECT_FALSE(found.ok());
  EXPECT_TRUE(found.damaged_chunks.empty());
  EXPECT_EQ(salvage(path_, out_).filled_chunks, 0U);
  expect_all_keys(out_);
  FilterFile::open(path_, {.access = Access::write}).close();  // repairs it
  expect_all_keys(path_);
}

TEST_P(Salvage, FillsWhatNothingVouchesForWhereSumsAndBitsAreDamaged) {
  damage(layout_.sums_at, 8);  // of chunk 0, which is whole
  damage(detail::kBitsAt + 5 * detail::kChunkBytes, 2048);
  EXPECT_EQ(verify(path_).damaged_chunks, (std::vector<std::uint64_t>{0, 5}));
  EXPECT_EQ(salvage(path_, out_).filled_chunks, 2U);
  expect_all_keys(out_);
}

TEST_P(Salvage, SeesChunksThatWereWrittenToEachOthersPlace) {
  const auto chunk = [&](std::ptrdiff_t i) {
    return bytes_.begin() + static_cast<std::ptrdiff_t>(detail::kBitsAt + i * detail::kChunkBytes);
  };
  std::swap_ranges(chunk(1), chunk(2), chunk(4));
  // Their sums as well: the total still sees it.
  const auto sum = bytes_.begin() + static_cast<std::ptrdiff_t>(layout_.sums_at);
  std::swap_ranges(sum + 8, sum + 16, sum + 32);
  write_bytes(path_, bytes_);
  EXPECT_EQ(verify(path_).damaged_chunks, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(salvage(path_, out_).filled_chunks, 2U);
  expect_all_keys(out_);
}

TEST_P(Salvage, LivesWithOneCopyOfTheHeader) {
  for (const std::uint64_t copy : {0, 1}) {
    const auto whole = bytes_;
    damage(copy * detail::kHeaderBytes, 4096);
    EXPECT_TRUE(verify(path_).spare_damaged);
    EXPECT_EQ(salvage(path_, out_, true).filled_chunks, 0U);
    expect_all_keys(out_);
    FilterFile::open(path_, {.access = Access::write}).close();  // repairs it
    expect_all_keys(path_);
    bytes_ = whole;
  }
  damage(0, 8192);
  EXPECT_EQ(code_of([&] { (void)verify(path_); }), ErrorCode::not_a_filter);
  EXPECT_EQ(code_of([&] { salvage(path_, out_, true); }), ErrorCode::not_a_filter);
}

TEST_P(Salvage, MindsWhatIsAtItsDestination) {
  std::ofstream(out_) << "Dear reader";
  EXPECT_EQ(code_of([&] { salvage(path_, out_); }), ErrorCode::exists);
  EXPECT_EQ(code_of([&] { salvage(path_, out_, true); }), ErrorCode::not_a_filter);
  damage(detail::kBitsAt, 100'000);
  EXPECT_EQ(salvage(path_, path_, true).filled_chunks, 2U);  // in place
  expect_all_keys(path_);
  EXPECT_EQ(scratch_.files(), 2U);
}

TEST_P(Salvage, WaitsForNoWriter) {
  auto file = FilterFile::open(path_, {.access = Access::write});
  file.insert(1);
  EXPECT_EQ(verify(path_).state, VerifyReport::State::in_use);
  EXPECT_EQ(code_of([&] { salvage(path_, out_); }), ErrorCode::locked);
}

TEST_P(Salvage, CannotRepairATruncatedFile) {
  write_bytes(path_, std::span(bytes_).first(bytes_.size() - 1));
  EXPECT_EQ(code_of([&] { (void)verify(path_); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { salvage(path_, out_); }), ErrorCode::corrupt);
  EXPECT_EQ(scratch_.files(), 1U);
}

// A machine with a filter of each kind, all of whose keys it has.
class SalvageOfAKind : public testing::TestWithParam<KindCase> {
 protected:
  SalvageOfAKind() {
    // More than a chunk of fingerprints, after the table of the list.
    if (kind_of(GetParam().plan) == Kind::frozen) keys_.resize(100'000);
    std::iota(keys_.begin(), keys_.end(), 1);
    auto file = Files(before_).create(kFakePath, GetParam().plan);
    file.insert_many(keys_);
    file.close();
  }
  // Whatever salvage saves has all keys. Returns how many chunks it filled, or nothing if it saved nothing.
  std::optional<std::uint64_t> salvaged(FakeOs& os) const {
    try {
      const SalvageReport report = Files(os).salvage(kFakePath, "/dir/saved");
      os.inject({});
      os.interrupt_before(0, {});
      EXPECT_EQ(Files(os).open("/dir/saved").may_contain_many(keys_), keys_.size());
      return report.filled_chunks;
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  [[nodiscard]] detail::Header header() const {
    const auto bytes = before_.contents(kFakePath);
    return detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f")
        .header;
  }
  std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(5);
  FakeOs before_{400 * 1024};
};
std::vector<KindCase> every_kind() {
  std::vector<KindCase> cases = all_kind_cases();
  cases.push_back({"frozen", frozen_plan(1, 0.01)});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(, SalvageOfAKind, testing::ValuesIn(every_kind()), kNameOfOne);

TEST_P(SalvageOfAKind, FillsWhatTheDeviceRefusesToRead) {
  const auto sane = before_.after_kill();
  EXPECT_EQ(salvaged(*sane), 0U);
  std::uint64_t filled = 0;
  for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
    SCOPED_TRACE(call);
    const auto os = before_.after_kill();
    os->inject({.at = call, .error = EIO});
    filled += salvaged(*os).value_or(0);
  }
  // The chunk is read to be checked, and to be copied. Ones are no fingerprints.
  EXPECT_EQ(filled, kind_of(GetParam().plan) == Kind::frozen ? 0U : 2U);
}

TEST_P(SalvageOfAKind, FillsWhatIsDamagedWhileItReads) {
  auto damaged = before_.contents(kFakePath);
  std::fill(damaged.begin() + detail::kBitsAt,
            damaged.begin() + static_cast<std::ptrdiff_t>(detail::layout_of(header()).sums_at),
            std::byte{0});
  std::uint64_t filled = 0;
  bool reached = true;
  for (std::uint64_t call = 1; reached; ++call) {
    SCOPED_TRACE(call);
    const auto os = before_.after_kill();
    reached = false;
    os->interrupt_before(call, [&] {
      reached = true;
      os->copy_over(kFakePath, damaged);
    });
    filled += salvaged(*os).value_or(0);
  }
  EXPECT_EQ(filled > 1, kind_of(GetParam().plan) != Kind::frozen);
}

TEST(VerifyReports, AreErrorsUnderTheNameOfTheirFile) {
  VerifyReport report;
  EXPECT_NO_THROW(report.require_ok("f"));
  report.damaged_chunks = {3};
  report.detail = "1 of 4 chunks is damaged";
  EXPECT_EQ(error_of([&] { report.require_ok("f"); }, ErrorCode::corrupt),
            "f: 1 of 4 chunks is damaged");
  report.detail = "f: cannot read it";
  EXPECT_EQ(error_of([&] { report.require_ok("f"); }, ErrorCode::corrupt), "f: cannot read it");
}

}  // namespace
}  // namespace bloomery::test
