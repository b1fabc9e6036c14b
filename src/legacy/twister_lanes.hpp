// The first draws of eight Mersenne Twisters at once.
//
// Each initial word of a twister is made of the one before it, so that one twister waits for its
// own multiplications; eight beside each other do not.
#pragma once

#include <array>
#include <cstdint>

#include "legacy/mersenne_twister.hpp"

namespace bloomery::detail {

class TwisterLanes {
 public:
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kMaxDraws = 64;
  using Seeds = std::array<std::uint32_t, kLanes>;

  // `draws` of 32 bits for each seed, at most kMaxDraws.
  TwisterLanes(const Seeds& seeds, std::size_t draws) noexcept {
    near_[0] = seeds;
    for (std::size_t i = 1; i <= draws; ++i) near_[i] = next_words(near_[i - 1], i);
    Seeds words = near_[draws];
    for (std::size_t i = draws + 1; i < kTwisterStride; ++i) words = next_words(words, i);
    for (std::size_t i = 0; i < draws; ++i) {
      words = next_words(words, kTwisterStride + i);
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        draws_[i][lane] = temper(twist(near_[i][lane], near_[i + 1][lane], words[lane]));
    }
  }

  [[nodiscard]] std::uint32_t draw(std::size_t index, std::size_t lane) const noexcept {
    return draws_[index][lane];
  }

 private:
  static Seeds next_words(const Seeds& words, std::size_t index) noexcept {
    Seeds next;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      next[lane] = next_initial_word(words[lane], index);
    return next;
  }

  std::array<Seeds, kMaxDraws + 1> near_;
  std::array<Seeds, kMaxDraws> draws_;
};

}  // namespace bloomery::detail
