// Encodes the header, and decodes its two copies without trusting them.
#include "format/header_bytes.hpp"

#include <bloomery/error.hpp>

#include "base/checksum.hpp"
#include "format/fields.hpp"
#include "format/journal.hpp"
#include "format/kinds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace bloomery::detail {

namespace {

// Like PNG's magic: it has a byte beyond ASCII, both kinds of line end and Ctrl-Z, so a transfer that treats the file
// as text is detected at once.
constexpr std::array<unsigned char, 8> kMagic = {0x89, 'B', 'L', 'M', '\r', '\n', 0x1A, '\n'};
constexpr std::uint16_t kVersion = 1;

// Offsets in a copy; the offsets of the plan's fields are in fields.hpp.
enum Place : std::size_t {
  magic_at = 0,
  version_at = 8,
  kind_at = 10,
  family_at = 12,
  state_at = 14,
  zero_at = 15,
  seed_low_at = 16,
  seed_high_at = 24,
  zeros_at = 60,
  identity_at = 64,
  generation_at = 80,
  boot_at = 120,
  batch_id_at = kSectionEnd,
  batch_open_at = batch_id_at + 32,
  checksum_at = kHeaderBytes - 8,
};

template <class Field>
void visit_fields(Some<Header> auto& header, Field field) {
  field(state_at, "state", header.state);
  field(generation_at, "generation", header.generation);
  field(88, "inserted", header.inserted);
  field(96, "total", header.total);
  field(104, "epoch", header.epoch);
  field(112, "journal bytes", header.journal_bytes);
}
template <class Field>
void visit_fields(Some<Batch> auto& batch, Field field) {
  field(batch_id_at + 16, "done", batch.done);
  field(batch_id_at + 24, "digest", batch.digest);
}
static_assert(boot_at + 16 == kSectionAt && checksum_at == batch_open_at + 8);

[[noreturn]] void refuse(ErrorCode code, const std::string& name, const std::string& text) {
  throw Error(code, name + ": " + text);
}

bool is_undamaged(std::span<const std::byte> page) noexcept {
  return has_magic(page) &&
         checksum(page.first(checksum_at)) == load_le64(page.data() + checksum_at);
}

bool is_state_of(const FilterPlan& plan, State state) noexcept {
  return is_stored_in_place(plan) ? state <= State::failed
                                  : state == State::clean || has_records(state);
}

Header decode_page(std::span<const std::byte> page, const std::string& name) {
  const std::byte* p = page.data();
  const auto corrupt = [&](const std::string& what) {
    refuse(ErrorCode::corrupt, name, "the header is damaged: " + what + "; restore a backup");
  };
  const auto version = load_le<std::uint16_t>(p + version_at);
  if (version > kVersion)
    refuse(ErrorCode::newer_format, name,
           "is of format " + std::to_string(version) + ", this program reads up to " +
               std::to_string(kVersion) + "; use a newer bloomery");
  if (version == 0) corrupt("format 0");
  const auto kind = load_le<std::uint16_t>(p + kind_at);
  if (std::ranges::find(kKinds, static_cast<Kind>(kind)) == kKinds.end())
    refuse(ErrorCode::wrong_kind, name,
           "is a filter of kind " + std::to_string(kind) +
               ", which this program does not know; use a newer bloomery");

  Header header;
  visit_fields(header, FieldReader(p));
  std::size_t section_end = kSectionAt;
  try {
    Plan bits;
    visit_fields(bits, FieldReader(p));
    validate(bits);
    section_end = decode_section(static_cast<Kind>(kind), bits, page, header);
    header.hasher =
        Hasher(static_cast<HashFamily>(p[family_at]),
               {.low = load_le64(p + seed_low_at), .high = load_le64(p + seed_high_at)});
  } catch (const Error& error) {
    corrupt(error.what());
  }
  std::copy_n(p + identity_at, header.identity.size(), header.identity.begin());
  std::copy_n(p + boot_at, header.boot.size(), header.boot.begin());

  if (!is_state_of(header.plan, header.state))
    corrupt("state " + std::to_string(unsigned(header.state)));
  if (has_journal(header.state)
          ? header.journal_bytes % kSectorBytes != 0 || header.journal_bytes == 0 ||
                header.journal_bytes > kMaxJournalBytes
          : header.journal_bytes != 0)
    corrupt("a journal of " + std::to_string(header.journal_bytes) + " bytes");
  const auto any_set = [p](std::size_t from, std::size_t to) {
    return std::any_of(p + from, p + to, [](std::byte b) { return b != std::byte{0}; });
  };
  if (any_set(zero_at, seed_low_at) || any_set(zeros_at, identity_at) ||
      any_set(section_end, kSectionEnd) || any_set(batch_open_at + 1, checksum_at))
    corrupt("unknown fields");
  visit_fields(header.batch, FieldReader(p));
  std::copy_n(p + batch_id_at, header.batch.id.size(), header.batch.id.begin());
  if (p[batch_open_at] > std::byte{1}) corrupt("unknown fields");
  header.batch.open = p[batch_open_at] == std::byte{1};
  return header;
}

}  // namespace

