// Writes a filter that is in memory. The file has a snapshot of the filter and a journal of the operations after it.
//
// An operation first goes to the journal and is then done in memory, where it can no longer fail. `none` has no
// journal: sync and close replace the file. The end of a load also replaces the file if the load has more operations
// than the journal takes: what does not fit is not journaled, and nothing is if that is known from the beginning.
#include "format/kinds.hpp"
#include "store/journal/operation_journal.hpp"
#include "store/sessions/session.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace bloomery::detail {

namespace {

// Rewrites the sums of a clean file if they are damaged; each sum is the checksum of one chunk of the bits.
void repair_sums(Opened& opened, const Sums& sums) {
  const std::uint64_t at = layout_of(opened.header).sums_at;
  const std::vector<std::byte> right = encode_sums(sums);
  std::vector<std::byte> stored(right.size());
  opened.file.read(stored, at);
  if (stored == right) return;
  opened.file.write(right, at);
}

// Loads the filter of a file; afterwards the file is clean.
std::unique_ptr<Contents> take_over(Opened& opened) {
  Loaded loaded = load_snapshot(opened);
  if (has_records(opened.header.state)) {
    JournalPosition end;
    replay_operations(opened.file, opened.header, *loaded.contents, end);
    end.batch.open = false;
    replace_snapshot(opened, *loaded.contents, end.batch, {});
  } else {
    repair_sums(opened, loaded.sums);
  }
  return std::move(loaded.contents);
}

class SnapshotWriter final : public Writer {
 public:
  SnapshotWriter(Opened opened, Durability durability)
      : Writer(std::move(opened)), contents_(take_over(opened_)), batch_(opened_.header.batch) {
    batch_.open = opened_.header.batch.open = false;
    if (durability != Durability::none) journal_.emplace(opened_, durability);
  }

