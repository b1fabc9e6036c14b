// Plans: the search for the bits and hashes that meet what was asked, in every direction.
#include <bloomery/error.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>

#include "plan/rate.hpp"

namespace bloomery {

namespace {

[[noreturn]] void refuse(ErrorCode code, const std::string& message) { throw Error(code, message); }

std::string number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

void check_capacity(std::uint64_t capacity) {
  if (capacity == 0) refuse(ErrorCode::invalid_argument, "capacity is 0; give at least 1 item");
  if (capacity > kMaxCapacity)
    refuse(ErrorCode::too_large,
           "capacity " + std::to_string(capacity) + " is above the limit of 10^13");
}

void check_rate(double rate) {
  if (!(rate >= kMinRate && rate <= kMaxRate))
    refuse(
        ErrorCode::invalid_argument,
        "rate " + number(rate) + " is out of range; give a false-positive rate from 1e-15 to 0.5");
}

void check_hashes(Layout layout, std::uint32_t hashes) {
  if (hashes == 0 || hashes > max_hashes(layout))
    refuse(ErrorCode::invalid_argument, std::to_string(hashes) +
                                            " hashes are out of range; layout " +
                                            std::string(to_string(layout)) + " takes 1 to " +
                                            std::to_string(max_hashes(layout)));
  if (layout == Layout::pair && hashes % 2 != 0)
    refuse(ErrorCode::invalid_argument,
           std::to_string(hashes) + " hashes are odd; layout pair takes an even number");
}

// "2^40 bits (128 GiB)", or the cells of a counting filter of that size.
std::string limit_of(Layout layout) {
  return "2^" + std::to_string(std::countr_zero(max_bits(layout))) +
         (cell_bits(layout) == 0 ? " bits" : " cells") + " (128 GiB)";
}

std::uint64_t whole_lines(Layout layout, std::uint64_t bits) {
  if (bits > max_bits(layout))
    refuse(ErrorCode::too_large, std::to_string(bits) + " bits are above the limit of " +
                                     limit_of(layout) + "; split the set");
  return std::max(kLineBits, bits / kLineBits * kLineBits);
}

std::uint32_t hash_step(Layout layout) { return layout == Layout::pair ? 2 : 1; }

double rate_of(Layout layout, std::uint64_t bits, std::uint32_t hashes, double items) {
  return predicted_rate(layout, bits, hashes, items);
}

// The fewest lines of which `meets` is true, as it is of all that are more; 0 where it is not
// even of the most bits. The search starts at `guess` bits.
template <class Meets>
std::uint64_t fewest_lines(Layout layout, double guess_bits, Meets meets) {
  std::uint64_t high = max_bits(layout) / kLineBits;
  if (!meets(high)) return 0;
  std::uint64_t low = 0;
  auto guess =
      static_cast<std::uint64_t>(std::min(static_cast<double>(high), guess_bits / kLineBits + 1));
  while (guess < high && !meets(guess)) {
    low = guess;
    guess = std::min(high, guess + guess / 4 + 1);
  }
  high = guess;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (meets(middle) ? high : low) = middle;
  }
  return high;
}

// The fewest lines with which `items` keys of `hashes` bits stay at or below the rate. The
// textbook's size is within a factor of a few of it.
std::uint64_t lines_for_rate(Layout layout, std::uint32_t hashes, double items, double rate) {
  return fewest_lines(layout, items * lower_bound_bits(rate) * 1.44, [&](std::uint64_t lines) {
    return rate_of(layout, lines * kLineBits, hashes, items) <= rate;
  });
}

// Whether fewer hashes would be better at this load.
bool too_many_hashes(Layout layout, std::uint64_t bits, std::uint32_t hashes, double items) {
  const auto m = static_cast<double>(bits);
  switch (layout) {
    case Layout::line:
      return detail::line_slope(m / kLineBits, hashes, items) > 0;
    case Layout::pair:
      return detail::line_slope(m / kLineBits, hashes / 2.0, 2 * items) > 0;
    case Layout::line128:
      return detail::line_slope(m / 128, hashes, items, 128) > 0;
    case Layout::line64:
      return detail::line_slope(m / 64, hashes, items, 64) > 0;
    case Layout::classic:
      break;
  }
  return detail::classic_slope(m, hashes, items) > 0;
}

// The hash count at which `cost` is least. It may be equally hopeless for the first counts; then
// it falls and rises again, up to ripples of rounding, so the search stops four steps beyond the
// last that was no worse than the best.
template <class Cost>
std::uint32_t cheapest_hashes(Layout layout, Cost cost) {
  const std::uint32_t step = hash_step(layout);
  std::uint32_t best = step, last = step;
  double best_cost = cost(step);
  for (std::uint32_t k = 2 * step; k <= max_hashes(layout) && k <= last + 4 * step; k += step) {
    const double here = cost(k);
    if (here <= best_cost) last = k;
    if (here < best_cost) {
      best = k;
      best_cost = here;
    }
  }
  return best;
}

Layout default_layout(double rate) {
  if (rate >= 1e-4) return Layout::line;
  return rate >= 1e-10 ? Layout::pair : Layout::classic;
}

Plan from_capacity_and_rate(Layout layout, std::uint64_t capacity, double rate,
                            std::optional<std::uint32_t> hashes) {
  const auto items = static_cast<double>(capacity);
  const double impossible = 2.0 * static_cast<double>(max_bits(layout));
  const auto lines_for = [&](std::uint32_t k) {
    const std::uint64_t lines = lines_for_rate(layout, k, items, rate);
    return lines == 0 ? impossible : static_cast<double>(lines);
  };
  const std::uint32_t k = hashes ? *hashes : cheapest_hashes(layout, lines_for);
  const std::uint64_t lines = lines_for_rate(layout, k, items, rate);
  if (lines == 0)
    refuse(ErrorCode::too_large, std::to_string(capacity) + " items at a rate of " + number(rate) +
                                     " with layout " + std::string(to_string(layout)) +
                                     " need more than " + limit_of(layout) +
                                     "; split the set, or allow a higher rate");
  return {layout, lines * kLineBits, k, capacity, rate};
}

Plan from_capacity_and_bits(Layout layout, std::uint64_t capacity, std::uint64_t bits,
                            std::optional<std::uint32_t> hashes) {
  const auto items = static_cast<double>(capacity);
  bits = whole_lines(layout, bits);
  const std::uint32_t k = hashes ? *hashes : cheapest_hashes(layout, [&](std::uint32_t count) {
    return rate_of(layout, bits, count, items);
  });
  const double rate = rate_of(layout, bits, k, items);
  if (!(rate < 1))
    refuse(ErrorCode::invalid_argument,
           std::to_string(bits) + " bits are too few for " + std::to_string(capacity) +
               " items: every answer would be \"maybe\"; give more bits");
  return {layout, bits, k, capacity, std::max(rate, 1e-300)};
}

// The most items of which `fits` is true, as it is of all that are fewer.
template <class Fits>
std::uint64_t most_items(Fits fits) {
  std::uint64_t low = 0, high = kMaxCapacity + 1;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(static_cast<double>(middle)) ? low : high) = middle;
  }
  return low;
}

