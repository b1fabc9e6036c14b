// One handle for a filter of any kind in any place.
//
//   auto seen = bloomery::AnyFilter::open_or_create("redis://10.0.0.7/0?key=seen",
//                                                   {.capacity = 1'000'000, .fpr = 0.001});
//   if (seen.insert(url)) fetch(url);   // true: certainly new
//   seen.close();
//
// A location is one of
//
//   seen.bloom                          a filter file (filter_file.hpp); with a scheme, the bits of a PHP
//                                       class as GET returned them
//   redis://host:port/db?key=K          a plain filter in one Redis string, or with `rotating` in two
//                                       (redis+unix:///path?key=K: by a socket); with a scheme, the bucket
//                                       of a PHP class
//   redis+cluster://host?key=K          a plain filter in shards, over all nodes of a cluster
//   redis+module://host?key=K           a filter of a module (bloomery.so or RedisBloom)
//   redis+module+cluster://host?key=K   the same in shards
//
// docs/configuration.md describes the addresses. The environment variable
// BLOOMERY_REDIS_PASSWORD gives the password of an address that has none.
//
// Give many keys at once: each call costs a virtual call, and also a commit in a file or a round trip to a server.
// Calls with one key are inlined for a plain filter in memory, and look-ups for one in a file. For the other kinds
// use their own classes (counting_filter.hpp, ...) if calls with single keys must be fast.
//
// A frozen filter is built from all of its keys, in memory by sync() and in a file by close(). Until then it collects
// them, and look-ups answer true; after that it accepts no more keys. With FilterSpec::delta the filter in a file
// accepts further keys into its delta, as many as the stated false-positive rate allows: open the file for writing,
// and rebuild() it from all keys from time to time.
//
// A call that the kind or the place does not support throws Error{wrong_kind} and changes nothing. The other errors
// are those of the place: of FilterFile for files, of RedisFilter for servers (unavailable, denied, missing,
// mismatch, ...). A library that was built without its Redis client throws Error{invalid_argument} for every address.
//
// Threads: one thread at a time may use an object. Any number of threads may look up with apply() in memory and in
// files, as long as no thread does anything else with the object.
#pragma once

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/detail/key_parts.hpp>
#include <bloomery/filter_file.hpp>
#include <bloomery/filter_stats.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/spec.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

struct AnyOptions {
  // For a new filter. By default the hash is xxh3 and the seed is 0; the seed is random if the hash is
  // siphash or if random_seed is set. open_or_create and require_match compare the values that are given with the
  // existing filter.
  std::optional<HashFamily> hash{};
  std::optional<Seed> seed{};
  bool random_seed = false;
  // For a writer of a file: by default sync, or process if it is shared. On a server, whose own settings decide,
  // Error{invalid_argument}.
  std::optional<Durability> durability{};
  bool shared = false;    // for a writer of a file: as in OpenOptions
  bool replace = false;   // an existing filter at the location may be replaced
  bool rotating = false;  // two generations, in Redis strings
  // The bits are those of a PHP class. Where a filter is opened or made, a spec, a hash or a seed beside it is
  // Error{invalid_argument}.
  std::optional<PhpScheme> scheme{};
  // For a new file: as in CreateOptions.
  std::vector<std::string> sources{};

  [[nodiscard]] Hasher hasher() const;
};

class AnyFilter : detail::KeyParts<AnyFilter> {
 public:
  using Keys = std::span<const std::string_view>;

  // ---- in memory ------------------------------------------------------------------------------

  explicit AnyFilter(const FilterPlan& plan, const Hasher& hasher = Hasher());
  // The bits of a PHP class. Error{no_memory}.
  explicit AnyFilter(const PhpScheme& scheme);
  // Makes a filter from the bytes of encode(). Errors as decode (encode.hpp).
  static AnyFilter decode(std::span<const std::byte> bytes);

  // ---- at a location ----------------------------------------------------------------------------

