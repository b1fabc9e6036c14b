// How many cells the keys of a partition need.
#include "plan/fuse_geometry.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace bloomery::detail {

namespace {

// For 2^i keys: the bits of a segment's size, and cells per thousand keys. With these values at least three
// of four random seeds succeed, and from 2^20 keys on nearly all (tests/filter/frozen_filter_test.cpp tries
// every size).
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

}  // namespace

PartitionGeometry partition_geometry(std::uint64_t keys, std::uint32_t attempt) noexcept {
  const std::uint64_t least = std::max<std::uint64_t>(keys, 1);
  const std::size_t step = std::min<std::size_t>(std::bit_width(least) - 1, kSteps.size() - 1);
  const std::uint64_t from = std::uint64_t{1} << step;
  // Interpolates linearly between two powers of two.
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

}  // namespace bloomery::detail
