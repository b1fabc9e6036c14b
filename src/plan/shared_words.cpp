// The exact rate of a line for few hashes, where keys that share words are what decides.
//
// For a set S of a key's k bits, one other key of the line leaves all of S off with
// probability q(S) = E[(31/32)^w] over its 64 choices of words, w of them in S; n keys over
// all lines with (1 - (1 - q(S)) / lines)^n. By inclusion and exclusion, all k bits are on with
// the sum over S of (-1)^|S| times that, and the mean over the key's own choices is the rate.
#include "plan/shared_words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <vector>

namespace bloomery::detail {

namespace {

// Words start, start + stride, ... of sixteen: the choices of detail/line.hpp.
unsigned words_of(unsigned start, unsigned stride, std::uint32_t k) {
  unsigned words = 0;
  for (unsigned j = 0; j < k; ++j) words |= 1U << (start + j * stride) % 16;
  return words;
}

struct Term {
  long double hit;  // 1 - q(S)
  long double weight;
};

// Sets with equal q are one term. The terms cancel to the rate, which is why they are long.
std::vector<Term> terms_of(std::uint32_t k) {
  std::array<long double, 17> missed;
  for (int w = 0; w <= 16; ++w) missed[static_cast<unsigned>(w)] = std::pow(31.0L / 32, w);
  std::map<long double, long double> weights;
  // All starts are alike, so a key's own choice is one of four strides.
  for (unsigned own_stride = 1; own_stride <= 7; own_stride += 2) {
    const unsigned own = words_of(0, own_stride, k);
    for (unsigned set = own;; set = (set - 1) & own) {
      long double hit = 0;
      for (unsigned stride = 1; stride <= 7; stride += 2)
        for (unsigned start = 0; start < 16; ++start)
          hit += 1 - missed[static_cast<unsigned>(std::popcount(set & words_of(start, stride, k)))];
      weights[hit / 64] += std::popcount(set) % 2 == 0 ? 0.25L : -0.25L;
      if (set == 0) break;
    }
  }
  std::vector<Term> terms;
  for (const auto& [hit, weight] : weights) terms.push_back({hit, weight});
  return terms;
}

}  // namespace

double exact_line_rate(double lines, std::uint32_t k, double n) {
  static const auto kTerms = [] {
    std::array<std::vector<Term>, kFewHashes + 1> all;
    for (std::uint32_t count = 1; count <= kFewHashes; ++count) all[count] = terms_of(count);
    return all;
  }();
  long double sum = 0;
  for (const Term& term : kTerms[k])
    sum += term.weight * std::exp(static_cast<long double>(n) * std::log1p(-term.hit / lines));
  return static_cast<double>(std::clamp(sum, 0.0L, 1.0L));
}

}  // namespace bloomery::detail
