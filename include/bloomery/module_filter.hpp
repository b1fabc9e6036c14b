// Filters of a Redis module, bloomery.so or RedisBloom, by its BF commands: under one key, or in
// shards over all nodes of a cluster.
//
//   const RedisPlace place({.host = "10.0.0.7"}, "urls");
//   auto seen = ModuleFilter::create(place, {.capacity = 1'000'000, .fpr = 0.001});
//   if (seen.insert(url)) fetch(url);   // true: certainly new
//
// If a Redis key does not exist, the module answers "absent", and its first BF.ADD creates a filter. So
// with every command this class also checks whether the filter is still there:
//   - Under one key it sends each command between two BF.INFO. If the filter is gone, has become
//     smaller, or (if it grows) has fewer items, the result is an Error and never "absent". The client
//     cannot detect that another client has replaced the filter by one with as much capacity and as many
//     items, or by one that does not grow, because BF.INFO does not identify a filter.
//   - In shards (the third part of the place) shard i of s is a filter `urls:{t}` of its own, as
//     the strings of a RedisFilter are, and a record, `urls:{0}:shards`, says what the whole is.
//     Each shard holds marker items that no other filter has. Every command also looks up these items
//     (an insert does so in one transaction): a shard that is missing, evicted or replaced is an Error
//     and never "absent". For a filter that fits under one key, a single shard is therefore safer.
// A batch has 1,024 keys for each node, or 32 for each shard if that is more, and at most a KiB per key on average;
// each shard gets its part of a batch in one request. Two batches are in flight at once, and all nodes work at the
// same time.
//
// Threads: one thread at a time may use an object. Objects are independent of each other.
#pragma once

#include <bloomery/detail/text_calls.hpp>
#include <bloomery/module_messages.hpp>
#include <bloomery/redis_url.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

namespace detail {
class ModuleKeys;
}

// Every operation may throw the errors of RedisFilter. Two codes have a further cause:
//   io        the server has no module with BF commands
//   no_space  a filter that does not grow is full
class ModuleFilter : private detail::TextCalls<ModuleFilter> {
 public:
  // Error{exists}: the place holds something. {wrong_kind}: the module of the server does not have this
  // kind; in shards only plain and scalable filters exist. 0 shards means as many as RedisFilter::create
  // would make. Each shard has room for its share of the keys and 7 standard deviations more, because
  // hashing does not fill them evenly: no shard is full or grows before the whole filter has reached its
  // capacity (except once in 10^9 filters). As in RedisFilter::create, either all shards are made or
  // none; the record represents the filter. {locked}: another process is making a filter there.
  static ModuleFilter create(const RedisPlace& place, const ModuleReserve& reserve);
  // Error{missing}; {mismatch}: the filter has another number of shards; {locked}: a process is making it.
  static ModuleFilter open(const RedisPlace& place);

  // Makes a filter that has every key of the sources, chunk by chunk, also between servers, and puts it into its
  // place when it is complete. It copies a single source. Several sources must be in shards, with the same
  // capacity, false-positive rate, growth and number of shards; BF.MERGE merges them, a command that only
  // bloomery.so has. With `replace` it replaces a filter of the module; in shards one with the same number of
  // shards, as RedisFilterWriter does, and even a source. A copy in shards has its own identity: a client that
  // still has the replaced filter open gets Error{mismatch} or {missing}, and never an answer from the copy.
  // Keys that others insert at the same time may or may not be in it.
  // Error{mismatch}: the sources differ from each other or from the place; {exists}; {wrong_kind}: they cannot
  // be merged; {no_space}: a shard of RedisBloom is full and has no room for the copy's marker items; {unavailable}: a
  // slot of the cluster has moved meanwhile.
  static void store(const RedisPlace& place, std::span<ModuleFilter* const> sources,
                    bool replace = false);

  ModuleFilter(ModuleFilter&&) noexcept;
  ModuleFilter& operator=(ModuleFilter&&) noexcept;
  ~ModuleFilter();

  // True: the key was certainly not there before.
  bool insert(std::string_view key) { return insert_many({&key, 1}) == 1; }
  // False: the key was certainly never inserted.
  [[nodiscard]] bool may_contain(std::string_view key) const {
    return may_contain_many({&key, 1}) == 1;
  }
  // As in RedisFilter, for text and bytes.
  using TextCalls::insert_many;
  using TextCalls::may_contain_many;
  // For counting filters. Returns how many keys were there. Error{wrong_kind}: the filter does not count.
  using TextCalls::remove_many;
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  [[nodiscard]] ModuleInfo info();
  // nullopt if the filter counts, forgets or is frozen, or if the server does not let this user ask.
  [[nodiscard]] std::optional<ModuleFill> fill();
  // The parameters that the filter was made with; nullopt if it is under one key of a RedisBloom server, which
  // does not report them. `layout` is empty for shards, because the module chooses it.
  [[nodiscard]] std::optional<ModuleReserve> reserved();

  // Returns the chunk after the one with this iterator in the dump of a shard. Keys that others insert at the
  // same time may or may not be in it. Error{missing}; {mismatch}: the filter was replaced, or one under a single
  // key has grown since the first chunk; {io}: the chunk is larger than kMostChunkBytes, or its iterator is not above
  // the one before.
  [[nodiscard]] ModuleChunk dump(std::uint64_t after = 0, std::uint32_t shard = 0);

  // nullopt if the filter is under one key.
  [[nodiscard]] std::optional<std::uint32_t> shards() const noexcept;
  // The Redis keys, shard 0 first. To remove a filter in shards, UNLINK the record, then these.
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept;
  [[nodiscard]] std::string record_key() const { return keys().front() + ":shards"; }
  // The number of nodes that have slots; 1 without a cluster.
  [[nodiscard]] std::size_t nodes();

 private:
  friend detail::TextCalls<ModuleFilter>;
  explicit ModuleFilter(std::unique_ptr<detail::ModuleKeys> keys);
  std::size_t do_insert(Texts keys, std::span<bool> fresh);
  std::size_t do_contain(Texts keys, std::span<bool> found) const;
  std::size_t do_remove(Texts keys, std::span<bool> removed);
  void begin_call() const noexcept;  // of what acknowledged() counts

  std::unique_ptr<detail::ModuleKeys> keys_;
};

}  // namespace bloomery
