// Sums over the loads of blocks, and the spread of the ones in an array.
#include "plan/fpr.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace bloomery::detail {

namespace {

double integer_power(double base, std::uint32_t exponent) {
  double result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base)
    if ((exponent & 1) != 0) result *= base;
  return result;
}

// The logarithm of the probability that a block holds i of n keys. Beyond 4,096 blocks the Poisson
// distribution replaces the binomial one: there they differ by less than 1/blocks, and log_gamma(n) would lose its
// digits.
double log_load_probability(double i, double n, double blocks) {
  const double mean = n / blocks;
  if (blocks > 4096) return -mean + i * std::log(mean) - log_gamma(i + 1);
  return log_gamma(n + 1) - log_gamma(i + 1) - log_gamma(n - i + 1) - i * std::log(blocks) +
         (n - i) * std::log1p(-1 / blocks);
}

// Beyond this many keys per block there are no zeros in any block.
constexpr double kHopelessLoad = 50'000;

// From this rate up the digits of the exact fpr are right for any k.
constexpr double kExactFrom = 1e-9;

// Whether the term of a load that has this probability, whose value is at most 1, and those of all less probable loads
// are each below half a unit in the last place of the sum: then the sum no longer changes.
bool is_complete(double sum, double probability, double /*load*/) {
  return probability <= 0x1p-55 * std::abs(sum);
}

// What a block with a load says of a half of an absent key: whether all of its bits are set.
struct Halves {
  double one = 0;        // of one half
  double squared = 0;    // of two halves in two blocks of this load
  double with_load = 0;  // of one half, times the load
  double both = 0;       // of two halves in this block

  Halves& operator+=(const Halves& other) noexcept {
    one += other.one;
    squared += other.squared;
    with_load += other.with_load;
    both += other.both;
    return *this;
  }
  friend Halves operator*(double factor, const Halves& it) noexcept {
    return {factor * it.one, factor * it.squared, factor * it.with_load, factor * it.both};
  }
};

// As above, but one of the values is at most the load.
bool is_complete(const Halves& sum, double probability, double load) {
  const double least = std::min({sum.one, sum.squared, sum.with_load, sum.both});
  return is_complete(least, probability * std::max(load, 1.0), load);
}

// The mean of value(i) over a block's load i: n keys over `blocks` blocks. A value is a number, or several.
template <class Value>
auto mean_over_loads(double blocks, double n, Value value) {
  // One block holds all keys.
  if (blocks < 2) return value(n);
  // The sum runs over the loads within 40 standard deviations: beyond, a load's probability
  // is below 1e-300, far below any fpr that a plan can have.
  const double mean = n / blocks;
  const double deviation = std::sqrt(mean);
  const double first = std::floor(std::max(0.0, mean - 40 * deviation));
  const double last = std::floor(std::min(n, mean + 40 * deviation + 400));
  const double start = std::floor(std::min(mean, n));
  const double odds = blocks > 4096 ? mean : 1 / (blocks - 1);
  const double start_probability = std::exp(log_load_probability(start, n, blocks));

  // Neighbouring probabilities differ by a known ratio. The sum starts at the mode and goes in both
  // directions, so that none underflows before it is too small to matter.
  const auto ratio_up = [&](double i) {  // P(i + 1) / P(i)
    return blocks > 4096 ? odds / (i + 1) : (n - i) / (i + 1) * odds;
  };
  auto sum = decltype(value(start)){};
  double probability = start_probability;
  for (double i = start; i <= last && !is_complete(sum, probability, i); ++i) {
    sum += probability * value(i);
    probability *= ratio_up(i);
  }
  probability = start_probability;
  for (double i = start - 1; i >= first && !is_complete(sum, probability, i); --i) {
    probability /= ratio_up(i);
    sum += probability * value(i);
  }
  return sum;
}

// The means over loads, as in two blocks that are drawn independently.
Halves mean_halves(double blocks, std::uint32_t k, double n, unsigned block_bits) {
  const std::array<double, 17>& common = common_words(k);
  const double same_bit = 16.0 / block_bits;
  const double log_zero = std::log(1 - static_cast<double>(k) / block_bits);
  return mean_over_loads(blocks, n, [&](double i) {
    if (i == 0) return Halves{};
    const double set = -std::expm1(i * log_zero);
    const double one = integer_power(set, k);
    // Of a word that both halves have, the bit is the same one with this probability.
    const double factor = same_bit / set + 1 - same_bit;
    double both = 0;
    for (auto share = common.rbegin(); share != common.rend(); ++share)
      both = both * factor + *share;
    return Halves{one, one * one, one * i, both * one * one};
  });
}

// How much more often both halves of an absent key are set than the square of how often one is, as a share of that.
// With probability 1/blocks the two halves draw one block. Otherwise they draw two blocks, whose loads are negatively
// correlated: they are multinomial, so with orthonormal (Krawtchouk) polynomials and c_j the coefficients of `one`,
// the mean of the product is the sum of c_j^2 (-1/(blocks - 1))^j (Diaconis and Griffiths 2012). Here c_0 and c_1 are
// used as they are, and all others, together the variance that is left, as c_2: an upper bound.
double two_blocks_excess(const Halves& mean, double blocks, double n) {
  const double square = mean.one * mean.one;
  if (!(square > 0)) return 0;
  if (blocks < 2) return mean.both / square - 1;
  const double load = n / blocks, others = blocks - 1;
  const double covariance = mean.with_load - mean.one * load;
  const double first = covariance * covariance / (load * (1 - 1 / blocks));
  const double rest = std::max(0.0, mean.squared - square - first);
  const double apart = square - first / others + rest / (others * others);
  return (mean.both + others * apart) / blocks / square - 1;
}

