// Every byte of a small file flipped, every truncation, in each state that a writer can leave:
// refused with a reason, or exactly right.
#include "format/forged_headers.hpp"
#include "format/header_bytes.hpp"
#include "format/journal.hpp"
#include "store/session_script.hpp"
#include "support/effort.hpp"
#include "support/expect_error.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace bloomery::test {
namespace {

constexpr std::uint64_t kKeys = 60;

enum class Residue { clean, mapped, journaled };

std::string name_of_residue(Residue residue) {
  switch (residue) {
    case Residue::clean:
      return "clean";
    case Residue::mapped:
      return "mapped";
    case Residue::journaled:
      break;
  }
  return "journaled";
}

Filter all_keys(const Plan& plan) {
  Filter filter(plan);
  for (std::uint64_t key = 0; key < kKeys; ++key) filter.insert(key);
  return filter;
}

// A file as a session leaves it: closed, or killed.
struct Left {
  FakeOs os;  // in whose boot it was written
  std::vector<std::byte> bytes;
};

std::unique_ptr<Left> leave(const Plan& plan, Residue residue) {
  auto left = std::make_unique<Left>();
  const Durability durability = residue == Residue::mapped ? Durability::process : Durability::sync;
  auto file = Files(left->os).create(kPath, plan, {.durability = durability});
  // Some keys are in the bits alone, some are in the journal too.
  file.insert_hashes(hashes_of(file.view().hasher(), 0, kKeys / 2));
  if (residue == Residue::journaled) {
    file.close();
    file = Files(left->os).open(kPath, {.access = Access::write, .durability = durability});
  }
  file.insert_hashes(hashes_of(file.view().hasher(), kKeys / 2, kKeys / 4));
  file.insert_hashes(hashes_of(file.view().hasher(), 3 * kKeys / 4, kKeys / 4));
  if (residue == Residue::clean) file.close();
  left->bytes = left->os.after_kill()->contents(kPath);
  return left;
}

// The machine without its files, so that a copy costs less.
std::unique_ptr<FakeOs> emptied(std::unique_ptr<FakeOs> os) {
  os->unlink(kPath);
  os->sync_directory("/dir");
  return os;
}

class DamagedFile : public testing::TestWithParam<std::tuple<Layout, Residue>> {
 protected:
  const Plan plan_ = plan_of(std::get<0>(GetParam()), 512 * 12);
  const Residue residue_ = std::get<1>(GetParam());
  const std::unique_ptr<Left> left_ = leave(plan_, residue_);
  const std::unique_ptr<FakeOs> same_boot_ = emptied(left_->os.after_kill());
  const std::unique_ptr<FakeOs> another_boot_ = emptied(left_->os.after_power_loss(0, 0));
  const detail::FileLayout layout_{plan_};
  const Filter all_keys_ = all_keys(plan_);

  // True: it opened, and all is right. False: it was refused. `another_boot`: the machine has
  // been started since.
  bool opens(const std::vector<std::byte>& bytes, Access access, Durability durability,
             bool another_boot) {
    const auto os = (another_boot ? another_boot_ : same_boot_)->after_kill();
    os->put(kPath, bytes);
    try {
      const auto file = Files(*os).open(kPath, {.access = access, .durability = durability});
      EXPECT_EQ(file.view().plan(), plan_);
      EXPECT_EQ(file.view().hasher().seed(), Hasher().seed());
      EXPECT_TRUE(std::ranges::equal(file.view().bytes(), all_keys_.bytes()));
      return true;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::corrupt || error.code() == ErrorCode::unclean ||
                  error.code() == ErrorCode::not_a_filter)
          << error.what();
      return false;
    }
  }
  [[nodiscard]] bool in_bits(std::size_t byte) const {
    return byte >= detail::kBitsAt && byte < layout_.sums_at;
  }
};

