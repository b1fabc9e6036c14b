// How PHP draws the bits of a key: crc32() seeds mt_srand(), and mt_rand() draws.
//
// Only the part of the state that the draws need is computed. Output i depends on the state's words i, i + 1 and i +
// 397, and each initial word depends on the one before it. So the first outputs need neither the last words nor the
// twist of the others, which is more than half of the work of seeding.
//
// Source: ISO 3309 (CRC-32); Matsumoto and Nishimura, 1998 (MT19937); PHP 8.2's mt_srand and
// mt_rand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bloomery::detail {

// CRC-32 of the polynomial 0xEDB88320, as PHP's crc32() and zlib compute it.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes) noexcept;

constexpr std::size_t kTwisterWords = 624;
constexpr std::size_t kTwisterStride = 397;

[[nodiscard]] inline std::uint32_t next_initial_word(std::uint32_t word,
                                                     std::size_t index) noexcept {
  return 1812433253U * (word ^ (word >> 30)) + static_cast<std::uint32_t>(index);
}

[[nodiscard]] inline std::uint32_t twist(std::uint32_t word, std::uint32_t after,
                                         std::uint32_t far) noexcept {
  const std::uint32_t mixed = (word & 0x80000000U) | (after & 0x7FFFFFFFU);
  return far ^ (mixed >> 1) ^ ((0U - (after & 1U)) & 0x9908B0DFU);
}

[[nodiscard]] inline std::uint32_t temper(std::uint32_t word) noexcept {
  word ^= word >> 11;
  word ^= (word << 7) & 0x9D2C5680U;
  word ^= (word << 15) & 0xEFC60000U;
  return word ^ (word >> 18);
}

class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint32_t seed) noexcept { words_[0] = seed; }

  std::uint32_t operator()() noexcept {
    if (next_ == kTwisterWords) next_ = 0;
    const std::size_t i = next_++;
    if (made_ < kTwisterWords)
      make(i + kTwisterStride + 1);  // each time one more, so never too many
    const std::size_t far = i + kTwisterStride;
    words_[i] = twist(words_[i], words_[i + 1 < kTwisterWords ? i + 1 : 0],
                      words_[far < kTwisterWords ? far : far - kTwisterWords]);
    return temper(words_[i]);
  }

 private:
  void make(std::size_t count) noexcept {
    for (; made_ < count; ++made_) words_[made_] = next_initial_word(words_[made_ - 1], made_);
  }

  // Not initialized: each word is made before it is read.
  std::array<std::uint32_t, kTwisterWords> words_;
  std::size_t made_ = 1;  // how many words have been made
  std::size_t next_ = 0;
};

// mt_rand(0, size - 1) without bias: `draw` returns 32 random bits, and size is at least 1.
template <class Draw>
[[nodiscard]] std::uint64_t draw_below(std::uint64_t size, Draw&& draw) noexcept {
  const auto one = [&]() -> std::uint64_t {
    if (size <= std::uint64_t{1} << 32) return draw();
    const std::uint64_t low = draw();
    return std::uint64_t{draw()} << 32 | low;
  };
  std::uint64_t drawn = one();
  if ((size & (size - 1)) == 0) return drawn & (size - 1);
  const std::uint64_t most = size <= std::uint64_t{1} << 32 ? 0xFFFFFFFF : ~std::uint64_t{0};
  const std::uint64_t limit = most - most % size - 1;
  while (drawn > limit) drawn = one();
  return drawn % size;
}

// The first draws of eight twisters at once. Each initial word of a twister depends on the one before
// it, so a single twister waits for its own multiplications; eight interleaved ones do not.
class TwisterLanes {
 public:
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kMaxDraws = 64;
  using Seeds = std::array<std::uint32_t, kLanes>;

  // Makes `draws` draws of 32 bits for each seed, at most kMaxDraws.
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