void encode_header(const Header& header, std::span<std::byte, kHeaderBytes> page) noexcept {
  std::fill(page.begin(), page.end(), std::byte{0});
  std::byte* p = page.data();
  std::memcpy(p + magic_at, kMagic.data(), kMagic.size());
  store_le(p + version_at, kVersion);
  store_le(p + kind_at, static_cast<std::uint16_t>(header.kind()));
  p[family_at] = static_cast<std::byte>(header.hasher.family());
  store_le64(p + seed_low_at, header.hasher.seed().low);
  store_le64(p + seed_high_at, header.hasher.seed().high);
  visit_fields(bits_plan(header.plan), FieldWriter(p));
  visit_fields(header, FieldWriter(p));
  std::copy(header.identity.begin(), header.identity.end(), p + identity_at);
  std::copy(header.boot.begin(), header.boot.end(), p + boot_at);
  encode_section(header, page);
  visit_fields(header.batch, FieldWriter(p));
  std::copy(header.batch.id.begin(), header.batch.id.end(), p + batch_id_at);
  p[batch_open_at] = static_cast<std::byte>(header.batch.open ? 1 : 0);
  store_le64(p + checksum_at, checksum(page.first<checksum_at>()));
}

Os::Id batch_id(std::string_view name) noexcept {
  const Hash128 hash = Hasher()(name);
  Os::Id id;
  store_le64(id.data(), hash.low | 1);  // never zeros
  store_le64(id.data() + 8, hash.high);
  return id;
}

std::array<std::byte, 8> magic() noexcept {
  return std::bit_cast<std::array<std::byte, 8>>(kMagic);
}

bool has_magic(std::span<const std::byte> start) noexcept {
  return start.size() >= kMagic.size() &&
         std::memcmp(start.data(), kMagic.data(), kMagic.size()) == 0;
}

bool is_filter_file(std::span<const std::byte> start) noexcept {
  return has_magic(start) ||
         (start.size() > kHeaderBytes && has_magic(start.subspan(kHeaderBytes)));
}

bool is_dump(std::span<const std::byte> start) noexcept {
  return start.size() >= kDumpMagic.size() &&
         std::memcmp(start.data(), kDumpMagic.data(), kDumpMagic.size()) == 0;
}

FoundHeader decode_headers(std::span<const std::byte> start, std::uint64_t file_bytes,
                           const std::string& name) {
  std::optional<unsigned> newest;
  std::uint64_t generation = 0;
  unsigned undamaged = 0;
  bool agree = true;
  for (unsigned copy = 0; copy < 2; ++copy) {
    if (start.size() < (copy + 1) * kHeaderBytes) break;
    const auto page = start.subspan(copy * kHeaderBytes, kHeaderBytes);
    if (!is_undamaged(page)) continue;
    ++undamaged;
    const std::uint64_t found = load_le64(page.data() + generation_at);
    agree = !newest || found == generation;
    if (newest && found <= generation) continue;
    newest = copy;
    generation = found;
  }
  if (!newest) {
    const bool second = start.size() > kHeaderBytes && has_magic(start.subspan(kHeaderBytes));
    if (!second && is_dump(start))
      refuse(ErrorCode::not_a_filter, name,
             "is a dump, which is only read; make it a filter file with bloomery convert FILE "
             "NAME.bloom");
    if (!is_filter_file(start))
      refuse(ErrorCode::not_a_filter, name,
             "is not a Bloomery filter; give one that create, save or encode made");
    if (start.size() < kBitsAt)
      refuse(ErrorCode::corrupt, name,
             "is truncated: it ends within its header; restore it from a backup");
    // A later format may keep its checksum elsewhere, but its version is at the same offset as ours.
    const auto version = load_le<std::uint16_t>(start.data() + version_at);
    if (has_magic(start) && version > kVersion && !second)
      refuse(ErrorCode::newer_format, name,
             "is of format " + std::to_string(version) + ", this program reads up to " +
                 std::to_string(kVersion) + "; use a newer bloomery");
    refuse(ErrorCode::corrupt, name,
           "both copies of the header are damaged; restore it from a backup");
  }

  FoundHeader found{
      .header = decode_page(start.subspan(*newest * kHeaderBytes, kHeaderBytes), name),
      .copy = *newest,
      .undamaged = undamaged,
      .both_current = undamaged == 2 && agree,
      .first = undamaged == 1 ? 1 - *newest
               : agree        ? static_cast<unsigned>((generation + 1) % 2)
                              : *newest};
  const FileLayout layout = layout_of(found.header);
  const std::uint64_t journal = found.header.journal_bytes;
  const std::uint64_t needed = journal == 0 ? layout.clean_bytes : layout.journal_at + journal;
  if (file_bytes < needed)
    refuse(ErrorCode::corrupt, name,
           "is truncated: it has " + std::to_string(file_bytes) + " of " + std::to_string(needed) +
               " bytes; restore it from a backup");
  return found;
}

}  // namespace bloomery::detail
