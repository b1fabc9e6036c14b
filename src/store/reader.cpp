// Reading a filter file: mapped as it is, or recovered in private memory.
#include "store/recover.hpp"
#include "store/snapshot.hpp"

#include <optional>

namespace bloomery::detail {

namespace {

// A file in one state, seen by a reader: mapped, or in memory of its own where a journal has to
// be played on top of it. A plain file in the boot of its last writer is whole as it is, and if
// that writer is alive its inserts are seen. A writer that is recovering the file has not yet
// said so.
struct Sight {
  Opened opened;
  bool recovered;  // from a journal
  std::optional<MappedBits> bits;
  std::unique_ptr<Contents> contents;
  Position position;  // of the journal, in the contents

  explicit Sight(Opened found) : opened(std::move(found)), recovered(needs_recovery(opened)) {
    if (opened.header.kind == Kind::plain) {
      bits.emplace(opened, recovered ? Os::Map::private_write : Os::Map::shared_read);
      if (recovered) opened.header.inserted = replay(opened.file, opened.header, *bits).inserted;
    } else if (recovered) {
      contents = load_snapshot(opened).contents;
      follow();
    } else {
      contents = map_snapshot(opened);
    }
  }

  void follow() { replay_operations(opened.file, opened.header, *contents, position); }

  static bool needs_recovery(const Opened& opened) {
    Os& os = opened.file.os();
    const Header& header = opened.header;
    if (is_lost(header, os)) throw unclean_error(header, opened.file.path());
    if (header.kind != Kind::plain) return has_journal(header.state);
    return header.state == State::journaled && !memory_is_whole(header, os);
  }
};

// A writer may go on while the file is being looked at; what was true of the header that was
// read first is then tried again with the next one.
Sight look(Os& os, const std::string& path) {
  constexpr int kTries = 10;
  for (int i = 1;; ++i) {
    Opened opened = open_for_reading(os, path);
    const std::uint64_t generation = opened.header.generation;
    try {
      return Sight(std::move(opened));
    } catch (const Error&) {
      const Opened again = open_for_reading(os, path);
      if (i == kTries || again.header.generation == generation) throw;
    }
  }
}

class Reader final : public FilterFile::Impl {
 public:
  Reader(Os& os, const std::string& path)
      : asked_path_(absolute(os, path)), sight_(look(os, path)) {}

  bool insert_hash(Hash128) override { refuse(); }
  std::size_t insert_hashes(std::span<const Hash128>, std::span<bool>) override { refuse(); }
  std::size_t remove_hashes(std::span<const Hash128>, std::span<bool>) override { refuse(); }
  void advance(std::uint64_t) override { refuse(); }
  void merge(const FilterView&) override { refuse(); }
  void merge(const CountingView&) override { refuse(); }
  void sync() override {}
  void close() override { sight_.opened.file.close(); }

  bool reload() override {
    if (!sight_.opened.file.is_open())
      throw Error(ErrorCode::read_only, sight_.opened.file.path() + ": is closed; open it again");
    Os& os = sight_.opened.file.os();
    Opened now = open_for_reading(os, asked_path_);
    const Os::Stat mine = sight_.opened.file.stat();
    const Os::Stat there = now.file.stat();
    const bool same = mine.device == there.device && mine.inode == there.inode;
    if (same && sight_.opened.header.kind != Kind::plain) {
      if (now.header.state == State::clean) return false;
      if (sight_.recovered) return follow(now.header);
    } else if (same && !sight_.recovered) {
      sight_.opened.header = now.header;
      return false;
    } else if (same && sight_.opened.header.generation == now.header.generation) {
      return false;
    }
    sight_ = look(os, asked_path_);
    return true;
  }

  [[nodiscard]] const FilterView* plain() const noexcept override {
    return sight_.bits ? &sight_.bits->view : nullptr;
  }
  [[nodiscard]] Contents* contents() const noexcept override { return sight_.contents.get(); }
  [[nodiscard]] const Opened& opened() const noexcept override { return sight_.opened; }

 private:
  // The journal has been begun once in this file, and has only grown.
  bool follow(const Header& now) {
    if (is_lost(now, sight_.opened.file.os())) throw unclean_error(now, sight_.opened.file.path());
    const std::uint32_t before = sight_.position.sector;
    sight_.follow();
    return sight_.position.sector != before;
  }
  [[noreturn]] void refuse() const {
    throw Error(ErrorCode::read_only,
                sight_.opened.file.path() + ": is open for reading; open it for writing");
  }

  std::string asked_path_;
  Sight sight_;
};

}  // namespace

Session read_file(Os& os, const std::string& path) { return std::make_unique<Reader>(os, path); }

}  // namespace bloomery::detail
