// The hash of a key: what a key is, the hash families, and seeds. A hash has 128 bits.
//
// The hash of a key never changes: the same key, family and seed give the same Hash128 on every CPU
// and in every version (tests/hash holds golden values).
//
//   family   bytes                             integers
//   xxh3     XXH3-128 with a 64-bit seed       one 64x64->128 multiply, folded (below)
//   siphash  SipHash-2-4, 128-bit output,      the same, of the 8 little-endian bytes
//            128-bit key
//
// Integers hash by value: 97 as an int and as a uint64_t are one key. With xxh3 the integer 97 is never
// the same key as the byte "a". Signed integers are sign-extended to 64 bits first. The integer hash of
// xxh3 has 64 bits, so with n integer keys the false-positive rate is at least n / 2^64 (5e-12 at 10^8
// keys). For a lower rate insert the bytes of the integer.
//
// Use siphash with a secret random seed if an adversary chooses keys: with xxh3 a user who knows half of
// the seed can make keys that collide (docs/configuration.md, "Which hash, which seed").
//
// Sources: XXH3 (xxHash specification 0.8), SipHash (Aumasson and Bernstein, 2012).
#pragma once

#include <bloomery/version.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace bloomery {

// `high` selects the block of a key, `low` its bits in that block.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

enum class HashFamily : std::uint8_t { xxh3 = 1, siphash = 2 };

// A number, or for siphash a secret, that selects one hash function of a family. xxh3 takes 64 bits:
// its `high` must be zero.
struct Seed {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Seed&, const Seed&) = default;
};

// A random seed from the system, of the width that the family takes.
Seed random_seed(HashFamily family);

namespace detail {

template <class T, class... Types>
concept IsOneOf = (std::same_as<std::remove_cv_t<T>, Types> || ...);
// Integers of up to 64 bits. Characters are excluded: char is signed on some CPUs only, so the bits of a
// key would differ. Insert wider integers as bytes.
template <class T>
concept IntegerKey = std::integral<T> && sizeof(T) <= 8 &&
                     !IsOneOf<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

__extension__ using uint128 = unsigned __int128;

constexpr std::uint64_t kIntegerMultiplier = 0xD6E8FEB86659FD93;
constexpr std::uint64_t kSpreadMultiplier = 0xA0761D6478BD642F;

// The xxh3 family's hash of an integer. `seed_multiplier` is Hasher::seed_multiplier(), an odd
// mix of the seed.
// Law: `low` is the folded product; `high` mixes `low` once more to choose the block. Both are well
// mixed for sequences, strides, reversed bytes and one-bit neighbours (tests/filter). The seed moves
// keys to other blocks, where they meet other keys; it does not change their patterns, which saves an
// instruction in every look-up.
[[nodiscard]] inline Hash128 hash_integer(std::uint64_t key,
                                          std::uint64_t seed_multiplier) noexcept {
  const uint128 product = static_cast<uint128>(key) * kIntegerMultiplier;
  const std::uint64_t low =
      static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  return {low * seed_multiplier, low};
}

Hash128 xxh3_bytes(const void* data, std::size_t size, std::uint64_t seed) noexcept;
Hash128 siphash_bytes(const void* data, std::size_t size, Seed seed) noexcept;
Hash128 siphash_integer(std::uint64_t key, Seed seed) noexcept;

}  // namespace detail

// A family and a seed, ready to hash. Cheap to copy; every call is const and noexcept.
class Hasher {
 public:
  // Error{invalid_argument}: a 128-bit seed for xxh3, an unknown family.
  explicit Hasher(HashFamily family = HashFamily::xxh3, Seed seed = {});

  [[nodiscard]] HashFamily family() const noexcept { return family_; }
  [[nodiscard]] Seed seed() const noexcept { return seed_; }
  [[nodiscard]] std::uint64_t seed_multiplier() const noexcept { return seed_multiplier_; }
  // Equal hashers hash every key alike.
  friend bool operator==(const Hasher&, const Hasher&) = default;

  template <detail::IntegerKey T>
  [[nodiscard]] Hash128 operator()(T key) const noexcept {
    const auto value = static_cast<std::uint64_t>(key);
    if (family_ == HashFamily::xxh3) [[likely]]
      return detail::hash_integer(value, seed_multiplier_);
    return detail::siphash_integer(value, seed_);
  }
  [[nodiscard]] Hash128 operator()(std::span<const std::byte> key) const noexcept {
    if (family_ == HashFamily::xxh3) [[likely]]
      return detail::xxh3_bytes(key.data(), key.size(), seed_.low);
    return detail::siphash_bytes(key.data(), key.size(), seed_);
  }
  [[nodiscard]] Hash128 operator()(std::string_view key) const noexcept {
    return (*this)(std::as_bytes(std::span(key)));
  }

 private:
  HashFamily family_;
  Seed seed_;
  std::uint64_t seed_multiplier_;
};

}  // namespace bloomery
