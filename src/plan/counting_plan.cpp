// Counting plans: memory to counters, and how many of them saturate.
#include <bloomery/counting_plan.hpp>

#include <limits>

#include "plan/fpr.hpp"
#include "plan/layouts.hpp"
#include "plan/refuse.hpp"

namespace bloomery {

Layout counting_layout(std::uint32_t counter_bits, double fpr) {
  if (counter_bits == 4) return fpr >= 1e-4 ? Layout::blocked128 : Layout::blocked2x128;
  if (counter_bits == 8) return fpr >= 1e-3 ? Layout::blocked64 : Layout::blocked2x64;
  detail::refuse(
      PlanField::counter_bits,
      "there are no counters of " + detail::counted(counter_bits, "bit") + "; use 4 or 8");
}

CountingPlan counting_plan(const PlanRequest& request, std::uint32_t counter_bits) {
  if (request.layout)
    detail::refuse(PlanField::layout,
                   "{layout} does not go with a counting filter: {counter_bits} decides it");
  PlanRequest with = request;
  // A key with two blocks cannot have an odd number of hashes.
  const bool odd = request.hashes.value_or(0) % 2 != 0;
  with.layout = counting_layout(counter_bits, odd ? kMaxFpr : request.fpr.value_or(kMaxFpr));
  if (with.bits) *with.bits /= counter_bits;
  return {solve(with)};
}

double counting_bits_per_key(std::uint64_t capacity, double fpr, Layout layout) {
  detail::check_capacity(capacity);
  detail::check_fpr(fpr);
  const auto plan = detail::smallest_plan(layout, capacity, fpr);
  return plan ? plan->bits_per_key() * counter_bits(layout)
              : std::numeric_limits<double>::infinity();
}

double predicted_fpr(const CountingPlan& plan, double items) {
  return predicted_fpr(plan.plan, items);
}

double predicted_saturation(const CountingPlan& plan, double items, std::uint32_t times) {
  const std::uint32_t width = counter_bits(plan.plan.layout);
  if (width == 0 || times == 0) return 0;
  const std::uint32_t most = (1U << width) - 1;
  const unsigned block_bits = kBlockBits / width;
  const std::uint32_t blocks = detail::key_blocks(plan.plan.layout);
  return detail::share_of_bits_hit(static_cast<double>(plan.plan.bits) / block_bits,
                                   plan.plan.hashes / blocks, items * blocks, block_bits,
                                   (most + times - 1) / times);
}

}  // namespace bloomery
