// A filter that lives in a file, survives crashes, and says so when it cannot.
//
//   auto file = bloomery::FilterFile::create("seen.bloom", bloomery::plan(100'000'000, 0.001));
//   file.insert(url);
//   file.close();
//
// What an acknowledged call that changes the filter (one that has returned) survives, by the
// durability that the writer was opened with:
//
//   level    kill -9 of the writer   power loss           a returned call costs
//   none     no (see sync)           no (see sync)        memory; the file is only ever
//                                                         replaced whole, by sync and close
//   process  yes                     the file is refused  plain: memory, the file is mapped;
//                                                         other kinds: a journal write
//   sync     yes                     yes                  a journal write and one wait for the
//                                                         device a call (insert in batches),
//                                                         or one for each group of keys that
//                                                         the journal takes at once: of a plain
//                                                         filter up to 65,536, in `blocked2` half of
//                                                         that, in `standard` that over the hash
//                                                         count; and a write of the changed bits
//                                                         whenever the journal is full
//
// At every level, once sync() or close() has returned, all that was done before it survives
// everything. With `process` the next change puts the file at risk again: a power loss after
// it, and before the next sync(), has the file refused, with Error{unclean}.
//
// A file holds a filter of one kind (kind.hpp). The kinds other than plain have operations that
// may not be done twice, or none but in their order. What a crash leaves of those is exactly the
// filter after some of the calls, in order, among them all that were acknowledged; of the last
// call perhaps only its first keys. Their writers hold the filter in memory; close(), merge()
// and a full journal replace the file whole, which takes room for a second one.
//
// One writer at a time (a lock that dies with its process), any number of readers, in any
// processes. Readers of a plain filter see a `process` or `sync` writer's inserts at once; a
// replaced file, and changes to the other kinds, after reload().
//
// A FilterFile is used by one thread. The file's bytes: docs/format.md; what is promised, and
// what of the device that takes: docs/guarantees.md.
#pragma once

#include <bloomery/counting_view.hpp>
#include <bloomery/detail/keys.hpp>
#include <bloomery/filter_view.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/spec.hpp>
#include <bloomery/window_filter.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace bloomery {

class Os;  // the seam of system calls (src/base/os.hpp); tests pass their own

enum class Durability : std::uint8_t { none, process, sync };
enum class Access : std::uint8_t { read, write };

