// A filter in a file. It survives crashes, or reports that it did not.
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
// in `standard`), up to 1,048,576 keys of the other kinds, and at most what the journal holds. When the journal is
// full, the writer writes the changed bits to the file, or replaces the file.
//
// If a crash interrupts a call for a plain filter, any of the keys of the call may be in the file, even later ones
// without earlier ones. With `sync` the next open() for writing keeps only the first keys of the call, or completes
// the call, unless it has more keys than the filter has blocks (begin_load). Readers that open the file before that,
// in the same boot, may still find any of the keys. A program that depends on the order opens the file for writing
// once after a crash.
//
// A file holds a filter of one kind (kind.hpp). In kinds other than plain, operations must not be repeated or
// reordered. After a crash the file has exactly the state after some of the calls, in order: all calls that were
// acknowledged, and perhaps the first keys of one more. Writers of these kinds hold the filter in memory; close(),
// merge() and a full journal replace the file, so that the device needs room for a second one.
//
// A frozen filter is built from all of its keys: create() and rebuild() collect them in memory (many keys in a file
// without a name), and close() builds the filter and puts it at the path, whole or not at all. Until then look-ups
// answer true. After that the file opens only for reading, and opening it for writing is Error{wrong_kind}, unless its
// plan has a delta: then keys go into the delta, which is in the same file and is written like a plain filter.
// rebuild() makes a new list of all the keys that are inserted after it, and an empty delta.
//
// A file has one writer at a time and any number of readers, in any processes. The writer's lock ends with its
// process and the children that it forked until they call exec. A child does not write through such a handle: every
// change and close() are Error{inherited} there, and its destructor leaves the file to the parent. Readers of a plain
// filter see the inserts of a `process` or `sync` writer at once; they see a replaced file, and changes to the other
// kinds, after reload().
//
// Several writers can share the file of a plain filter (OpenOptions::shared). A writer that shares and a writer that
// does not share exclude each other with Error{locked}. All writers and readers see the inserts of each writer at
// once, and these survive the death of any process. The file becomes clean when the last writer closes it. Until
// then a power loss leaves it unclean, even after sync(), so save a copy if that matters. inserted() is the sum of
// this handle's own count and the counts that the other writers had at their last sync() or close(). Shared writers
// cannot merge.
//
// A writer's file may be renamed, with or without its directory: the writer continues in it, and path() is
// the new path. If something removes, replaces or overwrites the file, the next sync(), close(), require_place() or
// full journal throws Error{missing}: the added keys are lost with the file, and whatever is at the path stays there.
//
// Readers, and `process` and `sync` writers of plain filters, map the file. If something truncates the file or
// copies another file over it, an access to the missing part raises the signal SIGBUS, which kills the process; so
// does an access that the disk refuses. The library installs no signal handler. A program can avoid this in three
// ways: it replaces files only by renames, as mv and rebuild() do; it reads the file's bytes and decodes them
// (encode.hpp), so that nothing is mapped; or it installs a handler of SIGBUS (with SA_SIGINFO and si_addr) that
// reports the error and calls _exit. The handler must not return, throw, or call this library.
// cli/output/lost_file.cpp is an example of this handler.
//
// Threads: one thread at a time may use a FilterFile. docs/format.md describes the bytes of the file,
// docs/guarantees.md the promises and what they require of the device.
//
// Errors: every call here that takes a path can also throw io (the system refused something, and the text says
// what) and no_memory; every call that writes can throw no_space. After a failed write it is unknown what is on the
// device, so the writer throws poisoned from then on.
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
  bool replace = false;  // replace an existing filter file; any other file is never replaced
  bool shared = false;   // as in OpenOptions
  // Files that the keys come from. Nobody can read a new file who cannot read all of them now; nor has it another right
  // that one of them lacks, except by the access control list that its directory gives to new files. Such a list counts
  // only if everybody can read the keys: otherwise the file is for its user alone. A file that replaces another keeps
  // its permissions. What is no regular file, such as a pipe, is left out; a path that leads nowhere denies everything.
  std::vector<std::string> sources{};
};

struct OpenOptions {
  Access access = Access::read;
  Durability durability = Durability::sync;  // of a writer
  // For a writer: other writers that also set this may have the file open at the same time, in any processes. For
  // plain filters with durability `process`.
  bool shared = false;
};

class FilterFile : public detail::KeyCalls<FilterFile> {
 public:
  // ---- files ----------------------------------------------------------------------------------