  bool insert_hash(Hash128 hash) override {
    if (journal_ || batch_.open) return insert_hashes({&hash, 1}, {}) == 1;
    require_writable();
    changed_ = true;
    return contents_->insert(hash);
  }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    return in_groups(hashes, fresh, false, [this](auto group, auto answers) {
      contents_->prepare(group);
      if (journals()) journal_->note(group, false);
      return contents_->insert(group, answers);
    });
  }
  [[nodiscard]] std::size_t keys_per_commit() const noexcept override {
    return journals() ? journal_->most_keys() : Writer::keys_per_commit();
  }
  bool begin_load(std::uint64_t expected) noexcept override {
    if (!journal_ || std::exchange(loading_, true)) return false;
    expected_ = expected;
    return true;
  }
  void end_load() override {
    loading_ = false;
    expected_ = 0;
    require_writable();
    acknowledge();
  }
  std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed) override {
    contents_->require(Ability::remove, opened_.file.path());
    return in_groups(hashes, removed, true, [this](auto group, auto answers) {
      if (journals()) journal_->note(group, true);
      return contents_->remove(group, answers);
    });
  }
  std::uint64_t begin_batch(std::string_view name) override {
    require_writable();
    const Os::Id id = batch_id(name);
    Batch next = batch_.id == id ? batch_ : Batch{.id = id};
    next.open = true;
    // A journal belongs to one batch.
    if (journal_ && opened_.header.state != State::clean) save_all(next);
    batch_ = opened_.header.batch = next;
    resumed_at_ = next.done;
    digest_there_ = next.digest;
    repeated_ = {};
    return next.done;
  }
  void advance(std::uint64_t now) override { window().now() < now ? set_time(now) : keep_time(); }
  void set_back(std::uint64_t now) override { now < window().now() ? set_time(now) : keep_time(); }
  // The keys of the other filter are unknown, so no journal could take them.
  void merge(const Contents& other) override {
    contents_->require_mergeable(other, opened_.file.path());
    require_writable();
    contents_->merge(other);
    changed_ = true;
    if (!journal_) return save();
    or_poison(opened_, [&] { save_all(batch_); });
  }

  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes) override {
    if (!is_rebuilding()) return Writer::merge_bytes(at, bytes);
    require_writable();
    contents_->merge_bytes(at, bytes);
    has_pieces_ = changed_ = true;
  }

  [[nodiscard]] Contents& contents() noexcept override { return *contents_; }

 private:
  // Without a journal, a failure concerns only a new file that no reader has seen: the old file is complete, and the
  // next sync tries again with another new file.
  void save() override {
    require_writable();
    if (journal_) {
      acknowledge();
      return journal_->sync();
    }
    if (!changed_ && !is_rebuilding()) return;
    if (is_rebuilding()) {
      opened_.header.batch = closed_batch();
      if (auto next = contents_->complete()) contents_ = std::move(next);
      count_pieces();
      // The sums of the empty filter are where a larger one has bits, and zeros are left out.
      if (!has_room()) opened_.file.truncate(0);
      write_snapshot(opened_.file, opened_.header, *contents_, !has_room());
      opened_.file.sync();
    } else {
      replace_snapshot(opened_, *contents_, closed_batch(), {});
    }
    changed_ = false;
  }

  void finish() override {
    if (!journal_) return save();
    acknowledge();
    journal_->finish(*contents_, closed_batch());
  }

  [[nodiscard]] bool journals() const noexcept { return journal_ && !past_journal_; }
  // Makes room in the journal; a load goes on without the journal instead.
  void make_room_for(std::size_t keys) {
    if (!journals() || !journal_->is_full_for(std::max<std::uint64_t>(keys, expected_))) return;
    if (loading_)
      past_journal_ = true;
    else
      journal_->restart(*contents_, batch_);
  }
  void save_all(const Batch& batch) {
    journal_->save(*contents_, batch);
    past_journal_ = false;
  }
  // If this fails, the operations stay in memory, and the next acknowledgement tries again.
  void acknowledge() {
    if (past_journal_) save_all(batch_);
  }

  // Error{wrong_kind}: it is not a window.
  [[nodiscard]] const WindowFilter& window() const {
    contents_->require(Ability::advance, opened_.file.path());
    return *contents_->as<WindowFilter>();
  }
  void set_time(std::uint64_t now) {
    require_writable();
    make_room_for(1);
    if (journals()) journal_->note_time(now);
    contents_->set_back(now);
    contents_->advance(now);
    changed_ = true;
    if (!loading_) acknowledge();
  }
  // The end of a load that failed may have left the time in memory alone.
  void keep_time() {
    if (!past_journal_ || loading_) return;
    require_writable();
    acknowledge();
  }
  // The batch as it is saved when no session continues it.
  [[nodiscard]] Batch closed_batch() const noexcept {
    Batch batch = batch_;
    batch.open = false;
    return batch;
  }
  // Returns how many of these keys the batch had done before; these are left out.
  std::size_t leave_out(std::span<const Hash128> hashes, bool removed) {
    if (repeated_.done == resumed_at_) return 0;
    const auto again = static_cast<std::size_t>(
        std::min<std::uint64_t>(hashes.size(), resumed_at_ - repeated_.done));
    Batch repeated = repeated_;
    repeated.add(hashes.first(again), removed);
    if (repeated.done == resumed_at_ && repeated.digest != digest_there_)
      throw Error(ErrorCode::mismatch,
                  opened_.file.path() + ": the first " + std::to_string(resumed_at_) +
                      " keys are not those that its batch began with; add or remove the same "
                      "keys in the same order, or give the batch another name");
    repeated_ = repeated;
    return again;
  }

  // Calls apply() for groups of keys. A group has as many keys as the journal takes at once, and the journal has room
  // for it.
  template <class Apply>
  std::size_t in_groups(std::span<const Hash128> hashes, std::span<bool> answers, bool removed,
                        Apply apply) {
    require_writable();
    std::size_t count = 0;
    std::size_t done = leave_out(hashes, removed);
    if (!answers.empty()) std::ranges::fill(answers.first(done), false);
    while (done < hashes.size()) {
      std::size_t step = hashes.size() - done;
      if (journals()) {
        step = std::min(step, journal_->most_keys());
        make_room_for(step);
      }
      const auto group = hashes.subspan(done, step);
      count += apply(group, answers.empty() ? answers : answers.subspan(done, step));
      if (batch_.open) batch_.add(group, removed);
      changed_ = true;
      done += step;
      expected_ -= std::min<std::uint64_t>(expected_, step);
    }
    if (!loading_) acknowledge();
    return count;
  }

  std::unique_ptr<Contents> contents_;
  std::optional<OperationJournal> journal_;
  bool loading_ = false;
  std::uint64_t expected_ = 0;  // more keys of the load
  bool past_journal_ = false;   // there are operations that are not in the journal
  bool changed_ = false;        // without a journal: changed since it was opened or synced
  Batch batch_;                 // up to the last key
  // For a resumed batch: what it had done before, and which part of that has been repeated.
  std::uint64_t resumed_at_ = 0, digest_there_ = 0;
  Batch repeated_;
};

}  // namespace

std::unique_ptr<Writer> write_snapshots(Opened opened, Durability durability) {
  return std::make_unique<SnapshotWriter>(std::move(opened), durability);
}

}  // namespace bloomery::detail