  // With Access::read every change is Error{read_only}. A dump of a module's filter can only be opened for reading,
  // and is held in memory. Its filter must be frozen, or plain and not grown. Error{wrong_kind}: it is another one.
  static AnyFilter open(const std::string& location, Access access = Access::read,
                        const AnyOptions& options = {});
  // Creates an empty filter and opens it for writing. By default it is plain; in a module it is
  // scalable.
  // Error{exists}: the location holds something, and options.replace is not set or does not apply to it.
  // {invalid_argument}: the place cannot hold this filter.
  static AnyFilter create(const std::string& location, const FilterSpec& spec,
                          const AnyOptions& options = {});
  // Opens the existing filter for writing, or creates one. Several processes may call it at the same time: it waits up
  // to the timeout of the address for one that is making the filter in shards.
  // Error{mismatch}: spec or options differ from the existing filter. Values that they leave open, or that the
  // server does not report (for a filter of a module: rate, window, whether it counts), are not compared. A new
  // filter is made from new_spec if it is given, otherwise from spec.
  // {invalid_argument}: there is no filter, and spec and new_spec do not say how large a new one should be.
  static AnyFilter open_or_create(const std::string& location, const FilterSpec& spec,
                                  const AnyOptions& options = {},
                                  const std::optional<FilterSpec>& new_spec = std::nullopt);
  // Builds a new filter, which replaces the old one at once when close() is called. Until then, and if the
  // handle is destroyed without close(), the location keeps the old filter. Only for files and Redis
  // strings. `sources` as in AnyOptions.
  static AnyFilter rebuild(const std::string& location, const FilterPlan& plan,
                           const Hasher& hasher = Hasher(),
                           const std::vector<std::string>& sources = {});

  // The location without user and password, for messages.
  [[nodiscard]] static std::string display_name(const std::string& location);
  // The part of a text that looks like the user and the password of an address, for messages that quote what may be an
  // address in a wrong place: all before the last @, after the first colon or its "://". None: there is no such part.
  [[nodiscard]] static std::optional<std::string_view> secret_of(std::string_view text) noexcept;
  // Whether the location is an address, valid or not, and not a path: it begins with a word and "://". The calls above
  // refuse an address with an unknown word: Error{invalid_argument}.
  [[nodiscard]] static bool is_address(std::string_view location) noexcept;
  // Whether create() replaces a filter at the location if AnyOptions::replace is set. It never replaces one of a
  // module, one in two generations and shards, or bits of a PHP class. Error{invalid_argument}: the location is not
  // valid.
  [[nodiscard]] static bool can_replace(const std::string& location,
                                        const AnyOptions& options = {});

  // ---- from one location to another ---------------------------------------------------------------

  // Makes a filter at `out` that has every key of the sources. `out` gets the whole filter or nothing, and the call
  // needs a few megabytes of memory. Plain filters merge from files and Redis strings in any mixture, counting
  // filters from files, and filters of a module from shards; their parameters must be equal. Returns the statistics
  // of the new filter, or the reason why they cannot be read although the filter is complete.
  // Error{mismatch | wrong_kind}: these filters cannot be merged; {exists}.
  struct Merged {
    std::optional<FilterStats> stats;
    std::string why_not;
  };
  static Merged merge(std::span<const std::string> sources, const std::string& out,
                      bool replace = false);
  // Copies a filter bit for bit: plain filters between files, Redis strings, shards, dumps and modules;
  // filters of modules between servers and dumps; bits of PHP classes, with a scheme, between files and
  // Redis. If the destination is a path, it becomes a filter file, or for a filter of a module a dump,
  // unless its name ends in ".bloom".
  // Error{wrong_kind}: the destination cannot hold these bits; {exists}, for bits of PHP classes also if they may
  // replace; {not_a_filter}.
  static void convert(const std::string& source, const std::string& out,
                      const AnyOptions& options = {});
  // Drops the older of two generations, and begins a new one.
  struct Rotation {
    bool done = false;             // false: another client has rotated, or nothing was added since
    std::uint64_t generation = 0;  // the new one; 0: a PHP class does not number them
    std::string older_key;         // the Redis key of the older generation
  };
  static Rotation rotate(const std::string& location, const AnyOptions& options = {});
  // Whether a location names many filters: redis+module://host?match=PATTERN names all filters of a
  // module on one server whose keys match the pattern.
  [[nodiscard]] static bool is_pattern(std::string_view location) noexcept;
  // Calls use() for each filter that a pattern names, with the address of that filter, in no particular order. It
  // uses SCAN and pipelines, so that thousands of filters take little time. Filters that are created or removed at the
  // same time may or may not be included. If the server refuses to tell about one filter, for instance because the
  // user has no right to its key, it calls refused(), or without one throws. Error{too_large}: more than 100,000 match.
  static void for_each(
      const std::string& location,
      const std::function<void(const std::string& address, const FilterStats& stats)>& use,
      const std::function<void(const std::string& address, const Error& error)>& refused = {});
  // Checks a filter without changing it. In a file or dump it checks every byte. On a server it checks headers and
  // lengths, because the bits have no checksums there (VerifyReport::detail says so, and there are no chunks).
  static VerifyReport verify(const std::string& location, const AnyOptions& options = {});

