// A cuckoo filter (Fan et al. 2014) like RedisBloom's: fingerprints of 8 bits in buckets; items can be removed again.
//
// An item has a fingerprint and, in each sub-filter, two buckets that may hold it. A sub-filter is
// an array of buckets, each of them `bucket_size` entries of a byte; 0 is an empty entry. The first
// has `buckets` buckets, a power of two, and each further one `expansion` times as many as the one
// before.
//
//   hash         h = MurmurHash64A(item, 0)
//   fingerprint  f = h mod 255 + 1
//   buckets      h and h ^ f * 0x5bd1e995, each mod the number of buckets of the sub-filter
//   insert       the first empty entry of the newest sub-filter, then of the older ones. If there is
//                none, fingerprints of the newest give way to each other, max_iterations times at
//                most; what did not help is undone, and a sub-filter is added
//   remove       the first match from the newest sub-filter on
//
// Dumps show where a fingerprint lies, so every step is RedisBloom's. Removing from the newest sub-filter first also
// keeps the promise: an item that matches an entry of a larger sub-filter matches it in every smaller one too, so the
// removal of a present item never takes away the last entry of another one.
//
// A removed item must have been added. Otherwise another item's fingerprint can go in its place.
//
// No allocation is larger than kMaxEntries. Nothing here knows a server, except for its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "server/memory.hpp"
#include "values/value.hpp"

namespace bloomery::server {

class RdbSource;
class RdbSink;

namespace cuckoo {

// RedisBloom stores an entry's place in 32 bits, and loses items in larger sub-filters.
constexpr std::uint64_t kMaxEntries = std::uint64_t{1} << 32;
constexpr std::uint32_t kMaxSubFilters = 65535;
constexpr std::uint16_t kMaxBucketSize = 255;
constexpr std::uint16_t kMaxExpansion = 32768;
constexpr std::uint16_t kMaxIterations = 65535;

// Everything of a filter except its entries.
struct Header {
  std::uint64_t items = 0;
  std::uint64_t buckets = 0;  // of the first sub-filter
  std::uint64_t deletes = 0;  // since the last compaction
  std::uint32_t sub_filters = 1;
  std::uint16_t bucket_size = 2;
  std::uint16_t max_iterations = 20;
  std::uint16_t expansion = 1;  // a power of two, or 0: the filter does not grow

  // The entries of a sub-filter; 0: more than kMaxEntries.
  [[nodiscard]] std::uint64_t entries(std::uint32_t sub_filter) const noexcept;
  [[nodiscard]] std::uint64_t all_entries() const noexcept;  // after check()
  friend bool operator==(const Header&, const Header&) = default;
};
// An empty filter for a number of items, as CF.RESERVE rounds it.
[[nodiscard]] Header plan(std::uint64_t capacity, std::uint16_t bucket_size,
                          std::uint16_t max_iterations, std::uint16_t expansion) noexcept;
// The size of a filter as CF.INFO replies it: RedisBloom's own structures, and the entries.
[[nodiscard]] std::uint64_t bytes_of(const Header& header) noexcept;
// Throws Error{corrupt}, which names the field, unless a filter can have this header.
void check(const Header& header);

// The header of a dump: packed, little-endian.
constexpr std::size_t kHeaderBytes = 38;
[[nodiscard]] std::array<std::byte, kHeaderBytes> encode(const Header& header) noexcept;
[[nodiscard]] Header decode(std::span<const std::byte> bytes);  // checked; Error{corrupt}

[[nodiscard]] std::uint64_t hash(std::string_view item) noexcept;

enum class Inserted : std::uint8_t { yes, exists, full, no_memory };

class Filter {
 public:
  // Makes a filter without its arrays, which append() adds. The object itself lies in the server's memory.
  struct Delete {
    void operator()(Filter* filter) const noexcept;
  };
  using Pointer = std::unique_ptr<Filter, Delete>;
  // Both: Error{no_memory}, and what check() throws.
  [[nodiscard]] static Pointer make_without_arrays(const Header& header);
  [[nodiscard]] static Pointer make(const Header& header);
  [[nodiscard]] Pointer copy() const;
  // The array of the next sub-filter, with all its entries.
  void append(OwnedMemory array) noexcept;
  // Call it after the contents of the arrays were loaded: they get huge pages (pages.hpp).
  void has_come() noexcept;

  void prefetch(std::uint64_t hash) const noexcept;
  [[nodiscard]] bool may_contain(std::uint64_t hash) const noexcept;
  [[nodiscard]] std::uint64_t count(std::uint64_t hash) const noexcept;
  // `unique`: does not insert if the filter seems to have the item.
  [[nodiscard]] Inserted insert(std::uint64_t hash, bool unique, const MemoryLimit& limit) noexcept;
  // False: the item is not there.
  [[nodiscard]] bool remove(std::uint64_t hash) noexcept;

