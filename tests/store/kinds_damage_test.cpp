// Every byte of a small file of each kind flipped, every truncation, and headers that no writer
// makes: refused with a reason, or exactly right.
#include "base/endian.hpp"
#include "format/forged_headers.hpp"
#include "format/header_bytes.hpp"
#include "format/journal.hpp"
#include "format/kinds.hpp"
#include "store/kinds_script.hpp"
#include "support/expect_error.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <tuple>

namespace bloomery::test {
namespace {

using detail::Header;
using detail::State;

enum class KindResidue { clean, noted, journaled };

std::string name_of_residue(KindResidue residue) {
  return residue == KindResidue::clean   ? "clean"
         : residue == KindResidue::noted ? "noted"
                                         : "journaled";
}

class DamagedKind : public testing::TestWithParam<std::tuple<KindCase, KindResidue>> {
 protected:
  // The file as a session leaves it: closed, or killed with some operations in its journal.
  void SetUp() override {
    RandomOperations random(kind_, 11, 200);
    KindModel model(kind_.plan);
    const Durability durability =
        residue_ == KindResidue::noted ? Durability::process : Durability::sync;
    auto file = Files(os_).create(kKindPath, kind_.plan, {.durability = durability});
    for (int batch = 0; batch < 4; ++batch) {
      const Operations operations = random(35);
      perform(file, operations);
      model.apply(operations);
      if (batch != 1) continue;
      file.close();
      file = Files(os_).open(kKindPath, {.access = Access::write, .durability = durability});
    }
    if (residue_ == KindResidue::clean) file.close();
    image_ = model.image();
    bytes_ = os_.after_kill()->contents(kKindPath);
    header_ =
        detail::decode_headers(std::span(bytes_).first(detail::kBitsAt), bytes_.size(), "f").header;
  }

  // True: it opened, and all is right. False: it was refused.
  bool opens(const std::vector<std::byte>& bytes, Access access) {
    const auto os = residue_ == KindResidue::noted ? os_.after_kill() : os_.after_power_loss(0, 0);
    os->put(kKindPath, bytes);
    try {
      const auto file =
          Files(*os).open(kKindPath, {.access = access, .durability = Durability::none});
      EXPECT_EQ(image_of(file), image_);
      return true;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::corrupt || error.code() == ErrorCode::unclean ||
                  error.code() == ErrorCode::not_a_filter)
          << error.what();
      EXPECT_EQ(os->mappings(), 0U);
      return false;
    }
  }
  [[nodiscard]] bool in_bits(std::size_t byte) const {
    return byte >= detail::kBitsAt && byte < detail::layout_of(header_).sums_at;
  }

  const KindCase kind_ = std::get<0>(GetParam());
  const KindResidue residue_ = std::get<1>(GetParam());
  FakeOs os_;  // in whose boot it was written
  std::vector<std::byte> bytes_;
  Image image_;
  Header header_;
};

INSTANTIATE_TEST_SUITE_P(, DamagedKind,
                         testing::Combine(testing::ValuesIn(kind_cases()),
                                          testing::Values(KindResidue::clean, KindResidue::noted,
                                                          KindResidue::journaled)),
                         [](const auto& param) {
                           return name_of(std::get<0>(param.param)) + "_" +
                                  name_of_residue(std::get<1>(param.param));
                         });

TEST_P(DamagedKind, EveryFlippedByteIsRefusedOrHarmless) {
  auto bytes = bytes_;
  const std::uint64_t journal_at = detail::layout_of(header_).journal_at;
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    // Where all is zeros a part of the bytes will do.
    const bool section = i % detail::kHeaderBytes < 400 || i % detail::kHeaderBytes > 4080;
    const bool fields = i >= detail::kBitsAt ? i < journal_at + 8 * detail::kSectorBytes : section;
    if (!nightly() && i % (fields ? 3 : 61) != 0) continue;
    const auto flip = static_cast<std::byte>(i % 2 == 0 ? 0xFFU : 1U << (i / 2 % 8));
    bytes[i] ^= flip;
    const bool opened = opens(bytes, Access::write);
    refused += !opened;
    // A reader takes the bits of a clean file as they are; verify does not.
    if (!in_bits(i) || residue_ != KindResidue::clean) {
      ASSERT_EQ(opens(bytes, Access::read), opened) << i;
    }
    ASSERT_FALSE(HasFailure()) << "byte " << i;
    ASSERT_FALSE(opened && in_bits(i)) << "byte " << i;
    bytes[i] ^= flip;
  }
  EXPECT_TRUE(opens(bytes, Access::write));
  EXPECT_GE(3 * refused + 3, detail::layout_of(header_).bits_bytes);
}

