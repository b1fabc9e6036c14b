// A filter that lives in a file, survives crashes, and reports it when it cannot.
//
//   auto file = bloomery::FilterFile::create("seen.bloom", bloomery::plan(100'000'000, 0.001));
//   file.insert(url);
//   file.close();
//
// A call that changes the filter is acknowledged when it has returned. What survives of acknowledged
// calls depends on the durability that the writer was opened with (durability.hpp).
//
// At level `sync`, insert many keys at a time, because each commit waits for the device. One call is one
// commit if its keys fit: 65,536 keys of a plain filter (half as many in layout `blocked2`, 65,536 / hashes
// in `standard`), up to 1,048,576 keys of the other kinds, and at most what the journal takes. When the
// journal is full, the changed bits are written, or the file is replaced.
//
// A call for a plain filter that a crash interrupts may leave any of its keys, later ones without earlier ones.
// With `sync` the next open() for writing makes them the first ones of the call, or all, unless they are more than
// the filter has blocks (begin_load); readers that open the file before that, in the boot of the writer, may
// still find any. A program that counts on the order opens the file for writing once after a crash.
//
// A file holds a filter of one kind (kind.hpp). The operations of the kinds other than plain must not be
// repeated or reordered. A crash leaves exactly the filter after some of the calls, in order, including
// all that were acknowledged; of the last call perhaps only its first keys are there. Their writers
// hold the filter in memory; close(), merge() and a full journal replace the file, which takes room for
// a second one.
//
// A frozen filter is built: create() and rebuild() collect its keys in memory, until close() builds it and puts it
// at the path, at once or not at all. Meanwhile look-ups answer true. Then it is open for readers only, and
// Error{wrong_kind} for writers; but one whose plan has a delta takes keys into that, which is in the same file and
// written as a plain filter is. rebuild() makes a list of all keys that it is given, and an empty delta.
//
// There is one writer at a time (by a lock that dies with its process) and any number of readers, in
// any processes. Readers of a plain filter see the inserts of a `process` or `sync` writer at once; they
// see a replaced file, and changes to the other kinds, after reload().
//
// Or several writers share the file of a plain filter (OpenOptions::shared); one that does not share keeps them
// out with Error{locked}, as they do it. What one of them has inserted, all of them and the readers see at once,
// and it survives the death of any process. The last one that closes it makes the file clean; until then a loss of
// power leaves it unclean, after sync() too, so save a copy where that matters. inserted() is what the others
// counted when they last called sync() or close(), and one's own. They do not merge.
//
// A writer's file may be renamed, with or without its directory: the writer goes on in it, and path() is
// the new one. If it is removed, replaced or written to by something else, the next sync(), close() or
// full journal throws Error{missing}: what was added is lost with the file, and what is at the path then
// stays as it is.
//
// Readers, and `process` and `sync` writers of plain filters, map the file. If something truncates it meanwhile, or
// copies another file over it, an access to what is gone is the signal SIGBUS, which kills the process; so is
// an access to what the disk refuses. Signals are the program's, so that the library catches none. A program
// can keep to renames, as mv and rebuild() do: then it does not happen. It can read the file's bytes and decode()
// them (encode.hpp): then nothing is mapped. Or it can have a handler of SIGBUS (with SA_SIGINFO and si_addr),
// which says what happened and calls _exit: it must not return, throw, or call anything of this library.
// cli/output/lost_file.cpp is such a handler.
//
// Threads: one at a time. The bytes of the file: docs/format.md. The promises, and what they need of the
// device: docs/guarantees.md.
//
// Errors: `Error{a | b}` in a comment means that the call throws bloomery::Error with one of these
// codes. Every call here that takes a path can also throw io (the system refused something, and the
// text says what) and no_memory; every call that writes, no_space. After a failed write it is unknown what
// is on the device, so that the writer throws poisoned from then on.
#pragma once

#include <bloomery/counting_view.hpp>
#include <bloomery/detail/key_calls.hpp>
#include <bloomery/durability.hpp>
#include <bloomery/filter_view.hpp>
#include <bloomery/frozen_filter.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/spec.hpp>
#include <bloomery/window_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

namespace detail {
class Files;
class Session;
}  // namespace detail

enum class Access : std::uint8_t { read, write };

struct CreateOptions {
  Hasher hasher{};
  Durability durability = Durability::sync;
  bool replace = false;  // an existing filter file is replaced; any other file never is
  bool shared = false;   // as in OpenOptions
};

struct OpenOptions {
  Access access = Access::read;
  Durability durability = Durability::sync;  // of a writer
  // Of a writer: other writers who say so too may have the file at the same time, in any processes. Plain filters,
  // durability `process`.
  bool shared = false;
};

class FilterFile : public detail::KeyCalls<FilterFile> {
 public:
  // ---- files ----------------------------------------------------------------------------------