  // A filter that was moved from throws Error{invalid_argument} from every call that could use it.
  AnyFilter(AnyFilter&&) noexcept;
  AnyFilter& operator=(AnyFilter&&) noexcept;
  // Closes, except after rebuild() and while a frozen filter is being built. The destructor cannot report a failure:
  // call close() to see it.
  ~AnyFilter();

  // ---- keys: integers (not in a module or a PHP class), text or bytes -----------------------------

  // True: the key was certainly not there before.
  template <class K>
  bool insert(const K& key) {
    if constexpr (!detail::require_key<K>()) {
      return false;
    } else {
      if (!inserts_directly()) return one<K>(Operation::insert, key);
      if constexpr (!detail::kConvertsQuietly<K>) acknowledged_ = 0;
      const bool fresh = direct_.memory->insert(key);
      *direct_.inserted += fresh ? 1 : 0;
      // A store per key would take room in the store buffer from the stores that wait for their block.
      if (acknowledged_ != 1) acknowledged_ = 1;
      return fresh;
    }
  }
  // False: the key was certainly never inserted.
  template <class K>
  [[nodiscard]] bool may_contain(const K& key) {
    if constexpr (!detail::require_key<K>())
      return true;
    else
      return looks_up_directly() ? direct_.bits->may_contain(key) : one<K>(Operation::contain, key);
  }
  // Whether these two calls are inlined down to the bits, in memory or in a mapping; then they throw only what the
  // conversion of a key throws.
  [[nodiscard]] bool inserts_directly() const noexcept { return direct_.inserted != nullptr; }
  [[nodiscard]] bool looks_up_directly() const noexcept { return direct_.bits != nullptr; }
  // False: the key certainly was not there. Error{wrong_kind}: the filter does not count.
  template <class K>
  bool remove(const K& key) {
    if constexpr (!detail::require_key<K>())
      return false;
    else
      return one<K>(Operation::remove, key);
  }
  // The calls for many keys process them in parts, and return how many of the answers are true. The answers go into
  // any range of bools or other integers, with room for one answer per key; an empty std::span<bool> means that no
  // answers are wanted. If there is less room, the call throws Error{invalid_argument} and has changed nothing,
  // unless the range of keys can be read only once.
  template <class R, class A = std::span<bool>>
  std::size_t insert_many(R&& keys, A&& fresh = {}) {
    // Other ranges and keys may throw between two keys, and then nobody would know how many were new.
    if constexpr (detail::require_keys<std::remove_reference_t<R>>() &&
                  std::ranges::contiguous_range<R> && std::ranges::sized_range<R>)
      if (detail::kConvertsQuietly<std::ranges::range_value_t<R>> && direct_.memory != nullptr) {
        acknowledged_ = 0;
        const std::size_t count = direct_.memory->insert_many(keys, fresh);
        *direct_.inserted += count;
        acknowledged_ = std::ranges::size(keys);
        return count;
      }
    return detail::as_one_load(*this, detail::count_if_known(keys),
                               [&] { return with_answers(Operation::insert, keys, fresh); });
  }
  template <class R, class A = std::span<bool>>
  std::size_t may_contain_many(R&& keys, A&& found = {}) {
    if constexpr (detail::require_keys<std::remove_reference_t<R>>() && std::ranges::sized_range<R>)
      if (direct_.bits != nullptr) try {
          return direct_.bits->may_contain_many(keys, found);
        } catch (...) {
          acknowledged_ = 0;
          throw;
        }
    return with_answers(Operation::contain, keys, found);
  }
  template <class R, class A = std::span<bool>>
  std::size_t remove_many(R&& keys, A&& removed = {}) {
    return with_answers(Operation::remove, keys, removed);
  }

