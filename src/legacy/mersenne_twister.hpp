// MT19937 as PHP seeds and draws it, made no further than it is drawn.
//
// Output i is made of the state's words i, i + 1 and i + 397, and each initial word of the one
// before it. The first few outputs need neither the last words nor the twist of the others, which
// is more than half of the work of seeding.
//
// Source: Matsumoto and Nishimura, 1998; PHP 8.2's mt_srand and mt_rand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bloomery::detail {

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
    if (made_ < kTwisterWords) make(i + kTwisterStride + 1);
    const std::size_t far = i + kTwisterStride;
    words_[i] = twist(words_[i], words_[i + 1 < kTwisterWords ? i + 1 : 0],
                      words_[far < kTwisterWords ? far : far - kTwisterWords]);
    return temper(words_[i]);
  }

 private:
  void make(std::size_t count) noexcept {
    for (; made_ < count && made_ < kTwisterWords; ++made_)
      words_[made_] = next_initial_word(words_[made_ - 1], made_);
  }

  // Left uninitialized: each word is made before it is read.
  std::array<std::uint32_t, kTwisterWords> words_;
  std::size_t made_ = 1;  // how many words hold their initial value or a later one
  std::size_t next_ = 0;
};

// mt_rand(0, size - 1) without bias: `draw` gives 32 random bits, size is 1 or more.
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

}  // namespace bloomery::detail
