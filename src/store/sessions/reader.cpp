// Reads a filter file: mapped as it is, or loaded into memory with its journal replayed.
#include "store/journal/recover.hpp"
#include "store/sessions/session.hpp"

namespace bloomery::detail {

namespace {

// The state of a file as a reader sees it at one time.
struct Reading {
  Opened opened;
  bool replayed;  // the contents are in memory, with the journal's operations; else they are mapped
  JournalPosition position;  // the end of the replayed part of a snapshot's journal
  std::unique_ptr<Contents> contents;
  std::vector<File::Range> data;  // of contents in memory: what may not be zeros

  explicit Reading(Opened found) : opened(std::move(found)), replayed(needs_replay(opened)) {
    if (is_lost(opened.header, opened.file.os(), opened.file.path()))
      throw unclean_error(opened.header, opened.file.path());
    Holes holes(opened.file, opened.header);
    contents = replayed ? replayed_contents(opened, position, holes) : map_contents(opened);
    if (replayed && is_stored_in_place(opened.header.plan)) data = holes.data();
  }
};

// A writer may change the file while it is read. If an attempt fails with the header that was read first, and the
// header has changed, the next header is tried.
Reading read(Os& os, const std::string& path) {
  constexpr int kTries = 10;
  for (int i = 1;; ++i) {
    Opened opened = open_for_reading(os, path);
    const std::uint64_t generation = opened.header.generation;
    try {
      return Reading(std::move(opened));
    } catch (const Error&) {
      const Opened again = open_for_reading(os, path);
      if (i == kTries || again.header.generation == generation) throw;
    }
  }
}

class Reader final : public Session {
 public:
  Reader(Os& os, const std::string& path) : path_(absolute(os, path)), now_(read(os, path)) {}

  bool insert_hash(Hash128) override { refuse(); }
  std::size_t insert_hashes(std::span<const Hash128>, std::span<bool>) override { refuse(); }
  std::size_t remove_hashes(std::span<const Hash128>, std::span<bool>) override { refuse(); }
  std::uint64_t begin_batch(std::string_view) override { refuse(); }
  void advance(std::uint64_t) override { refuse(); }
  void set_back(std::uint64_t) override { refuse(); }
  void merge(const Contents&) override { refuse(); }
  [[nodiscard]] std::vector<File::Range> data() const override {
    if (now_.replayed) return now_.data.empty() ? Session::data() : now_.data;
    const File& file = now_.opened.file;
    if (!file.is_open()) return Session::data();
    // What is cut off is no hole. A file that changes meanwhile is read as it is.
    const Os::Stat before = file.stat();
    std::vector<File::Range> found = Holes(file, now_.opened.header).data();
    const Os::Stat after = file.stat();
    const bool is_whole = after.size >= layout_of(now_.opened.header).clean_bytes;
    return is_whole && after.modified == before.modified ? found : Session::data();
  }
  void require_undamaged() override {
    const Opened& opened = now_.opened;
    if (now_.replayed || !opened.file.is_open()) return;
    if (opened.header.state != State::clean) return require_list(opened);
    // The mapped bits are what the caller copies next. Holes are not read.
    const bool whole = Holes(opened.file, opened.header).none()
                           ? total_of(sums_of(now_.contents->pieces())) == opened.header.total
                           : check_chunks(opened.file, opened.header).damaged.empty();
    if (whole) return;
    // If a writer has opened the file since, the sums are not those of the bits.
    if (read_headers(opened.file).header.generation != opened.header.generation)
      return require_list(opened);
    throw damaged_error(opened.file.path());
  }
  void sync() override {}
  void close() override { now_.opened.file.close(); }

  bool reload() override {
    if (!now_.opened.file.is_open())
      throw Error(ErrorCode::read_only, now_.opened.file.path() + ": is closed; open it again");
    Os& os = now_.opened.file.os();
    const Opened next = open_for_reading(os, path_);
    if (is_same_file(now_.opened.file.stat(), next.file.stat())) {
      const bool in_place = is_stored_in_place(next.header.plan);
      if (!now_.replayed && (in_place || next.header.state == State::clean)) {
        // Mapped bits show changes at once; only the count must be updated.
        now_.opened.header = next.header;
        now_.contents->set_inserted(next.header.inserted);
        return false;
      }
      if (now_.replayed && in_place && next.header.generation == now_.opened.header.generation)
        return false;
      if (now_.replayed && !in_place) return follow(next.header);
    }
    now_ = read(os, path_);
    return true;
  }

  [[nodiscard]] Contents& contents() noexcept override { return *now_.contents; }
  [[nodiscard]] const Opened& opened() const noexcept override { return now_.opened; }

 private:
  // The journal of a snapshot begins once and only grows.
  bool follow(const Header& next) {
    const File& file = now_.opened.file;
    if (is_lost(next, file.os(), file.path())) throw unclean_error(next, file.path());
    if (now_.position.ended) return false;
    const std::uint32_t before = now_.position.sector;
    replay_operations(now_.opened.file, now_.opened.header, *now_.contents, now_.position);
    return now_.position.sector != before;
  }
  [[noreturn]] void refuse() const {
    throw Error(ErrorCode::read_only,
                now_.opened.file.path() + ": is open for reading; open it for writing");
  }

  std::string path_;  // as the caller gave it: a link may later lead to another file
  Reading now_;
};

}  // namespace

std::unique_ptr<Session> read_file(Os& os, const std::string& path) {
  return std::make_unique<Reader>(os, path);
}

}  // namespace bloomery::detail
