// Plans: the search for the bits and hashes that meet a request, in every direction.
#include <bloomery/counting_plan.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>

#include "plan/layouts.hpp"
#include "plan/refuse.hpp"

namespace bloomery {

namespace {

using detail::counted;
using detail::fpr_of;
using detail::grouped;
using detail::limit_of;
using detail::number;
using detail::refuse;
using detail::too_many_hashes;
using Field = PlanField;

std::string with_layout(Layout layout) { return " with layout " + std::string(to_string(layout)); }

// What the array of a layout consists of.
std::string bits_of(Layout layout, std::uint64_t bits) {
  return counted(bits, counter_bits(layout) == 0 ? "bit" : "counter");
}

std::uint64_t whole_blocks(Layout layout, std::uint64_t bits) {
  if (bits > max_bits(layout))
    refuse(
        ErrorCode::too_large, Field::bits,
        bits_of(layout, bits) + " are above the limit of " + limit_of(layout) + "; split the set");
  return std::max(kBlockBits, bits / kBlockBits * kBlockBits);
}

std::uint64_t max_blocks(Layout layout) { return max_bits(layout) / kBlockBits; }

// The first number from 1 to `most` for which `meets` is true; it must be true for every larger number too. 0 if it
// is false for all. The search goes away from `guess` in steps that double, and then halves the last step: two to four
// calls if the guess is off by at most one.
template <class Meets>
std::uint64_t first_number(std::uint64_t most, double guess, Meets meets) {
  auto high = static_cast<std::uint64_t>(std::clamp(guess, 1.0, static_cast<double>(most)));
  std::uint64_t low = 0, step = 1;
  if (meets(high)) {
    for (; high > 1; step *= 2) {
      const std::uint64_t next = high - std::min(step, high - 1);
      if (!meets(next)) {
        low = next;
        break;
      }
      high = next;
    }
  } else {
    do {
      if (high == most) return 0;
      low = high;
      high += std::min(step, most - high);
      step *= 2;
    } while (!meets(high));
  }
  // `low` does not meet it, `high` does.
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (meets(middle) ? high : low) = middle;
  }
  return high;
}

// The bits per key of the textbook for this fpr: -k / ln(1 - p^(1/k)).
double textbook_ratio(std::uint32_t hashes, double fpr) {
  return hashes / -std::log1p(-std::pow(fpr, 1.0 / hashes));
}

// A guess of the number, from 1 to `most`, that has the fpr `target`: by the secant method, in logarithms of both,
// from `start`. After a few steps it is mostly off by less than one; it is where a search begins. `direction` is 1 if
// the fpr rises with the number, and -1 if it falls.
template <class Fpr>
double guess_number(double start, std::uint64_t most, double direction, double target,
                    Fpr fpr_with) {
  const auto whole = [&](double number) {
    return std::clamp(std::ceil(number), 1.0, static_cast<double>(most));
  };
  const auto excess_of = [&](double number) { return std::log(fpr_with(number) / target); };
  double last = whole(start), excess = excess_of(last);
  double guess = whole(last * (excess * direction > 0 ? 0.8 : 1.25));
  for (int steps = 0; steps < 8 && std::abs(guess - last) > 1; ++steps) {
    const double here = excess_of(guess), slope = (here - excess) / std::log(guess / last);
    // Nearly all bits are ones, or hardly any.
    if (!std::isfinite(slope) || slope * direction <= 0) break;
    last = guess;
    excess = here;
    guess = whole(guess * std::exp(std::clamp(-here / slope, -2.0, 2.0)));
  }
  return guess;
}

// The fewest blocks with which `items` keys of `hashes` bits stay at or below the fpr; 0 if not even the most do.
std::uint64_t blocks_for_fpr(Layout layout, std::uint32_t hashes, double items, double fpr) {
  const auto fpr_with = [&](double blocks) {
    return predicted_fpr(layout, static_cast<std::uint64_t>(blocks) * kBlockBits, hashes, items);
  };
  const double textbook = items * textbook_ratio(hashes, fpr) / kBlockBits;
  const std::uint64_t most = max_blocks(layout);
  return first_number(
      most, guess_number(textbook, most, -1, fpr, fpr_with),
      [&](std::uint64_t blocks) { return fpr_with(static_cast<double>(blocks)) <= fpr; });
}

// The hash count with the lowest cost. The first counts may all be equally bad; after them the cost
// falls and then rises, except for rounding. So the search stops four steps after the last count that
// was no worse than the best.
template <class Cost>
std::uint32_t cheapest_hashes(Layout layout, Cost cost) {
  const std::uint32_t step = detail::key_blocks(layout);
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

// The hash count that needs the fewest blocks; of several the lowest. From the best count on, the blocks rise in both
// directions. So the search starts at the textbook's count and goes both ways, until four counts in a row are worse
// than the best.
std::optional<Plan> search_smallest(Layout layout, std::uint64_t capacity, double fpr,
                                    std::optional<std::uint32_t> hashes) {
  const auto items = static_cast<double>(capacity);
  const auto bits_with = [&](std::uint32_t k) {
    return blocks_for_fpr(layout, k, items, fpr) * kBlockBits;
  };
  const std::uint32_t step = detail::key_blocks(layout), most = max_hashes(layout);
  const auto textbook = static_cast<std::uint32_t>(lower_bound_bits(fpr)) / step * step;
  const std::uint32_t start = hashes.value_or(std::clamp(textbook, step, most));
  Plan best{layout, bits_with(start), start, capacity, fpr};
  // Takes the count if it is better. Returns whether it is as good or better; as long as none does, all are as good.
  const auto try_count = [&](std::uint32_t k) {
    const auto do_with = [&](std::uint64_t bits) {
      return predicted_fpr(layout, bits, k, items) <= fpr;
    };
    if (!do_with(best.bits != 0 ? best.bits : max_bits(layout))) return best.bits == 0;
    if (best.bits == 0 || (best.bits > kBlockBits && do_with(best.bits - kBlockBits))) {
      best.bits = bits_with(k);
      best.hashes = k;
    }
    best.hashes = std::min(best.hashes, k);
    return true;
  };
  if (!hashes) {
    for (std::uint32_t k = start + step, last = start; k <= most && k <= last + 4 * step; k += step)
      if (try_count(k)) last = k;
    for (std::uint32_t k = start - step, last = start; k >= step && k + 4 * step >= last; k -= step)
      if (try_count(k)) last = k;
  }
  return best.bits == 0 ? std::nullopt : std::optional(best);
}

// The latest plans of a thread, by request: filters with the same parameters are made in large numbers, one per user.
class LatestPlans {
 public:
  std::optional<Plan> get(Layout layout, std::uint64_t capacity, double fpr,
                          std::optional<std::uint32_t> hashes) {
    const Request request{layout, capacity, fpr, hashes};
    for (const Made& made : made_)
      if (made.request == request) return made.plan;
    const auto plan = search_smallest(layout, capacity, fpr, hashes);
    made_[next_++ % made_.size()] = {request, plan};
    return plan;
  }

 private:
  struct Request {
    Layout layout{};
    std::uint64_t capacity = 0;  // no request has 0
    double fpr = 0;
    std::optional<std::uint32_t> hashes;
    friend bool operator==(const Request&, const Request&) = default;
  };
  struct Made {
    Request request;
    std::optional<Plan> plan;
  };
  std::array<Made, 64> made_{};
  std::size_t next_ = 0;
};

// Refuses a counting plan with more bits per key than the limit. `plan` is nullopt if even the largest
// filter is too small.
[[noreturn]] void refuse_counters(Layout layout, std::uint64_t capacity, double fpr,
                                  std::optional<std::uint32_t> hashes,
                                  const std::optional<Plan>& plan) {
  const std::uint64_t bits = counter_bits(layout) * (plan ? plan->bits : max_bits(layout));
  refuse(
      ErrorCode::too_large, Field::fpr,
      counted(capacity, "key") + " at " + fpr_of(fpr) +
          (hashes ? " with " + counted(*hashes, "hash") : "") + " need " +
          (plan ? "" : "more than ") + grouped((bits + (plan ? capacity / 2 : 0)) / capacity) +
          " bits per key with counters of " + counted(counter_bits(layout), "bit") +
          ", above the limit of " + grouped(kMostCountingBitsPerKey) +
          (hashes
               ? "; leave {hashes} out, or allow a higher false-positive rate"
               : "; allow a higher false-positive rate (1e-10 with counters of 8 bits, and any "
                 "with 4, stay below it), or keep a set of the keys themselves, which takes less"));
}

Plan from_capacity_and_fpr(Layout layout, std::uint64_t capacity, double fpr,
                           std::optional<std::uint32_t> hashes) {
  const auto plan = detail::smallest_plan(layout, capacity, fpr, hashes);
  if (const std::uint32_t width = counter_bits(layout); width != 0) {
    const std::uint64_t most =
        std::max(kSmallCountingBits, capacity * kMostCountingBitsPerKey) / width;
    if (most < max_bits(layout) && (!plan || plan->bits > most))
      refuse_counters(layout, capacity, fpr, hashes, plan);
  }
  if (plan) return *plan;
  refuse(ErrorCode::too_large, Field::capacity,
         counted(capacity, "key") + " at " + fpr_of(fpr) + with_layout(layout) +
             " need more than " + limit_of(layout) +
             "; split the set, or allow a higher false-positive rate");
}

Plan from_capacity_and_bits(Layout layout, std::uint64_t capacity, std::uint64_t bits,
                            std::optional<std::uint32_t> hashes) {
  const auto items = static_cast<double>(capacity);
  bits = whole_blocks(layout, bits);
  const std::uint32_t k = hashes ? *hashes : cheapest_hashes(layout, [&](std::uint32_t count) {
    return predicted_fpr(layout, bits, count, items);
  });
  const double fpr = predicted_fpr(layout, bits, k, items);
  if (!(fpr < 1))
    refuse(Field::bits, bits_of(layout, bits) + " are too few for " + counted(capacity, "key") +
                            ": every answer would be \"maybe\"; give more bits");
  return {layout, bits, k, capacity, std::max(fpr, 1e-300)};
}

// The most items for which `fits` is true; it must be true for every smaller number too. The search begins at `guess`.
template <class Fits>
std::uint64_t most_items(double guess, Fits fits) {
  // A key takes at least a bit at any fpr that a plan can have, and more for a hash to be the best.
  static_assert(kMaxCapacity > kMaxBits);
  return first_number(kMaxCapacity, guess,
                      [&](std::uint64_t items) { return !fits(static_cast<double>(items)); }) -
         1;
}

// The most items that stay at or below the fpr, if they are more than `known`; otherwise `known`, or 0 if that is too
// many.
std::uint64_t items_for_fpr(Layout layout, std::uint64_t bits, std::uint32_t hashes, double fpr,
                            std::uint64_t known) {
  const auto fpr_with = [&](double items) { return predicted_fpr(layout, bits, hashes, items); };
  const auto fits = [&](double items) { return fpr_with(items) <= fpr; };
  if (!fits(static_cast<double>(known))) return 0;
  if (!fits(static_cast<double>(known + 1))) return known;
  const double textbook = static_cast<double>(bits) / textbook_ratio(hashes, fpr);
  return most_items(guess_number(textbook, kMaxCapacity, 1, fpr, fpr_with), fits);
}

Plan from_fpr_and_bits(Layout layout, double fpr, std::uint64_t bits,
                       std::optional<std::uint32_t> hashes) {
  bits = whole_blocks(layout, bits);
  std::uint64_t capacity = 0;
  const auto more_items = [&](std::uint32_t count) {
    const std::uint64_t items = items_for_fpr(layout, bits, count, fpr, capacity);
    capacity = std::max(capacity, items);
    return -static_cast<double>(items);
  };
  if (hashes) more_items(*hashes);
  const std::uint32_t k = hashes ? *hashes : cheapest_hashes(layout, more_items);
  if (capacity == 0)
    refuse(Field::bits, "not one key fits into " + bits_of(layout, bits) + " with " +
                            counted(k, "hash") + " at " + fpr_of(fpr) +
                            "; give more bits, or allow a higher false-positive rate");
  return {layout, bits, k, capacity, fpr};
}

// The smallest size at which fewer hashes would not be better: at this size the given hash count is the best.
Plan from_capacity_and_hashes(Layout layout, std::uint64_t capacity, std::uint32_t hashes) {
  const auto items = static_cast<double>(capacity);
  const std::uint64_t blocks = first_number(
      max_blocks(layout), items * hashes * 1.44 / kBlockBits, [&](std::uint64_t count) {
        return !too_many_hashes(layout, count * kBlockBits, hashes, items);
      });
  if (blocks == 0)
    refuse(ErrorCode::too_large, Field::hashes,
           counted(hashes, "hash") + (hashes == 1 ? " is" : " are") + " the best for " +
               counted(capacity, "key") + with_layout(layout) + " only above " + limit_of(layout) +
               "; " + (hashes > detail::key_blocks(layout) ? "give fewer hashes, or " : "") +
               "split the set");
  return from_capacity_and_bits(layout, capacity, blocks * kBlockBits, hashes);
}

Plan from_bits_and_hashes(Layout layout, std::uint64_t bits, std::uint32_t hashes) {
  bits = whole_blocks(layout, bits);
  const std::uint64_t capacity =
      most_items(static_cast<double>(bits) / hashes / 1.44,
                 [&](double items) { return !too_many_hashes(layout, bits, hashes, items); });
  return from_capacity_and_bits(layout, std::max<std::uint64_t>(capacity, 1), bits, hashes);
}

// An fpr and a number of hashes do not determine the size, only the bits per key.
[[noreturn]] void refuse_ratio_alone(Layout layout, double fpr, std::uint32_t hashes) {
  constexpr double kManyItems = 1e8;  // so many that rounding to blocks does not matter
  const std::uint64_t blocks = blocks_for_fpr(layout, hashes, kManyItems, fpr);
  const std::string given = fpr_of(fpr) + " and " + counted(hashes, "hash");
  if (blocks == 0)
    refuse(ErrorCode::too_large, Field::hashes,
           given + " need over 10^4 bits per key" + with_layout(layout) + "; give more hashes");
  refuse(Field::capacity, given + " determine only the ratio, " +
                              number(static_cast<double>(blocks * kBlockBits) / kManyItems) +
                              " bits per key" + with_layout(layout) +
                              "; give {capacity} or {bits} too");
}

}  // namespace

std::optional<Plan> detail::smallest_plan(Layout layout, std::uint64_t capacity, double fpr,
                                          std::optional<std::uint32_t> hashes) {
  constinit static thread_local LatestPlans latest;
  return latest.get(layout, capacity, fpr, hashes);
}

Plan plan(std::uint64_t capacity, double fpr, std::optional<Layout> layout) {
  return solve({.capacity = capacity, .fpr = fpr, .bits = {}, .hashes = {}, .layout = layout});
}

Plan solve(const PlanRequest& request) {
  if (request.capacity) detail::check_capacity(*request.capacity);
  if (request.fpr) detail::check_fpr(*request.fpr);
  const Layout layout =
      request.layout.value_or(detail::default_layout(request.fpr.value_or(kMaxFpr)));
  detail::check_layout(layout);
  if (request.hashes) detail::check_hashes(layout, *request.hashes);
  if (request.bits && *request.bits == 0)
    refuse(Field::bits, "0 bits hold nothing; give at least 512");

  if (request.capacity && request.bits) {
    Plan plan = from_capacity_and_bits(layout, *request.capacity, *request.bits, request.hashes);
    if (request.fpr) {
      if (plan.fpr > *request.fpr) {
        const int digits = detail::digits_apart(plan.fpr, *request.fpr);
        refuse(Field::bits, counted(*request.capacity, "key") + " in " +
                                bits_of(layout, plan.bits) + " give " + fpr_of(plan.fpr, digits) +
                                ", not " + number(*request.fpr, digits) +
                                "; give more bits, fewer keys or a higher false-positive rate");
      }
      plan.fpr = *request.fpr;
    }
    return plan;
  }
  if (request.capacity && request.fpr)
    return from_capacity_and_fpr(layout, *request.capacity, *request.fpr, request.hashes);
  if (request.fpr && request.bits)
    return from_fpr_and_bits(layout, *request.fpr, *request.bits, request.hashes);
  if (request.capacity && request.hashes)
    return from_capacity_and_hashes(layout, *request.capacity, *request.hashes);
  if (request.bits && request.hashes)
    return from_bits_and_hashes(layout, *request.bits, *request.hashes);
  if (request.fpr && request.hashes) refuse_ratio_alone(layout, *request.fpr, *request.hashes);
  refuse(request.capacity ? Field::fpr : Field::capacity,
         "give two of {capacity}, {fpr}, {bits} and {hashes}");
}

}  // namespace bloomery