using FilePlan = FilterPlan;

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
  // locked; no_space; io. It leaves an old filter there, unless the device refuses to keep the
  // name of the new one, which has its place then.
  static FilterFile create(const std::string& path, const FilePlan& plan,
                           const CreateOptions& options = {});

  // Builds a new filter for the path while the path keeps what it has, if anything: readers see
  // that until close() puts the new filter in its place, at once and whole, and see the new one
  // after reload(). A handle that is dropped, or dies, without close() leaves the path as it was.
  // Until then nothing of it is durable, merge() no more than the rest, and sync() is refused.
  // From now on no other writer gets at the path. For a filter whose keys go away: a plain one
  // forgets only by being built again. The kind may be another than the old one's.
  // `options.durability` and `replace` say nothing here.
  // Error: as create, but for exists; close() with {exists} where the path had nothing and now
  // has something.
  static FilterFile rebuild(const std::string& path, const FilePlan& plan,
                            const CreateOptions& options = {});

  // Opens a filter. A writer recovers what a crash left, first; a reader recovers in its
  // own memory and leaves the file alone.
  // Error: not_a_filter, newer_format, wrong_kind, corrupt, unclean, locked, io, no_memory.
  static FilterFile open(const std::string& path, const OpenOptions& options = {});

  FilterFile(FilterFile&&) noexcept;
  FilterFile& operator=(FilterFile&&) noexcept;
  // Closes, but for rebuild(); a failure is lost, so call close() where it matters.
  ~FilterFile();

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] const Hasher& hasher() const noexcept;

  // ---- every kind -------------------------------------------------------------------------

  // As in the filter of the kind. insert* throw Error{read_only | io | no_space | corrupt |
  // poisoned}; after a throw nothing of that call is acknowledged, though some of it may be
  // found.
  template <detail::Key K>
  bool insert(const K& key) {
    return insert_hash(detail::hash_key(hasher(), key));
  }
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) const noexcept {
    if (const FilterView* bits = plain()) return bits->may_contain(key);
    return may_contain_hash(detail::hash_key(hasher(), key));
  }
  // In as few commits as insert_hashes with all their hashes at once.
  template <detail::KeyRange R>
  std::size_t insert_many(R&& keys, std::span<bool> fresh = {}) {
    return insert_hashes(hashes_of(keys), fresh);
  }
  template <detail::KeyRange R>
  std::size_t may_contain_many(R&& keys, std::span<bool> found = {}) const {
    if (const FilterView* bits = plain()) return bits->may_contain_many(keys, found);
    return detail::in_chunks(hasher(), keys, found, [this](auto hashes, auto out) {
      return may_contain_hashes(hashes, out);
    });
  }
  bool insert_hash(Hash128 hash);
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {});
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept;
  std::size_t may_contain_hashes(std::span<const Hash128> hashes,
                                 std::span<bool> found = {}) const noexcept;

  // ---- some kinds; any other is Error{wrong_kind} -------------------------------------------

  // As in CountingView, and with the errors of insert.
  template <detail::Key K>
  bool remove(const K& key) {
    return remove_hash(detail::hash_key(hasher(), key));
  }
  template <detail::KeyRange R>
  std::size_t remove_many(R&& keys, std::span<bool> removed = {}) {
    return remove_hashes(hashes_of(keys), removed);
  }
  bool remove_hash(Hash128 hash) { return remove_hashes({&hash, 1}) == 1; }
  std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed = {});

  // As in WindowFilter, and with the errors of insert.
  void advance(std::uint64_t now);

  // Adds every key of `other`, durably, at any level: a plain filter to a plain one, a counting
  // filter to a counting one. Error{mismatch}, and those of insert.
  void merge(const FilterView& other);
  void merge(const CountingView& other);
  // A piece of a merge, for a filter that comes in pieces: the bits of a plain one of the same plan
  // and hasher, from byte `at` on. While rebuilding alone, where nobody sees a part of them.
  // Error{invalid_argument}: it is not being rebuilt, or ends before these bytes do; {wrong_kind}.
  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes);

  // ---- the file -----------------------------------------------------------------------------

  // Makes every change so far survive everything.
  void sync();
  // sync, then lets go of the file and its lock; look-ups go on in what was there, in memory or
  // a mapping that the handle keeps. Closing twice is nothing. After an Error the handle is as
  // it was, so that one can make room and close again; but one that a failed write has poisoned
  // lets go of the file in any case.
  void close();
  // For a reader: see what is at the path now. True: it may be something else than before, and
  // what view() and its like gave is gone. Error{read_only} once it is closed.
  bool reload();

  // The filter itself, of its kind; Error{wrong_kind}.
  [[nodiscard]] const FilterView& view() const;
  [[nodiscard]] const CountingView& counting() const;
  [[nodiscard]] const ScalableFilter& scalable() const;
  [[nodiscard]] const WindowFilter& window() const;

  [[nodiscard]] const std::string& path() const noexcept;
  // How many inserts were certainly new, over the file's life. Of a plain filter after a crash:
  // at least the estimate from the bits.
  [[nodiscard]] std::uint64_t inserted() const noexcept;
  // 16 random bytes given at creation, in hexadecimal; copies share them.
  [[nodiscard]] std::string identity() const;

  struct Impl;

 private:
  template <class R>
  [[nodiscard]] std::vector<Hash128> hashes_of(R&& keys) const {
    std::vector<Hash128> hashes;
    try {
      if constexpr (std::ranges::sized_range<R>) hashes.reserve(std::ranges::size(keys));
      for (auto&& key : keys) hashes.push_back(detail::hash_key(hasher(), key));
    } catch (const std::bad_alloc&) {
      refuse_for_memory();
    }
    return hashes;
  }
  [[nodiscard]] const FilterView* plain() const noexcept;  // null: of another kind

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
// becomes all ones (of a counting filter: saturated counters), so that no key is lost and the rate
// rises. Error: what is damaged
// cannot be made whole this way (the header, the journal, a file that is unclean).
struct SalvageReport {
  std::uint64_t chunks = 0;
  std::uint64_t filled_chunks = 0;
  double current_fpr = 0;
};
SalvageReport salvage(const std::string& path, const std::string& out, bool replace = false,
                      Os* os = nullptr);

}  // namespace bloomery
