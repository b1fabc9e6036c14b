// What can be a key, and its hash; both are the same for every filter. key_calls.hpp has the operations on keys.
#pragma once

#include <bloomery/hash.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace bloomery::detail {

// C++20 would make text of nullptr.
template <class T>
concept Key = IntegerKey<T> ||
              (std::convertible_to<T, std::string_view> && !std::is_null_pointer_v<T>) ||
              std::convertible_to<T, std::span<const std::byte>>;
template <class R>
concept KeyRange = std::ranges::input_range<R> && Key<std::ranges::range_value_t<R>>;
template <class R>
concept PlainIntegers = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::same_as<std::ranges::range_value_t<R>, std::uint64_t>;

// The type with which a key is passed to a function that is not inlined. A key that fits into registers stays
// there: a reference would put it into memory on the inlined path too, which does not need that.
template <class K>
using Passed =
    std::conditional_t<std::is_arithmetic_v<K> || std::is_same_v<K, std::string_view>, K, const K&>;

// True, or one sentence of the compiler instead of many about templates.
template <class K>
[[nodiscard]] consteval bool require_key() {
  static_assert(
      Key<K>,
      "a key is an integer of up to 64 bits, but no character; text (std::string_view); or bytes "
      "(std::span<const std::byte>)");
  return Key<K>;
}
template <class R>
[[nodiscard]] consteval bool require_keys() {
  static_assert(KeyRange<R>, "keys are a range of integers, text or bytes");
  return KeyRange<R>;
}
// The same for calls that divide the keys among threads.
template <class R>
[[nodiscard]] consteval bool require_divisible_keys() {
  constexpr bool divisible = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;
  static_assert(
      divisible || !KeyRange<R>,
      "several threads take keys that are contiguous and have a size, as in a std::vector");
  return require_keys<R>() && divisible;
}

// Whether the conversion of a key to text or bytes throws nothing. That of a const char* never throws, although
// std::string_view does not say so, and neither does std::span of libc++ of any range.
template <class K>
inline constexpr bool kConvertsQuietly =
    IntegerKey<K> || std::is_pointer_v<std::decay_t<K>> ||
    (std::convertible_to<const K&, std::string_view>
         ? std::is_nothrow_convertible_v<const K&, std::string_view>
         : std::is_nothrow_convertible_v<const K&, std::span<const std::byte>> ||
               requires(const K& key) {
                 requires noexcept(std::ranges::data(key))&& noexcept(std::ranges::size(key));
               });

template <class K>
[[nodiscard]] Hash128 hash_key(const Hasher& hasher, const K& key) noexcept(kConvertsQuietly<K>) {
  if constexpr (!require_key<K>())
    return {};
  else if constexpr (IntegerKey<K>)
    return hasher(key);
  else if constexpr (std::convertible_to<const K&, std::string_view>)
    return hasher(std::string_view(key));
  else
    return hasher(std::span<const std::byte>(key));
}

// How many keys a range has; 0: that is not known before they are read.
template <class R>
[[nodiscard]] constexpr std::uint64_t count_if_known(R& keys) {
  if constexpr (std::ranges::sized_range<R>)
    return static_cast<std::uint64_t>(std::ranges::size(keys));
  else
    return 0;
}

// The hashes of many keys, for a callee that takes them as one batch.
template <class R>
[[nodiscard]] std::vector<Hash128> hash_keys(const Hasher& hasher, R&& keys) {
  std::vector<Hash128> hashes;
  if constexpr (std::ranges::sized_range<R>) hashes.reserve(std::ranges::size(keys));
  for (auto&& key : keys) hashes.push_back(hash_key(hasher, key));
  return hashes;
}

// The keys of a call that divides them among threads (bulk_insert.hpp).
struct BulkKeys {
  std::size_t count = 0;
  // The keys as integers that the kernel hashes. If null, hash() gives the hashes of the keys [first, first + count).
  const std::uint64_t* integers = nullptr;
  const void* context = nullptr;
  void (*hash)(const void* context, std::size_t first, std::size_t count,
               Hash128* out) noexcept = nullptr;
};

}  // namespace bloomery::detail
