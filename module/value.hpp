// What a key holds: a filter of one of our kinds, made and freed in the server's memory.
//
// Commands, data types and statistics work on a Value; what only one kind has (sub-filters, removal,
// time) they ask of that kind. The server may free a value in a background thread.
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace bloomery::server {

// Numbers are in dumps and never change.
enum class Kind : std::uint8_t { chain = 1, counting = 2, window = 3 };

enum class Stop : std::uint8_t { none, full, no_room };
struct Added {
  std::size_t answered = 0;  // items before the one that was refused
  std::size_t fresh = 0;     // of these, new ones
  bool changed = false;      // anything at all
  Stop stop = Stop::none;
};

class Value;
template <class T>
struct ValueDeleter {
  void operator()(T* value) const noexcept {
    value->~T();
    release(value);
  }
};
template <class T>
using ValuePointer = std::unique_ptr<T, ValueDeleter<T>>;
using AnyValue = ValuePointer<Value>;

class Value {
 public:
  virtual ~Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

  // ---- items ------------------------------------------------------------------------------

  [[nodiscard]] virtual Hash128 hash(std::string_view item) const noexcept = 0;
  // Asks the memory for a hash's bits.
  virtual void prefetch(Hash128 hash) const noexcept = 0;
  // `now`, in seconds since 1970, counts for windows of time.
  [[nodiscard]] virtual bool may_contain(Hash128 hash, std::uint64_t now) const noexcept = 0;
  virtual void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                           std::uint64_t now) const noexcept = 0;
  // Adds in order, until an item is refused. fresh[i] of the answered: it was certainly new. What
  // would need more than `most_bytes` of new memory is not made.
  [[nodiscard]] virtual Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                                     std::uint64_t most_bytes) noexcept = 0;
  virtual void clear() noexcept = 0;  // no item; the parameters stay

  // ---- the whole ----------------------------------------------------------------------------

  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;  // what BF.CARD says
  [[nodiscard]] virtual std::uint64_t capacity() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t bit_bytes() const noexcept = 0;
  // What it is said to take: its bits and its parameters.
  [[nodiscard]] virtual std::uint64_t footprint() const noexcept = 0;
  // It has taken all that it was made for, and more make it worse or are refused.
  [[nodiscard]] virtual bool full() const noexcept = 0;

  // Everything but the bits, as BF.SCANDUMP gives it first (dump.hpp).
  [[nodiscard]] virtual std::vector<std::byte> header() const = 0;
  // The arrays as one row of bytes: the part that begins at `offset`, at most `most` bytes long
  // and of one array. Empty beyond the end.
  [[nodiscard]] virtual std::span<std::byte> part_at(std::uint64_t offset,
                                                     std::uint64_t most) const noexcept = 0;

  [[nodiscard]] virtual AnyValue copy() const = 0;  // Error{no_memory}
  virtual void defragment(DefragContext* context) noexcept = 0;
  [[nodiscard]] virtual std::size_t memory() const noexcept = 0;

 protected:
  explicit Value(Kind kind) noexcept : kind_(kind) {}

 private:
  Kind kind_;
};

struct ValueAccess {
  // Error{no_memory}, and what the constructor throws.
  template <class T, class... Arguments>
  [[nodiscard]] static ValuePointer<T> make(Arguments&&... arguments) {
    return make_with<T>(0, std::forward<Arguments>(arguments)...);
  }
  // With so many bytes of its own behind it, which the constructor may write.
  template <class T, class... Arguments>
  [[nodiscard]] static ValuePointer<T> make_with(std::size_t behind, Arguments&&... arguments) {
    OwnedMemory memory(allocate(sizeof(T) + behind));
    if (memory == nullptr) throw Error(ErrorCode::no_memory, "no memory for a filter");
    T* made = new (memory.get()) T(std::forward<Arguments>(arguments)...);
    (void)memory.release();
    return ValuePointer<T>(made);
  }
};

// One array of bits in the server's memory, 64-byte aligned; given back with its owner.
class Array {
 public:
  // `memory`: what allocate_aligned gave. Error{no_memory}: it is null.
  Array(OwnedMemory memory, std::size_t bytes);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {aligned(memory_.get()), size_};
  }
  [[nodiscard]] std::span<std::byte> part_at(std::uint64_t offset,
                                             std::uint64_t most) const noexcept;
  void defragment(DefragContext* context) noexcept;
  [[nodiscard]] std::size_t memory() const noexcept { return allocated_size(memory_.get()); }

 private:
  OwnedMemory memory_;
  std::size_t size_;
};

}  // namespace bloomery::server