std::uint64_t items_for_rate(Layout layout, std::uint64_t bits, std::uint32_t hashes, double rate) {
  return most_items([&](double items) { return rate_of(layout, bits, hashes, items) <= rate; });
}

Plan from_rate_and_bits(Layout layout, double rate, std::uint64_t bits,
                        std::optional<std::uint32_t> hashes) {
  bits = whole_lines(layout, bits);
  const std::uint32_t k = hashes ? *hashes : cheapest_hashes(layout, [&](std::uint32_t count) {
    return -static_cast<double>(items_for_rate(layout, bits, count, rate));
  });
  const std::uint64_t capacity = items_for_rate(layout, bits, k, rate);
  if (capacity == 0)
    refuse(ErrorCode::invalid_argument,
           "not one item fits into " + std::to_string(bits) + " bits with " + std::to_string(k) +
               " hashes at a rate of " + number(rate) + "; give more bits or a higher rate");
  return {layout, bits, k, capacity, rate};
}

// The smallest size at which no fewer hashes would do better, which is where these are the best.
Plan from_capacity_and_hashes(Layout layout, std::uint64_t capacity, std::uint32_t hashes) {
  const auto items = static_cast<double>(capacity);
  const std::uint64_t lines = fewest_lines(layout, items * hashes * 1.44, [&](std::uint64_t count) {
    return !too_many_hashes(layout, count * kLineBits, hashes, items);
  });
  if (lines == 0)
    refuse(ErrorCode::too_large, std::to_string(capacity) + " items, for which " +
                                     std::to_string(hashes) + " hashes are the best with layout " +
                                     std::string(to_string(layout)) + ", need more than " +
                                     limit_of(layout) + "; split the set, or give fewer hashes");
  return from_capacity_and_bits(layout, capacity, lines * kLineBits, hashes);
}

