// Opening the bits for writing, and the way from a dirty file to a clean one.
#include "store/bits_writer.hpp"

#include <bloomery/error.hpp>

namespace bloomery::detail {

namespace {

Opened& with_room(Opened& opened) {
  const FileLayout layout(opened.header.plan);
  // What a crash left behind the end: a journal that nobody needs.
  if (opened.file.stat().size > layout.clean_bytes) opened.file.truncate(layout.clean_bytes);
  opened.file.reserve(0, layout.clean_bytes);
  return opened;
}

Sums load_sums(Opened& opened, std::span<const std::byte> bits) {
  const FileLayout layout(opened.header.plan);
  std::vector<std::byte> stored(layout.chunks * 8);
  opened.file.read(stored, layout.sums_at);
  Sums sums = decode_sums(stored);
  if (total_of(sums) == opened.header.total) return sums;
  // The sums are damaged. If the bits are not, they give the sums again.
  sums = sums_of(bits);
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
    : opened_(std::move(opened)),
      layout_(opened_.header.plan),
      bits_(with_room(opened_), Os::Map::shared_write),
      sums_(load_sums(opened_, bits_.bits())) {}

void BitsWriter::require_writable() const {
  if (poisoned_)
    throw Error(ErrorCode::poisoned, opened_.file.path() +
                                         ": a write failed before, so nothing more is added; open "
                                         "the file again");
  if (!opened_.file.is_open())
    throw Error(ErrorCode::read_only, opened_.file.path() + ": is closed; open it again");
}

void BitsWriter::enter(State state) {
  or_poison([&] {
    header().state = state;
    header().boot = this_boot(opened_.file.os());
    store_header(opened_);
  });
}

void BitsWriter::make_clean() {
  // While the file is dirty nobody believes the sums in it, so this can fail and be tried again.
  opened_.file.write(encode_sums(sums_), layout_.sums_at);
  or_poison([&] {
    try {
      write_back(opened_.file, bits_.mapping);
    } catch (...) {
      // Without a journal there is nothing to make them from again.
      if (header().state == State::mapped) mark_failed(opened_);
      throw;
    }
    header().total = total_of(sums_);
    header().journal_bytes = 0;
    enter(State::clean);
  });
}

}  // namespace bloomery::detail