  // Creates an empty filter and opens it for writing. The file appears complete, or not at all.
  // Error{invalid_argument | too_large}: no filter can have that plan. {exists}, unless replace.
  // {not_a_filter}: the path has another kind of file, which is never replaced. {missing}: the directory
  // does not exist. {locked}: another writer has the file open. {io}: the path is a link that leads nowhere, or
  // the system refuses. After an Error the path still has its old file, unless the device refused to store the new
  // file's name durably; then the path has the new file.
  static FilterFile create(const std::string& path, const FilterPlan& plan,
                           const CreateOptions& options = {});

  // Opens a filter. After a crash a writer first recovers the file; a reader recovers the filter in its
  // own memory and does not change the file.
  // Error{missing | not_a_filter | newer_format | wrong_kind | corrupt | unclean | locked}.
  static FilterFile open(const std::string& path, const OpenOptions& options = {});

  // Opens a filter for writing, or creates it if there is none. Any number of processes may call this at
  // the same time: they all get the same filter, and can write it one after the other. `replace` is
  // ignored.
  // Error{mismatch}, which names the difference: the filter was created from another plan, or with another
  // hasher. (Rates that differ by less than a millionth are the same: the last digits of one that solve() computes
  // depend on the CPU.) Other errors as open and create.
  static FilterFile open_or_create(const std::string& path, const FilterPlan& plan,
                                   const CreateOptions& options = {});

  // Builds a new filter for the path. The path keeps the old filter, and readers see it, until close()
  // replaces it atomically; they see the new one after reload(). If the handle is destroyed without close(), or
  // its process dies, the path is unchanged. Until close() nothing is durable, not even a merge(), sync() is
  // refused, and no other writer can open the path. This is the only way to remove keys from a plain filter.
  // The new filter may be of another kind. `durability` and `replace` are ignored.
  // Errors as create, without {exists}. close() throws {exists} if another file has come to the path since, or
  // something has written into the old one.
  static FilterFile rebuild(const std::string& path, const FilterPlan& plan,
                            const CreateOptions& options = {});

  FilterFile(FilterFile&& other) noexcept;  // then only assign to `other`, close or destroy it
  FilterFile& operator=(FilterFile&&) noexcept;
  // Closes, except after rebuild(). The destructor cannot report a failure: call close() to see it.
  ~FilterFile();

  [[nodiscard]] Kind kind() const noexcept;
  [[nodiscard]] const Hasher& hasher() const noexcept;

  // ---- every kind -------------------------------------------------------------------------------

  // The calls of KeyCalls, as in the filter of the kind. All calls that change the filter throw
  // Error{read_only | no_space | corrupt | poisoned | io}. A call that throws acknowledges nothing, but
  // look-ups may find some of its keys. insert_many and remove_many make as many commits as insert_hashes
  // and remove_hashes would, but hold only the hashes of one commit.
  bool insert_hash(Hash128 hash);
  template <class K>
  [[nodiscard]] bool may_contain(const K& key) const noexcept(detail::kConvertsQuietly<K>) {
    if (bits_ != nullptr) return bits_->may_contain(key);
    return KeyCalls::may_contain(key);
  }
  using KeyCalls::may_contain_many;
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

  // ---- a large load -------------------------------------------------------------------------------

  // Joins the calls from here to end_load() into one load: end_load(), sync() or close() acknowledges their changes,
  // not the calls themselves. Large loads then need no journal, which is several times as fast. A `sync` writer of a
  // plain filter stores the keys directly into the bits if there are more keys than the filter has blocks and than
  // one commit holds; writers of the other kinds replace the file at the end of the load, and not each time that the
  // journal is full. insert_many and remove_many do this themselves. `expected`: about how many keys will come, if
  // that is known: if they fill the journal, none is written from the beginning. False: a load is already active, or
  // a load would make no difference; then the caller must not call end_load().
  bool begin_load(std::uint64_t expected = 0) noexcept;
  void end_load();
  // Sets how many threads build a frozen filter at close(). 0, the default, means one for each core that the
  // process may use.
  void use_threads(unsigned threads) noexcept;

  // ---- after a crash ------------------------------------------------------------------------------

  // Names the inserts and removals from here to close() as a batch, so that a program can repeat them after a crash
  // and none is done twice. The program repeats the same keys, in the same order, from the first one on, under the
  // same name. The file records how many keys of its latest batch are done; it skips that many, and answers false for
  // them. Returns that number. A plain filter always returns 0, because repeated inserts change nothing.
  // The call with the last repeated key throws Error{mismatch} if the repeated keys are not those of the batch.
  std::uint64_t begin_batch(std::string_view name);