// An excess below 1 % is left out, so that the plans of large filters are those of the square.
constexpr double kSmallExcess = 0.01;

// The mean over loads, or the exact fpr if it is higher.
double higher_fpr(double mean, double blocks, std::uint32_t k, double n, unsigned block_bits) {
  if (block_bits == 512) {
    const double exact = k <= kFewHashes ? exact_blocked_fpr(blocks, k, n, block_bits, mean) : 0;
    return std::min(1.0, std::max(mean, exact));
  }
  // The result is never below the exact fpr, and it rises with n, because both values do.
  const double exact = exact_blocked_fpr(blocks, k, n, block_bits);
  return std::min({1.0, std::max(mean, exact), std::max(exact, kExactFrom)});
}

// P(at least `hits` of i trials succeed), each with probability q. Its terms are added up from `hits` away from the
// mode, where they fall: on the way to the mode the first ones may be too small for a double, and then all were zeros.
double upper_tail(double i, double q, std::uint32_t hits) {
  double term = std::exp(log_gamma(i + 1) - log_gamma(hits + 1.0) - log_gamma(i - hits + 1) +
                         hits * std::log(q) + (i - hits) * std::log1p(-q));
  const double odds = q / (1 - q);
  double sum = 0;
  if (hits <= i * q) {
    for (double j = hits; j > 0 && term >= sum * 1e-17; --j) {
      term *= j / (i - j + 1) / odds;
      sum += term;
    }
    return 1 - sum;
  }
  for (double j = hits; j <= i && term >= sum * 1e-17; ++j) {
    sum += term;
    term *= (i - j) / (j + 1) * odds;
  }
  return sum;
}

}  // namespace

double log_gamma(double x) noexcept {
  int sign = 1;
  return ::lgamma_r(x, &sign);
}

double standard_fpr(double m, double k, double n) {
  if (n <= 0) return 0;
  // One position stays zero with probability z = (1 - 1/m)^(kn), two positions with y = (1 - 2/m)^(kn).
  // These give the mean and variance of the share of ones.
  const double throws = k * n;
  const double log_zero = throws * std::log1p(-1 / m);
  const double filled = -std::expm1(log_zero);
  const double zero = std::exp(log_zero);
  const double log_both = throws * std::log1p(-2 / m);
  const double variance = std::max(0.0, zero / m + (1 - 1 / m) * std::exp(log_both) - zero * zero);
  // E[x^k] of a nearly normal x with small relative spread: mean^k * exp(k(k-1)/2 * v/mean^2). With few
  // ones the variance is less than the rounding errors of its terms; it is then (kn)^2 / (2 m^3).
  const double pairs = k * (k - 1) / 2;
  const double spread = filled < 1e-3 ? pairs / (2 * m) : pairs * variance / (filled * filled);
  return std::min(1.0, std::exp(k * std::log(filled) + spread));
}

double blocked_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits) {
  if (n <= 0) return 0;
  if (n / blocks > kHopelessLoad) return 1;
  const double log_zero = std::log(1 - static_cast<double>(k) / block_bits);
  const double mean = mean_over_loads(
      blocks, n, [&](double i) { return integer_power(-std::expm1(i * log_zero), k); });
  return higher_fpr(mean, blocks, k, n, block_bits);
}

double two_blocks_fpr(double blocks, std::uint32_t k, double n, unsigned block_bits) {
  if (n <= 0) return 0;
  if (n / blocks > kHopelessLoad) return 1;
  const Halves mean = mean_halves(blocks, k, n, block_bits);
  const double in_one = higher_fpr(mean.one, blocks, k, n, block_bits);
  const double excess = two_blocks_excess(mean, blocks, n);
  const double counted = std::min(excess, 2 * (excess - kSmallExcess));
  return std::min(in_one, in_one * in_one * (1 + std::max(0.0, counted)));
}

double share_of_bits_hit(double blocks, std::uint32_t k, double n, unsigned block_bits,
                         std::uint32_t hits) {
  if (n / blocks > kHopelessLoad) return 1;
  const double sets_it = static_cast<double>(k) / block_bits;
  const double share = mean_over_loads(
      blocks, n, [&](double i) { return i < hits ? 0.0 : upper_tail(i, sets_it, hits); });
  return std::min(1.0, share);
}

double standard_slope(double m, double k, double n) { return k * n / m - std::log(2.0); }

double blocked_slope(double blocks, double k, double n, unsigned block_bits) {
  // This is far beyond the best load, even for k = 1 (0.7 * block_bits); at higher loads s^i below would underflow.
  if (n / blocks > 20.0 * block_bits) return 1;
  const double stays_zero = 1 - k / block_bits, log_zero = std::log(stays_zero);
  return mean_over_loads(blocks, n, [&](double i) {
    if (i == 0) return 0.0;
    const double log_all_zero = i * log_zero, one = -std::expm1(log_all_zero);
    // d/dk of one^k, where one is 1 - (1 - k/block_bits)^i.
    return std::pow(one, k) * (std::log1p(-std::exp(log_all_zero)) +
                               k * i / block_bits / stays_zero * std::exp(log_all_zero) / one);
  });
}

}  // namespace bloomery::detail
