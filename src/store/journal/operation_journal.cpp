// Journals operations, and begins again with a new snapshot.
#include "store/journal/operation_journal.hpp"

#include "format/kinds.hpp"
#include "store/disk/holes.hpp"
#include "store/journal/journal_file.hpp"

#include <algorithm>

namespace bloomery::detail {

namespace {

constexpr std::uint64_t sectors_for(std::uint64_t keys) noexcept {
  return keys / kHashesPerSector + (keys % kHashesPerSector != 0 ? 1 : 0);
}

}  // namespace

OperationJournal::OperationJournal(Opened& opened, Durability durability)
    : opened_(&opened),
      state_(durability == Durability::sync ? State::journaled : State::noted),
      bytes_(journal_bytes_for(Holes(opened.file, opened.header).data_bytes())) {
  // A copy of a file may have bytes after its end; they are not a journal.
  const FileLayout layout = layout_of(opened.header);
  if (opened.file.stat().size > layout.clean_bytes) opened.file.truncate(layout.clean_bytes);
  reserve();
}

void OperationJournal::reserve() {
  opened_->file.reserve(layout_of(opened_->header).journal_at, bytes_);
  // The reserved room must be on the device before a header describes it.
  or_poison(*opened_, [&] { opened_->file.sync(); });
}

std::size_t OperationJournal::most_keys() const noexcept {
  constexpr std::size_t kMostKeys = 1 << 20;  // 34 MiB with their records
  return std::min(kMostKeys, static_cast<std::size_t>(bytes_ / kSectorBytes * kHashesPerSector));
}

bool OperationJournal::is_full_for(std::uint64_t keys) const noexcept {
  return end_.sector + sectors_for(keys) > bytes_ / kSectorBytes;
}

void OperationJournal::enter(State state) {
  const Os::Id boot = boot_for(state, opened_->file.os(), opened_->file.path());
  or_poison(*opened_, [&] {
    opened_->header.state = state;
    opened_->header.boot = boot;
    store_header(*opened_);
  });
}

// The header describes the journal before the first record is written.
void OperationJournal::begin() {
  Header& header = opened_->header;
  if (header.state == state_) return;
  require_own(*opened_);
  if (header.state == State::clean) {
    if (has_saved_) reserve();  // the room that was there is that of another file
    header.journal_bytes = bytes_;
    ++header.epoch;
  }
  enter(state_);
}

void OperationJournal::note(std::span<const Hash128> hashes, bool removed) {
  buffer_.resize(sectors_for(hashes.size()) * kSectorBytes);
  begin();
  JournalRecord record = first_record();
  for (std::size_t done = 0; done < hashes.size(); done += record.count) {
    record.count = static_cast<std::uint16_t>(std::min(kHashesPerSector, hashes.size() - done));
    record.removed = removed ? (std::uint32_t{1} << record.count) - 1 : 0;
    std::ranges::copy(hashes.subspan(done, record.count), record.hashes.begin());
    encode_record(record, opened_->header.identity, sector(record.index));
    ++record.index;
    record.inserted += record.count;
  }
  append({.sector = record.index, .operations = record.inserted});
}

void OperationJournal::note_time(std::uint64_t now) {
  buffer_.resize(kSectorBytes);
  begin();
  JournalRecord record = first_record();
  record.count = 1;
  record.what = Journaled::time;
  record.hashes[0] = {now, 0};
  encode_record(record, opened_->header.identity, sector(record.index));
  append({.sector = record.index + 1, .operations = record.inserted + 1});
}

void OperationJournal::sync() {
  if (opened_->header.state == State::clean && !has_saved_) return;
  require_own(*opened_);
  if (opened_->header.state != State::noted) return;
  or_poison(*opened_, [&] {
    opened_->file.sync();
    enter(State::journaled);
  });
  synced_ = end_.sector;
}

void OperationJournal::restart(const Contents& contents, const Batch& batch) {
  const std::uint64_t next = next_bytes(contents);
  replace(contents, batch, {state_, next});
  begin_again(next);
}

void OperationJournal::save(const Contents& contents, const Batch& batch) {
  const std::uint64_t next = next_bytes(contents);
  replace(contents, batch, {});
  begin_again(next);
  has_saved_ = true;
}

std::uint64_t OperationJournal::next_bytes(const Contents& contents) const {
  constexpr std::uint64_t kEnough = 1 << 20;
  std::uint64_t payload = 0;
  for (const auto piece : contents.pieces()) payload += piece.size();
  const Holes holes(opened_->file, opened_->header);
  const std::uint64_t fitting = journal_bytes_for(holes.none() ? payload : holes.data_bytes());
  return std::max(fitting, std::min(2 * bytes_, kEnough));
}

void OperationJournal::begin_again(std::uint64_t bytes) noexcept {
  bytes_ = bytes;
  end_ = {};
  synced_ = 0;
}

void OperationJournal::finish(const Contents& contents, const Batch& batch) {
  if (opened_->header.state != State::clean) return replace(contents, batch, {});
  if (has_saved_) require_own(*opened_);
  if (has_own_header(*opened_)) opened_->file.truncate(layout_of(opened_->header).clean_bytes);
}

void OperationJournal::replace(const Contents& contents, const Batch& batch,
                               const Beginning& next) {
  const std::uint64_t generation = opened_->header.generation;
  try {
    replace_snapshot(*opened_, contents, batch, next);
  } catch (...) {
    // The new file is at the path, but the device may lose its name and with it the operations that only this file
    // has.
    opened_->poisoned |= opened_->header.generation != generation;
    throw;
  }
}

JournalRecord OperationJournal::first_record() const {
  JournalRecord record;
  record.epoch = opened_->header.epoch;
  record.index = end_.sector;
  record.synced = state_ == State::journaled ? end_.sector : synced_;
  record.total = opened_->header.total;
  record.inserted = end_.operations;
  return record;
}

Sector OperationJournal::sector(std::uint32_t index) noexcept {
  return std::span(buffer_).subspan((index - end_.sector) * kSectorBytes).first<kSectorBytes>();
}

void OperationJournal::append(JournalPosition end) {
  const std::uint64_t at = layout_of(opened_->header).journal_at + end_.sector * kSectorBytes;
  write_records(*opened_, buffer_, at);
  if (state_ == State::journaled)
    or_poison(*opened_, [&] { opened_->file.sync_written(buffer_, at); });
  end_ = end;
}

}  // namespace bloomery::detail