  // Moves fingerprints to older sub-filters, and gives back the newest ones that become empty.
  // remove() does the same when more than a tenth of the items have been removed, but stops at a
  // sub-filter that stays. A filter that is too big for one call is compacted in slices: by further
  // calls, and by every insert and remove that changes the filter.
  void compact() noexcept;
  [[nodiscard]] bool is_compacting() const noexcept { return compaction_.sub_filter != 0; }

  [[nodiscard]] const Header& header() const noexcept { return header_; }
  [[nodiscard]] std::span<std::byte> array(std::uint32_t sub_filter) const noexcept;
  // The entries from a place on, to the end of their array. Places count through all arrays as if they were one.
  struct Part {
    std::span<std::byte> entries;  // empty: it is beyond the end
    std::uint64_t in_array = 0;    // how many entries of the array come before
  };
  [[nodiscard]] Part part_from(std::uint64_t offset) const noexcept;
  // Copies entries of a dump to a place in part_from().
  void overwrite(std::byte* place, std::span<const std::byte> entries) noexcept;

  // As for values (value.hpp).
  [[nodiscard]] bool is_loading() const noexcept { return loading_; }
  void set_loading(bool loading) noexcept { loading_ = loading; }

  [[nodiscard]] std::size_t memory() const noexcept;  // as the server counts it
  void defragment(DefragContext* context) noexcept;   // the object itself has been moved before

 private:
  using Entry = unsigned char;
  // Where an item may lie. The buckets are modulo the number of buckets of a sub-filter.
  struct Place {
    explicit Place(std::uint64_t hash) noexcept : Place(static_cast<Entry>(hash % 255 + 1), hash) {}
    Place(Entry print, std::uint64_t bucket) noexcept
        : first(bucket), second(other_bucket(print, bucket)), fingerprint(print) {}
    std::uint64_t first;
    std::uint64_t second;
    Entry fingerprint;
  };
  // The other bucket of a fingerprint. Modulo a power of two, applying it twice leads back.
  [[nodiscard]] static std::uint64_t other_bucket(Entry fingerprint,
                                                  std::uint64_t bucket) noexcept {
    return bucket ^ fingerprint * std::uint64_t{0x5bd1e995};
  }
  struct Compaction {
    std::uint32_t sub_filter = 0;  // 0: there is none; the first is never emptied
    bool thorough = false;         // goes on to older ones after one that stays
    bool stays = false;            // something is left in it
    std::uint64_t bucket = 0;      // the next one
  };

  explicit Filter(const Header& header) noexcept : header_(header) { header_.sub_filters = 0; }
  ~Filter();
  [[nodiscard]] Entry* entries_of(std::uint32_t sub_filter) const noexcept {
    return static_cast<Entry*>(static_cast<void**>(arrays_.get())[sub_filter]);
  }
  [[nodiscard]] std::uint64_t buckets_of(std::uint32_t sub_filter) const noexcept {
    return header_.buckets << growth_ * sub_filter;
  }
  template <class Use>
  bool any_bucket(std::uint32_t sub_filter, const Place& place, Use use) const noexcept;
  [[nodiscard]] Entry* find(Entry* bucket, Entry fingerprint) const noexcept;
  [[nodiscard]] bool put(std::uint32_t sub_filter, const Place& place) noexcept;
  [[nodiscard]] bool put_by_eviction(const Place& place) noexcept;
  [[nodiscard]] bool room_for(std::uint32_t sub_filters) noexcept;  // in the list of arrays
  [[nodiscard]] bool grow(const MemoryLimit& limit) noexcept;
  [[nodiscard]] bool move_down(std::uint32_t from, std::uint64_t bucket, Entry& entry) noexcept;
  void start_compaction(bool thorough) noexcept;
  void go_on() noexcept;
  void compact_some(std::uint64_t probes) noexcept;
  void release_newest() noexcept;

  Header header_;
  Compaction compaction_;
  OwnedMemory arrays_;  // a list of addresses
  std::uint32_t room_ = 0;
  std::uint8_t growth_ = 0;  // the logarithm of the expansion
  bool loading_ = false;
  std::uint64_t items_before_newest_ = 0;  // when the newest array was made, unless it was loaded
};

// ---- in RDB files and DUMP payloads, as RedisBloom writes them (encoding.cpp) ---------------------
//
// The bytes may be anything: the result is a whole filter or an Error, and no memory is taken for
// bytes that have not come.

constexpr int kEncoding = 4;  // RedisBloom's encver; 0 to 4 are read

// Error{io | corrupt | newer_format | no_memory}.
[[nodiscard]] Filter::Pointer load(RdbSource& source, int encoding);
void save(const Filter& filter, RdbSink& sink);

}  // namespace cuckoo

}  // namespace bloomery::server
