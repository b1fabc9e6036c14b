// What a key holds: a filter, made and freed in the server's memory.
//
// Value has what is the same for every kind of filter: the hash of an item, the header, and the
// arrays of bits for the code that saves, copies, moves or frees them. Each kind (scalable.hpp,
// counting.hpp, window.hpp) adds where an item's bits are and what it does with them. Items always
// come in batches; a batch of one costs no more than a call for one item would.
//
// The server may free a value in a background thread; everything else happens in its main thread.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "server/memory.hpp"
#include "values/dump_header.hpp"

namespace bloomery::server {

enum class Stop : std::uint8_t { none, full, no_room };
// What inserting a batch did.
struct Added {
  std::uint32_t answered = 0;  // items before the one that was refused
  std::uint32_t fresh = 0;     // how many of them were new
  std::uint64_t bytes = 0;     // of new memory
  std::uint64_t capacity = 0;  // of new sub-filters
  std::uint32_t sub_filters = 0;
  std::uint32_t counted = 0;  // by how much the number of items grew; 0: nothing has changed
  bool filled = false;        // it has become full
  Stop stop = Stop::none;
};

// Called before a filter takes memory to grow.
class MemoryLimit {
 public:
  [[nodiscard]] virtual bool allows(std::uint64_t bytes) const noexcept = 0;

 protected:
  ~MemoryLimit() = default;
};

// What BF.INFO and the module's statistics report.
struct Totals {
  std::uint64_t items = 0;  // BF.CARD
  std::uint64_t capacity = 0;
  std::uint64_t bytes = 0;  // its bits and its parameters
  std::uint64_t sub_filters = 1;
  bool full = false;  // further items raise the false-positive rate, or are refused
};

// An allocation that a value owns.
struct Allocation {
  void* const* place = nullptr;  // where the value keeps its address; null: there are no more
  std::uint64_t bit_bytes = 0;   // how many bytes of the filter's bits it holds; 0: something else
  [[nodiscard]] explicit operator bool() const noexcept { return place != nullptr; }
};

// The size of a value's object; its key follows it. A server may have a filter for each
// user, so each byte counts: the kinds assert that they are no larger.
constexpr std::size_t object_bytes(Kind kind) noexcept {
  switch (kind) {
    case Kind::counting:
      return 72;
    case Kind::window:
      return 64;
    case Kind::frozen:
      return 392;
    default:
      return 32;
  }
}

// How the items of a filter are hashed.
enum class Hashing : std::uint8_t { xxh3, siphash, murmur64, murmur32 };
[[nodiscard]] constexpr Family family_of(Hashing hashing) noexcept {
  return hashing >= Hashing::murmur64 ? Family::redisbloom : Family::native;
}
// `key_of()`: the key of a keyed filter.
template <class KeyOf>
[[nodiscard]] Hash128 hash_item(Hashing hashing, std::string_view item, KeyOf key_of) noexcept {
  switch (hashing) {
    case Hashing::xxh3:
      return detail::xxh3_bytes(item.data(), item.size(), 0);
    case Hashing::siphash:
      return detail::siphash_bytes(item.data(), item.size(), key_of());
    case Hashing::murmur64:
      return legacy::redisbloom::hash(item, legacy::redisbloom::kForce64);
    case Hashing::murmur32:
      break;
  }
  return legacy::redisbloom::hash(item, 0);
}

class Value {
 public:
  virtual ~Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] Hashing hashing() const noexcept { return hashing_; }
  [[nodiscard]] Family family() const noexcept { return family_of(hashing_); }
  // Whether it is a window of seconds, whose look-ups need the time.
  [[nodiscard]] bool needs_time() const noexcept { return needs_time_; }
  // The items of a filter with a key are hashed by SipHash instead of by XXH3.
  [[nodiscard]] bool keyed() const noexcept { return hashing_ == Hashing::siphash; }
  [[nodiscard]] std::optional<Seed> key() const noexcept {
    return keyed() ? std::optional(stored_key()) : std::nullopt;
  }

  // Whether it is being loaded: its header has come as a chunk, but not yet the last of its bits.
  // Only then does it take chunks. A later chunk must not remove an item that was added meanwhile,
  // so any other change ends the loading.
  [[nodiscard]] bool is_loading() const noexcept { return loading_; }
  void end_loading() noexcept { loading_ = false; }
  // Call it when all of its bits have come. Error{corrupt}: no filter has these bits.
  virtual void check_loaded() {}
  // Whether a chunk that begins at this byte of its bits may come now.
  [[nodiscard]] virtual bool takes_chunk_at(std::uint64_t /*begin*/) const noexcept { return true; }
  // Call it when a chunk that ends there has come. Returns whether it was the last one.
  [[nodiscard]] virtual bool has_come(std::uint64_t end) noexcept { return end == bit_bytes(); }
  // How many of the first bytes of its bits have come and must be kept.
  [[nodiscard]] virtual std::uint64_t bytes_that_came() const noexcept { return bit_bytes(); }