INSTANTIATE_TEST_SUITE_P(, DamagedFile,
                         testing::Combine(testing::ValuesIn(kLayouts),
                                          testing::Values(Residue::clean, Residue::mapped,
                                                          Residue::journaled)),
                         [](const auto& param) {
                           return name_of(std::get<0>(param.param)) + "_" +
                                  name_of_residue(std::get<1>(param.param));
                         });

TEST_P(DamagedFile, EveryFlippedByteIsRefusedOrHarmless) {
  auto bytes = left_->bytes;
  // With `none` all of the file is read, as is what a journal is replayed over. A reader of a
  // clean file, and all of a mapped one, take the bits as they are: their damage is found by
  // verify, or, while a `process` writer has left it open, by nobody (docs/guarantees.md).
  const Durability durability = Durability::none;
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (residue_ == Residue::mapped && in_bits(i)) continue;
    if (hurried() && i % 11 != 0) continue;
    if (i > layout_.journal_at + 6 * detail::kSectorBytes && i % 61 != 0) continue;
    for (const unsigned flip : {1U << (i % 8), 0xFFU}) {
      bytes[i] ^= static_cast<std::byte>(flip);
      const bool opened = opens(bytes, Access::write, durability, residue_ != Residue::mapped);
      refused += !opened;
      if (!in_bits(i) || residue_ != Residue::clean)
        opens(bytes, Access::read, durability, residue_ != Residue::mapped);
      ASSERT_FALSE(HasFailure()) << "byte " << i << " flipped by " << flip;
      // A journal may give back a bit that was lost; nothing else does.
      ASSERT_FALSE(opened && in_bits(i) && residue_ == Residue::clean) << "byte " << i;
      bytes[i] ^= static_cast<std::byte>(flip);
    }
  }
  EXPECT_TRUE(opens(bytes, Access::write, durability, residue_ != Residue::mapped));
  if (residue_ != Residue::mapped) {
    EXPECT_GE(refused, plan_.bytes() / (hurried() ? 11 : 1));
  }
}

TEST_P(DamagedFile, EveryTruncationIsRefused) {
  const std::size_t whole =
      residue_ == Residue::journaled ? left_->bytes.size() : layout_.clean_bytes;
  for (std::size_t size = 0; size < whole;
       size = size < 9000 || size > whole - 900 ? size + 1 : size + 37) {
    if (hurried() && size % 11 != 0 && size % 512 > 1) continue;
    const std::vector<std::byte> cut(left_->bytes.begin(),
                                     left_->bytes.begin() + static_cast<std::ptrdiff_t>(size));
    for (const Access access : {Access::read, Access::write})
      ASSERT_FALSE(opens(cut, access, Durability::process, false)) << size;
  }
}

TEST_P(DamagedFile, BytesBeyondTheEndAreHarmless) {
  auto bytes = left_->bytes;
  bytes.insert(bytes.end(), 700, std::byte{0xAB});
  for (const Durability durability : kDurabilities)
    EXPECT_TRUE(opens(bytes, Access::write, durability, false));
}

// Of a clean file, each way of finding damaged bits finds them.
TEST(DamagedBits, AreNeverVouchedForAgain) {
  for (const Layout layout : kLayouts) {
    const Plan plan = plan_of(layout, 512 * 12);
    const auto left = leave(plan, Residue::clean);
    auto bytes = left->bytes;
    bytes[detail::kBitsAt + 100] ^= std::byte{4};
    const auto os = left->os.after_kill();
    os->put(kPath, bytes);
    const auto open = [&](Durability durability) {
      return Files(*os).open(kPath, {.access = Access::write, .durability = durability});
    };
    EXPECT_EQ(Files(*os).verify(kPath).damaged_chunks, std::vector<std::uint64_t>{0});
    EXPECT_EQ(code_of([&] { open(Durability::none); }), ErrorCode::corrupt);
    EXPECT_EQ(code_of([&] { open(Durability::process).insert(1); }), ErrorCode::corrupt);
    EXPECT_EQ(code_of([&] { open(Durability::process).merge(Filter(plan)); }), ErrorCode::corrupt);
    for (const Durability durability : {Durability::process, Durability::sync})
      EXPECT_EQ(code_of([&] { (void)open(durability).encode(); }), ErrorCode::corrupt);
    EXPECT_EQ(code_of([&] { (void)Files(*os).open(kPath).encode(); }), ErrorCode::corrupt);
    {
      auto file = open(Durability::sync);
      file.insert_hashes(hashes_of(Hasher(), 1000, 100));
      EXPECT_EQ(code_of([&] { file.merge(Filter(plan)); }), ErrorCode::corrupt);
      const auto many = hashes_of(Hasher(), 2000, 1000);
      EXPECT_EQ(code_of([&] { file.insert_hashes(many); }), ErrorCode::corrupt);
      file.close();
    }
    EXPECT_EQ(Files(*os).verify(kPath).damaged_chunks, std::vector<std::uint64_t>{0})
        << "the journal's sums add what was changed, not what is there";
  }
}