  // Creates an empty filter and opens it for writing. The file appears complete, or not at all.
  // Error{invalid_argument | too_large}: no filter can have that plan. {exists}, unless replace.
  // {not_a_filter}: the path has another kind of file, which is never replaced. {missing}: the directory
  // does not exist. {locked}: another writer has the file open. After an Error the path has what it
  // had before, unless the device refused to keep the name of the new file, which is in place then.
  static FilterFile create(const std::string& path, const FilterPlan& plan,
                           const CreateOptions& options = {});

  // Opens a filter. A writer first recovers what a crash left; a reader recovers in its own memory
  // and leaves the file alone.
  // Error{missing | not_a_filter | newer_format | wrong_kind | corrupt | unclean | locked}.
  static FilterFile open(const std::string& path, const OpenOptions& options = {});

  // Opens a filter for writing, or creates it if there is none. Any number of processes may do so at
  // once: they end up with one filter, and one after the other can write it. `replace` is ignored.
  // Error{mismatch}, naming the difference: the filter was created from another plan, or with another
  // hasher. Other errors as open and create.
  static FilterFile open_or_create(const std::string& path, const FilterPlan& plan,
                                   const CreateOptions& options = {});

  // Builds a new filter for the path. The path keeps the old one, and readers see it, until close()
  // replaces it atomically; they see the new one after reload(). A
  // handle that is dropped without close(), or whose process dies, leaves the path as it was. Until
  // close() nothing is durable, merge() included, and sync() is refused. No other writer can open the
  // path meanwhile. This is the only way to remove keys from a plain filter. The new filter may be of
  // another kind. `durability` and `replace` are ignored.
  // Errors as of create, without {exists}; close() throws {exists} if another file has come to the path
  // meanwhile, or something has written into the one that was there.
  static FilterFile rebuild(const std::string& path, const FilterPlan& plan,
                            const CreateOptions& options = {});

