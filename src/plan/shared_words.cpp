// The exact false-positive rate of a block: inclusion and exclusion over a key's bits.
//
// For a set S of a key's k bits, one other key of the block leaves all of S clear with
// probability q(S) = E[(1 - 1/b)^w] over its 64 choices of words, w of them in S, in words of b
// bits; n keys over all blocks do so with (1 - (1 - q(S)) / blocks)^n. By inclusion and exclusion, all
// k bits are set with a probability of the sum over S of (-1)^|S| times that. All 64 choices of the key
// itself give the same sum: rotating the words by a start, or multiplying their numbers by an odd
// stride, turns one choice into another and permutes the 64.
#include "plan/double_double.hpp"
#include "plan/fpr.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace bloomery::detail {

namespace {

// Words start, start + stride, ... of sixteen: the choices of detail/layout.hpp.
constexpr unsigned words_of(unsigned start, unsigned stride, std::uint32_t k) {
  unsigned words = 0;
  for (unsigned j = 0; j < k; ++j) words |= 1U << (start + j * stride) % 16;
  return words;
}

constexpr std::array<unsigned, 64> choices_of(std::uint32_t k) {
  std::array<unsigned, 64> choices{};
  for (unsigned choice = 0; choice < 64; ++choice)
    choices[choice] = words_of(choice % 16, 2 * (choice / 16) + 1, k);
  return choices;
}

struct Term {
  DoubleDouble hit;  // 1 - q(S)
  double weight;
};

// Sets with equal q form one term.
std::vector<Term> terms_of(std::uint32_t k, unsigned block_bits) {
  const DoubleDouble one{1, 0}, missed{1 - 16.0 / block_bits, 0};
  std::array<DoubleDouble, 17> hit_by;  // by the words that a key shares with S
  DoubleDouble missed_by = one;
  for (DoubleDouble& hit : hit_by) {
    hit = one - missed_by;
    missed_by = missed_by * missed;
  }
  const std::array<unsigned, 64> choices = choices_of(k);
  std::map<std::array<std::uint8_t, 17>, double> weights;  // by how many share w words
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
    DoubleDouble hit;
    for (unsigned w = 0; w <= 16; ++w)
      hit = hit + DoubleDouble{static_cast<double>(sharing[w]), 0} * hit_by[w];
    terms.push_back({hit / 64, weight});
  }
  return terms;
}

// Computed at the first call: 2^k sets, a few milliseconds for the largest k. Never destroyed: functions that run at
// the exit of the process, and threads that then still run, make plans too.
const std::vector<Term>& known_terms(std::uint32_t k, unsigned block_bits) {
  struct Lazy {
    std::once_flag once;
    std::vector<Term> terms;
  };
  using All = std::array<std::array<Lazy, 17>, 3>;
  alignas(All) static std::array<std::byte, sizeof(All)> room;
  static All& all = *new (room.data()) All;
  Lazy& lazy = all[block_bits == 512 ? 0 : block_bits == 128 ? 1 : 2][k];
  std::call_once(lazy.once, [&] { lazy.terms = terms_of(k, block_bits); });
  return lazy.terms;
}

}  // namespace

const std::array<double, 17>& common_words(std::uint32_t k) {
  static constexpr auto kShares = [] {
    std::array<std::array<double, 17>, 17> shares{};
    for (unsigned count = 0; count <= 16; ++count)
      for (const unsigned words : choices_of(count))
        shares[count][static_cast<unsigned>(std::popcount(words & words_of(0, 1, count)))] +=
            1.0 / 64;
    return shares;
  }();
  return kShares[k];
}

double exact_blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits) {
  DoubleDouble sum;
  for (const Term& term : known_terms(k, block_bits)) {
    const DoubleDouble log_clear = DoubleDouble{n, 0} * log_1_minus(term.hit / blocks);
    sum = sum + DoubleDouble{term.weight, 0} * exp(log_clear);
  }
  return std::clamp(sum.high, 0.0, 1.0);
}

double exact_blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits,
                         double mean) {
  // In doubles a term is off by less than 1e-15 times its weight, and so is each partial sum. All weights together are
  // at most 2^k.
  constexpr double kError = 1e-11;
  double sum = 0;
  for (const Term& term : known_terms(k, block_bits))
    sum += term.weight * std::exp(n * std::log1p(-term.hit.high / blocks));
  if (sum + kError < mean) return mean;
  return exact_blocked_fpr(blocks, k, n, block_bits);
}

}  // namespace bloomery::detail
