// The hashes, sizes, bits and headers of RedisBloom.
#include "legacy/redisbloom.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "base/counts.hpp"
#include "base/endian.hpp"

namespace bloomery::legacy::redisbloom {

namespace {

constexpr std::uint64_t kMultiplier64 = 0xc6a4a7935bd1e995;
constexpr std::uint32_t kMultiplier32 = 0x5bd1e995;
constexpr std::uint32_t kSeed32 = 0x9747b28c;
// RedisBloom's constants for ln(2)^2 and ln(2), with its digits.
constexpr double kLn2Squared = 0.480453013918201;
constexpr double kLn2 = 0.693147180559945;

// Austin Appleby's MurmurHash2 (public domain), on any byte order.
std::uint32_t murmur32(std::string_view item, std::uint32_t seed) noexcept {
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(item.size());
  const char* at = item.data();
  for (std::size_t left = item.size(); left >= 4; left -= 4, at += 4) {
    std::uint32_t word = detail::load_le<std::uint32_t>(at) * kMultiplier32;
    word = (word ^ (word >> 24)) * kMultiplier32;
    hash = (hash * kMultiplier32) ^ word;
  }
  if (const std::size_t left = item.size() % 4; left != 0) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < left; ++i)
      word |= std::uint32_t{static_cast<unsigned char>(at[i])} << (8 * i);
    hash = (hash ^ word) * kMultiplier32;
  }
  hash = (hash ^ (hash >> 13)) * kMultiplier32;
  return hash ^ (hash >> 15);
}

std::uint32_t hashes_for(double bits_per_entry) noexcept {
  return static_cast<std::uint32_t>(std::ceil(kLn2 * bits_per_entry));
}

bool test_bit(const std::byte* bits, std::uint64_t position) noexcept {
  return (bits[position / 8] & std::byte{1} << position % 8) != std::byte{0};
}

// True: the bit was off before.
bool set_bit(std::byte* bits, std::uint64_t position) noexcept {
  const std::byte mask = std::byte{1} << position % 8;
  const bool was_off = (bits[position / 8] & mask) == std::byte{0};
  bits[position / 8] |= mask;
  return was_off;
}

// The number of items whose positions are computed and prefetched before they are used.
constexpr std::size_t kAhead = 8;
constexpr std::uint32_t kMaxHashesAhead = 32;  // filters with more hashes wait for the memory

template <bool kInsert>
std::size_t many(const BitArray& bit_array, std::span<const Hash128> hashes,
                 bool* answers) noexcept {
  std::size_t yes = 0;
  const auto answer = [&](std::size_t i, bool value) {
    if (answers != nullptr) answers[i] = value;
    yes += value;
  };
  if (hashes.size() == 1 || bit_array.hashes > kMaxHashesAhead) {
    for (std::size_t i = 0; i < hashes.size(); ++i)
      answer(i, kInsert ? insert(bit_array, hashes[i]) : contains(bit_array, hashes[i]));
    return yes;
  }
  std::array<std::array<std::uint64_t, kMaxHashesAhead>, kAhead> ring;
  const auto fetch = [&](std::size_t i) {
    std::uint64_t at = hashes[i].high;
    for (std::uint32_t j = 0; j < bit_array.hashes; ++j, at += hashes[i].low) {
      ring[i % kAhead][j] = at % bit_array.modulus;
      __builtin_prefetch(bit_array.bits + ring[i % kAhead][j] / 8, kInsert ? 1 : 0);
    }
  };
  for (std::size_t i = 0; i < std::min(kAhead, hashes.size()); ++i) fetch(i);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto positions = std::span(ring[i % kAhead]).first(bit_array.hashes);
    bool value = false;
    if constexpr (kInsert) {
      for (const std::uint64_t position : positions) value |= set_bit(bit_array.bits, position);
    } else {
      value = std::all_of(positions.begin(), positions.end(), [&](std::uint64_t position) {
        return test_bit(bit_array.bits, position);
      });
    }
    answer(i, value);
    if (i + kAhead < hashes.size()) fetch(i + kAhead);
  }
  return yes;
}

// Before 2.2 a filter had as many bytes as its bits need, and only as many bits as were wanted.
bool is_of_before_2_2(const SubFilter& sub_filter) noexcept {
  const double wanted = static_cast<double>(sub_filter.entries) * sub_filter.bits_per_entry;
  const std::uint64_t bits = sub_filter.exponent != 0 ? sub_filter.modulus()
                             : wanted < 0x1p62        ? static_cast<std::uint64_t>(wanted)
                                                      : 0;
  return sub_filter.bits == bits && sub_filter.bytes == (bits + 7) / 8;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::corrupt, what + "; RedisBloom writes no such filter");
}

}  // namespace