// A writer answers for the chunks that it has changed, and their sums for the others, as long as the file is its own.
TEST(DamagedBits, AreFoundBesideWhatAWriterHasChanged) {
  constexpr std::uint64_t kChunks = 3;
  const Plan plan = plan_of(Layout::blocked, 512 * (kChunks * 1024 - 7));
  for (const Durability durability : {Durability::process, Durability::sync})
    for (std::uint64_t chunk = 0; chunk < kChunks; ++chunk) {
      FakeOs os(400 * 1024);
      Files(os).create(kPath, plan).close();
      auto writer = Files(os).open(kPath, {.access = Access::write, .durability = durability});
      writer.insert(std::uint64_t{1});
      const auto found = writer.encode();
      EXPECT_TRUE(decode(found).may_contain(std::uint64_t{1}));
      auto bytes = os.contents(kPath);
      const auto at = static_cast<std::ptrdiff_t>(detail::kBitsAt + chunk * detail::kChunkBytes);
      const bool changed = std::any_of(bytes.begin() + at, bytes.begin() + at + 65'000,
                                       [](std::byte each) { return each != std::byte{0}; });
      bytes[static_cast<std::size_t>(at) + 5] ^= std::byte{4};
      os.copy_over(kPath, bytes);
      // The sums of a writer with a journal add what it changes.
      if (changed && durability == Durability::process)
        EXPECT_NO_THROW((void)writer.encode()) << chunk;
      else
        EXPECT_EQ(code_of([&] { (void)writer.encode(); }), ErrorCode::corrupt) << chunk;
    }
  FakeOs os(400 * 1024);
  auto writer = Files(os).create(kPath, plan, {.durability = Durability::process});
  writer.insert(std::uint64_t{1});
  writer.close();
  auto next = Files(os).open(kPath, {.access = Access::write, .durability = Durability::process});
  for (std::uint64_t key = 2; key < 30; ++key) next.insert(key);
  EXPECT_NO_THROW((void)writer.encode()) << "the bits that it has mapped are those of the next one";
}

TEST(DamagedBits, OfANewFileAreThatFilesAlone) {
  FakeOs os;
  auto file = Files(os).rebuild(kPath, plan_of(Layout::blocked, 512 * 12));
  const std::string fresh = "/dir/.seen.bloom.new";
  auto bytes = os.contents(fresh);
  bytes[detail::kBitsAt + 5] ^= std::byte{4};
  os.copy_over(fresh, bytes);
  expect_error(ErrorCode::corrupt, {std::string(kPath) + ": chunk 0 of its bits is damaged"},
               [&] { file.insert(std::uint64_t{1}); });
}

