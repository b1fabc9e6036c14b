// A journal record: what is written comes back, and anything else is seen.
#include "format/journal.hpp"

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "store/scratch.hpp"

#include <algorithm>
#include <array>

namespace bloomery::test {
namespace {

using namespace detail;

const Os::Id kIdentity{std::byte{1}, std::byte{2}};

JournalRecord sample_record() {
  JournalRecord record;
  record.epoch = 9;
  record.index = 7;
  record.synced = 5;
  record.total = 0x1234567890;
  record.inserted = 99;
  record.count = 29;
  for (std::size_t i = 0; i < 29; ++i) record.hashes[i] = {i * 3 + 1, ~i};
  return record;
}

TEST(JournalRecord, ComesBack) {
  for (const std::uint16_t count : {1, 28, 29}) {
    JournalRecord in = sample_record(), out;
    in.count = count;
    std::array<std::byte, kSectorBytes> sector;
    encode_record(in, kIdentity, sector);
    ASSERT_EQ(decode_record(sector, kIdentity, 7, out), SectorState::record);
    EXPECT_EQ(out.epoch, in.epoch);
    EXPECT_EQ(out.synced, in.synced);
    EXPECT_EQ(out.total, in.total);
    EXPECT_EQ(out.inserted, in.inserted);
    ASSERT_EQ(out.count, count);
    EXPECT_TRUE(std::equal(in.hashes.begin(), in.hashes.begin() + count, out.hashes.begin()));
  }
}

TEST(JournalRecord, SaysWhatWasDone) {
  JournalRecord in = sample_record(), out;
  std::array<std::byte, kSectorBytes> sector;
  in.removed = (1U << 29) - 1;
  encode_record(in, kIdentity, sector);
  ASSERT_EQ(decode_record(sector, kIdentity, 7, out), SectorState::record);
  EXPECT_EQ(out.removed, in.removed);
  EXPECT_EQ(out.what, Journaled::keys);
  in = sample_record();
  in.count = 1;
  in.what = Journaled::time;
  in.hashes[0] = {12345, 0};
  encode_record(in, kIdentity, sector);
  ASSERT_EQ(decode_record(sector, kIdentity, 7, out), SectorState::record);
  EXPECT_EQ(out.what, Journaled::time);
  EXPECT_EQ(out.hashes[0].high, 12345U);
}

TEST(JournalRecord, BelongsToItsFileAndItsPlace) {
  JournalRecord out;
  std::array<std::byte, kSectorBytes> sector;
  encode_record(sample_record(), kIdentity, sector);
  EXPECT_EQ(decode_record(sector, kIdentity, 8, out), SectorState::damaged);
  EXPECT_EQ(decode_record(sector, Os::Id{}, 7, out), SectorState::damaged);
  sector = {};
  EXPECT_EQ(decode_record(sector, kIdentity, 7, out), SectorState::empty);
}

TEST(JournalRecord, SeesEveryFlippedBit) {
  JournalRecord out;
  std::array<std::byte, kSectorBytes> sector;
  encode_record(sample_record(), kIdentity, sector);
  for (std::size_t bit = 0; bit < 8 * kSectorBytes; ++bit) {
    sector[bit / 8] ^= std::byte(1U << bit % 8);
    ASSERT_EQ(decode_record(sector, kIdentity, 7, out), SectorState::damaged) << bit;
    sector[bit / 8] ^= std::byte(1U << bit % 8);
  }
}

TEST(JournalRecord, WithFieldsThatNoWriterMakesIsDamage) {
  const auto state_of = [](const JournalRecord& record) {
    JournalRecord out;
    std::array<std::byte, kSectorBytes> sector;
    encode_record(record, kIdentity, sector);
    return decode_record(sector, kIdentity, record.index, out);
  };
  JournalRecord record = sample_record();
  EXPECT_EQ(state_of(record), SectorState::record);
  record.count = 0;
  EXPECT_EQ(state_of(record), SectorState::damaged);
  record = sample_record();
  record.synced = 8;  // more of the journal than there was
  EXPECT_EQ(state_of(record), SectorState::damaged);
  record = sample_record();
  record.count = 3;
  record.removed = 1U << 3;  // a key that is not there
  EXPECT_EQ(state_of(record), SectorState::damaged);
  record = sample_record();
  record.what = Journaled::time;  // of 29 keys
  EXPECT_EQ(state_of(record), SectorState::damaged);
  record.count = 1;
  EXPECT_EQ(state_of(record), SectorState::record);
  record.removed = 1;
  EXPECT_EQ(state_of(record), SectorState::damaged);
  record.what = static_cast<Journaled>(2);
  EXPECT_EQ(state_of(record), SectorState::damaged);
}

// More keys than a sector has would be read from beyond it. The checksum is right.
TEST(JournalRecord, WithMoreKeysThanFitIsDamage) {
  JournalRecord out;
  std::array<std::byte, kSectorBytes> sector;
  encode_record(sample_record(), kIdentity, sector);
  for (const std::uint16_t count : {29, 30, 65535}) {
    store_le(sector.data() + 40, count);
    store_le64(sector.data(), checksum(std::span(sector).subspan(8),
                                       load_le64(kIdentity.data()) ^ load_le64(&kIdentity[8])));
    EXPECT_EQ(decode_record(sector, kIdentity, 7, out),
              count == 29 ? SectorState::record : SectorState::damaged)
        << count;
  }
}

TEST(Journal, IsAsLargeAsTheBitsWithinLimits) {
  EXPECT_EQ(journal_bytes_for(64), 16U << 10);
  EXPECT_EQ(journal_bytes_for(100'000), 98'304U);
  EXPECT_EQ(journal_bytes_for(std::uint64_t{1} << 37), 256U << 20);
}

}  // namespace
}  // namespace bloomery::test