  // Applies an operation to one batch, given as hashes made by hasher() or as the bytes of keys.
  // insert_absent is an insert in which keys that may be there already change nothing: in a window filter
  // they keep their age. It works in memory only. A frozen filter that is being built takes all keys.
  // Error{wrong_kind}: the place takes only bytes, because it hashes keys itself.
  enum class Operation : std::uint8_t { insert, insert_absent, contain, remove };
  std::size_t apply(Operation operation, std::span<const Hash128> hashes,
                    std::span<bool> answers = {});
  std::size_t apply(Operation operation, Keys keys, std::span<bool> answers = {});

  // Inserts a key into the bits of a PHP class on a server, and writes to `before` which of its bits were set, as
  // RedisPhpFilter::insert_bits does. Error{wrong_kind}: any other filter.
  std::size_t insert_bits(std::string_view key, std::span<bool> before);

  // The hasher of keys, valid until close(); null: the place hashes keys itself.
  [[nodiscard]] const Hasher* hasher() const noexcept;
  // How many keys of the last call that changes the filter are certainly done, counted from the first key. After an
  // Error the other keys may be done or not: repeating their inserts is harmless, repeating removals is not. After a
  // look-up that threw, at least this many answers were given. In a load (begin_load) these keys are done when the
  // load is acknowledged; if that fails, the number is 0.
  [[nodiscard]] std::size_t acknowledged() const noexcept { return acknowledged_; }

  // ---- the filter ---------------------------------------------------------------------------------

  [[nodiscard]] const std::string& name() const;  // the location, without secrets
  [[nodiscard]] bool in_memory() const noexcept;
  // The plan that the filter was created from; nullopt if the place does not report it.
  [[nodiscard]] std::optional<FilterPlan> plan() const;
  // The request that it was created from, as far as the place reports it.
  [[nodiscard]] FilterSpec spec() const;
  // Error{mismatch}: the filter was made from another request. As in open_or_create, values that are left open, or that
  // the place does not report, are not compared.
  void require_match(const FilterSpec& spec, const AnyOptions& options = {}) const;
  // Error{wrong_kind} unless the filter can remove keys.
  void require_removal() const;
  // Whether the filter forgets by the time of advance(). (A module's filter uses the server's clock.)
  [[nodiscard]] bool needs_time() const noexcept;
  // Sets the time: keys older than the window are forgotten. A reader of a file forgets in its own memory, and
  // so does any file after close(). It does nothing unless needs_time() is true and a slice has passed. If a window
  // filter is ahead of `now` by more than its window, this sets it back to `now`.
  void advance(std::uint64_t now);

  // As in FilterFile. Other places acknowledge each call.
  bool begin_load(std::uint64_t expected = 0) noexcept;
  void end_load();
  // Whether a load has begun and has not ended: sync(), end_load() or close() acknowledges its keys.
  [[nodiscard]] bool is_loading() const noexcept;
  // Sets how many threads build a frozen filter, in a file or in memory. 0, the default, means one for each core that
  // the process may use.
  void use_threads(unsigned threads) noexcept;

  // As in FilterFile, for files. Error{wrong_kind}: the place does not record what was done before.
  std::uint64_t begin_batch(std::string_view name);

