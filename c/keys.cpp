// Calls for keys, one at a time or many at a time, in every form in which callers have them.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "handle.hpp"

using namespace bloomery;
using namespace bloomery::c;
using Operation = AnyFilter::Operation;

namespace {

// The number of keys per part. In memory a part has no fixed cost, so its size is what fits into the cache; elsewhere
// each part is a commit or a round trip.
constexpr std::size_t kInMemory = 1024, kElsewhere = 65'536;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

std::string_view key_of(const void* bytes, std::size_t size) {
  return {static_cast<const char*>(bytes), size};
}

// Begins a call: one that changes the filter has acknowledged no key yet.
AnyFilter& begun(bloomery_filter* handle, Operation operation) {
  if (handle != nullptr && operation != Operation::contain) handle->acknowledged = 0;
  return used(handle);
}

// Not inlined: the callers need not reserve the stack space that this function needs for its exceptions.
template <class Key>
[[gnu::noinline]] int one_key_anywhere(bloomery_filter* handle, Operation operation, Key key,
                                       bloomery_error* error) noexcept {
  return number_of(error, [&] {
    AnyFilter& filter = begun(handle, operation);
    if (operation == Operation::contain) return filter.may_contain(key) ? 1 : 0;
    const bool yes = operation == Operation::insert ? filter.insert(key) : filter.remove(key);
    handle->acknowledged = 1;
    return yes ? 1 : 0;
  });
}

// Inlined and short: if blocks are not in the cache, the CPU overlaps the waits for as many keys as it has room for
// their instructions and stores.
template <class Key>
[[gnu::always_inline]] inline int one_key(bloomery_filter* handle, Operation operation, Key key,
                                          bloomery_error* error) noexcept {
  if (handle == nullptr) [[unlikely]]
    return one_key_anywhere(handle, operation, key, error);
  if (operation == Operation::contain && handle->can_look_up_directly())
    return static_cast<int>(handle->filter.may_contain(key));
  if (operation == Operation::insert && handle->can_insert_directly()) {
    if (handle->acknowledged != 1) handle->acknowledged = 1;
    return static_cast<int>(handle->filter.insert(key));
  }
  return one_key_anywhere(handle, operation, key, error);
}

// For as_one_load.
struct Load {
  bool begin_load(std::uint64_t expected) const noexcept {
    return operation == Operation::insert && handle.filter.begin_load(expected);
  }
  void end_load() const {
    handle.acknowledge_load([&] { handle.filter.end_load(); });
  }
  bloomery_filter& handle;
  Operation operation;
};

// apply(begin, n) applies n keys from `begin` on.
template <class Apply>
std::size_t in_parts(bloomery_filter& handle, Operation operation, std::size_t count,
                     std::size_t at_once, Apply apply) {
  const bool changes = operation != Operation::contain;
  const auto all_parts = [&] {
    std::size_t yes = 0, begin = 0;
    do {  // also for no keys: a filter that is closed, or cannot do this, says so
      const std::size_t size = std::min(at_once, count - begin);
      try {
        yes += apply(begin, size);
      } catch (...) {
        if (changes) handle.acknowledged = begin + handle.filter.acknowledged();
        throw;
      }
      begin += size;
      if (changes) handle.acknowledged = begin;
    } while (begin < count);
    return yes;
  };
  const Load load{handle, operation};
  return count <= at_once ? all_parts() : detail::as_one_load(load, count, all_parts);
}

// Writes what made(i) returns, the bytes of a key or its hash, part by part into `room`, and applies it.
template <class Made, class T>
std::size_t make_and_apply(bloomery_filter& handle, Operation operation, std::size_t count,
                           Made made, bool* answers, std::span<T> room) {
  return in_parts(handle, operation, count, room.size(), [&](std::size_t begin, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) room[i] = made(begin + i);
    return handle.filter.apply(
        operation, room.first(size),
        answers == nullptr ? std::span<bool>() : std::span(answers + begin, size));
  });
}

template <class KeyAt>
int64_t many_keys(bloomery_filter* handle, Operation operation, std::size_t count, bool* answers,
                  bloomery_error* error, KeyAt key_at) noexcept {
  return number_of(error, [&]() -> int64_t {
    AnyFilter& filter = begun(handle, operation);
    const auto apply = [&](auto made, auto room) {
      return static_cast<int64_t>(make_and_apply(*handle, operation, count, made, answers, room));
    };
    if (filter.hasher() == nullptr) {
      std::vector<std::string_view> room(std::min(count, kElsewhere));
      return apply(key_at, std::span(room));
    }
    const auto hash_at = [&, hasher = *filter.hasher()](std::size_t i) {
      return hasher(key_at(i));
    };
    if (filter.in_memory()) {
      std::array<Hash128, kInMemory> room;
      return apply(hash_at, std::span<Hash128>(room));
    }
    std::vector<Hash128> room(std::min(count, kElsewhere));
    return apply(hash_at, std::span(room));
  });
}

int64_t many_integers(bloomery_filter* handle, Operation operation, const std::uint64_t* keys,
                      std::size_t count, bool* answers, bloomery_error* error) noexcept {
  const std::span<const std::uint64_t> all(keys, count);
  const std::span<bool> room(answers, answers == nullptr ? 0 : count);
  return number_of(error, [&]() -> int64_t {
    AnyFilter& filter = begun(handle, operation);
    if (operation == Operation::contain)
      return static_cast<int64_t>(filter.may_contain_many(all, room));
    try {
      const std::size_t yes = operation == Operation::insert ? filter.insert_many(all, room)
                                                             : filter.remove_many(all, room);
      handle->acknowledged = count;
      return static_cast<int64_t>(yes);
    } catch (...) {
      handle->acknowledged = filter.acknowledged();
      throw;
    }
  });
}

