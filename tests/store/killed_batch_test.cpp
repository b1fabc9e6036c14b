// What is left of a batch whose `sync` writer is killed while it stores the bits of a plain filter: readers
// find any of its keys, and from the next writer on the first ones of it.
#include "format/journal.hpp"
#include "format/layout.hpp"
#include "store/fake_os.hpp"
#include "store/scratch.hpp"

#include <cstring>
#include <random>

namespace bloomery::test {
namespace {

constexpr std::uint64_t kAcknowledged = 40, kBatch = 700;
constexpr std::uint64_t kBatchRoom = std::uint64_t{4} << 20;

class KilledBatch : public testing::TestWithParam<Layout> {
 protected:
  KilledBatch() {
    auto file = Files(os_).create(kFakePath, plan_, {.durability = Durability::sync});
    const Hasher& hasher = file.hasher();
    file.insert_hashes(hashes_of(hasher, 0, kAcknowledged));
    before_ = os_.contents(kFakePath);
    file.insert_hashes(hashes_of(hasher, kAcknowledged, kBatch));
    after_ = os_.contents(kFakePath);
    killed_ = os_.after_kill();
  }
  // Which keys of the batch a reader finds. It must find all that were acknowledged before.
  [[nodiscard]] std::vector<bool> found() {
    const auto reader = Files(*killed_).open(kFakePath);
    EXPECT_EQ(missing(reader.view(), 0, kAcknowledged), 0U);
    std::vector<bool> keys;
    for (std::uint64_t i = 0; i < kBatch; ++i)
      keys.push_back(reader.may_contain(kAcknowledged + i));
    return keys;
  }
  void open_for_writing() { Files(*killed_).open(kFakePath, {.access = Access::write}).sync(); }
  // How many keys of the batch are found, if they are the first ones of it.
  static std::uint64_t first_ones(const std::vector<bool>& keys) {
    const auto end = std::find(keys.begin(), keys.end(), false);
    EXPECT_EQ(std::find(end, keys.end(), true), keys.end()) << "there are later ones";
    return static_cast<std::uint64_t>(end - keys.begin());
  }

  // So large that no key is found by chance, with a probability above 1e-9 for a key.
  const Plan plan_ = plan_of(GetParam(), 512 * 4000, 12);
  const std::uint64_t journal_at_ = detail::FileLayout(plan_).journal_at;
  FakeOs os_{kBatchRoom};
  std::vector<std::byte> before_, after_;  // the file without the batch, and with it
  std::unique_ptr<FakeOs> killed_;
};
INSTANTIATE_TEST_SUITE_P(, KilledBatch, testing::ValuesIn(kLayouts), kNameOfOne);

// The journal has all of the batch, and the process dies while the blocks are copied into the mapping, in
// whatever order.
TEST_P(KilledBatch, IsWholeFromTheNextWriterOn) {
  std::mt19937 random(1);
  auto file = after_;
  for (std::uint64_t at = detail::kBitsAt; at < detail::kBitsAt + plan_.bytes(); at += 64)
    if (random() % 8 == 0) std::memcpy(&file[at], &before_[at], 64);
  killed_->put(kFakePath, file);
  const auto keys = found();
  const auto count = std::count(keys.begin(), keys.end(), true);
  EXPECT_GT(count, 0);
  EXPECT_LT(count, static_cast<long>(kBatch));
  const auto first_absent = std::find(keys.begin(), keys.end(), false);
  EXPECT_NE(std::find(first_absent, keys.end(), true), keys.end())
      << "if this is a prefix now, promise it";
  EXPECT_EQ(found(), keys) << "a reader leaves the file alone";
  open_for_writing();
  EXPECT_EQ(first_ones(found()), kBatch);
}

// The process dies before the journal has all of the batch; then none of its bits is stored yet.
TEST_P(KilledBatch, IsItsFirstKeysFromTheNextWriterOn) {
  // The acknowledged keys take two sectors.
  const std::uint64_t begin = journal_at_ + 2 * detail::kSectorBytes;
  const std::uint64_t sectors = (kBatch + detail::kHashesPerSector - 1) / detail::kHashesPerSector;
  for (const std::uint64_t written : {std::uint64_t{0}, std::uint64_t{1}, sectors / 2, sectors}) {
    auto file = before_;
    std::copy_n(after_.begin() + static_cast<std::ptrdiff_t>(begin), written * detail::kSectorBytes,
                file.begin() + static_cast<std::ptrdiff_t>(begin));
    killed_->put(kFakePath, file);
    EXPECT_EQ(first_ones(found()), 0U);
    open_for_writing();
    EXPECT_EQ(first_ones(found()), std::min(kBatch, written * detail::kHashesPerSector));
  }
}

}  // namespace
}  // namespace bloomery::test
