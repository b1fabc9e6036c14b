// Writing a kind whose operations may not be done twice: the filter is in memory, and the file
// has a snapshot of it with a journal of what came after.
//
// An operation goes to the journal first and is done in memory then, where it cannot fail any
// more. `none` has no journal: the file is replaced by sync and close.
#include "store/operation_journal.hpp"
#include "store/recover.hpp"
#include "store/session.hpp"

#include <algorithm>
#include <optional>

namespace bloomery::detail {

namespace {

// The sums of a clean file, which vouch for its bits chunk by chunk, are made whole again.
void mend_sums(Opened& opened, const Sums& sums) {
  const std::uint64_t at = layout_of(opened.header).sums_at;
  const std::vector<std::byte> whole = encode_sums(sums);
  std::vector<std::byte> stored(whole.size());
  opened.file.read(stored, at);
  if (stored == whole) return;
  opened.file.write(whole, at);
  opened.file.sync();
}

// What the file holds; the file is clean then.
std::unique_ptr<Contents> take_over(Opened& opened) {
  Loaded loaded = load_snapshot(opened);
  if (has_journal(opened.header.state)) {
    Position end;
    replay_operations(opened.file, opened.header, *loaded.contents, end);
    replace_snapshot(opened, *loaded.contents, State::clean, 0);
  } else {
    mend_sums(opened, loaded.sums);
  }
  return std::move(loaded.contents);
}

const char* why_not_merged(const Opened& opened) noexcept {
  switch (opened.header.kind) {
    case Kind::plain:
    case Kind::counting:
      break;
    case Kind::scalable:
      return "its sub-filters depend on the order of its keys, and another filter has no keys to "
             "give; "
             "insert the keys themselves";
    case Kind::window:
      return "nothing says when the keys of another filter came; insert the keys themselves";
  }
  return "bits without counts cannot be added to it; merge a counting filter";
}

class OperationWriter final : public FilterFile::Impl {
 public:
  OperationWriter(Opened opened, Durability durability, bool unseen = false)
      : opened_(std::move(opened)), contents_(take_over(opened_)), unseen_(unseen) {
    if (durability != Durability::none) journal_.emplace(opened_, durability);
  }

  bool insert_hash(Hash128 hash) override { return insert_hashes({&hash, 1}, {}) == 1; }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    return in_groups(hashes, fresh, [this](auto group, auto answers) {
      contents_->prepare(group);
      if (journal_) journal_->note(group, false);
      return contents_->insert(group, answers);
    });
  }
  std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed) override {
    CountingView* counting = contents_->counting();
    if (counting == nullptr) return Impl::remove_hashes(hashes, removed);
    return in_groups(hashes, removed, [&](auto group, auto answers) {
      if (journal_) journal_->note(group, true);
      return counting->remove_hashes(group, answers);
    });
  }
  void advance(std::uint64_t now) override {
    WindowFilter* window = contents_->window();
    if (window == nullptr) return Impl::advance(now);
    require_writable();
    if (now <= window->now()) return;
    if (journal_) {
      if (journal_->is_full_for(1)) journal_->restart(*contents_);
      journal_->note_time(now);
    }
    window->advance(now);
    changed_ = true;
  }
  void merge(const FilterView&) override { throw wrong_kind(opened_, why_not_merged(opened_)); }
  // The other filter's keys are not known, so no journal could take them.
  void merge(const CountingView& other) override {
    if (contents_->counting() == nullptr) throw wrong_kind(opened_, why_not_merged(opened_));
    require_writable();
    contents_->merge(other);
    changed_ = true;
    if (!journal_) return sync();
    try {
      journal_->restart(*contents_);
    } catch (...) {
      journal_->poison();
      throw;
    }
  }

  void sync() override {
    require_writable();
    if (journal_) return journal_->settle();
    if (!changed_) return;
    if (unseen_) {
      write_snapshot(opened_.file, opened_.header, *contents_);
      opened_.file.sync();
    } else {
      replace_snapshot(opened_, *contents_, State::clean, 0);
    }
    changed_ = false;
  }
  void close() override {
    if (!opened_.file.is_open()) return;
    try {
      require_writable();
      if (journal_)
        journal_->finish(*contents_);
      else
        sync();
    } catch (...) {
      if (poisoned()) opened_.file.close();
      throw;
    }
    opened_.file.close();
  }

  [[nodiscard]] const Opened& opened() const noexcept override { return opened_; }
  [[nodiscard]] Contents* contents() const noexcept override { return contents_.get(); }
  [[nodiscard]] bool poisoned() const noexcept override { return journal_ && journal_->poisoned(); }

 private:
  void require_writable() const {
    if (poisoned())
      throw Error(ErrorCode::poisoned, opened_.file.path() +
                                           ": a write failed before, so nothing more is changed; "
                                           "open the file again");
    if (!opened_.file.is_open())
      throw Error(ErrorCode::read_only, opened_.file.path() + ": is closed; open it again");
  }

  // Calls apply for as many keys at once as the journal takes, when it has room for them.
  template <class Apply>
  std::size_t in_groups(std::span<const Hash128> hashes, std::span<bool> answers, Apply apply) {
    require_writable();
    std::size_t count = 0;
    for (std::size_t done = 0; done < hashes.size();) {
      std::size_t step = hashes.size() - done;
      if (journal_) {
        step = std::min(step, journal_->most_keys());
        if (journal_->is_full_for(step)) journal_->restart(*contents_);
      }
      count += apply(hashes.subspan(done, step),
                     answers.empty() ? answers : answers.subspan(done, step));
      changed_ = true;
      done += step;
    }
    return count;
  }

  Opened opened_;
  std::unique_ptr<Contents> contents_;
  std::optional<OperationJournal> journal_;
  const bool unseen_;
  bool changed_ = false;  // without a journal: since the file was opened or synced
};

}  // namespace

Session write_operations(Opened opened, Durability durability) {
  return std::make_unique<OperationWriter>(std::move(opened), durability);
}

Session write_unseen(Opened opened) {
  return std::make_unique<OperationWriter>(std::move(opened), Durability::none, true);
}

}  // namespace bloomery::detail
