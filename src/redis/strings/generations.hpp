// Two generations of a filter as one: keys go into the newer one, and both are asked.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "redis/strings/string_bits.hpp"

namespace bloomery::detail {

// Keys are hashes, or the keys themselves for the buckets of PHP classes.
template <class Key>
class Generations {
 public:
  using BitsOf = std::function<NextKeyBits(std::span<const Key>)>;
  // Writes the next keys to `out` and returns how many; 0: there are no more keys.
  using Source = std::function<std::size_t(std::span<Key> out)>;

  // Without an older generation the newer one answers alone.
  Generations(StringBits newer, std::optional<StringBits> older, BitsOf bits_of)
      : newer_(std::move(newer)), older_(std::move(older)), bits_of_(std::move(bits_of)) {}

  // Set: adds keys to the newer generation; returns how many were certainly in neither. Test:
  // returns how many may be in one of them. Two rounds for each 65,536 keys: the newer generation,
  // then the older one for the keys that need it. In this order a rotation between the two moves
  // what the newer one had to where the second question goes. Error{mismatch}: the older one is not
  // the generation before the newer one.
  std::size_t run(BitOperation operation, const Source& keys, std::span<bool> answers);
  // How many of the first keys of the last run the newer generation has answered for.
  [[nodiscard]] std::size_t acknowledged() const noexcept {
    return before_ + newer_.acknowledged();
  }

  [[nodiscard]] StringBits& newer() noexcept { return newer_; }
  [[nodiscard]] std::optional<StringBits>& older() noexcept { return older_; }

 private:
  std::size_t run_some(BitOperation operation, std::span<const Key> keys, std::span<bool> answers);
  void ask_older(BitOperation operation, std::span<const Key> keys, std::span<bool> answers,
                 std::span<const std::uint64_t> generations);

  StringBits newer_;
  std::optional<StringBits> older_;
  BitsOf bits_of_;
  std::size_t before_ = 0;  // keys of the last run that came before those of the newer generation's
};

extern template class Generations<Hash128>;
extern template class Generations<std::string_view>;

// Error{mismatch}: the number of the older generation is too small. (A rotation in between makes it
// larger, never smaller.)
void require_next(StringBits& newer, StringBits& older, std::uint64_t newer_generation,
                  std::uint64_t older_generation);

}  // namespace bloomery::detail
