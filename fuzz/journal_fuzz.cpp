// Any journal, and any header before it: the file is refused, or it has the keys that were in its bits.
#include <bloomery/bloomery.hpp>

#include "base/endian.hpp"
#include "format/header_bytes.hpp"
#include "format/journal.hpp"
#include "format/sums.hpp"
#include "patches.hpp"
#include "store/fake_os.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace bloomery;
using namespace bloomery::detail;

constexpr std::uint64_t kKeys = 20;
constexpr std::uint64_t kSectors = 6;
const Plan kPlan{Layout::blocked, 512 * 4, 6, 100, 0.01};

Filter keys_in_bits() {
  Filter filter(kPlan);
  for (std::uint64_t key = 0; key < kKeys; ++key) filter.insert(key);
  return filter;
}

Header journaled_header(const Filter& filter) {
  Header header;
  header.plan = kPlan;
  header.state = State::journaled;
  header.epoch = 3;
  header.journal_bytes = kSectors * kSectorBytes;
  header.total = total_of(sums_of(filter.bytes()));
  return header;
}

// Three records of 29 keys each, with correct totals.
std::vector<std::byte> well_formed_journal(const Header& header) {
  std::vector<std::byte> journal(header.journal_bytes);
  Filter filter = keys_in_bits();
  JournalRecord record;
  record.epoch = header.epoch;
  record.count = kHashesPerSector;
  for (std::uint32_t index = 0; index < 3; ++index) {
    for (std::size_t i = 0; i < kHashesPerSector; ++i) {
      record.hashes[i] = filter.hasher()(1000 + index * kHashesPerSector + i);
      filter.insert_hash(record.hashes[i]);
    }
    record.index = record.synced = index;
    record.total = total_of(sums_of(filter.bytes()));
    encode_record(record, header.identity,
                  std::span(journal).subspan(index * kSectorBytes).first<kSectorBytes>());
  }
  return journal;
}

// Corrects the checksum of each record, by encoding what it decodes to.
void repair_records(std::vector<std::byte>& journal, const Header& header) {
  for (std::uint32_t index = 0; index < kSectors; ++index) {
    const auto sector = std::span(journal).subspan(index * kSectorBytes).first<kSectorBytes>();
    JournalRecord record;
    record.epoch = load_le64(sector.data() + 8);
    record.index = load_le<std::uint32_t>(sector.data() + 16);
    record.synced = load_le<std::uint32_t>(sector.data() + 20);
    record.total = load_le64(sector.data() + 24);
    record.inserted = load_le64(sector.data() + 32);
    record.count =
        std::min<std::uint16_t>(load_le<std::uint16_t>(sector.data() + 40), kHashesPerSector);
    for (std::size_t i = 0; i < record.count; ++i)
      record.hashes[i] = {load_le64(sector.data() + 48 + 16 * i),
                          load_le64(sector.data() + 56 + 16 * i)};
    encode_record(record, header.identity, sector);
  }
}

void try_file(const std::vector<std::byte>& file) {
  for (const Access access : {Access::read, Access::write}) {
    test::FakeOs os;
    os.put("f", file);
    try {
      const auto opened = Files(os).open("f", {.access = access});
      for (std::uint64_t key = 0; key < kKeys; ++key)
        if (!opened.may_contain(key)) std::abort();
    } catch (const Error&) {
    }
    try {
      (void)Files(os).verify("f");
      Files(os).salvage("f", "g");
    } catch (const Error&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span input(data + 1, size - 1);
  const Filter filter = keys_in_bits();
  const Header header = journaled_header(filter);
  std::vector<std::byte> journal = well_formed_journal(header);
  if (data[0] % 4 == 0)
    std::copy_n(reinterpret_cast<const std::byte*>(input.data()),
                std::min(input.size(), journal.size()), journal.begin());
  else
    fuzz::patch(journal, input);
  if (data[0] % 4 > 1) repair_records(journal, header);

  const FileLayout layout(kPlan);
  std::vector<std::byte> file(layout.journal_at + journal.size());
  for (const std::size_t copy : {std::size_t{0}, std::size_t{kHeaderBytes}})
    encode_header(header, std::span(file).subspan(copy).first<kHeaderBytes>());
  std::ranges::copy(filter.bytes(), file.begin() + kBitsAt);
  std::ranges::copy(encode_sums(sums_of(filter.bytes())),
                    file.begin() + static_cast<std::ptrdiff_t>(layout.sums_at));
  std::ranges::copy(journal, file.begin() + static_cast<std::ptrdiff_t>(layout.journal_at));
  try_file(file);
  return 0;
}
