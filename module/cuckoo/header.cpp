// The headers that a filter can have, and their bytes in a dump.
#include <bloomery/error.hpp>

#include <algorithm>
#include <bit>

#include "base/endian.hpp"
#include "cuckoo/filter.hpp"

namespace bloomery::server::cuckoo {

std::uint64_t Header::entries(std::uint32_t sub_filter) const noexcept {
  if (buckets > kMaxEntries) return 0;
  std::uint64_t entries = buckets * bucket_size;
  for (std::uint32_t i = 0; i < sub_filter && expansion > 1 && entries <= kMaxEntries; ++i)
    entries *= expansion;
  return entries > kMaxEntries ? 0 : entries;
}

std::uint64_t Header::all_entries() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < sub_filters; ++i) sum += entries(i);
  return sum;
}

Header plan(std::uint64_t capacity, std::uint16_t bucket_size, std::uint16_t max_iterations,
            std::uint16_t expansion) noexcept {
  Header header;
  header.buckets = std::bit_ceil(std::max<std::uint64_t>(capacity / bucket_size, 1));
  header.bucket_size = bucket_size;
  header.max_iterations = max_iterations;
  header.expansion = expansion == 0 ? expansion : std::bit_ceil(expansion);
  return header;
}

std::uint64_t bytes_of(const Header& header) noexcept {
  return 40 + 16 * std::uint64_t{header.sub_filters} + header.all_entries();
}

void check(const Header& header) {
  const auto need = [](bool good, const char* what) {
    if (!good) throw Error(ErrorCode::corrupt, what);
  };
  need(header.bucket_size >= 1 && header.bucket_size <= kMaxBucketSize,
       "the bucket size of a cuckoo filter is out of range");
  need(header.max_iterations >= 1, "a cuckoo filter has no iterations");
  need(header.expansion == 0 || std::has_single_bit(header.expansion),
       "the expansion of a cuckoo filter is not a power of two");
  need(header.sub_filters >= 1 && header.sub_filters <= kMaxSubFilters,
       "the number of sub-filters of a cuckoo filter is out of range");
  need(header.expansion != 0 || header.sub_filters == 1,
       "a cuckoo filter that does not grow has grown");
  need(std::has_single_bit(header.buckets),
       "the number of buckets of a cuckoo filter is not a power of two");
  need(header.entries(header.sub_filters - 1) != 0, "a cuckoo filter has more than 2^32 entries");
}

std::array<std::byte, kHeaderBytes> encode(const Header& header) noexcept {
  std::array<std::byte, kHeaderBytes> bytes;
  std::byte* at = bytes.data();
  for (const std::uint64_t number :
       {header.items, header.buckets, header.deletes, std::uint64_t{header.sub_filters}}) {
    detail::store_le<std::uint64_t>(at, number);
    at += 8;
  }
  for (const std::uint16_t number : {header.bucket_size, header.max_iterations, header.expansion}) {
    detail::store_le<std::uint16_t>(at, number);
    at += 2;
  }
  return bytes;
}

Header decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kHeaderBytes)
    throw Error(ErrorCode::corrupt, "the header of a cuckoo filter has a wrong length");
  const auto wide = [&](std::size_t at) {
    return detail::load_le<std::uint64_t>(bytes.data() + at);
  };
  const auto narrow = [&](std::size_t at) {
    return detail::load_le<std::uint16_t>(bytes.data() + at);
  };
  Header header;
  header.items = wide(0);
  header.buckets = wide(8);
  header.deletes = wide(16);
  // A number that is out of range stays out of range.
  header.sub_filters = static_cast<std::uint32_t>(std::min<std::uint64_t>(wide(24), UINT32_MAX));
  header.bucket_size = narrow(32);
  header.max_iterations = narrow(34);
  header.expansion = narrow(36);
  check(header);
  return header;
}

}  // namespace bloomery::server::cuckoo