// Austin Appleby's MurmurHash64A (public domain), on any byte order.
std::uint64_t murmur64(std::string_view item, std::uint64_t seed) noexcept {
  std::uint64_t hash = seed ^ (item.size() * kMultiplier64);
  const char* at = item.data();
  for (std::size_t left = item.size(); left >= 8; left -= 8, at += 8) {
    std::uint64_t word = detail::load_le64(at) * kMultiplier64;
    word = (word ^ (word >> 47)) * kMultiplier64;
    hash = (hash ^ word) * kMultiplier64;
  }
  if (const std::size_t left = item.size() % 8; left != 0) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < left; ++i)
      word |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    hash = (hash ^ word) * kMultiplier64;
  }
  hash = (hash ^ (hash >> 47)) * kMultiplier64;
  return hash ^ (hash >> 47);
}

std::optional<SubFilter> plan_sub_filter(std::uint64_t entries, double error,
                                         std::uint32_t options) noexcept {
  if (entries == 0 || !(error > 0 && error < 1)) return std::nullopt;
  constexpr double kMost = 0x1p62;  // more bits are refused: below this no number overflows
  SubFilter sub_filter;
  sub_filter.entries = entries;
  sub_filter.error = error;
  sub_filter.bits_per_entry = std::fabs(std::log(error) / kLn2Squared);
  const double wanted = static_cast<double>(entries) * sub_filter.bits_per_entry;
  std::uint64_t bits = 0;
  if ((options & kEntriesAreBits) != 0) {
    if (entries > 62) return std::nullopt;
    sub_filter.exponent = static_cast<std::uint8_t>(entries);
    bits = std::uint64_t{1} << sub_filter.exponent;
    const double held = static_cast<double>(bits) / sub_filter.bits_per_entry;
    if (!(held < kMost)) return std::nullopt;
    sub_filter.entries = static_cast<std::uint64_t>(held);
  } else if (!(wanted < kMost)) {
    return std::nullopt;
  } else if ((options & kNoRound) != 0) {
    bits = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  } else {
    // Takes the next power of two, and adds as many entries as the additional bits have room for.
    const double exponent = std::logb(wanted) + 1;
    if (exponent < 1) return std::nullopt;
    sub_filter.exponent = static_cast<std::uint8_t>(exponent);
    bits = std::uint64_t{1} << sub_filter.exponent;
    const auto spare = static_cast<std::uint64_t>(static_cast<double>(bits) - wanted);
    sub_filter.entries +=
        static_cast<std::uint64_t>(static_cast<double>(spare) / sub_filter.bits_per_entry);
  }
  sub_filter.bytes = (bits + 63) / 64 * 8;
  sub_filter.bits = sub_filter.bytes * 8;
  sub_filter.hashes = hashes_for(sub_filter.bits_per_entry);
  return sub_filter;
}

void fill_in_bits(SubFilter& sub_filter) noexcept {
  if (sub_filter.bits == 0 && sub_filter.exponent != 0 && sub_filter.exponent <= 63)
    sub_filter.bits = sub_filter.modulus();
}

void check(const SubFilter& sub_filter) {
  if (!(sub_filter.error > 0 && sub_filter.error < 1))
    refuse("an error rate is not between 0 and 1");
  if (!(sub_filter.bits_per_entry > 0 && sub_filter.bits_per_entry < kMaxHashes / kLn2))
    refuse("the bits of an entry are out of range");
  if (sub_filter.hashes == 0 || sub_filter.hashes != hashes_for(sub_filter.bits_per_entry))
    refuse("there are " + std::to_string(sub_filter.hashes) + " hashes for a rate that has " +
           std::to_string(hashes_for(sub_filter.bits_per_entry)));
  if (sub_filter.bits == 0) refuse("a filter has no bits");
  if (sub_filter.exponent > 63) refuse("the exponent of the bits is above 63");
  if (sub_filter.bytes > std::uint64_t{1} << 59) refuse("a filter has more bytes than any memory");
  if (sub_filter.bits != sub_filter.bytes * 8 && !is_of_before_2_2(sub_filter))
    refuse("the bits of a filter do not fill its bytes");
  if (sub_filter.modulus() > sub_filter.bits) refuse("a filter uses more bits than it has");
}

Hash128 hash(std::string_view item, std::uint32_t options) noexcept {
  if ((options & kForce64) != 0) {
    const std::uint64_t a = murmur64(item, kMultiplier64);
    return {a, murmur64(item, a)};
  }
  const std::uint32_t a = murmur32(item, kSeed32);
  return {a, murmur32(item, a)};
}

bool contains(const BitArray& bit_array, Hash128 hash) noexcept {
  std::uint64_t at = hash.high;
  for (std::uint32_t i = 0; i < bit_array.hashes; ++i, at += hash.low)
    if (!test_bit(bit_array.bits, at % bit_array.modulus)) return false;
  return true;
}

