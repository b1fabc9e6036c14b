// Encodes and decodes records, and derives the parameters of each shard from a record.
#include "redis/module/module_record.hpp"

#include <bloomery/error.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/redis_url.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "redis/shards/shard_keys.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view kMagic(
    "\x89"
    "BLF\r\n\x1A\n",
    8);
constexpr std::uint16_t kVersion = 2;  // version 2: a copy; 1: not a copy
constexpr std::uint32_t kFirstCopyMarker = std::uint32_t{1} << 31;
constexpr std::uint64_t kCopiesWithRoom = 16;

enum Field : std::size_t {
  version_at = 8,
  shards_at = 12,
  capacity_at = 16,
  fpr_at = 24,
  expansion_at = 32,
  zeros_at = 36,
  identity_at = 64,
  foreign_markers_at = 72,
  more_zeros_at = 80,
  checksum_at = 120,
};

// For a Poisson distribution with a large mean, a value more than 7 standard deviations above the mean has a
// probability below 1e-11. For a small mean the keys that are added are enough.
constexpr double kDeviations = 7;
constexpr double kFewKeys = 30;

std::uint64_t sum_of(std::string_view record) {
  return checksum(std::as_bytes(std::span(record.data(), checksum_at)));
}

}  // namespace

std::size_t ModuleRecord::markers_of_each() const {
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(-16 / std::log10(plan.fpr))), 4,
                                 64);
}

std::vector<std::string> ModuleRecord::numbered_markers(std::uint32_t shard,
                                                        std::uint32_t from) const {
  std::vector<std::string> markers;
  std::string marker = std::string(kMagic).append(identity.data(), identity.size());
  marker.resize(marker.size() + 8);
  for (std::uint32_t i = 0; i < markers_of_each(); ++i) {
    store_le(marker.data() + 16, shard);
    store_le(marker.data() + 20, from + i);
    markers.push_back(marker);
  }
  return markers;
}

std::vector<std::string> ModuleRecord::markers(std::uint32_t shard) const {
  return numbered_markers(shard, 0);
}

std::vector<std::string> ModuleRecord::copy_markers(std::uint32_t shard) const {
  return numbered_markers(shard, kFirstCopyMarker);
}

std::string ModuleRecord::common_marker() { return std::string(kMagic).append("shard"); }

std::uint64_t ModuleRecord::capacity_of_each() const {
  const double share = static_cast<double>(plan.capacity) / shards;
  const double more = shards == 1 ? 0 : kDeviations * std::sqrt(share) + kFewKeys;
  return static_cast<std::uint64_t>(std::ceil(share + more)) + markers_of_each() + 1;
}

std::uint64_t ModuleRecord::reserved_of_each() const {
  const std::uint64_t room = plan.expansion == 0 ? kCopiesWithRoom * 2 * markers_of_each() : 0;
  return capacity_of_each() + room;
}

std::string module_record_key(std::string_view name) {
  return first_shard_key(name).append(":shards");
}

std::string encode_module_record(const ModuleRecord& record) {
  std::string out(kRecordBytes, '\0');
  char* p = out.data();
  std::copy(kMagic.begin(), kMagic.end(), p);
  store_le(p + version_at, static_cast<std::uint16_t>(record.foreign_markers == 0 ? 1 : kVersion));
  store_le(p + shards_at, record.shards);
  store_le64(p + capacity_at, record.plan.capacity);
  store_le64(p + fpr_at, std::bit_cast<std::uint64_t>(record.plan.fpr));
  store_le(p + expansion_at, record.plan.expansion);
  std::copy(record.identity.begin(), record.identity.end(), p + identity_at);
  store_le64(p + foreign_markers_at, record.foreign_markers);
  store_le64(p + checksum_at, sum_of(out));
  return out;
}

ModuleRecord decode_module_record(std::string_view bytes, const std::string& name) {
  if (bytes.size() != kRecordBytes || !bytes.starts_with(kMagic))
    throw Error(ErrorCode::not_a_filter,
                name + " is not the record of a filter in shards; check the name");
  const char* p = bytes.data();
  const auto version = load_le<std::uint16_t>(p + version_at);
  if (version > kVersion)
    throw Error(ErrorCode::newer_format, name + " is of format " + std::to_string(version) +
                                             ", this program reads up to " +
                                             std::to_string(kVersion) + "; use a newer bloomery");
  const auto any_set = [&](std::size_t from, std::size_t to) {
    return std::any_of(p + from, p + to, [](char c) { return c != 0; });
  };
  ModuleRecord record;
  record.shards = load_le<std::uint32_t>(p + shards_at);
  record.plan = {.capacity = load_le64(p + capacity_at),
                 .fpr = std::bit_cast<double>(load_le64(p + fpr_at)),
                 .expansion = load_le<std::uint32_t>(p + expansion_at)};
  std::copy_n(p + identity_at, record.identity.size(), record.identity.begin());
  record.foreign_markers = load_le64(p + foreign_markers_at);
  if (version == 0 || sum_of(bytes) != load_le64(p + checksum_at) || any_set(10, shards_at) ||
      any_set(zeros_at, identity_at) || any_set(more_zeros_at, checksum_at) ||
      (version == 1) != (record.foreign_markers == 0) || record.foreign_markers > kMaxCapacity ||
      record.shards == 0 || record.shards > kMaxRedisShards || record.plan.capacity == 0 ||
      record.plan.capacity > kMaxCapacity ||
      !(record.plan.fpr >= kMinFpr && record.plan.fpr <= kMaxFpr))
    throw Error(ErrorCode::corrupt, name + " is damaged; build the filter again");
  return record;
}

}  // namespace bloomery::detail
