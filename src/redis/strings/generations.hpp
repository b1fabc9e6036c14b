// Two generations of a filter as one filter: keys go into the newer one, and answers come from both.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "redis/strings/string_bits.hpp"

namespace bloomery::detail {

// Keys are hashes, or, for the buckets of PHP classes, the keys themselves.
template <class Key>
class Generations {
 public:
  using BitsOf = std::function<NextKeyBits(std::span<const Key>)>;

  // Without an older generation the newer one answers alone.
  Generations(StringBits newer, std::optional<StringBits> older, BitsOf bits_of)
      : newer_(std::move(newer)), older_(std::move(older)), bits_of_(std::move(bits_of)) {}

  static constexpr std::size_t kKeysOfRound = 65'536;

  // Set: adds keys to the newer generation; returns how many were certainly in neither generation. Test: returns how
  // many may be in one of them. Each 65,536 keys need two round trips: to the newer generation, then to the older one
  // for the keys that need it. In this order, a rotation between the two moves the bits of the newer generation to
  // the key that is asked second. Error{mismatch}: the older one is not the generation before the newer one.
  std::size_t run(BitOperation operation, std::span<const Key> keys, std::span<bool> answers);
  // Begins a call of one run or several.
  void begin() noexcept { newer_.begin(); }
  // The number of first keys of the call that the newer generation has answered.
  [[nodiscard]] std::size_t acknowledged() const noexcept { return newer_.acknowledged(); }

  [[nodiscard]] StringBits& newer() noexcept { return newer_; }
  [[nodiscard]] std::optional<StringBits>& older() noexcept { return older_; }

 private:
  std::size_t run_some(BitOperation operation, std::span<const Key> keys, std::span<bool> answers);
  void ask_older(BitOperation operation, std::span<const Key> keys, std::span<bool> answers,
                 std::span<const std::uint64_t> generations);
  // Error{mismatch}: the generations that answered for a key are not one after the other, and no rotation in between
  // explains it. `seen`: the newer generations of strings that were read for this.
  void require_order(const Key& key, std::uint64_t newer, std::uint64_t older,
                     std::map<std::uint32_t, std::uint64_t>& seen);

  StringBits newer_;
  std::optional<StringBits> older_;
  BitsOf bits_of_;
};

extern template class Generations<Hash128>;
extern template class Generations<std::string_view>;

[[nodiscard]] Error not_next(const BitString& newer, const BitString& older);
// Error{mismatch}: the number of the older generation is too small. (A rotation in between makes it larger, never
// smaller.)
void require_next(const BitString& newer, const BitString& older, std::uint64_t newer_generation,
                  std::uint64_t older_generation);

}  // namespace bloomery::detail
