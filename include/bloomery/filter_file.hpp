// A filter that lives in a file, survives crashes, and says so when it cannot.
//
//   auto file = bloomery::FilterFile::create("seen.bloom", bloomery::plan(100'000'000, 0.001));
//   file.insert(url);
//   file.close();
//
// What an acknowledged insert (one that has returned) survives, by the durability that the
// writer was opened with:
//
//   level    kill -9 of the writer   power loss           a returned insert costs
//   none     no (see sync)           no (see sync)        memory; the file is only ever
//                                                         replaced whole, by sync and close
//   process  yes                     the file is refused  memory; the file is mapped
//   sync     yes                     yes                  a journal write and one wait for the
//                                                         device a call (insert in batches),
//                                                         or one for each group of keys that
//                                                         the journal takes at once: up to
//                                                         65,536, in `pair` half of that, in
//                                                         `classic` that over the hash count;
//                                                         and a write of the changed bits
//                                                         whenever the journal is full
//
// At every level, once sync() or close() has returned, all inserts before it survive
// everything. With `process` the next insert puts the file at risk again: a power loss after
// it, and before the next sync(), has the file refused, with Error{unclean}.
//
// One writer at a time (a lock that dies with its process), any number of readers, in any
// processes. Readers see a `process` or `sync` writer's inserts at once, and a replaced
// file after reload().
//
// A FilterFile is used by one thread. The file's bytes: docs/format.md; what is promised, and
// what of the device that takes: docs/guarantees.md.
#pragma once

#include <bloomery/filter_view.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace bloomery {

class Os;  // the seam of system calls (src/base/os.hpp); tests pass their own

enum class Durability : std::uint8_t { none, process, sync };
enum class Access : std::uint8_t { read, write };

struct CreateOptions {
  Hasher hasher{};
  Durability durability = Durability::sync;
  bool replace = false;  // an existing filter file is replaced; any other file never is
  Os* os = nullptr;      // null: the real one
};

struct OpenOptions {
  Access access = Access::read;
  Durability durability = Durability::sync;  // of a writer
  Os* os = nullptr;
};

class FilterFile {
 public:
  // Creates an empty filter and opens it for writing. The file appears whole or not at all.
  // Error: invalid plan; exists (unless replace); not_a_filter, which is never replaced;
  // locked; no_space; io.
  static FilterFile create(const std::string& path, const Plan& plan,
                           const CreateOptions& options = {});

  // Builds a new filter for the path while the path keeps what it has, if anything: readers see
  // that until close() puts the new filter in its place, at once and whole, and see the new one
  // after reload(). A handle that is dropped, or dies, without close() leaves the path as it was.
  // Until then nothing of it is durable, merge() no more than the rest, and sync() is refused.
  // From now on no other writer gets at the path. For a filter whose keys go away: a plain one
  // forgets only by being built again. `options.durability` and `replace` say nothing here.
  // Error: as create, but for exists; close() with {exists} where the path had nothing and now
  // has something.
  static FilterFile rebuild(const std::string& path, const Plan& plan,
                            const CreateOptions& options = {});

  // Opens a filter. A writer recovers what a crash left, first; a reader recovers in its
  // own memory and leaves the file alone.
  // Error: not_a_filter, newer_format, wrong_kind, corrupt, unclean, locked, io, no_memory.
  static FilterFile open(const std::string& path, const OpenOptions& options = {});

  FilterFile(FilterFile&&) noexcept;
  FilterFile& operator=(FilterFile&&) noexcept;
  // Closes, but for rebuild(); a failure is lost, so call close() where it matters.
  ~FilterFile();

  // As in FilterView. insert* throw Error{read_only | io | no_space | corrupt | poisoned};
  // after a throw nothing of that call is acknowledged, though some of it may be found.
  template <detail::Key K>
  bool insert(const K& key) {
    return insert_hash(view().hash(key));
  }
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) const noexcept {
    return view().may_contain(key);
  }
  // In as few commits as insert_hashes with all their hashes at once.
  template <detail::KeyRange R>
  std::size_t insert_many(R&& keys, std::span<bool> fresh = {}) {
    std::vector<Hash128> hashes;
    try {
      if constexpr (std::ranges::sized_range<R>) hashes.reserve(std::ranges::size(keys));
      for (const auto& key : keys) hashes.push_back(view().hash(key));
    } catch (const std::bad_alloc&) {
      refuse_for_memory();
    }
    return insert_hashes(hashes, fresh);
  }
  bool insert_hash(Hash128 hash);
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {});

  // Adds every key of `other`, durably, at any level. Error{mismatch}.
  void merge(const FilterView& other);

  // Makes every insert so far survive everything.
  void sync();
  // sync, then lets go of the file and its lock; look-ups go on in what was there, in memory or
  // a mapping that the handle keeps. Closing twice is nothing. After an Error the handle is as
  // it was, so that one can make room and close again; but one that a failed write has poisoned
  // lets go of the file in any case.
  void close();
  // For a reader: see the file that is at the path now. True: it was another one. Error{read_only}
  // once it is closed.
  bool reload();

  [[nodiscard]] const FilterView& view() const noexcept;
  [[nodiscard]] const std::string& path() const noexcept;
  // How many inserts were certainly new, over the file's life. After a crash: at least
  // the estimate from the bits.
  [[nodiscard]] std::uint64_t inserted() const noexcept;
  // 16 random bytes given at creation, in hexadecimal; copies share them.
  [[nodiscard]] std::string identity() const;

  struct Impl;

 private:
  explicit FilterFile(std::unique_ptr<Impl> impl) noexcept;
  [[noreturn]] void refuse_for_memory() const;
  std::unique_ptr<Impl> impl_;
};

// What `verify` found. ok() means: every byte is what its writer wrote.
struct VerifyReport {
  enum class State : std::uint8_t { clean, in_use, recoverable, unclean };
  State state = State::clean;  // in_use: a writer has it open; recoverable: open() mends it
  std::uint64_t chunks = 0;    // chunks of the bits, 64 KiB each
  std::vector<std::uint64_t> damaged_chunks;
  // A copy of the header, or the sums of the bits: nothing is lost, and opening the file for
  // writing makes them new.
  bool spare_damaged = false;
  std::string detail;  // a sentence for people, empty when all is well
  [[nodiscard]] bool ok() const noexcept {
    return damaged_chunks.empty() && !spare_damaged && state != State::unclean;
  }
};
// Reads all of the file and changes nothing. Error: as FilterFile::open for what keeps it
// from being read at all.
VerifyReport verify(const std::string& path, Os* os = nullptr);

// Writes to `out` a filter that has every key of the damaged file `path`: a damaged chunk
// becomes all ones, so that no key is lost and the rate rises. Error: what is damaged
// cannot be made whole this way (the header, the journal, a file that is unclean).
struct SalvageReport {
  std::uint64_t chunks = 0;
  std::uint64_t filled_chunks = 0;
  double rate_now = 0;
};
SalvageReport salvage(const std::string& path, const std::string& out, bool replace = false,
                      Os* os = nullptr);

}  // namespace bloomery
