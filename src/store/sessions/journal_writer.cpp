// Durability `sync`: a key is acknowledged when the journal that has it is on the device. For more keys than there
// are blocks no journal is written: they are acknowledged when the bits are on the device.
#include "format/journal.hpp"
#include "store/journal/block_changes.hpp"
#include "store/journal/journal_file.hpp"
#include "store/sessions/bits_writer.hpp"

#include <algorithm>
#include <utility>

namespace bloomery::detail {

namespace {

class JournalWriter final : public BitsWriter {
 public:
  explicit JournalWriter(Opened opened)
      : BitsWriter(std::move(opened)),
        changes_(view()),
        total_(header().total),
        sectors_(static_cast<std::uint32_t>(
            journal_bytes_for(std::min(holes_.data_bytes(), view().plan().bytes())) /
            kSectorBytes)),
        group_(std::min<std::size_t>(sectors_ * kHashesPerSector,
                                     kMostBlocks / blocks_per_key(view().plan()))),
        journaled_at_most_(std::max<std::uint64_t>(group_, view().plan().blocks())) {
    opened_.file.reserve(layout_.journal_at, sectors_ * kSectorBytes);
    opened_.file.sync();  // the reserved room must be on the device before a header describes it
  }

  bool insert_hash(Hash128 hash) override { return insert_hashes({&hash, 1}, {}) == 1; }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    require_writable();
    if (loading_) unacknowledged_ += hashes.size();
    if (unacknowledged_ > journaled_at_most_) {
      begin_storing();
      return contents_->insert(hashes, fresh);
    }
    std::size_t count = 0;
    for (std::size_t done = 0; done < hashes.size();) {
      const std::size_t step = std::min(group_, hashes.size() - done);
      count += commit(hashes.subspan(done, step), fresh.empty() ? nullptr : fresh.data() + done);
      done += step;
    }
    return count;
  }

  [[nodiscard]] std::size_t keys_per_commit() const noexcept override { return group_; }

  bool begin_load(std::uint64_t /*expected*/) noexcept override {
    return !std::exchange(loading_, true);
  }
  void end_load() override {
    loading_ = false;
    require_writable();
    acknowledge();
  }

  // The keys of the other filter are unknown, so they cannot be journaled.
  void merge(const Contents& other) override {
    require_writable();
    contents_->require_mergeable(other, opened_.file.path());
    begin_storing();
    or_poison(opened_, [&] { contents_->merge(other); });
    acknowledge();
  }

 private:
  void save() override {  // every call that has returned is already on the device
    require_writable();
    if (dirty()) require_own(opened_);
    acknowledge();
  }
  void finish() override {
    if (storing_) sum_touched();
    if (dirty()) make_clean();
    if (has_own_header(opened_)) opened_.file.truncate(layout_.clean_bytes);
  }

  static constexpr std::size_t kMostBlocks = 65536;  // copied for one group: 8 MiB
  static constexpr std::size_t kAhead = 16;  // the number of keys whose blocks are prefetched

  void start() {
    if (!dirty()) begin_epoch(State::journaled);
  }
  // Empties the journal: records of earlier epochs become stale.
  void begin_epoch(State state) {
    header().total = total_;
    header().journal_bytes = sectors_ * kSectorBytes;
    ++header().epoch;
    enter(state);
    position_ = 0;
  }
  void checkpoint(State next = State::journaled) {
    or_poison(opened_, [&] {
      opened_.file.flush(mapping());
      begin_epoch(next);
    });
  }

  // Puts the acknowledged bits on the device before anything else is stored into them. The header then has the state
  // `merging` until all bits are on the device. A crash in between leaves a part of the bits that were never
  // acknowledged.
  void begin_storing() {
    if (storing_) return;
    touch_all();
    checkpoint(State::merging);
    storing_ = true;
  }
  void acknowledge() {
    unacknowledged_ = 0;
    if (!storing_) return;
    sum_touched();
    total_ = total_of(sums_);
    checkpoint();
    storing_ = false;
  }

  std::size_t commit(std::span<const Hash128> hashes, bool* fresh) {
    const std::size_t sectors = (hashes.size() + kHashesPerSector - 1) / kHashesPerSector;
    holes_.fill(&opened_.file, view(), hashes);
    start();
    if (position_ + sectors > sectors_) checkpoint();
    changes_.begin(hashes.size());
    buffer_.resize(sectors * kSectorBytes);
    JournalRecord record;
    record.epoch = header().epoch;
    record.synced = position_;
    record.inserted = contents_->inserted();
    std::size_t done = 0, count = 0;
    for (std::uint32_t sector = 0; sector < sectors; ++sector) {
      record.index = position_ + sector;
      record.count = static_cast<std::uint16_t>(std::min(kHashesPerSector, hashes.size() - done));
      for (std::size_t i = 0; i < record.count; ++i, ++done) {
        if (done + kAhead < hashes.size()) view().prefetch(hashes[done + kAhead]);
        record.hashes[i] = hashes[done];
        const bool sets_bits = changes_.insert(hashes[done]);
        record.inserted += sets_bits;
        const bool is_new = sets_bits && !contents_->is_listed(hashes[done]);
        count += is_new;
        if (fresh != nullptr) fresh[done] = is_new;
      }
      record.total = total_ + changes_.gain();
      encode_record(record, header().identity,
                    std::span(buffer_).subspan(sector * kSectorBytes).first<kSectorBytes>());
    }
    write_records(opened_, buffer_, journal_at());
    or_poison(opened_, [&] { opened_.file.sync_written(buffer_, journal_at()); });
    changes_.apply(bits(), sums_);
    position_ += static_cast<std::uint32_t>(sectors);
    total_ = record.total;
    contents_->set_inserted(record.inserted);
    return count;
  }

  [[nodiscard]] std::uint64_t journal_at() const noexcept {
    return layout_.journal_at + position_ * kSectorBytes;
  }

  BlockChanges changes_;
  std::vector<std::byte> buffer_;
  std::uint64_t total_;          // of the bits in memory
  const std::uint32_t sectors_;  // the number of sectors in the journal
  const std::size_t group_;      // the number of keys that are journaled at once
  std::uint32_t position_ = 0;   // the next sector
  // The most keys between two acknowledgements that are journaled. More keys would write to most pages in any case,
  // and their records, with the checkpoint that follows, would be about half as large as the bits.
  const std::uint64_t journaled_at_most_;
  std::uint64_t unacknowledged_ = 0;  // keys of a load that are not yet acknowledged
  bool loading_ = false;
  bool storing_ = false;  // a load or a merge stores straight into the bits
};

}  // namespace

std::unique_ptr<Writer> write_journaled(Opened opened) {
  return std::make_unique<JournalWriter>(std::move(opened));
}

}  // namespace bloomery::detail