TEST_P(DamagedKind, EveryTruncationIsRefused) {
  const std::size_t whole =
      residue_ == KindResidue::clean ? detail::layout_of(header_).clean_bytes : bytes_.size();
  for (std::size_t size = 0; size < whole; ++size) {
    // Where nothing ends or begins a part of the sizes will do.
    if (!nightly() && size % 512 > 2 && size % 29 != 0 && size + 20 < whole) continue;
    const std::vector<std::byte> cut(bytes_.begin(),
                                     bytes_.begin() + static_cast<std::ptrdiff_t>(size));
    for (const Access access : {Access::read, Access::write})
      ASSERT_FALSE(opens(cut, access)) << size;
  }
}

TEST_P(DamagedKind, BytesBeyondTheEndAreHarmless) {
  auto bytes = bytes_;
  bytes.insert(bytes.end(), 700, std::byte{0xAB});
  EXPECT_TRUE(opens(bytes, Access::write));
  EXPECT_TRUE(opens(bytes, Access::read));
}

// A copy may have anything behind its end; a writer's journal goes there, and none of it is its.
TEST_P(DamagedKind, BytesBeyondTheEndAreNoJournal) {
  if (residue_ != KindResidue::clean) return;
  auto bytes = bytes_;
  bytes.insert(bytes.end(), 20'000, std::byte{0xAB});
  for (const Durability durability : {Durability::process, Durability::sync}) {
    const auto os = os_.after_kill();
    os->put(kKindPath, bytes);
    auto file = Files(*os).open(kKindPath, {.access = Access::write, .durability = durability});
    file.insert(std::uint64_t{1'000'000});
    const auto killed = os->after_kill();
    EXPECT_EQ(image_of(Files(*killed).open(kKindPath)), image_of(file));
  }
}

// The snapshot is not stored into: what is damaged in it is known, journal or not.
TEST_P(DamagedKind, IsSalvagedWithItsJournal) {
  const auto os = os_.after_kill();
  auto bytes = bytes_;
  bytes[detail::kBitsAt + 5] ^= std::byte{16};
  os->put(kKindPath, bytes);
  EXPECT_EQ(Files(*os).verify(kKindPath).damaged_chunks, std::vector<std::uint64_t>{0});
  EXPECT_EQ(Files(*os).salvage(kKindPath, "dir/saved").filled_chunks, 1U);
  const auto saved = Files(*os).open("dir/saved");
  for (std::uint64_t key = 0; key < 200; ++key) EXPECT_TRUE(saved.may_contain(key));

  os->put(kKindPath, bytes_);
  EXPECT_EQ(Files(*os).salvage(kKindPath, "dir/saved", true).filled_chunks, 0U);
  EXPECT_EQ(image_of(Files(*os).open("dir/saved")), image_);
  if (residue_ == KindResidue::clean) return;
  EXPECT_EQ(Files(*os).verify(kKindPath).state, VerifyReport::State::recoverable);
  bytes = bytes_;
  bytes[detail::layout_of(header_).journal_at + 100] ^= std::byte{4};
  os->put(kKindPath, bytes);
  EXPECT_EQ(Files(*os).verify(kKindPath).state, VerifyReport::State::unclean);
  bytes[detail::kBitsAt + 5] ^= std::byte{16};  // both
  os->put(kKindPath, bytes);
  EXPECT_EQ(Files(*os).verify(kKindPath).damaged_chunks, std::vector<std::uint64_t>{0});
  EXPECT_EQ(Files(*os).verify(kKindPath).state, VerifyReport::State::unclean);
  EXPECT_EQ(code_of([&] { Files(*os).salvage(kKindPath, "dir/saved", true); }), ErrorCode::corrupt);
}

// Records in an order, or for a snapshot, that no writer made, with checksums that are right.
TEST_P(DamagedKind, RefusesAJournalThatDoesNotContinueItsSnapshot) {
  if (residue_ == KindResidue::clean) return;
  const std::uint64_t at = detail::layout_of(header_).journal_at;
  const auto with = [&](const std::function<void(detail::JournalRecord&)>& change) {
    auto bytes = bytes_;
    const auto sector = std::span(bytes).subspan(at).first<detail::kSectorBytes>();
    detail::JournalRecord record;
    ASSERT_EQ(detail::decode_record(sector, header_.identity, 0, record),
              detail::SectorState::record);
    change(record);
    detail::encode_record(record, header_.identity, sector);
    EXPECT_FALSE(opens(bytes, Access::read));
    EXPECT_FALSE(opens(bytes, Access::write));
  };
  with([](auto& record) { record.total ^= 1; });
  with([](auto& record) { record.inserted += 1; });
  with([](auto& record) { record.count -= 1; });
  with([](auto& record) { record.epoch += 1; });
  with([](auto& record) { record.what = static_cast<detail::Journaled>(2); });
  if (!kind_.counts()) {
    with([](auto& record) { record.removed = 1; });
  }
  if (std::get_if<WindowPlan>(&kind_.plan) == nullptr) {
    with([](auto& record) {
      record.what = detail::Journaled::time;
      record.count = 1;
    });
  }
}

// sync() has put a journal of `process` on the device, and the device forgot a sector of it. The
// next record says that it was there.
TEST(JournalOfAKind, MissesWhatASyncHasPutThere) {
  FakeOs os(kKindRoom);
  auto file =
      Files(os).create(kKindPath, scalable_plan(90, 0.01, 10), {.durability = Durability::process});
  file.insert(std::uint64_t{1});
  file.sync();
  file.insert(std::uint64_t{2});
  const auto killed = os.after_kill();
  auto bytes = killed->contents(kKindPath);
  const Header header =
      detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f").header;
  const auto at = static_cast<std::ptrdiff_t>(detail::layout_of(header).journal_at);
  std::fill_n(bytes.begin() + at, detail::kSectorBytes, std::byte{0});
  killed->put(kKindPath, bytes);
  for (const Access access : {Access::read, Access::write})
    EXPECT_EQ(code_of([&] { Files(*killed).open(kKindPath, {.access = access}); }),
              ErrorCode::corrupt);
}

// Writers of today note inserts and removals apart; the format lets them share a record.
TEST(JournalOfAKind, DoesInsertsAndRemovalsOfARecordInTheirOrder) {
  const FilterPlan plan = CountingPlan{{Layout::blocked128, 512 * 5, 4, 300, 0.01}};
  FakeOs os(kKindRoom);
  auto file = Files(os).create(kKindPath, plan);
  const Hash128 once = file.hasher()(std::uint64_t{1}), twice = file.hasher()(std::uint64_t{2});
  file.insert_hashes(std::array{once, once, twice, once, twice, once});
  const auto killed = os.after_kill();
  auto bytes = killed->contents(kKindPath);
  const Header header =
      detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f").header;
  const auto sector =
      std::span(bytes).subspan(detail::layout_of(header).journal_at).first<detail::kSectorBytes>();
  detail::JournalRecord record;
  ASSERT_EQ(detail::decode_record(sector, header.identity, 0, record), detail::SectorState::record);
  ASSERT_EQ(record.count, 6);
  record.removed = 0b110001;  // the first finds nothing to remove
  detail::encode_record(record, header.identity, sector);
  killed->put(kKindPath, bytes);
  const auto opened = Files(*killed).open(kKindPath);
  EXPECT_EQ(opened.counting().count_hash_at_most(once), 1U);
  EXPECT_EQ(opened.counting().count_hash_at_most(twice), 0U);
}

class HostileKind : public testing::TestWithParam<KindCase> {};
INSTANTIATE_TEST_SUITE_P(, HostileKind, testing::ValuesIn(kind_cases()), kNameOfOne);

Plan& bits_in(detail::Header& header) { return const_cast<Plan&>(detail::bits_plan(header.plan)); }

// Fields that no writer makes, under a checksum that is right.
TEST_P(HostileKind, HeadersAreRefusedBeforeAnythingIsMapped) {
  FakeOs os(kKindRoom);
  Files(os).create(kKindPath, GetParam().plan).close();
  const auto good = os.contents(kKindPath);
  const auto opening = [&](const std::function<void(Header&)>& change) {
    auto bytes = good;
    Header header =
        detail::decode_headers(std::span(bytes).first(detail::kBitsAt), bytes.size(), "f").header;
    change(header);
    put_headers(bytes, header);
    os.put(kKindPath, bytes);
    for (const Access access : {Access::read, Access::write})
      EXPECT_EQ(code_of([&] { Files(os).open(kKindPath, {.access = access}); }),
                ErrorCode::corrupt);
    EXPECT_EQ(os.mappings(), 0U);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  opening([](Header& h) { bits_in(h).bits = std::uint64_t{1} << 36; });
  opening([](Header& h) { bits_in(h).bits = ~std::uint64_t{0}; });
  opening([](Header& h) { bits_in(h).hashes = 0; });
  opening([](Header& h) { bits_in(h).layout = static_cast<Layout>(77); });
  for (const State state : {State::mapped, State::merging, State::failed})
    opening([&](Header& h) { h.state = state; });
  opening([](Header& h) { h.journal_bytes = 512; });
  opening([](Header& h) {
    h.state = State::noted;
    h.journal_bytes = 511;
  });
  if (GetParam().counts()) {
    opening([](Header& h) { bits_in(h).layout = Layout::standard; });
    // The layout of the other counters: they are not those that the header speaks of.
    opening([](Header& h) {
      bits_in(h).layout =
          bits_in(h).layout == Layout::blocked64 ? Layout::blocked128 : Layout::blocked64;
      bits_in(h).bits *= 8;
    });
  } else if (std::holds_alternative<ScalablePlan>(GetParam().plan)) {
    opening([](Header& h) { std::get<ScalablePlan>(h.plan).growth = 0; });
    opening([](Header& h) { std::get<ScalablePlan>(h.plan).growth = ~0U; });
    opening([=](Header& h) { std::get<ScalablePlan>(h.plan).tightening = nan; });
    opening([](Header& h) { std::get<ScalablePlan>(h.plan).fpr = 1e-9; });
    opening([](Header& h) { h.sub_filters.clear(); });
    opening([](Header& h) { h.sub_filters.front().inserted = bits_in(h).capacity + 1; });
    opening([](Header& h) { h.sub_filters.front().plan.bits += 512; });
    opening([](Header& h) { h.sub_filters.push_back(h.sub_filters.front()); });
    opening([](Header& h) {
      h.sub_filters.front().inserted = bits_in(h).capacity;
      h.sub_filters.push_back({bits_in(h), 0});
      h.sub_filters.back().plan.capacity = bits_in(h).capacity * 4;
      h.sub_filters.back().plan.bits = ~std::uint64_t{511};
    });
  } else {
    opening([](Header& h) { bits_in(h).layout = Layout::standard; });
    opening([](Header& h) { std::get<WindowPlan>(h.plan).slices = 0; });
    opening([](Header& h) { std::get<WindowPlan>(h.plan).slices = 65; });
    opening([](Header& h) { std::get<WindowPlan>(h.plan).slices = 2; });
    opening([](Header& h) { std::get<WindowPlan>(h.plan).unit = static_cast<WindowUnit>(3); });
    opening([](Header& h) { std::get<WindowPlan>(h.plan).window += 1; });
    opening([](Header& h) { std::get<WindowPlan>(h.plan).capacity = 0; });
    opening([=](Header& h) { std::get<WindowPlan>(h.plan).fpr = nan; });
    opening([](Header& h) { h.window_state.newest = std::get<WindowPlan>(h.plan).ring_slices(); });
    opening(
        [](Header& h) { h.window_state.inserted_in_slices[0] = 1; });  // of none that were inserted
  }
}

// What encode_header cannot be made to write: numbers wider than the program's own, counts beyond
// the page, and fields that are zero until somebody gives them a meaning.
TEST_P(HostileKind, FieldsOfTheSectionAreRefusedAsTheyAreOnTheDisk) {
  FakeOs os(kKindRoom);
  Files(os).create(kKindPath, GetParam().plan).close();
  const auto good = os.contents(kKindPath);
  const auto refused = [&](std::size_t field, std::uint32_t value) -> std::string {
    SCOPED_TRACE("field " + std::to_string(field) + " is " + std::to_string(value));
    auto bytes = good;
    change_headers(bytes, [&](std::byte* page) { detail::store_le(page + field, value); });
    os.put(kKindPath, bytes);
    const std::string text = error_of([&] { Files(os).open(kKindPath); }, ErrorCode::corrupt);
    EXPECT_EQ(text.find("both copies"), std::string::npos)
        << "for its field, not for its sum: " << text;
    return text;
  };
  const std::size_t section = detail::kSectionAt;
  refused(detail::kSectionEnd - 4, 1);   // behind every section
  refused(detail::kSectionEnd + 32, 2);  // whether a batch is open
  refused(detail::kSectionEnd + 36, 1);  // behind the batch
  if (GetParam().counts()) {
    refused(section, 0x100 + 4);
    refused(section + 4, 1);
  } else if (std::holds_alternative<ScalablePlan>(GetParam().plan)) {
    // For their number, not for what would be read beyond the page.
    EXPECT_NE(refused(section + 4, kMaxSubFilters + 1).find("65 sub-filters"), std::string::npos);
    EXPECT_NE(refused(section + 4, ~0U).find("4294967295 sub-filters"), std::string::npos);
    refused(section + 24 + 36, 1);  // behind a sub-filter
    refused(section + 24 + 40, 1);  // behind the sub-filters
  } else {
    refused(section, ~0U);
    refused(section + 4, 0x100 + 1);
    refused(section + 4, 0x100 + 2);
    refused(section + 44, 1);
  }
}

}  // namespace
}  // namespace bloomery::test
