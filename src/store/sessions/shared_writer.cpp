// Several writers of one plain filter at the same time, in any processes: all store into the mapped bits by atomic
// words.
//
// There are two locks. These writers share the writers' lock; it excludes other writers, which need it exclusively,
// and is excluded by them. The gate is held by a writer that opens or closes the file: only the holder of the gate
// writes the header.
//
//   first in   has the exclusive lock: recovers, checks every chunk, marks the file `mapped` on the device, and then
//              shares the lock
//   next       find it marked, and change nothing
//   going      adds its count of new keys to the header; the last one, which gets the exclusive lock again, makes the
//              sums of all chunks and a clean header
//
// If a process is killed, its locks are released, and its stores are in the file's pages. If it was the last writer,
// the next writer finds the mark of this boot and recovers.
#include <bloomery/concurrent_filter.hpp>

#include "format/kinds.hpp"
#include "format/sums.hpp"
#include "store/journal/recover.hpp"
#include "store/sessions/session.hpp"

namespace bloomery::detail {

namespace {

[[noreturn]] void refuse(const std::string& path, ErrorCode code, const std::string& what) {
  throw Error(code, path + ": " + what);
}

class SharedWriter final : public Session {
 public:
  explicit SharedWriter(Opened opened)
      : opened_(std::move(opened)),
        contents_(opened_.header, map_payload(opened_, Os::Map::shared_write)),
        bits_(contents_.mutable_filter(), Sharing::processes) {}

  bool insert_hash(Hash128 hash) override {
    require_writable();
    const bool fresh = bits_.insert_hash(hash);
    count(fresh ? 1 : 0);
    return fresh;
  }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    require_writable();
    const std::size_t count_of_new =
        fresh.empty() ? bits_.insert_hashes(hashes) : bits_.insert_hashes(hashes, fresh);
    count(count_of_new);
    return count_of_new;
  }
  void merge(const Contents&) override {
    refuse(opened_.file.path(), ErrorCode::wrong_kind,
           "is open with other writers; merge where one writer has it alone");
  }

  void sync() override {
    require_writable();
    const Gate gate(opened_.file);
    flush();
    take_header();
    leave_count();
  }
  void close() override {
    if (!opened_.file.is_open()) return;
    try {
      require_writable();
      const Gate gate(opened_.file);
      flush();
      take_header();
      if (opened_.file.try_lock())
        make_clean();
      else
        leave_count();
      // The gate is still held, so the next writer finds no writer or only those that stay.
      opened_.file.unlock();
    } catch (...) {
      if (opened_.poisoned) opened_.file.close();
      throw;
    }
    opened_.file.close();
  }

  void require_place() override {
    require_writable();
    const Gate gate(opened_.file);
    take_header();
  }

  [[nodiscard]] Contents& contents() noexcept override { return contents_; }
  [[nodiscard]] const Opened& opened() const noexcept override { return opened_; }

 private:
  void require_writable() const { require_writer(opened_); }
  void count(std::uint64_t fresh) {
    counted_ += fresh;
    contents_.set_inserted(contents_.inserted() + fresh);
  }
  void flush() {
    or_poison(opened_, [&] {
      try {
        write_back(opened_.file, contents_.payload().mapping());
      } catch (...) {
        take_header();
        mark_failed(opened_);
        throw;
      }
    });
  }
  // Reads the header as the other writers have left it.
  void take_header() {
    require_at_a_path(opened_);
    const FoundHeader found = read_headers(opened_.file);
    if (found.header.identity == opened_.header.identity && found.header.state == State::mapped) {
      opened_.header = found.header;
      opened_.first = found.first;
      opened_.both_current = found.both_current;
      return;
    }
    opened_.poisoned = true;
    if (found.header.state == State::failed)
      refuse(opened_.file.path(), ErrorCode::poisoned,
             "the device refused what another writer had added; rebuild it or restore a backup");
    refuse_foreign(opened_);
  }
  void leave_count() {
    if (counted_ == 0 && opened_.both_current) return;
    opened_.header.inserted += counted_;
    or_poison(opened_, [&] { store_header(opened_); });
    counted_ = 0;
    contents_.set_inserted(opened_.header.inserted);
  }
  // Writers that were killed have not added their counts, so the count is at least the estimate.
  void make_clean() {
    const FileLayout layout = layout_of(opened_.header);
    const Sums sums = Holes(opened_.file, opened_.header).sums_of(contents_.payload().bytes());
    opened_.file.write(encode_sums(sums), layout.sums_at);
    opened_.header.inserted =
        std::max(opened_.header.inserted + counted_, contents_.estimated_count());
    opened_.header.total = total_of(sums);
    opened_.header.state = State::clean;
    or_poison(opened_, [&] {
      opened_.file.sync();
      store_header(opened_);
    });
    counted_ = 0;
    contents_.set_inserted(opened_.header.inserted);
  }