// Not inlined, like one_key_anywhere.
[[gnu::noinline]] int64_t refused(bloomery_filter* handle, Operation operation,
                                  bloomery_error* error,
                                  const char* why = "the keys are NULL") noexcept {
  return number_of(error, [&]() -> int64_t {
    (void)begun(handle, operation);
    refuse(why);
  });
}

template <class Offset>
int64_t between_offsets(bloomery_filter* handle, Operation operation, const void* bytes,
                        const Offset* offsets, std::size_t count, bool* answers,
                        bloomery_error* error) noexcept {
  if (offsets == nullptr && count != 0) return refused(handle, operation, error);
  // Checks all offsets before the first is used, because the size of `bytes` is unknown.
  const bool fall = count != 0 && (offsets[0] < 0 || !std::is_sorted(offsets, offsets + count + 1));
  if (fall) return refused(handle, operation, error, "the offsets decrease, or are negative");
  if (bytes == nullptr && count != 0 && offsets[count] != offsets[0])
    return refused(handle, operation, error);
  // Empty keys need no bytes, but C++ allows no other offset than 0 from NULL.
  const Offset base = bytes == nullptr && count != 0 ? offsets[0] : Offset{0};
  return many_keys(handle, operation, count, answers, error, [=](std::size_t i) {
    return key_of(static_cast<const char*>(bytes) + (offsets[i] - base),
                  static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  });
}

}  // namespace

// The functions of an operation; the operations differ only in their names.
#define BLOOMERY_KEY_FUNCTIONS(name, operation)                                                 \
  int bloomery_##name(bloomery_filter* filter, const void* key, size_t size,                    \
                      bloomery_error* error) {                                                  \
    if (key == nullptr && size != 0) [[unlikely]]                                               \
      return static_cast<int>(refused(filter, operation, error));                               \
    return one_key(filter, operation, key_of(key, size), error);                                \
  }                                                                                             \
  int bloomery_##name##_u64(bloomery_filter* filter, uint64_t key, bloomery_error* error) {     \
    return one_key(filter, operation, key, error);                                              \
  }                                                                                             \
  int64_t bloomery_##name##_many(bloomery_filter* filter, const void* const* keys,              \
                                 const size_t* sizes, size_t count, bool* answers,              \
                                 bloomery_error* error) {                                       \
    if (count != 0 && (keys == nullptr || sizes == nullptr))                                    \
      return refused(filter, operation, error);                                                 \
    return many_keys(filter, operation, count, answers, error,                                  \
                     [=](std::size_t i) { return key_of(keys[i], sizes[i]); });                 \
  }                                                                                             \
  int64_t bloomery_##name##_offsets32(bloomery_filter* filter, const void* bytes,               \
                                      const int32_t* offsets, size_t count, bool* answers,      \
                                      bloomery_error* error) {                                  \
    return between_offsets(filter, operation, bytes, offsets, count, answers, error);           \
  }                                                                                             \
  int64_t bloomery_##name##_offsets64(bloomery_filter* filter, const void* bytes,               \
                                      const int64_t* offsets, size_t count, bool* answers,      \
                                      bloomery_error* error) {                                  \
    return between_offsets(filter, operation, bytes, offsets, count, answers, error);           \
  }                                                                                             \
  int64_t bloomery_##name##_fixed(bloomery_filter* filter, const void* bytes, size_t width,     \
                                  size_t count, bool* answers, bloomery_error* error) {         \
    if (bytes == nullptr && count != 0 && width != 0) return refused(filter, operation, error); \
    return many_keys(filter, operation, count, answers, error, [=](std::size_t i) {             \
      return key_of(static_cast<const char*>(bytes) + i * width, width);                        \
    });                                                                                         \
  }                                                                                             \
  int64_t bloomery_##name##_u64s(bloomery_filter* filter, const uint64_t* keys, size_t count,   \
                                 bool* answers, bloomery_error* error) {                        \
    if (keys == nullptr && count != 0) return refused(filter, operation, error);                \
    return many_integers(filter, operation, keys, count, answers, error);                       \
  }

BLOOMERY_KEY_FUNCTIONS(insert, Operation::insert)
BLOOMERY_KEY_FUNCTIONS(contains, Operation::contain)
BLOOMERY_KEY_FUNCTIONS(remove, Operation::remove)

int bloomery_insert_bits(bloomery_filter* filter, const void* key, size_t size, bool* bits,
                         size_t room, bloomery_error* error) {
  constexpr auto operation = Operation::insert;
  if (key == nullptr && size != 0) return static_cast<int>(refused(filter, operation, error));
  return number_of(error, [&] {
    AnyFilter& any = begun(filter, operation);
    if (bits == nullptr) refuse("the room for the bits is NULL");
    const auto count = any.insert_bits(key_of(key, size), std::span(bits, room));
    filter->acknowledged = 1;
    return static_cast<int>(count);
  });
}

uint64_t bloomery_acknowledged(const bloomery_filter* filter) {
  return filter == nullptr ? 0 : filter->acknowledged;
}
