// RedisBloom's hashes, sizes and bits.
#include "legacy/redisbloom.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/endian.hpp"

namespace bloomery::legacy::redisbloom {

namespace {

constexpr std::uint64_t kMultiplier64 = 0xc6a4a7935bd1e995;
constexpr std::uint32_t kMultiplier32 = 0x5bd1e995;
constexpr std::uint32_t kSeed32 = 0x9747b28c;
// The constants that RedisBloom rounds its sizes with; ln(2)^2 and ln(2) to its digits.
constexpr double kLn2Squared = 0.480453013918201;
constexpr double kLn2 = 0.693147180559945;

// Austin Appleby's MurmurHash64A and MurmurHash2 (both public domain), on any byte order.
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

// Turns a bit on. True: it was off.
bool set_bit(std::byte* bits, std::uint64_t position) noexcept {
  const std::byte mask = std::byte{1} << position % 8;
  const bool was_off = (bits[position / 8] & mask) == std::byte{0};
  bits[position / 8] |= mask;
  return was_off;
}

// The positions of this many items are worked out, and asked of the memory, ahead of their use.
constexpr std::size_t kAhead = 8;
constexpr std::uint32_t kMostAhead = 32;  // hashes; filters with more wait for their memory

template <bool kInsert>
std::size_t many(const Shape& shape, std::span<const Hash128> hashes, bool* answers) noexcept {
  std::size_t yes = 0;
  const auto answer = [&](std::size_t i, bool value) {
    if (answers != nullptr) answers[i] = value;
    yes += value;
  };
  if (shape.hashes > kMostAhead) {
    for (std::size_t i = 0; i < hashes.size(); ++i)
      answer(i, kInsert ? insert(shape, hashes[i]) : contains(shape, hashes[i]));
    return yes;
  }
  std::array<std::array<std::uint64_t, kMostAhead>, kAhead> ring;
  const auto fetch = [&](std::size_t i) {
    std::uint64_t at = hashes[i].high;
    for (std::uint32_t j = 0; j < shape.hashes; ++j, at += hashes[i].low) {
      ring[i % kAhead][j] = at % shape.modulus;
      __builtin_prefetch(shape.bits + ring[i % kAhead][j] / 8, kInsert ? 1 : 0);
    }
  };
  for (std::size_t i = 0; i < std::min(kAhead, hashes.size()); ++i) fetch(i);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto positions = std::span(ring[i % kAhead]).first(shape.hashes);
    bool value = false;
    if constexpr (kInsert) {
      for (const std::uint64_t position : positions) value |= set_bit(shape.bits, position);
    } else {
      value = std::all_of(positions.begin(), positions.end(),
                          [&](std::uint64_t position) { return test_bit(shape.bits, position); });
    }
    answer(i, value);
    if (i + kAhead < hashes.size()) fetch(i + kAhead);
  }
  return yes;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::corrupt, what + "; RedisBloom writes no such filter");
}

}  // namespace

std::optional<Link> plan_link(std::uint64_t entries, double error, std::uint32_t options) noexcept {
  if (entries == 0 || !(error > 0 && error < 1)) return std::nullopt;
  constexpr double kMost = 0x1p62;  // bits, so that no number below can wrap
  Link link;
  link.entries = entries;
  link.error = error;
  link.bits_per_entry = std::fabs(std::log(error) / kLn2Squared);
  const double wanted = static_cast<double>(entries) * link.bits_per_entry;
  std::uint64_t bits = 0;
  if ((options & kEntriesAreBits) != 0) {
    if (entries > 62) return std::nullopt;
    link.exponent = static_cast<std::uint8_t>(entries);
    bits = std::uint64_t{1} << link.exponent;
    const double held = static_cast<double>(bits) / link.bits_per_entry;
    if (!(held < kMost)) return std::nullopt;
    link.entries = static_cast<std::uint64_t>(held);
  } else if (!(wanted < kMost)) {
    return std::nullopt;
  } else if ((options & kNoRound) != 0) {
    bits = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  } else {
    // The next power of two, and as many entries more as the added bits have room for.
    const double exponent = std::logb(wanted) + 1;
    if (exponent < 1) return std::nullopt;
    link.exponent = static_cast<std::uint8_t>(exponent);
    bits = std::uint64_t{1} << link.exponent;
    const auto spare = static_cast<std::uint64_t>(static_cast<double>(bits) - wanted);
    link.entries += static_cast<std::uint64_t>(static_cast<double>(spare) / link.bits_per_entry);
  }
  link.bytes = (bits + 63) / 64 * 8;
  link.bits = link.bytes * 8;
  link.hashes = hashes_for(link.bits_per_entry);
  return link;
}

void check(const Link& link) {
  if (!(link.error > 0 && link.error < 1)) refuse("an error rate is not between 0 and 1");
  if (!(link.bits_per_entry > 0 && link.bits_per_entry < kMaxHashes / kLn2))
    refuse("the bits of an entry are out of range");
  if (link.hashes == 0 || link.hashes != hashes_for(link.bits_per_entry))
    refuse("there are " + std::to_string(link.hashes) + " hashes for a rate that has " +
           std::to_string(hashes_for(link.bits_per_entry)));
  if (link.bits == 0) refuse("a filter has no bits");
  if (link.exponent > 63) refuse("the exponent of the bits is above 63");
  if (link.bytes > std::uint64_t{1} << 59 || link.bits > link.bytes * 8)
    refuse("a filter has more bits than its bytes hold");
  // Older versions rounded the bytes up, and not the bits.
  if (link.bytes * 8 - link.bits >= 64) refuse("a filter has more bytes than its bits need");
  if (link.modulus() > link.bits) refuse("a filter uses more bits than it has");
}

Hash128 hash(std::string_view item, std::uint32_t options) noexcept {
  if ((options & kForce64) != 0) {
    const std::uint64_t a = murmur64(item, kMultiplier64);
    return {a, murmur64(item, a)};
  }
  const std::uint32_t a = murmur32(item, kSeed32);
  return {a, murmur32(item, a)};
}

bool contains(const Shape& shape, Hash128 hash) noexcept {
  std::uint64_t at = hash.high;
  for (std::uint32_t i = 0; i < shape.hashes; ++i, at += hash.low)
    if (!test_bit(shape.bits, at % shape.modulus)) return false;
  return true;
}

bool insert(const Shape& shape, Hash128 hash) noexcept {
  bool fresh = false;
  std::uint64_t at = hash.high;
  for (std::uint32_t i = 0; i < shape.hashes; ++i, at += hash.low)
    fresh |= set_bit(shape.bits, at % shape.modulus);
  return fresh;
}

std::size_t contains(const Shape& shape, std::span<const Hash128> hashes, bool* answers) noexcept {
  return many<false>(shape, hashes, answers);
}

std::size_t insert(const Shape& shape, std::span<const Hash128> hashes, bool* answers) noexcept {
  return many<true>(shape, hashes, answers);
}

}  // namespace bloomery::legacy::redisbloom
