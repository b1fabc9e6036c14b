// Makes a frozen filter from its partitions, or over its bytes.
#include <bloomery/frozen_filter.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/endian.hpp"
#include "filter/frozen_partition.hpp"

namespace bloomery {

namespace {

using detail::FusePartition;

[[noreturn]] void refuse(std::uint32_t partition, const std::string& what) {
  throw Error(ErrorCode::corrupt, "partition " + std::to_string(partition) +
                                      " of a frozen filter has " + what +
                                      "; build the filter again");
}

// A filter of no keys is a table with one entry of zeros. A look-up in a partition without cells reads
// these zeros, with which only one key in 2^32 agrees.
alignas(64) constexpr std::array<std::byte, 64> kZeros{};
constexpr FusePartition kEmptyPartition{
    .cells = kZeros.data(), .seed = 0x9E3779B97F4A7C15, .mask = UINT32_MAX, .bits = 32};

// An entry of the table, all zeros if the partition has no keys. Its fields, with their bytes: the start of the
// cells (8), the number of keys (8), the seed (8), the number of segments for first cells (4), the bits of a
// segment's size (1), the bits of a fingerprint (1), zeros (2).
struct Entry {
  std::uint64_t at, keys, seed;
  detail::PartitionGeometry geometry;
  std::uint32_t bits;
};

void write_entry(const Entry& entry, std::byte* to) noexcept {
  detail::store_le64(to, entry.at);
  detail::store_le64(to + 8, entry.keys);
  detail::store_le64(to + 16, entry.seed);
  detail::store_le(to + 24, entry.geometry.starts);
  to[28] = static_cast<std::byte>(entry.geometry.segment_bits);
  to[29] = static_cast<std::byte>(entry.bits);
}

Entry read_entry(const std::byte* from, std::uint32_t partition) {
  const Entry entry{.at = detail::load_le64(from),
                    .keys = detail::load_le64(from + 8),
                    .seed = detail::load_le64(from + 16),
                    .geometry = {.starts = detail::load_le<std::uint32_t>(from + 24),
                                 .segment_bits = static_cast<std::uint32_t>(from[28])},
                    .bits = static_cast<std::uint32_t>(from[29])};
  if (entry.geometry.starts == 0) {
    if (!std::ranges::equal(std::span(from, detail::kPartitionEntryBytes),
                            std::span(kZeros).first(detail::kPartitionEntryBytes)))
      refuse(partition, "keys, but no cells");
    return entry;
  }
  if (entry.geometry.segment_bits > detail::kMaxSegmentBits || entry.geometry.cells() > UINT32_MAX)
    refuse(partition, std::to_string(entry.geometry.starts) + " segments of 2^" +
                          std::to_string(entry.geometry.segment_bits) + " cells");
  if (detail::load_le<std::uint16_t>(from + 30) != 0) refuse(partition, "unknown fields");
  return entry;
}

}  // namespace

FrozenFilter::FrozenFilter(const FrozenPlan& plan, const Hasher& hasher)
    : plan_(plan),
      hasher_(hasher),
      kernel_(&detail::kernel_for<detail::FrozenKernel>(plan.array.layout)) {}

FrozenFilter::FrozenFilter(double fpr, const Hasher& hasher)
    : FrozenFilter(empty_frozen_plan(fpr), hasher) {
  table_ = kZeros;
  partitions_ = {kEmptyPartition};
}

FrozenFilter::FrozenFilter(const FrozenPlan& plan, const Hasher& hasher,
                           std::vector<detail::BuiltPartition> built)
    : FrozenFilter(plan, hasher) {
  const auto table_bytes = static_cast<std::size_t>(detail::partition_table_bytes(plan.partitions));
  memory_.emplace_back(table_bytes);
  table_ = memory_.front().bytes();
  std::byte* entry = memory_.front().bytes().data();
  std::uint64_t at = table_bytes;
  for (detail::BuiltPartition& partition : built) {
    if (partition.keys == 0) {
      partitions_.push_back(kEmptyPartition);
      entry += detail::kPartitionEntryBytes;
      continue;
    }
    write_entry({.at = at,
                 .keys = partition.keys,
                 .seed = partition.seed,
                 .geometry = partition.geometry,
                 .bits = partition.bits},
                entry);
    entry += detail::kPartitionEntryBytes;
    at += partition.cells.bytes().size();
    keys_ += partition.keys;
    cells_.push_back(partition.cells.bytes());
    partitions_.push_back(partition.fuse());
    memory_.push_back(std::move(partition.cells));
  }
  plan_.array.bits = at * 8;
  plan_.array.capacity = std::max<std::uint64_t>(keys_, 1);
}

FrozenFilter FrozenFilter::over(const FrozenPlan& plan, std::uint64_t keys, const Hasher& hasher,
                                std::span<const std::byte> bytes) {
  validate(plan);
  if (plan.delta)
    throw Error(ErrorCode::invalid_argument,
                "a frozen filter in memory is a list alone; give the list() of its plan");
  FrozenFilter filter(plan, hasher);
  filter.keys_ = keys;
  const std::uint64_t table = detail::partition_table_bytes(plan.partitions);
  if (bytes.size() != plan.bytes() || bytes.size() < table)
    refuse(0, std::to_string(bytes.size()) + " bytes in all");
  filter.table_ = bytes.first(static_cast<std::size_t>(table));
  std::uint64_t at = table, sum = 0;
  for (std::uint32_t partition = 0; partition < plan.partitions; ++partition) {
    const Entry entry =
        read_entry(bytes.data() + partition * detail::kPartitionEntryBytes, partition);
    if (entry.geometry.starts == 0) {
      filter.partitions_.push_back(kEmptyPartition);
      continue;
    }
    if (entry.bits != plan.bits_of(partition))
      refuse(partition, "fingerprints of " + std::to_string(entry.bits) + " bits");
    const std::uint64_t size = entry.geometry.bytes(entry.bits);
    if (entry.at != at || size > bytes.size() - at)
      refuse(partition, "cells at byte " + std::to_string(entry.at));
    filter.cells_.push_back(
        bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    filter.partitions_.push_back(
        detail::fuse_of(entry.geometry, entry.seed, entry.bits, filter.cells_.back().data()));
    at += size;
    sum += entry.keys;
    if (entry.keys == 0 || entry.keys > entry.geometry.cells() || sum > keys)
      refuse(partition, std::to_string(entry.keys) + " keys");
  }
  if (at != bytes.size() || sum != keys || std::max<std::uint64_t>(keys, 1) != plan.array.capacity)
    refuse(plan.partitions - 1, "not the last bytes or keys");
  return filter;
}

FrozenFilter FrozenFilter::over(const FrozenPlan& plan, std::uint64_t keys, const Hasher& hasher,
                                detail::BitMemory memory) {
  FrozenFilter filter = over(plan, keys, hasher, std::span<const std::byte>(memory.bytes()));
  filter.memory_.push_back(std::move(memory));
  return filter;
}

// The lists of the default operator would be empty after a move to itself.
FrozenFilter& FrozenFilter::operator=(FrozenFilter&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

void FrozenFilter::moved_to(std::span<const std::byte> bytes) noexcept {
  const std::byte* const before = table_.data();
  table_ = bytes.first(table_.size());
  for (std::span<const std::byte>& cells : cells_)
    cells = bytes.subspan(static_cast<std::size_t>(cells.data() - before), cells.size());
  for (FusePartition& partition : partitions_)
    if (partition.cells != kEmptyPartition.cells)
      partition.cells = bytes.data() + (partition.cells - before);
}

Stats FrozenFilter::stats(Precision /*precision*/) const noexcept {
  // The fill is the share of the cells that were filled for a key.
  std::uint64_t cells = 0;
  for (const FusePartition& partition : partitions_)
    cells += partition.first_cells + 2 * (std::uint64_t{partition.segment_mask} + 1);
  return {.fill = static_cast<double>(keys_) / static_cast<double>(cells),
          .estimated_items = static_cast<double>(keys_),
          .current_fpr = plan_.fingerprint_fpr(),
          .over_capacity = false};
}

std::vector<std::span<const std::byte>> FrozenFilter::pieces() const {
  if (partitions_.empty()) return {};  // it was moved from
  std::vector<std::span<const std::byte>> pieces = {table_};
  pieces.insert(pieces.end(), cells_.begin(), cells_.end());
  return pieces;
}

}  // namespace bloomery
