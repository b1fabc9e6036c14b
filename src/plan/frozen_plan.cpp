// Frozen plans: the number of partitions, the bits of their fingerprints, and the cells of each.
#include <bloomery/frozen_plan.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "plan/fuse_geometry.hpp"
#include "plan/refuse.hpp"

namespace bloomery {

namespace {

static_assert(kMaxFrozenPartitions == detail::kBuckets);

using detail::first_bucket;
using detail::partition_geometry;
using detail::refuse;
using Field = PlanField;

// The most keys of a partition: enough for segments of 2^15 cells, at which a partition takes 1.111 cells per key, and
// few enough to be built in 300 MB.
constexpr std::uint64_t kPartitionKeys = 10'000'000;
constexpr std::uint64_t kMorePartitions = 32;
static_assert(kMaxFrozenKeys / kPartitionKeys + 1 + kMorePartitions <= kMaxFrozenPartitions);

// How many of the first partitions can have fingerprints of one bit less than `bits`.
std::uint32_t most_narrow(std::uint32_t partitions, std::uint32_t bits, double fpr) {
  const double wide = std::ldexp(1.0, -static_cast<int>(bits));
  std::uint32_t count = 0;
  while (count + 1 < partitions) {
    const double share = std::ldexp(static_cast<double>(first_bucket(count + 1, partitions)),
                                    -static_cast<int>(detail::kBucketBits));
    if (wide * (1 + share) > fpr) break;
    ++count;
  }
  return count;
}

FrozenPlan with_partitions(std::uint64_t keys, double fpr, std::uint32_t partitions) {
  FrozenPlan plan;
  plan.partitions = partitions;
  while (std::ldexp(1.0, -static_cast<int>(plan.fingerprint_bits)) > fpr) ++plan.fingerprint_bits;
  if (plan.fingerprint_bits > 1)
    plan.narrow_partitions = most_narrow(partitions, plan.fingerprint_bits, fpr);
  std::uint64_t bytes = detail::partition_table_bytes(partitions);
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    const std::uint64_t buckets =
        first_bucket(partition + 1, partitions) - first_bucket(partition, partitions);
    const std::uint64_t in_partition =
        (keys * buckets + kMaxFrozenPartitions - 1) / kMaxFrozenPartitions;
    bytes += partition_geometry(in_partition).bytes(plan.bits_of(partition));
  }
  plan.array = {
      .layout = Layout::standard, .bits = bytes * 8, .hashes = 3, .capacity = keys, .fpr = fpr};
  return plan;
}

}  // namespace

double FrozenPlan::fingerprint_fpr() const noexcept {
  const double narrow = std::ldexp(static_cast<double>(first_bucket(narrow_partitions, partitions)),
                                   -static_cast<int>(detail::kBucketBits));
  return (1 + narrow) * std::ldexp(1.0, -static_cast<int>(fingerprint_bits));
}

std::uint64_t FrozenPlan::building_bytes() const noexcept {
  return 8 * std::min(array.capacity, kFrozenKeysInMemory) + bytes() +
         38 * array.capacity / partitions;
}

std::uint64_t FrozenPlan::spool_bytes() const noexcept {
  return 8 * (array.capacity - std::min(array.capacity, kFrozenKeysInMemory));
}

FrozenPlan FrozenPlan::list() const noexcept {
  FrozenPlan plan = *this;
  plan.array.fpr = list_fpr();
  plan.delta.reset();
  return plan;
}

FrozenPlan frozen_plan(std::uint64_t keys, double fpr, std::uint64_t delta_keys) {
  if (!(fpr <= kMaxFpr && fpr * (1 - kDeltaShare) >= kMinFrozenFpr))
    refuse(Field::fpr, "{fpr} " + detail::number(fpr) +
                           " is not between 1.1e-09 and 0.5, as it must be with {delta}");
  if (delta_keys == 0)
    refuse(Field::delta,
           "{delta} is 0; say how many keys may come before the filter is built again");
  const Plan delta = plan(delta_keys, fpr * kDeltaShare);
  FrozenPlan both = frozen_plan(keys, fpr - delta.fpr);
  both.array.fpr = fpr;
  both.delta = delta;
  return both;
}

FrozenPlan frozen_plan(std::uint64_t keys, double fpr) {
  if (keys == 0) refuse(Field::capacity, "{capacity} is 0; give at least 1 key");
  if (keys > kMaxFrozenKeys)
    refuse(ErrorCode::too_large, Field::capacity,
           "{capacity} " + detail::grouped(keys) +
               " is above the limit of a frozen filter, 2^35 keys");
  if (!(fpr >= kMinFrozenFpr && fpr <= kMaxFpr))
    refuse(Field::fpr, "{fpr} " + detail::number(fpr) +
                           " is not between 1e-09 and 0.5, as a frozen filter's must be");
  const std::uint64_t least = (keys + kPartitionKeys - 1) / kPartitionKeys;
  FrozenPlan best;
  // With more partitions the mixture of fingerprint bits may fit the rate better.
  for (std::uint64_t partitions = least; partitions < least + kMorePartitions; ++partitions) {
    const FrozenPlan it = with_partitions(keys, fpr, static_cast<std::uint32_t>(partitions));
    if (partitions == least || it.array.bits < best.array.bits) best = it;
  }
  return best;
}

FrozenPlan empty_frozen_plan(double fpr) {
  FrozenPlan plan = frozen_plan(1, fpr);
  plan.partitions = 1;
  plan.narrow_partitions = 0;
  plan.array.bits = 8 * detail::partition_table_bytes(1);
  return plan;
}

double predicted_fpr(const FrozenPlan& plan, double /*items*/) {
  const double list = plan.fingerprint_fpr();
  return plan.delta ? list + (1 - list) * plan.delta->fpr : list;
}

void validate(const FrozenPlan& plan) {
  validate(plan.array);
  if (plan.delta) {
    validate(*plan.delta);
    if (counter_bits(plan.delta->layout) != 0)
      refuse(Field::layout, "a delta cannot have counters");
  }
  if (!(plan.list_fpr() >= kMinFrozenFpr && plan.array.fpr <= kMaxFpr) ||
      plan.array.layout != Layout::standard || plan.array.hashes != 3)
    refuse(Field::fpr, "a frozen filter cannot have these fields");
  if (plan.partitions == 0 || plan.partitions > kMaxFrozenPartitions ||
      plan.narrow_partitions >= plan.partitions || plan.fingerprint_bits == 0 ||
      plan.fingerprint_bits > kMaxFingerprintBits ||
      (plan.fingerprint_bits == 1 && plan.narrow_partitions != 0))
    refuse(Field::bits, "a frozen filter cannot have these partitions");
  if (plan.fingerprint_fpr() > plan.list_fpr())
    refuse(Field::fpr, "fingerprints of " + std::to_string(plan.fingerprint_bits) +
                           " bits cannot have a false-positive rate of " +
                           detail::number(plan.list_fpr()));
}

}  // namespace bloomery