// A chunk that the device refuses to read is damage. Whatever else it refuses is no word about the file.
TEST(UnreadableFile, IsNotSaidToBeUnclean) {
  for (const Residue residue : {Residue::clean, Residue::mapped, Residue::journaled}) {
    const auto left = leave(plan_of(Layout::blocked, 512 * 12), residue);
    const auto before = emptied(left->os.after_kill());
    before->put(kPath, left->bytes);
    const auto sane = before->after_kill();
    const VerifyReport whole = Files(*sane).verify(kPath);
    std::uint64_t damaged = 0, errors = 0;
    for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
      SCOPED_TRACE(name_of_residue(residue) + ", call " + std::to_string(call));
      const auto os = before->after_kill();
      os->inject({.at = call, .error = EIO});
      try {
        const VerifyReport report = Files(*os).verify(kPath);
        damaged += report.damaged_chunks.size();
        EXPECT_EQ(report.state, whole.state) << report.detail;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
        ++errors;
      }
    }
    EXPECT_EQ(damaged, residue == Residue::clean ? 1U : 0U);
    EXPECT_GT(errors, 3U);
  }
  // Nor are bits that were not read taken for zeros.
  FakeOs empty;
  Files(empty).create(kPath, plan_of(Layout::blocked, 512 * 12)).close();
  const auto sane = empty.after_kill();
  (void)Files(*sane).verify(kPath);
  std::uint64_t damaged = 0;
  for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
    const auto os = empty.after_kill();
    os->inject({.at = call, .error = EIO});
    try {
      damaged += Files(*os).verify(kPath).damaged_chunks.size();
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_EQ(damaged, 1U);
}

TEST(DamagedBits, OfAJournaledFileAreSeenByVerifyAndNotSalvaged) {
  const auto left = leave(plan_of(Layout::blocked, 512 * 12), Residue::journaled);
  const auto os = left->os.after_kill();
  os->put(kPath, left->bytes);
  EXPECT_EQ(Files(*os).verify(kPath).state, VerifyReport::State::recoverable);
  EXPECT_EQ(Files(*os).salvage(kPath, "/dir/saved").filled_chunks, 0U);
  EXPECT_EQ(missing(Files(*os).open("/dir/saved").view(), 0, kKeys), 0U);

  auto bytes = left->bytes;
  // A bit that was never set, so that the journal does not set it again.
  const auto ours = std::find(bytes.begin() + detail::kBitsAt, bytes.end(), std::byte{0});
  *ours ^= std::byte{4};
  os->put(kPath, bytes);
  const VerifyReport report = Files(*os).verify(kPath);
  EXPECT_EQ(report.state, VerifyReport::State::unclean);
  EXPECT_NE(report.detail.find("the bits are not what its journal says"), std::string::npos);
  EXPECT_EQ(code_of([&] { Files(*os).salvage(kPath, "/dir/saved", true); }), ErrorCode::corrupt);

  bytes = left->bytes;
  bytes[detail::FileLayout(plan_of(Layout::blocked, 512 * 12)).journal_at + 100] ^= std::byte{4};
  os->put(kPath, bytes);
  EXPECT_EQ(Files(*os).verify(kPath).state, VerifyReport::State::unclean);
  EXPECT_EQ(code_of([&] { Files(*os).salvage(kPath, "/dir/saved", true); }), ErrorCode::corrupt);
}

// A record that was acknowledged and is now zeros, as a device that loses writes leaves it.
TEST(DamagedJournal, MissingRecordIsNotTakenForTheEnd) {
  const Plan plan = plan_of(Layout::blocked, 512 * 12);
  const auto left = leave(plan, Residue::journaled);
  auto bytes = left->bytes;
  const auto journal =
      bytes.begin() + static_cast<std::ptrdiff_t>(detail::FileLayout(plan).journal_at);
  std::fill(journal, journal + detail::kSectorBytes, std::byte{0});
  const auto os = left->os.after_power_loss(0, 0);
  os->put(kPath, bytes);
  for (const Access access : {Access::read, Access::write})
    EXPECT_EQ(code_of([&] { Files(*os).open(kPath, {.access = access}); }), ErrorCode::corrupt);
}

