// Plans as sub-filters.
#include "values/plans.hpp"

#include <algorithm>

namespace bloomery::server {

legacy::redisbloom::SubFilter sizes_of(const Plan& plan) {
  legacy::redisbloom::SubFilter sizes;
  sizes.bytes = plan.bytes() * std::max(1U, counter_bits(plan.layout));
  sizes.bits = plan.bits;
  sizes.entries = plan.capacity;
  sizes.error = plan.fpr;
  sizes.bits_per_entry = plan.bits_per_key();
  sizes.hashes = plan.hashes;
  sizes.exponent = static_cast<std::uint8_t>(plan.layout);
  return sizes;
}

Plan plan_of(const legacy::redisbloom::SubFilter& sizes) {
  return {static_cast<Layout>(sizes.exponent), sizes.bits, sizes.hashes, sizes.entries,
          sizes.error};
}

legacy::redisbloom::SubFilter plan_native(std::uint64_t capacity, double fpr) {
  return sizes_of(plan(capacity, std::clamp(fpr, kMinFpr, kMaxFpr)));
}

}  // namespace bloomery::server