  // ---- items ------------------------------------------------------------------------------

  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept {
    return hash_item(hashing_, item, [this] { return stored_key(); });
  }
  // Prefetches the bits of a hash.
  virtual void prefetch(Hash128 hash) const noexcept = 0;
  // found[i]: if false, the item is certainly not there. `now`, in seconds since 1970, is used if
  // needs_time().
  virtual void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                           std::uint64_t now) const noexcept = 0;
  // Adds items in order, until one is refused. fresh[i], for the answered ones: the item was
  // certainly new.
  [[nodiscard]] virtual Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                                     const MemoryLimit& limit) noexcept = 0;
  virtual void clear() noexcept = 0;  // removes all items; the parameters stay

  // ---- the whole ----------------------------------------------------------------------------

  [[nodiscard]] virtual Totals totals() const noexcept = 0;
  [[nodiscard]] Header header() const;  // not of one that is being loaded
  // The bits of one array; empty: there are no more arrays.
  [[nodiscard]] std::span<std::byte> array(std::size_t number) const noexcept {
    return part_of(allocation(number), 0, UINT64_MAX);
  }
  // Calls use(part) for the bits of all arrays in order, in parts of at most `most` bytes that each
  // lie in one array.
  template <class Use>
  void for_parts(std::uint64_t most, Use use) const {
    for (std::size_t i = 0; const Allocation array = allocation(i); ++i)
      for (std::uint64_t offset = 0; offset < array.bit_bytes; offset += most)
        use(part_of(array, offset, most));
  }
  // The bits from a place on in all arrays as if they were one: at most `most` bytes, and those of
  // one array. Empty: it is beyond the end.
  [[nodiscard]] std::span<std::byte> part_at(std::uint64_t offset,
                                             std::uint64_t most) const noexcept;
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept;
  [[nodiscard]] std::size_t memory() const noexcept;  // as the server counts it
  void defragment(DefragContext* context) noexcept;   // the object itself has been moved before

 protected:
  // `header` is as decode_header returns it. Writes its key after the object.
  explicit Value(const Header& header) noexcept;
  [[nodiscard]] std::size_t own_bytes() const noexcept {
    return object_bytes(kind_) + (keyed() ? sizeof(Seed) : 0);
  }

  // Writes what the kind itself adds to the header.
  virtual void describe(Header& header) const = 0;
  // The allocations by number: the arrays of bits in order, then the rest.
  [[nodiscard]] virtual Allocation allocation(std::size_t number) const noexcept = 0;
  // Called after the arrays may have moved.
  virtual void has_moved() noexcept {}
  // Called before these bits of an array are read or written.
  virtual void expect_access(std::uint64_t, std::uint64_t) const noexcept {}

 private:
  friend struct DeleteValue;
  [[nodiscard]] Seed stored_key() const noexcept {
    Seed key;
    std::memcpy(&key, reinterpret_cast<const std::byte*>(this) + object_bytes(kind_), sizeof key);
    return key;
  }
  [[nodiscard]] std::span<std::byte> part_of(const Allocation& array, std::uint64_t offset,
                                             std::uint64_t most) const noexcept;

  // One byte; kinds use the rest of the last eight.
  Kind kind_ : 3;
  Hashing hashing_ : 2;
  bool needs_time_ : 1;
  bool loading_ : 1;
};

// ---- making and freeing -------------------------------------------------------------------------

struct DeleteValue {
  void operator()(Value* value) const noexcept;
};
template <class T>
using ValuePointer = std::unique_ptr<T, DeleteValue>;
using AnyValue = ValuePointer<Value>;

// Makes a value with `tail` bytes after its object and its key, which the constructor may write.
// Error{no_memory}, and what the constructor throws.
template <class T, class... Arguments>
[[nodiscard]] ValuePointer<T> new_value(const Header& header, std::size_t tail,
                                        Arguments&&... arguments) {
  static_assert(sizeof(T) == object_bytes(T::kKind));
  OwnedMemory memory(allocate(sizeof(T) + (header.key ? sizeof(Seed) : 0) + tail));
  require_memory(memory != nullptr);
  T* made = new (memory.get()) T(header, std::forward<Arguments>(arguments)...);
  (void)memory.release();
  return ValuePointer<T>(made);
}

// Casts a value to its kind; null: it is of another kind.
template <class T>
[[nodiscard]] T* as(Value* value) noexcept {
  return value->kind() == T::kKind ? static_cast<T*>(value) : nullptr;
}

// ---- arrays of bits -----------------------------------------------------------------------------

// Zeroed memory for an array. Error{no_memory}: also if the machine could never hold so much.
[[nodiscard]] OwnedMemory new_array(Family family, std::uint64_t bytes);
// Where the bits begin in the memory. Native bits are aligned to 64 bytes; RedisBloom's lie as the
// server reads them.
[[nodiscard]] inline std::byte* bits_in(Family family, void* memory) noexcept {
  return family == Family::redisbloom ? static_cast<std::byte*>(memory) : aligned(memory);
}

}  // namespace bloomery::server