  FilterFile(FilterFile&&) noexcept;
  FilterFile& operator=(FilterFile&&) noexcept;
  // Closes, except after rebuild(). It reports no failure: call close() to get it.
  ~FilterFile();

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] const Hasher& hasher() const noexcept;

  // ---- every kind -------------------------------------------------------------------------------

  // The calls of KeyCalls, as in the filter of the kind. All that change the filter throw
  // Error{read_only | no_space | corrupt | poisoned | io}. After a throw nothing of that call is
  // acknowledged, though some of it may be found. insert_many and remove_many take as many commits as with
  // all the hashes at once, and hold only those of one commit.
  bool insert_hash(Hash128 hash);
  template <class K>
  [[nodiscard]] bool may_contain(const K& key) const noexcept {
    if (bits_ != nullptr) return bits_->may_contain(key);
    return KeyCalls::may_contain(key);
  }
  template <class R>
  std::size_t may_contain_many(R&& keys) const {
    if (bits_ != nullptr) return bits_->may_contain_many(keys);
    return KeyCalls::may_contain_many(keys);
  }
  template <class R, class A = std::span<bool>>
  std::size_t may_contain_many(R&& keys, A&& found) const {
    if (bits_ != nullptr) return bits_->may_contain_many(keys, found);
    return KeyCalls::may_contain_many(keys, found);
  }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept;

  // ---- some kinds; any other is Error{wrong_kind} -------------------------------------------------

  // remove, remove_many, remove_hashes: as in CountingView.
  bool remove_hash(Hash128 hash) { return remove_hashes({&hash, 1}) == 1; }

  // As in WindowFilter.
  void advance(std::uint64_t now);
  void set_back(std::uint64_t now);

  // ---- a big list -------------------------------------------------------------------------------

  // Makes the calls from here to end_load() one: what they change is acknowledged by end_load(), sync() or
  // close(), not when they return. Many keys then take no journal, which is several times as fast. A `sync` writer
  // of a plain filter stores them straight into the bits, once they are more than the filter has blocks, and
  // more than one commit takes; writers of the other kinds replace the file at the end of the load instead of
  // each time that the journal is full. insert_many and remove_many do so by themselves. False: a load is on
  // already, or it would change nothing; then the caller must not end it.
  bool begin_load() noexcept;
  void end_load();
  // So many threads build a frozen filter at close(); 0, the default: one for each core that the process may use.
  void use_threads(unsigned threads) noexcept;

  // ---- after a crash ------------------------------------------------------------------------------

  // Names the inserts and removals from here to close(), so that they can be repeated after a crash without
  // being done twice: the same keys, in the same order, from the first one on, under the same name. The file
  // knows how many keys of its latest batch are done; that many are left out, and answered false. Returns
  // that number. A plain filter always returns 0, because repeating inserts changes nothing.
  // The call that ends the repeated keys throws Error{mismatch} if they are not those of the batch.
  std::uint64_t begin_batch(std::string_view name);

  // Adds every key of `other`, durably, at any level: a plain filter to a plain one, a counting
  // filter to a counting one. Error{mismatch}.
  void merge(const FilterView& other);
  void merge(const CountingView& other);
  // Adds a part of a plain filter of the same plan and hasher, for filters that come in pieces: the
  // bits from byte `at` on. Only after rebuild(), when no reader can see an incomplete filter.
  // Error{invalid_argument}: the filter is not being rebuilt, or these bytes are beyond its end.
  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes);

  // ---- the file -----------------------------------------------------------------------------------

  // Makes every change so far survive everything.
  void sync();
  // Calls sync(), then releases the file and its lock. Look-ups still work: in memory, or in a mapping
  // that the handle keeps. Closing twice does nothing. After an Error the handle is as it was, so the
  // caller can make room and close again; but a poisoned handle always releases the file.
  void close();
  // Opens what is at the path now, for a reader. True: it may differ from before, and references from
  // view() and the like are invalid. Error{read_only} after close().
  bool reload();

  // What it was created from; of a frozen filter that is being built, a plan of no keys.
  [[nodiscard]] const FilterPlan& plan() const noexcept;
  // The whole of it, as encode() of its kind gives it (encode.hpp), and a frozen one with its delta. Error{no_memory}.
  [[nodiscard]] std::vector<std::byte> encode() const;
  [[nodiscard]] std::uint64_t encoded_size() const;  // how many bytes that are

  // The filter itself, of its kind; Error{wrong_kind}.
  [[nodiscard]] const FilterView& view() const;
  [[nodiscard]] const CountingView& counting() const;
  [[nodiscard]] const ScalableFilter& scalable() const;
  [[nodiscard]] const WindowFilter& window() const;
  [[nodiscard]] const FrozenFilter& frozen() const;        // its list alone
  [[nodiscard]] const FilterView* delta() const noexcept;  // of a frozen filter; null: it has none

  [[nodiscard]] const std::string& path() const noexcept;
  // How many inserts were certainly new, over the file's life (of a window: all inserts). Of a plain
  // filter after a crash: at least the estimate from the bits.
  [[nodiscard]] std::uint64_t inserted() const noexcept;
  // 16 random bytes given at creation, in hexadecimal; copies share them.
  [[nodiscard]] std::string identity() const;

 private:
  friend class detail::Files;
  explicit FilterFile(std::unique_ptr<detail::Session> session) noexcept;

  friend detail::KeyCalls<FilterFile>;
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh);
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const noexcept;
  std::size_t do_remove(std::span<const Hash128> hashes, bool* removed);
  std::size_t keys_at_once() noexcept;  // those of one commit
  template <class Work>
  std::size_t around_many(Work work) {
    try {
      return detail::as_one_load(*this, work);
    } catch (const std::bad_alloc&) {
      refuse_for_memory();
    }
  }
  [[noreturn]] void refuse_for_memory() const;  // Error{no_memory}
  template <class Filter>
  [[nodiscard]] const Filter& as(const char* accessor) const;

  std::unique_ptr<detail::Session> session_;
  const FilterView* bits_ = nullptr;  // of a plain filter, so that its look-ups are inlined
};

// What `verify` found. ok() means: every byte is what its writer wrote.
struct VerifyReport {
  // in_use: a writer has it open. recoverable: opening it for writing repairs it.
  enum class State : std::uint8_t { clean, in_use, recoverable, unclean };
  State state = State::clean;
  std::uint64_t chunks = 0;  // chunks of the bits, 64 KiB each
  std::vector<std::uint64_t> damaged_chunks;
  // A copy of the header or the sums of the bits are damaged: nothing is lost, and opening the file
  // for writing repairs them.
  bool spare_damaged = false;
  std::string detail;  // a sentence for people, empty if all is well
  [[nodiscard]] bool ok() const noexcept {
    return damaged_chunks.empty() && !spare_damaged && state != State::unclean;
  }
};
// Reads all of the file and changes nothing. Errors as of FilterFile::open, if the file cannot be read
// at all.
VerifyReport verify(const std::string& path);

// Writes to `out` a filter that has every key of the damaged file `path`: a damaged chunk
// becomes all ones (in a counting filter: saturated counters), so that no key is lost and the
// false-positive rate rises. Error{corrupt | unclean | locked}: the header or the journal is damaged, keys
// may be missing for good, or a writer has the file open.
struct SalvageReport {
  std::uint64_t chunks = 0;
  std::uint64_t filled_chunks = 0;
  double current_fpr = 0;
};
SalvageReport salvage(const std::string& path, const std::string& out, bool replace = false);

}  // namespace bloomery
