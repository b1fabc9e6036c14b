// The formulas of the eight string hashes of PHP, one step per byte.
//
// PHP computes with integers until one overflows, and then with doubles. A step takes the hash as an integer: if PHP
// carries a double from one step to the next, the first operation of that step converts it back to an integer, or the
// sum is the same double.
//
// If a sum overflows because of one byte, it is 2^63 as a double, and -2^63 as an integer: the byte is less than half
// of 2,048, the distance from that double to the next.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace bloomery::detail::php {

using Integer = std::int64_t;

constexpr Integer kLeast = std::numeric_limits<Integer>::min();

// A whole number as a double, below 2^116 in magnitude, modulo 2^64.
inline Integer to_integer(double number) noexcept {
  const auto word = std::bit_cast<std::uint64_t>(number);
  const int exponent = static_cast<int>(word >> 52 & 0x7FF) - 1075;
  const std::uint64_t digits = (word & 0xFFFFFFFFFFFFF) | 0x10000000000000;
  std::uint64_t magnitude = 0;
  if (exponent >= 0)
    magnitude = digits << exponent;
  else if (exponent > -53)
    magnitude = digits >> -exponent;
  return static_cast<Integer>(word >> 63 != 0 ? 0 - magnitude : magnitude);
}

// PHP's <<: bits that are shifted out at the top are lost.
inline Integer left(Integer number, int by) noexcept {
  return static_cast<Integer>(static_cast<std::uint64_t>(number) << by);
}

// number + byte. If the sum overflows, returns the integer that a later operation makes of it.
inline Integer plus_byte(Integer number, Integer byte) noexcept {
  Integer sum;
  return __builtin_add_overflow(number, byte, &sum) ? kLeast : sum;
}

struct Js {
  static Integer start(std::size_t) noexcept { return 1315423911; }
  static Integer step(Integer hash, Integer byte) noexcept {
    Integer sum;
    if (__builtin_add_overflow(left(hash, 5), byte, &sum) ||
        __builtin_add_overflow(sum, hash >> 2, &sum))
      sum = overflowing(hash, byte);
    return hash ^ sum;
  }
  static Integer overflowing(Integer hash, Integer byte) noexcept {
    Integer sum;
    const double first = __builtin_add_overflow(left(hash, 5), byte, &sum)
                             ? static_cast<double>(left(hash, 5)) + static_cast<double>(byte)
                             : static_cast<double>(sum);
    return to_integer(first + static_cast<double>(hash >> 2));
  }
};

struct Pjw {
  static Integer start(std::size_t) noexcept { return 0; }
  static Integer step(Integer hash, Integer byte) noexcept {
    return plus_byte(left(hash, 4), byte);
  }
  // The PHP classes fold the top bits only once, after the last byte.
  static Integer finish(Integer hash) noexcept {
    constexpr auto kTop = Integer{0xFFFFFFFF} << 28;
    const Integer top = hash & kTop;
    return top != 0 ? (hash ^ (top >> 24)) & ~kTop : hash;
  }
};

// The hash never overflows: every step clears bits 28 to 31, so only the carry of the byte reaches bit 32, and each
// hexadecimal digit above is 0 or 1.
struct Elf {
  static Integer start(std::size_t) noexcept { return 0; }
  static Integer step(Integer hash, Integer byte) noexcept {
    hash = left(hash, 4) + byte;
    const Integer top = hash & 0xF0000000;
    return (hash ^ (top >> 24)) & ~top;
  }
};

struct Bkdr {
  static Integer start(std::size_t) noexcept { return 0; }
  static Integer step(Integer hash, Integer byte) noexcept {
    Integer product;
    if (!__builtin_mul_overflow(hash, Integer{131}, &product)) return plus_byte(product, byte);
    // The product is at least 2^63, so the byte is less than half a unit in its last place and is lost. The product
    // is below 2^71, so a multiple of 2^18 is exact as a double.
    if ((hash & 0x3FFFF) == 0) return product;
    return to_integer(static_cast<double>(hash) * 131.0);
  }
};

struct Sdbm {
  static Integer start(std::size_t) noexcept { return 0; }
  static Integer step(Integer hash, Integer byte) noexcept {
    Integer sum;
    if (__builtin_add_overflow(byte, left(hash, 6), &sum) ||
        __builtin_add_overflow(sum, left(hash, 16), &sum) ||
        __builtin_sub_overflow(sum, hash, &sum))
      return overflowing(hash, byte);
    return sum;
  }
  static Integer overflowing(Integer hash, Integer byte) noexcept {
    Integer sum;
    double number;
    if (__builtin_add_overflow(byte, left(hash, 6), &sum))
      number = static_cast<double>(byte) + static_cast<double>(left(hash, 6)) +
               static_cast<double>(left(hash, 16));
    else if (Integer second; !__builtin_add_overflow(sum, left(hash, 16), &second))
      number = static_cast<double>(second);
    else
      number = static_cast<double>(sum) + static_cast<double>(left(hash, 16));
    return to_integer(number - static_cast<double>(hash));
  }
};

struct Djb {
  static Integer start(std::size_t) noexcept { return 5381; }
  static Integer step(Integer hash, Integer byte) noexcept {
    Integer sum;
    if (__builtin_add_overflow(left(hash, 5), hash, &sum))
      sum = to_integer(static_cast<double>(left(hash, 5)) + static_cast<double>(hash));
    return plus_byte(sum, byte);
  }
};

struct Dek {
  static Integer start(std::size_t size) noexcept { return static_cast<Integer>(size); }
  static Integer step(Integer hash, Integer byte) noexcept {
    return left(hash, 5) ^ (hash >> 27) ^ byte;
  }
};

// The product never overflows and is never negative: it is below 2^32 times a prime of 25 bits. For the remainder
// modulo 2^32 - 1 the part above 2^32 is added to the part below.
struct Fnv {
  static Integer start(std::size_t) noexcept { return 2166136261; }
  static Integer step(Integer hash, Integer byte) noexcept {
    constexpr Integer kModulus = 0xFFFFFFFF;
    const Integer product = hash * 16777619;
    const Integer folded = (product & kModulus) + (product >> 32);
    return (folded >= kModulus ? folded - kModulus : folded) ^ byte;
  }
};

}  // namespace bloomery::detail::php