  Opened opened_;
  PlainContents contents_;
  ConcurrentFilter bits_;
  std::uint64_t counted_ = 0;  // new keys that are not yet counted in the header
};

// Checks every chunk, because the last writer makes new sums of all chunks, which would hide damage.
void require_undamaged(const Opened& opened) {
  const Payload bits = map_payload(opened, Os::Map::shared_read);
  const Sums sums = Holes(opened.file, opened.header).sums_of(bits.bytes());
  if (total_of(sums) != opened.header.total)
    refuse(opened.file.path(), ErrorCode::corrupt, "its bits are damaged; salvage it");
}

void require_shareable(const Header& header, const std::string& path) {
  if (header.kind() != Kind::plain)
    refuse(path, ErrorCode::wrong_kind,
           "is a " + std::string(to_string(header.kind())) +
               " filter, which one writer has at a time; writers share plain filters");
}

// Called by the first writer, which has the exclusive lock: it shares the lock when the mark is on the device.
void mark_and_share(Opened& opened) {
  const std::string& path = opened.file.path();
  if (is_lost(opened.header, opened.file.os(), path)) throw unclean_error(opened.header, path);
  if (!opened.both_current) store_header(opened);
  const bool was_clean = opened.header.state == State::clean;
  recover(opened);
  // A store into a hole would need room that the device may not have.
  opened.file.reserve(0, layout_of(opened.header).clean_bytes);
  if (was_clean) require_undamaged(opened);
  opened.header.boot = boot_for(State::mapped, opened.file.os(), path);
  opened.header.state = State::mapped;
  store_header(opened);
  if (!opened.file.try_share())
    refuse(path, ErrorCode::locked, "another writer took it; try again");
}

}  // namespace

std::unique_ptr<Session> share_locked(Opened opened) {
  require_shareable(opened.header, opened.file.path());
  mark_and_share(opened);
  return std::make_unique<SharedWriter>(std::move(opened));
}

std::unique_ptr<Session> share_file(Os& os, const std::string& path,
                                    const std::function<void(const Header&)>& check) {
  const std::string target = resolved(os, path);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    Opened opened{open_regular(os, target), Header()};
    {
      const Gate gate(opened.file);
      const bool first = opened.file.try_lock();
      if (!first && !opened.file.try_share())
        refuse(target, ErrorCode::locked,
               "a writer has it open alone; wait until it has finished, or let it share too");
      // Another process may have replaced the file between open and lock.
      if (!still_at_path(opened.file)) continue;
      const FoundHeader found = read_headers(opened.file);
      opened.header = found.header;
      opened.first = found.first;
      opened.both_current = found.both_current;
      require_shareable(opened.header, target);
      check(opened.header);
      if (first) {
        make_name_last(opened.file);
        mark_and_share(opened);
      } else if (opened.header.state != State::mapped) {
        refuse(target, ErrorCode::unclean, "its writers have lost it; restore a backup");
      }
    }
    return std::make_unique<SharedWriter>(std::move(opened));
  }
  refuse(target, ErrorCode::locked, "other writers keep replacing it; try again");
}

}  // namespace bloomery::detail
