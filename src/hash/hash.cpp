// The byte hashes behind Hasher: XXH3-128 from xxHash, SipHash-2-4-128 from libsodium.
#include <bloomery/error.hpp>
#include <bloomery/hash.hpp>

#include "base/endian.hpp"

#define XXH_INLINE_ALL
#include <sodium/crypto_shorthash_siphash24.h>
#include <sodium/randombytes.h>
#include <xxhash.h>

#include <array>

namespace bloomery {

namespace detail {

namespace {

[[gnu::always_inline]] inline Hash128 xxh3(const void* data, std::size_t size,
                                           std::uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, seed);
  return {hash.high64, hash.low64};
}
// Not inlined, because it saves registers: inlined, that would be an eighth of the instructions of a
// short key's look-up.
[[gnu::noinline]] Hash128 xxh3_over_16(const void* data, std::size_t size,
                                       std::uint64_t seed) noexcept {
  return xxh3(data, size, seed);
}

}  // namespace

Hash128 xxh3_bytes(const void* data, std::size_t size, std::uint64_t seed) noexcept {
  return size <= 16 ? xxh3(data, size, seed) : xxh3_over_16(data, size, seed);
}

Hash128 siphash_bytes(const void* data, std::size_t size, Seed seed) noexcept {
  static_assert(crypto_shorthash_siphashx24_BYTES == 16);
  std::array<unsigned char, 16> key;
  store_le64(key.data(), seed.low);
  store_le64(key.data() + 8, seed.high);
  std::array<unsigned char, 16> out;
  crypto_shorthash_siphashx24(out.data(), static_cast<const unsigned char*>(data), size,
                              key.data());
  return {load_le64(out.data() + 8), load_le64(out.data())};
}

Hash128 siphash_integer(std::uint64_t key, Seed seed) noexcept {
  std::array<unsigned char, 8> bytes;
  store_le64(bytes.data(), key);
  return siphash_bytes(bytes.data(), bytes.size(), seed);
}

namespace {

// SplitMix64's finalizer: seeds that differ in one bit give unrelated multipliers.
std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace
}  // namespace detail

Hasher::Hasher(HashFamily family, Seed seed)
    : family_(family), seed_(seed), seed_multiplier_(detail::mix(seed.low) | 1) {
  if (family != HashFamily::xxh3 && family != HashFamily::siphash)
    throw Error(ErrorCode::invalid_argument, "unknown hash family; use xxh3 or siphash");
  if (family == HashFamily::xxh3 && seed.high != 0)
    throw Error(ErrorCode::invalid_argument,
                "xxh3 takes a 64-bit seed; leave the high half zero or use siphash");
}

Seed random_seed(HashFamily family) {
  Seed seed;
  randombytes_buf(&seed.low, sizeof seed.low);
  if (family == HashFamily::siphash) randombytes_buf(&seed.high, sizeof seed.high);
  return seed;
}

}  // namespace bloomery