Plan from_bits_and_hashes(Layout layout, std::uint64_t bits, std::uint32_t hashes) {
  bits = whole_lines(layout, bits);
  const std::uint64_t capacity =
      most_items([&](double items) { return !too_many_hashes(layout, bits, hashes, items); });
  return from_capacity_and_bits(layout, std::max<std::uint64_t>(capacity, 1), bits, hashes);
}

// A rate and a number of hashes leave the size open: only the bits a key are known.
[[noreturn]] void refuse_ratio_alone(Layout layout, double rate, std::uint32_t hashes) {
  constexpr double kManyItems = 1e8;  // so many that rounding to lines is no matter
  const std::uint64_t lines = lines_for_rate(layout, hashes, kManyItems, rate);
  const std::string given = "a rate of " + number(rate) + " and " + std::to_string(hashes) +
                            (hashes == 1 ? " hash" : " hashes");
  if (lines == 0)
    refuse(ErrorCode::too_large, given + " need over 10^4 bits a key with layout " +
                                     std::string(to_string(layout)) + "; give more hashes");
  refuse(ErrorCode::invalid_argument,
         given + " determine only the ratio, " +
             number(static_cast<double>(lines * kLineBits) / kManyItems) +
             " bits a key with layout " + std::string(to_string(layout)) +
             "; give items or bits too");
}

}  // namespace

std::string_view to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::line:
      return "line";
    case Layout::pair:
      return "pair";
    case Layout::classic:
      return "classic";
    case Layout::line128:
      return "line128";
    case Layout::line64:
      return "line64";
  }
  return "unknown";
}

std::uint32_t cell_bits(Layout layout) noexcept {
  return layout == Layout::line128 ? 4 : layout == Layout::line64 ? 8 : 0;
}

Layout counting_layout(std::uint32_t cell_bits) {
  if (cell_bits == 4) return Layout::line128;
  if (cell_bits == 8) return Layout::line64;
  refuse(ErrorCode::invalid_argument,
         "cells of " + std::to_string(cell_bits) + " bits are not known; use 4 or 8");
}

std::uint64_t max_bits(Layout layout) noexcept {
  return kMaxBits / std::max(1U, cell_bits(layout));
}

std::uint32_t max_hashes(Layout layout) noexcept {
  switch (layout) {
    case Layout::line:
    case Layout::line128:
    case Layout::line64:
      return 16;
    case Layout::pair:
      return 32;
    case Layout::classic:
      return 64;
  }
  return 0;
}