// Records that no writer of a plain filter makes, under checksums that are right: nothing is removed from it, and it has
// no time.
TEST(DamagedJournal, OfAPlainFilterHasInsertsOnly) {
  const Plan plan = plan_of(Layout::blocked, 512 * 12);
  const auto left = leave(plan, Residue::journaled);
  const auto header =
      detail::decode_headers(std::span(left->bytes).first(detail::kBitsAt), left->bytes.size(), "f")
          .header;
  for (const int wrong : {0, 1, 2}) {
    auto bytes = left->bytes;
    const auto sector =
        std::span(bytes).subspan(detail::FileLayout(plan).journal_at).first<detail::kSectorBytes>();
    detail::JournalRecord record;
    ASSERT_EQ(detail::decode_record(sector, header.identity, 0, record),
              detail::SectorState::record);
    record.removed = wrong == 1 ? 1 : 0;
    if (wrong == 2) {
      record.what = detail::Journaled::time;
      record.count = 1;  // the other keys are in the bits
    }
    detail::encode_record(record, header.identity, sector);
    const auto os = left->os.after_power_loss(1, 0);
    os->put(kPath, bytes);
    const auto open = [&] { (void)Files(*os).open(kPath); };
    if (wrong != 0)
      expect_error(ErrorCode::corrupt, {"journal", "record"}, open);
    else
      EXPECT_NO_THROW(open());
  }
}

// Fields that no writer makes, under a checksum that is right.
TEST(HostileHeader, IsRefusedBeforeAnythingIsMapped) {
  const auto left = leave(plan_of(Layout::blocked, 512 * 12), Residue::clean);
  detail::Header good;
  {
    const auto start = std::span(left->bytes).first(detail::kBitsAt);
    good = detail::decode_headers(start, left->bytes.size(), "f").header;
  }
  const auto opening = [&](const std::function<void(detail::Header&)>& change) {
    detail::Header header = good;
    change(header);
    auto bytes = left->bytes;
    put_headers(bytes, header);
    for (const Access access : {Access::read, Access::write}) {
      const auto os = left->os.after_kill();
      os->put(kPath, bytes);
      EXPECT_EQ(code_of([&] { Files(*os).open(kPath, {.access = access}); }), ErrorCode::corrupt);
      EXPECT_EQ(os->mappings(), 0U);
    }
    EXPECT_EQ(code_of([&] { (void)decode(bytes); }), ErrorCode::corrupt);
  };
  using detail::Header;
  opening([](Header& h) {
    std::get<Plan>(h.plan).bits = kMaxBits;
  });  // possible, but the file is shorter
  opening([](Header& h) { std::get<Plan>(h.plan).bits = std::uint64_t{1} << 60; });
  opening([](Header& h) { std::get<Plan>(h.plan).bits = ~std::uint64_t{0}; });
  opening([](Header& h) { std::get<Plan>(h.plan).bits = 0; });
  opening([](Header& h) { std::get<Plan>(h.plan).bits += 1; });
  opening([](Header& h) { std::get<Plan>(h.plan).hashes = 0; });
  opening([](Header& h) { std::get<Plan>(h.plan).hashes = ~0U; });
  opening([](Header& h) { std::get<Plan>(h.plan).capacity = 0; });
  opening([](Header& h) { std::get<Plan>(h.plan).fpr = std::numeric_limits<double>::quiet_NaN(); });
  opening([](Header& h) { std::get<Plan>(h.plan).fpr = 2; });
  opening([](Header& h) { std::get<Plan>(h.plan).layout = static_cast<Layout>(0); });
  opening([](Header& h) { std::get<Plan>(h.plan).layout = static_cast<Layout>(77); });
  opening([](Header& h) { h.state = static_cast<detail::State>(9); });
  opening([](Header& h) { h.journal_bytes = 512; });  // of a clean file
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{511}, std::uint64_t{1} << 20, ~std::uint64_t{511}})
    opening([&](Header& h) {
      h.state = detail::State::journaled;
      h.journal_bytes = size;
    });
}

}  // namespace
}  // namespace bloomery::test