  // `exact` reads all of the bits. On a server, and in a sparse file that is mostly holes, the statistics always come
  // from a sample; Stats::sampled says so.
  [[nodiscard]] FilterStats stats(Precision precision = Precision::sampled);
  // Of a window of insertions: how many keys each slice takes, and how many more the newest one takes before the oldest
  // one is forgotten. nullopt: it is another filter, or the place does not report the window.
  struct SliceRoom {
    std::uint64_t length = 0;
    std::uint64_t left = 0;
  };
  [[nodiscard]] std::optional<SliceRoom> slice_room();
  // The bits or counters, if they are in this process: one array, or one for each sub-filter. Empty for a filter on a
  // server and for a frozen one. Valid until the filter is changed, reloaded or closed.
  struct Array {
    std::span<const std::byte> bytes;
    std::uint32_t counter_bits = 1;  // 1: of a filter that does not count
  };
  [[nodiscard]] std::vector<Array> arrays() const;
  // Checks this filter as the static verify does.
  [[nodiscard]] VerifyReport verify();

  // ---- two filters, and the whole of one ------------------------------------------------------------

  // Adds every key of `other`: plain to plain, counting to counting, in memory or in files. In a file the change is
  // durable.
  // Error{mismatch}: they were made from different plans or hashers; {wrong_kind}; {corrupt}: the bits of the other
  // one's file are damaged.
  void merge(const AnyFilter& other);
  // Keeps the keys that are in both (FilterView::intersect). This filter is plain and in memory, `other` in memory
  // or in a file. Errors as merge.
  void intersect(const AnyFilter& other);
  // Forgets every key of a filter in memory. Error{wrong_kind}: the filter is in another place, where create() can
  // replace it.
  void clear();
  // A copy in memory of a filter in memory or in a file. Errors as FilterFile::encode.
  [[nodiscard]] AnyFilter copy();
  // For a reader of a file: opens the file that is at the path now. True: the filter may have changed.
  // Error{wrong_kind}: this filter is always up to date; {read_only} after close().
  bool reload();
  // Whether it is such a reader, so that what is at the path may be newer.
  [[nodiscard]] bool can_be_behind() const noexcept;

  void sync();  // makes every change so far as durable as the place can
  // During rebuild() on a server: call it if you insert nothing for minutes. For a file it is
  // FilterFile::require_place.
  void keep_alive();
  // Calls sync(), then releases the place. After rebuild() it puts the new filter into its place. Look-ups in memory
  // and in files still work; a filter on a server then throws Error{read_only} from every call that needs the server.
  // Closing twice does nothing.
  void close();
  // Returns a filter of any kind, in memory or in a file, as bytes (encode.hpp). From memory they include the
  // count of inserts. Errors as FilterFile::encode.
  [[nodiscard]] std::vector<std::byte> encode();
  [[nodiscard]] std::uint64_t encoded_size();  // the number of those bytes
  // Writes encode() as a filter file, which appears whole or not at all, and is on the device when save() returns.
  // It replaces a filter file at the path and keeps that file's owner and permissions. A user without access to the
  // file of this filter gets no access to the new file. Error{not_a_filter}: the path has another kind of file;
  // {locked}: a writer, perhaps this filter, has it open.
  void save(const std::string& path);
  // The file; null if the filter is not in a file.
  [[nodiscard]] const FilterFile* file() const noexcept;

  class Impl;

 private:
  // What calls with one key use instead of a virtual call; null if they need the virtual call.
  struct Direct {
    const FilterView* bits = nullptr;   // of a plain filter in memory or in a file
    FilterView* memory = nullptr;       // the same, in memory
    std::uint64_t* inserted = nullptr;  // its count of new keys
  };

  friend detail::KeyParts<AnyFilter>;
  explicit AnyFilter(std::unique_ptr<Impl> impl) noexcept;

  // Applies one part of a call whose first `before` keys are done.
  std::size_t apply_hashes(std::size_t before, Operation operation, std::span<const Hash128> hashes,
                           std::span<bool> answers);
  std::size_t apply_keys(std::size_t before, Operation operation, Keys keys,
                         std::span<bool> answers);
  [[nodiscard]] Impl& impl() const;  // Error{invalid_argument}: it was moved from
  [[noreturn]] void refuse_integers() const;

  std::unique_ptr<Impl> impl_;
  Direct direct_;
  std::size_t acknowledged_ = 0;
};

}  // namespace bloomery