  // Adds every key of `other`: a plain filter to a plain one, a counting filter to a counting one. The
  // change is durable at any level. Error{mismatch}.
  void merge(const FilterView& other);
  void merge(const CountingView& other);
  // Adds a part of a filter of the same kind (plain or counting), plan and hasher: its bytes() from `at` on. It is
  // for filters that arrive in pieces, and allowed only after rebuild(), when no reader can see an incomplete
  // filter. The caller makes sure that the parameters are the same.
  // Error{wrong_kind}; {invalid_argument}: the filter is not being rebuilt, or these bytes are beyond its end.
  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes);

  // ---- the file -----------------------------------------------------------------------------------

  // Makes every change so far durable, at every level.
  void sync();
  // For a writer that tells others which keys are safe: at the cost of a few system calls it finds what sync() would.
  // Error{missing}: the file was removed, replaced or overwritten.
  void require_place();
  // Calls sync(), then releases the file and its lock. Look-ups still work: in memory, or in a mapping
  // that the handle keeps. Closing twice does nothing. After an Error the handle is unchanged, so the
  // caller can make room and close again; but a poisoned handle always releases the file.
  void close();
  // For a reader: opens the file that is at the path now. True: the filter may have changed, and references from
  // view() and the like are invalid. Error{read_only} after close().
  bool reload();

  // The plan that the filter was created from; while a frozen filter is being built, a plan of no keys.
  [[nodiscard]] const FilterPlan& plan() const noexcept;
  // The filter as bytes, as encode() of its kind gives them (encode.hpp). Those of a frozen filter include its
  // delta. Reads the bits twice, because the bytes have checksums of their own, which must not vouch for damaged bits;
  // after close() nothing is checked. Error{corrupt}: the bits are damaged; {invalid_argument}: a frozen filter is
  // being built; {no_memory}.
  [[nodiscard]] std::vector<std::byte> encode() const;
  [[nodiscard]] std::uint64_t encoded_size() const;  // the number of those bytes

  // The filter itself. Error{wrong_kind}: the filter is of another kind.
  [[nodiscard]] const FilterView& view() const;
  [[nodiscard]] const CountingView& counting() const;
  [[nodiscard]] const ScalableFilter& scalable() const;
  [[nodiscard]] const WindowFilter& window() const;
  [[nodiscard]] const FrozenFilter& frozen() const;        // its list alone
  [[nodiscard]] const FilterView* delta() const noexcept;  // null: the filter has no delta

  [[nodiscard]] const std::string& path() const noexcept;
  // The number of inserts that were certainly new, over the file's life (in a window filter: of all inserts; in a
  // frozen one: of its list's keys and of the inserts of keys that its delta did not have).
  // After a crash of a plain filter's writer it is at least the estimate from the bits.
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
  std::size_t around_many(Work work, std::uint64_t keys) {
    try {
      return detail::as_one_load(*this, keys, work);
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

// The result of `verify`. ok() means that every byte is the one that its writer wrote.
struct VerifyReport {
  // in_use: a writer has the file open, or writers changed it whenever it was read. recoverable: opening the file for
  // writing repairs it.
  enum class State : std::uint8_t { clean, in_use, recoverable, unclean };
  State state = State::clean;
  std::uint64_t chunks = 0;  // chunks of the bits, 64 KiB each
  std::vector<std::uint64_t> damaged_chunks;
  // One copy of the header is damaged, or the checksums of the bits. Nothing is lost, and opening the
  // file for writing repairs them.
  bool spare_damaged = false;
  std::string detail;  // a sentence for people, empty if all is well
  [[nodiscard]] bool ok() const noexcept {
    return damaged_chunks.empty() && !spare_damaged && state != State::unclean;
  }
  // Error{corrupt}, with the name and the detail, unless ok().
  void require_ok(const std::string& name) const;
};
// Reads all of the file and changes nothing. Errors as FilterFile::open, if the file cannot be read at all.
VerifyReport verify(const std::string& path);

// Writes to `out` a filter that has every key of the damaged file `path`. A damaged chunk becomes all ones
// (in a counting filter: saturated counters), so no key is lost and the false-positive rate rises.
// Error{corrupt | unclean | locked}: the header or the journal is damaged, keys may be lost permanently,
// or a writer has the file open.
struct SalvageReport {
  std::uint64_t chunks = 0;
  std::uint64_t filled_chunks = 0;
  double current_fpr = 0;
};
SalvageReport salvage(const std::string& path, const std::string& out, bool replace = false);

}  // namespace bloomery