double predicted_rate(Layout layout, std::uint64_t bits, std::uint32_t hashes, double items) {
  check_hashes(layout, hashes);
  if (bits < kLineBits)
    refuse(ErrorCode::invalid_argument,
           std::to_string(bits) + " bits are too few; give at least 512");
  if (std::isnan(items) || items < 0)
    refuse(ErrorCode::invalid_argument, "the number of items is negative or not a number");
  const auto lines = static_cast<double>(bits) / kLineBits;
  switch (layout) {
    case Layout::line:
      return detail::line_rate(lines, hashes, items);
    case Layout::pair: {
      const double half = detail::line_rate(lines, hashes / 2, 2 * items);
      return half * half;
    }
    case Layout::classic:
      return detail::classic_rate(static_cast<double>(bits), hashes, items);
    case Layout::line128:
      return detail::line_rate(4 * lines, hashes, items, 128);
    case Layout::line64:
      return detail::line_rate(8 * lines, hashes, items, 64);
  }
  refuse(ErrorCode::invalid_argument, "unknown layout; use line, pair or classic");
}

double predicted_rate(const Plan& plan, double items) {
  return predicted_rate(plan.layout, plan.bits, plan.hashes, items);
}

double textbook_rate(double bits_per_key, double hashes) noexcept {
  return std::pow(-std::expm1(-hashes / bits_per_key), hashes);
}

double lower_bound_bits(double rate) noexcept { return -std::log2(rate); }

void validate(const Plan& plan) {
  if (max_hashes(plan.layout) == 0)
    refuse(ErrorCode::invalid_argument, "unknown layout " +
                                            std::to_string(static_cast<int>(plan.layout)) +
                                            "; use line, pair or classic");
  const std::uint64_t most = max_bits(plan.layout);
  if (plan.bits > most || plan.bits < kLineBits || plan.bits % kLineBits != 0)
    refuse(plan.bits > most ? ErrorCode::too_large : ErrorCode::invalid_argument,
           std::to_string(plan.bits) +
               " bits are out of range; a filter has a multiple of 512, up to 2^" +
               std::to_string(std::countr_zero(most)));
  check_hashes(plan.layout, plan.hashes);
  check_capacity(plan.capacity);
  if (!(plan.rate > 0 && plan.rate < 1))
    refuse(ErrorCode::invalid_argument, "rate " + number(plan.rate) + " is not between 0 and 1");
}

Plan plan(std::uint64_t capacity, double rate, std::optional<Layout> layout) {
  return solve({.capacity = capacity, .rate = rate, .bits = {}, .hashes = {}, .layout = layout});
}

Plan solve(const PlanRequest& request) {
  if (request.capacity) check_capacity(*request.capacity);
  if (request.rate) check_rate(*request.rate);
  const Layout layout = request.layout.value_or(default_layout(request.rate.value_or(kMaxRate)));
  if (max_hashes(layout) == 0)
    refuse(ErrorCode::invalid_argument, "unknown layout; use line, pair or classic");
  if (request.hashes) check_hashes(layout, *request.hashes);
  if (request.bits && *request.bits == 0)
    refuse(ErrorCode::invalid_argument, "0 bits hold nothing; give at least 512");

  if (request.capacity && request.bits) {
    Plan plan = from_capacity_and_bits(layout, *request.capacity, *request.bits, request.hashes);
    if (request.rate) {
      if (plan.rate > *request.rate)
        refuse(ErrorCode::invalid_argument,
               std::to_string(*request.capacity) + " items in " + std::to_string(plan.bits) +
                   " bits give a rate of " + number(plan.rate) + ", not " + number(*request.rate) +
                   "; give more bits, fewer items or a higher rate");
      plan.rate = *request.rate;
    }
    return plan;
  }
  if (request.capacity && request.rate)
    return from_capacity_and_rate(layout, *request.capacity, *request.rate, request.hashes);
  if (request.rate && request.bits)
    return from_rate_and_bits(layout, *request.rate, *request.bits, request.hashes);
  if (request.capacity && request.hashes)
    return from_capacity_and_hashes(layout, *request.capacity, *request.hashes);
  if (request.bits && request.hashes)
    return from_bits_and_hashes(layout, *request.bits, *request.hashes);
  if (request.rate && request.hashes) refuse_ratio_alone(layout, *request.rate, *request.hashes);
  refuse(ErrorCode::invalid_argument,
         "too little is known; give two of items, rate, bits and hashes");
}

}  // namespace bloomery
