// The exact false-positive rate of a block: inclusion and exclusion over a key's bits.
//
// For a set S of a key's k bits, one other key of the block leaves all of S clear with
// probability q(S) = E[(1 - 1/b)^w] over its 64 choices of words, w of them in S, in words of b
// bits; n keys over all blocks do so with (1 - (1 - q(S)) / blocks)^n. By inclusion and exclusion, all
// k bits are set with a probability of the sum over S of (-1)^|S| times that. All 64 choices of the key
// itself give the same sum: rotating the words by a start, or multiplying their numbers by an odd
// stride, turns one choice into another and permutes the 64.
#include "plan/fpr.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <vector>

namespace bloomery::detail {

namespace {

// Words start, start + stride, ... of sixteen: the choices of detail/layout.hpp.
unsigned words_of(unsigned start, unsigned stride, std::uint32_t k) {
  unsigned words = 0;
  for (unsigned j = 0; j < k; ++j) words |= 1U << (start + j * stride) % 16;
  return words;
}

struct Term {
  long double hit;  // 1 - q(S)
  long double weight;
};

// Sets with equal q form one term. Most of the sum of the terms cancels, so they are long doubles.
std::vector<Term> terms_of(std::uint32_t k, unsigned block_bits) {
  std::array<long double, 17> hit_by;  // by the words that a key shares with S
  for (unsigned w = 0; w <= 16; ++w)
    hit_by[w] = 1 - std::pow(1 - 16.0L / block_bits, static_cast<long double>(w));
  std::array<unsigned, 64> choices;
  for (unsigned choice = 0; choice < 64; ++choice)
    choices[choice] = words_of(choice % 16, 2 * (choice / 16) + 1, k);
  std::map<std::array<std::uint8_t, 17>, long double> weights;  // by how many share w words
  const unsigned own = choices[0];
  for (unsigned set = own;; set = (set - 1) & own) {
    std::array<std::uint8_t, 17> sharing{};
    for (const unsigned words : choices)
      ++sharing[static_cast<unsigned>(std::popcount(set & words))];
    weights[sharing] += std::popcount(set) % 2 == 0 ? 1 : -1;
    if (set == 0) break;
  }
  std::vector<Term> terms;
  for (const auto& [sharing, weight] : weights) {
    long double hit = 0;
    for (unsigned w = 0; w <= 16; ++w) hit += sharing[w] * hit_by[w];
    if (weight != 0) terms.push_back({hit / 64, weight});
  }
  return terms;
}

// Computed at the first call: 2^k sets, a few milliseconds for the largest k.
const std::vector<Term>& known_terms(std::uint32_t k, unsigned block_bits) {
  struct Lazy {
    std::once_flag once;
    std::vector<Term> terms;
  };
  static std::array<std::array<Lazy, 17>, 3> all;
  Lazy& lazy = all[block_bits == 512 ? 0 : block_bits == 128 ? 1 : 2][k];
  std::call_once(lazy.once, [&] { lazy.terms = terms_of(k, block_bits); });
  return lazy.terms;
}

}  // namespace

double exact_blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits) {
  long double sum = 0;
  for (const Term& term : known_terms(k, block_bits))
    sum += term.weight * std::exp(static_cast<long double>(n) * std::log1p(-term.hit / blocks));
  return static_cast<double>(std::clamp(sum, 0.0L, 1.0L));
}

}  // namespace bloomery::detail
