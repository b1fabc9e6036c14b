// Opens the bits for writing, and makes a dirty file clean again.
#include "store/sessions/bits_writer.hpp"

#include <bloomery/error.hpp>

#include "format/make_contents.hpp"
#include "store/journal/recover.hpp"

namespace bloomery::detail {

namespace {

Payload map_with_room(Opened& opened, const Holes& holes) {
  const FileLayout layout = layout_of(opened.header);
  // A crash may have left a journal that is no longer needed.
  if (opened.file.stat().size > layout.clean_bytes) opened.file.truncate(layout.clean_bytes);
  if (holes.none()) opened.file.reserve(0, layout.clean_bytes);
  return map_payload(opened, Os::Map::shared_write);
}

Sums load_sums(Opened& opened, std::span<const std::byte> bits, const Holes& holes) {
  const FileLayout layout = layout_of(opened.header);
  std::vector<std::byte> stored(layout.chunks * 8);
  opened.file.read(stored, layout.sums_at);
  Sums sums = decode_sums(stored);
  if (total_of(sums) == opened.header.total) return sums;
  // The sums are damaged. If the bits are undamaged, the sums are computed from them again.
  sums = holes.sums_of(bits);
  if (total_of(sums) == opened.header.total) {
    opened.file.write(encode_sums(sums), layout.sums_at);
    opened.file.sync();
    return sums;
  }
  throw Error(ErrorCode::corrupt,
              opened.file.path() + ": the sums of its bits are damaged; salvage it");
}

}  // namespace

BitsWriter::BitsWriter(Opened opened)
    : Writer(std::move(opened)),
      layout_(layout_of(opened_.header)),
      holes_(opened_.file, opened_.header),
      contents_(make_bits(opened_.header, map_with_room(opened_, holes_))),
      sums_(load_sums(opened_, bits(), holes_)),
      touched_(chunks_of_keys()),
      untouched_(touched_.size()) {}

void BitsWriter::touch(std::uint64_t chunk) {
  if (touched_[chunk] != 0) return;
  // A hole is not read before it has room, because reading it would allocate memory for it.
  const bool hole = holes_.has(chunk);
  if ((hole ? holes_.sum(chunk) : chunk_sum(chunk, chunk_of(bits(), chunk))) != sums_[chunk]) {
    // Bits of another file that was copied over this one look like damage.
    if (!is_rebuilding()) require_own(opened_);
    throw Error(ErrorCode::corrupt, opened_.file.path() + ": chunk " + std::to_string(chunk) +
                                        " of its bits is damaged; salvage it");
  }
  holes_.fill(&opened_.file, chunk);
  touched_[chunk] = 1;
  --untouched_;
}

void BitsWriter::require_undamaged() {
  if (!opened_.file.is_open()) return;  // another writer may have changed the bits and their sums
  for (std::uint64_t chunk = 0; chunk < layout_.chunks; ++chunk) {
    const bool touched = chunk < touched_.size() && touched_[chunk] != 0;
    if (touched || holes_.has(chunk)) continue;
    if (chunk_sum(chunk, chunk_of(bits(), chunk)) != sums_[chunk])
      throw damaged_error(opened_.file.path());
  }
}

void BitsWriter::touch_all() {
  if (all_touched()) return;
  for (std::uint64_t chunk = 0; chunk < touched_.size(); ++chunk) touch(chunk);
}

void BitsWriter::sum_touched() {
  for (std::uint64_t chunk = 0; chunk < touched_.size(); ++chunk)
    if (touched_[chunk] != 0) sums_[chunk] = chunk_sum(chunk, chunk_of(bits(), chunk));
}

void BitsWriter::enter(State state) {
  if (!is_rebuilding()) require_own(opened_);
  const Os::Id boot = boot_for(state, opened_.file.os(), opened_.file.path());
  or_poison(opened_, [&] {
    contents_->describe(header());
    header().state = state;
    header().boot = boot;
    store_header(opened_);
  });
}

void BitsWriter::make_clean() {
  if (!is_rebuilding()) require_own(opened_);
  // While the file is dirty, nothing uses its sums, so this write can fail and be tried again.
  opened_.file.write(encode_sums(sums_), layout_.sums_at);
  or_poison(opened_, [&] {
    try {
      write_back(opened_.file, mapping());
    } catch (...) {
      // Without a journal the acknowledged bits cannot be restored.
      if (header().state == State::mapped) mark_failed(opened_);
      throw;
    }
    header().total = total_of(sums_);
    header().journal_bytes = 0;
    enter(State::clean);
  });
}

}  // namespace bloomery::detail