bool insert(const BitArray& bit_array, Hash128 hash) noexcept {
  bool fresh = false;
  std::uint64_t at = hash.high;
  for (std::uint32_t i = 0; i < bit_array.hashes; ++i, at += hash.low)
    fresh |= set_bit(bit_array.bits, at % bit_array.modulus);
  return fresh;
}

std::size_t contains(const BitArray& bit_array, std::span<const Hash128> hashes,
                     bool* answers) noexcept {
  return many<false>(bit_array, hashes, answers);
}

std::size_t insert(const BitArray& bit_array, std::span<const Hash128> hashes,
                   bool* answers) noexcept {
  return many<true>(bit_array, hashes, answers);
}

// ---- the header of a dump -----------------------------------------------------------------------

namespace {

constexpr std::size_t kHeadBytes = 20;
constexpr std::size_t kSubFilterBytes = 53;

SubFilter decode_sub_filter(const std::byte* at) {
  SubFilter sub_filter;
  sub_filter.bytes = detail::load_le64(at);
  sub_filter.bits = detail::load_le64(at + 8);
  sub_filter.size = detail::load_le64(at + 16);
  sub_filter.error = std::bit_cast<double>(detail::load_le64(at + 24));
  sub_filter.bits_per_entry = std::bit_cast<double>(detail::load_le64(at + 32));
  sub_filter.hashes = detail::load_le<std::uint32_t>(at + 40);
  sub_filter.entries = detail::load_le64(at + 44);
  sub_filter.exponent = static_cast<std::uint8_t>(at[52]);
  fill_in_bits(sub_filter);
  check(sub_filter);
  return sub_filter;
}

void encode_sub_filter(const SubFilter& sub_filter, std::byte* at) noexcept {
  detail::store_le64(at, sub_filter.bytes);
  detail::store_le64(at + 8, sub_filter.bits);
  detail::store_le64(at + 16, sub_filter.size);
  detail::store_le64(at + 24, std::bit_cast<std::uint64_t>(sub_filter.error));
  detail::store_le64(at + 32, std::bit_cast<std::uint64_t>(sub_filter.bits_per_entry));
  detail::store_le(at + 40, sub_filter.hashes);
  detail::store_le64(at + 44, sub_filter.entries);
  at[52] = std::byte{sub_filter.exponent};
}

}  // namespace

bool Header::add_up() noexcept {
  const std::uint64_t stated = size;
  size = 0;
  for (const SubFilter& sub_filter : sub_filters)
    size = detail::sum_of_counts(size, sub_filter.size);
  return size == stated;
}

std::vector<std::byte> encode(const Header& header) {
  std::vector<std::byte> bytes(kHeadBytes + kSubFilterBytes * header.sub_filters.size());
  detail::store_le64(bytes.data(), header.size);
  detail::store_le(bytes.data() + 8, static_cast<std::uint32_t>(header.sub_filters.size()));
  detail::store_le(bytes.data() + 12, header.options);
  detail::store_le(bytes.data() + 16, header.growth);
  std::byte* at = bytes.data() + kHeadBytes;
  for (const SubFilter& sub_filter : header.sub_filters) {
    encode_sub_filter(sub_filter, at);
    at += kSubFilterBytes;
  }
  return bytes;
}

Header decode(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) refuse("a header has at least 20 bytes");
  Header header;
  header.size = detail::load_le64(bytes.data());
  const auto sub_filters = detail::load_le<std::uint32_t>(bytes.data() + 8);
  header.options = detail::load_le<std::uint32_t>(bytes.data() + 12);
  header.growth = detail::load_le<std::uint32_t>(bytes.data() + 16);
  if (sub_filters == 0 || (bytes.size() - kHeadBytes) / kSubFilterBytes != sub_filters ||
      (bytes.size() - kHeadBytes) % kSubFilterBytes != 0)
    refuse("the header does not have the length of its sub-filters");
  if ((header.options & ~kKnownOptions) != 0) refuse("the header has unknown options");
  std::uint64_t total = 0;
  header.sub_filters.reserve(sub_filters);
  for (const std::byte* at = bytes.data() + kHeadBytes; header.sub_filters.size() < sub_filters;
       at += kSubFilterBytes) {
    const SubFilter& sub_filter = header.sub_filters.emplace_back(decode_sub_filter(at));
    if (__builtin_add_overflow(total, sub_filter.bytes, &total) || total > std::uint64_t{1} << 59)
      refuse("the sizes of the sub-filters are beyond any memory");
  }
  if (!header.add_up()) refuse("the sub-filters do not hold the items that the header counts");
  return header;
}

}  // namespace bloomery::legacy::redisbloom
