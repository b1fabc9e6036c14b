// The Bloom filters of PHP classes: where a key's bits are, and the bits in memory.
//
//   auto old = PhpFilter::load(PhpScheme::string_hashes("BKDR,SDBM,JS"), bytes);  // a reply of GET
//   old.may_contain(url);
//
// There are two families:
//   string hashes  k of the eight hashes of php_hash.hpp; a hash of the key is the offset of a
//                  bit, so there are always 2^32 bits: a Redis string
//   crc32-mt       m bits for n items, k = ceil(m / n * ln 2); crc32(key) seeds the Mersenne
//                  Twister, whose k draws of mt_rand(0, m - 1) are the offsets: a PHP array.
//                  Above 2^32 bits a draw takes two words, the lower one first as in PHP 8.2
//                  (up to PHP 8.1 the upper one came first)
// The bits are kept in the order of a Redis string: offset 0 is the most significant bit of
// byte 0.
//
// Promises: it sets the same bits as 64-bit PHP (tested with 8.2), and never gives a false negative.
// It promises no false-positive rate. The string hashes give many keys the same bits, and crc32 has 32
// bits, so with n items the rate is at least n / 2^32 whatever m is (docs/migrate.md).
//
// Threads: any number of look-ups at once, or one writer.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/text_calls.hpp>
#include <bloomery/php_hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace bloomery {

constexpr std::uint32_t kMaxPhpHashes = 65'536;

// Where the bits of a key are. A scheme is small, so pass it by value.
class PhpScheme {
 public:
  // Error{invalid_argument}: there is no hash, or one is given twice.
  static PhpScheme string_hashes(std::span<const PhpHash> hashes);
  // From names with commas between them: "BKDR,SDBM,JS". Error{invalid_argument}: also an unknown
  // name.
  static PhpScheme string_hashes(std::string_view names);
  // Error{invalid_argument}: bits or items are 0, or k is more than kMaxPhpHashes.
  // Error{too_large}: more than 2^40 bits.
  static PhpScheme crc32_mt(std::uint64_t bits, std::uint64_t items);

  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] std::uint32_t hash_count() const noexcept { return hash_count_; }
  // Empty for crc32-mt.
  [[nodiscard]] std::span<const PhpHash> hashes() const noexcept {
    return std::span(hashes_).first(named_);
  }

  // The offsets of a key's bits, in PHP's order; some may be equal. `offsets` must have room for
  // hash_count() of them; otherwise Error{invalid_argument}.
  void positions(std::string_view key, std::span<std::uint64_t> offsets) const;
  // The offsets of many keys, one key after the other; with crc32-mt this is several times as fast per key.
  void positions(std::span<const std::string_view> keys, std::span<std::uint64_t> offsets) const;

  // "php-hashes=BKDR,SDBM,JS", or "php-crc32-mt" with its bits and hashes.
  [[nodiscard]] std::string description() const;

  friend bool operator==(const PhpScheme&, const PhpScheme&) = default;

 private:
  PhpScheme() = default;
  std::uint64_t bits_ = 0;
  std::uint32_t hash_count_ = 0;
  std::uint32_t named_ = 0;  // how many of hashes_ are used
  std::array<PhpHash, kPhpHashes.size()> hashes_{};
};

class PhpFilter : private detail::TextCalls<PhpFilter> {
 public:
  // An empty filter. With string hashes it takes 512 MiB of address space, and memory only for the
  // pages that have bits. Error{no_memory}.
  explicit PhpFilter(PhpScheme scheme);
  // A filter with the bits of a Redis string, which may be shorter than the scheme's bits: Redis ends a
  // string at the last byte that was written. Error{mismatch}: it is longer, or has ones past the last bit.
  static PhpFilter load(PhpScheme scheme, std::span<const std::byte> string);
  // The same for a string of `size` bytes, which read(string) writes. They are zeros before, and take no memory where
  // it leaves them.
  static PhpFilter load(PhpScheme scheme, std::uint64_t size,
                        const std::function<void(std::span<std::byte> string)>& read);

  // Adds a key. True: it was certainly not there before.
  bool insert(std::string_view key) noexcept;
  // False: the key was certainly never inserted.
  [[nodiscard]] bool may_contain(std::string_view key) const noexcept;

  // insert_many(keys, fresh) and may_contain_many(keys, found) process many keys in order, a range of text or bytes,
  // and return how many were certainly new, or may be there. The answers are any range of bools or other integers
  // with room for one per key (otherwise Error{invalid_argument}, and nothing has changed), or are left out.
  // Error{no_memory}.
  using TextCalls::insert_many;
  using TextCalls::may_contain_many;
  // Whether all keys may be there. It stops at the first key that is not.
  [[nodiscard]] bool may_contain_all(std::span<const std::string_view> keys) const noexcept;

  // The share of ones. Empty the filter when it passes one half.
  [[nodiscard]] double fill() const noexcept;
  // fill^k: the false-positive rate of good hashes at this fill. The real one is higher.
  [[nodiscard]] double least_fpr() const noexcept;

  [[nodiscard]] const PhpScheme& scheme() const noexcept { return scheme_; }
  // ceil(bits / 8) bytes: what SET takes to make the Redis string of this filter.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return memory_.bytes(); }
  // The same without the zero bytes at the end, which a Redis string may lack; at least one byte.
  [[nodiscard]] std::span<const std::byte> string_bytes() const noexcept;

 private:
  friend detail::TextCalls<PhpFilter>;
  std::size_t do_insert(Texts keys, std::span<bool> fresh);
  std::size_t do_contain(Texts keys, std::span<bool> found) const;
  // Processes keys in groups: it computes and prefetches the offsets of a group, then applies them.
  template <class Apply>
  std::size_t in_groups(std::span<const std::string_view> keys, std::span<bool> answers,
                        Apply apply) const;

  PhpScheme scheme_;
  detail::BitMemory memory_;
};

}  // namespace bloomery
