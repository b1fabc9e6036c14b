// RedisBloom's scheme: the bits of an item, the sizes of filters, and the header of its SCANDUMP. With this scheme
// Bloomery can read, query and extend a filter of RedisBloom exactly as RedisBloom does.
//
//   hash         a = MurmurHash64A(item, 0xc6a4a7935bd1e995), b = MurmurHash64A(item, a); without
//                kForce64 MurmurHash2 of 32 bits, a from the seed 0x9747b28c, b from a
//   position     ((a + i * b) mod 2^64) mod modulus, for i below hashes (double hashing, Kirsch and
//                Mitzenmacher 2006); the bit of byte position / 8 that counts position % 8 from the
//                least significant
//   sub-filters  a list; a new one is added when the newest holds as many items as it has entries
//
// The bytes are the same on every machine. Source: the files and replies of RedisBloom 2.0 to 8.10.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::legacy::redisbloom {

enum Option : std::uint32_t {
  kNoRound = 1,         // as many bits as the error rate needs, not a power of two
  kEntriesAreBits = 2,  // the requested entries are the exponent of the number of bits
  kForce64 = 4,         // 64-bit hashes
  kNoScaling = 8,       // never more than one sub-filter
};
constexpr std::uint32_t kKnownOptions = kNoRound | kEntriesAreBits | kForce64 | kNoScaling;
constexpr std::uint32_t kNewFilter = kNoRound | kForce64;

// Cuckoo filters also hash items with it, with the seed 0.
[[nodiscard]] std::uint64_t murmur64(std::string_view item, std::uint64_t seed) noexcept;

constexpr double kTightening = 0.5;         // a sub-filter's error rate / that of the one before
constexpr std::uint32_t kMaxHashes = 1100;  // the smallest positive double needs 1074

// The parameters of a sub-filter. It has `bits` bits and uses the first `modulus()` of them.
struct SubFilter {
  std::uint64_t bytes = 0;
  std::uint64_t bits = 0;
  std::uint64_t size = 0;     // items that were new when they were added
  std::uint64_t entries = 0;  // the number of items that it is made for
  double error = 0;           // its false-positive rate with `entries` items
  double bits_per_entry = 0;
  std::uint32_t hashes = 0;
  std::uint8_t exponent = 0;  // RedisBloom's n2; 0: the modulus is `bits`

  [[nodiscard]] std::uint64_t modulus() const noexcept {
    return exponent == 0 ? bits : std::uint64_t{1} << exponent;
  }
  friend bool operator==(const SubFilter&, const SubFilter&) = default;
};

// The sizes of a new, empty sub-filter; nullopt if RedisBloom would refuse it.
[[nodiscard]] std::optional<SubFilter> plan_sub_filter(std::uint64_t entries, double error,
                                                       std::uint32_t options) noexcept;

// Before 2.2 RedisBloom wrote 0 as the number of bits if the number is a power of two. This fills in the number.
void fill_in_bits(SubFilter& sub_filter) noexcept;

// Error{corrupt}, with the field, if the parameters contradict each other. Otherwise no field leads outside the bits
// or to an endless loop.
void check(const SubFilter& sub_filter);

// ---- one item -----------------------------------------------------------------------------------

// `high` is a, and `low` is b.
[[nodiscard]] Hash128 hash(std::string_view item, std::uint32_t options) noexcept;

// The bits of a sub-filter in memory of any owner: at least modulus bits.
struct BitArray {
  std::byte* bits = nullptr;
  std::uint64_t modulus = 1;
  std::uint32_t hashes = 0;
};

[[nodiscard]] bool contains(const BitArray& bit_array, Hash128 hash) noexcept;
// True: the item was certainly new.
bool insert(const BitArray& bit_array, Hash128 hash) noexcept;

// These handle many items in order, and prefetch several at a time. `answers`, one per item, may be null. They return
// the number of true answers.
std::size_t contains(const BitArray& bit_array, std::span<const Hash128> hashes,
                     bool* answers) noexcept;
std::size_t insert(const BitArray& bit_array, std::span<const Hash128> hashes,
                   bool* answers) noexcept;

// ---- the header of a dump -----------------------------------------------------------------------

struct Header {
  std::uint64_t size = 0;
  std::uint32_t options = kNewFilter;
  std::uint32_t growth = 2;
  std::vector<SubFilter> sub_filters;
  // Sets `size` to the items in all sub-filters, or to the largest number if there are more. False: it was another.
  bool add_up() noexcept;
};

[[nodiscard]] std::vector<std::byte> encode(const Header& header);
// Error{corrupt}: RedisBloom writes no header of this length or with these fields.
[[nodiscard]] Header decode(std::span<const std::byte> bytes);

}  // namespace bloomery::legacy::redisbloom
