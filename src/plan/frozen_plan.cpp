// Frozen plans: the number of partitions, the bits of their fingerprints, and the cells of each.
#include <bloomery/frozen_plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "plan/frozen_partitions.hpp"
#include "plan/refuse.hpp"

namespace bloomery {

namespace {

using detail::first_bucket;
using detail::partition_geometry;
using detail::PartitionGeometry;
using detail::refuse;
using Field = PlanField;

// The most keys of a partition: enough for segments of 2^15 cells, at which a partition takes 1.111 cells per key, and
// few enough to be built in 300 MB.
constexpr std::uint64_t kPartitionKeys = 10'000'000;
constexpr std::uint64_t kMorePartitions = 32;

// For 2^i keys: the bits of a segment's size, and cells per thousand keys. With these at least three of four
// random seeds succeed, from 2^20 keys on nearly all (tests/filter/frozen_filter_test.cpp tries every size).
struct Step {
  std::uint8_t segment_bits;
  std::uint16_t cells_of_1000;
};
constexpr std::array<Step, 25> kSteps = {{
    {0, 3000},  {1, 3000},  {1, 2600},  {2, 2400},  {3, 2000},  {3, 1850},  {4, 1700},
    {5, 1600},  {5, 1520},  {6, 1440},  {6, 1370},  {7, 1320},  {7, 1290},  {8, 1250},
    {8, 1230},  {9, 1208},  {10, 1190}, {10, 1175}, {11, 1160}, {12, 1147}, {13, 1135},
    {13, 1126}, {14, 1120}, {15, 1107}, {15, 1107},
}};

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

namespace detail {

PartitionGeometry partition_geometry(std::uint64_t keys, std::uint32_t attempt) noexcept {
  const std::uint64_t least = std::max<std::uint64_t>(keys, 1);
  const std::size_t step = std::min<std::size_t>(std::bit_width(least) - 1, kSteps.size() - 1);
  const std::uint64_t from = std::uint64_t{1} << step;
  // Between two powers of two on a straight line.
  std::uint64_t of_1000 = kSteps[step].cells_of_1000;
  if (step + 1 < kSteps.size())
    of_1000 -= (of_1000 - kSteps[step + 1].cells_of_1000) * (least - from) / from;
  of_1000 += std::uint64_t{30} * (attempt / kTriesInSameCells);
  PartitionGeometry geometry{.segment_bits = kSteps[step].segment_bits};
  const std::uint64_t segment = std::uint64_t{1} << geometry.segment_bits;
  const std::uint64_t segments = (least * of_1000 / 1000 + segment - 1) / segment;
  geometry.starts = static_cast<std::uint32_t>(std::max<std::uint64_t>(segments, 3) - 2);
  return geometry;
}

}  // namespace detail

double FrozenPlan::fingerprint_fpr() const noexcept {
  const double narrow = std::ldexp(static_cast<double>(first_bucket(narrow_partitions, partitions)),
                                   -static_cast<int>(detail::kBucketBits));
  return (1 + narrow) * std::ldexp(1.0, -static_cast<int>(fingerprint_bits));
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
  // One more partition can make the mixture of their bits a better one.
  for (std::uint64_t partitions = least;
       partitions < least + kMorePartitions && partitions <= kMaxFrozenPartitions; ++partitions) {
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

double predicted_fpr(const FrozenPlan& plan, double /*items*/) { return plan.fingerprint_fpr(); }

void validate(const FrozenPlan& plan) {
  validate(plan.array);
  if (!(plan.array.fpr >= kMinFrozenFpr && plan.array.fpr <= kMaxFpr) ||
      plan.array.layout != Layout::standard || plan.array.hashes != 3)
    refuse(Field::fpr, "a frozen filter cannot have these fields");
  if (plan.partitions == 0 || plan.partitions > kMaxFrozenPartitions ||
      plan.narrow_partitions >= plan.partitions || plan.fingerprint_bits == 0 ||
      plan.fingerprint_bits > kMaxFingerprintBits ||
      (plan.fingerprint_bits == 1 && plan.narrow_partitions != 0))
    refuse(Field::bits, "a frozen filter cannot have these partitions");
}

}  // namespace bloomery
