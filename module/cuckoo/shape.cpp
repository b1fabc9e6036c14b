// The shapes that a filter can have, and the header of a dump.
#include <bloomery/error.hpp>

#include <algorithm>
#include <bit>
#include <string>

#include "base/endian.hpp"
#include "cuckoo/filter.hpp"

namespace bloomery::server::cuckoo {

std::uint64_t Shape::slots(std::uint32_t sub_filter) const noexcept {
  if (buckets > kMaxSlots) return 0;
  std::uint64_t slots = buckets * bucket_size;
  for (std::uint32_t i = 0; i < sub_filter && expansion > 1 && slots <= kMaxSlots; ++i)
    slots *= expansion;
  return slots > kMaxSlots ? 0 : slots;
}

std::uint64_t Shape::all_slots() const noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < sub_filters; ++i) sum += slots(i);
  return sum;
}

Shape plan(std::uint64_t capacity, std::uint16_t bucket_size, std::uint16_t max_iterations,
           std::uint16_t expansion) noexcept {
  Shape shape;
  shape.buckets = std::bit_ceil(std::max<std::uint64_t>(capacity / bucket_size, 1));
  shape.bucket_size = bucket_size;
  shape.max_iterations = max_iterations;
  shape.expansion = expansion == 0 ? expansion : std::bit_ceil(expansion);
  return shape;
}

std::uint64_t bytes_of(const Shape& shape) noexcept {
  return 40 + 16 * std::uint64_t{shape.sub_filters} + shape.all_slots();
}

void check(const Shape& shape) {
  const auto need = [](bool good, const char* what) {
    if (!good) throw Error(ErrorCode::corrupt, what);
  };
  need(shape.bucket_size >= 1 && shape.bucket_size <= kMaxBucketSize,
       "the bucket size of a cuckoo filter is out of range");
  need(shape.max_iterations >= 1, "a cuckoo filter has no iterations");
  need(shape.expansion == 0 ||
           (std::has_single_bit(shape.expansion) && shape.expansion <= kMaxExpansion),
       "the expansion of a cuckoo filter is not a power of two");
  need(shape.sub_filters >= 1 && shape.sub_filters <= kMaxSubFilters,
       "the number of sub-filters of a cuckoo filter is out of range");
  need(shape.expansion != 0 || shape.sub_filters == 1,
       "a cuckoo filter that does not grow has grown");
  need(std::has_single_bit(shape.buckets),
       "the number of buckets of a cuckoo filter is not a power of two");
  need(shape.slots(shape.sub_filters - 1) != 0, "a cuckoo filter has more than 2^32 slots");
}

std::array<std::byte, kHeaderBytes> encode(const Shape& shape) noexcept {
  std::array<std::byte, kHeaderBytes> bytes;
  std::byte* at = bytes.data();
  for (const std::uint64_t number :
       {shape.items, shape.buckets, shape.deletes, std::uint64_t{shape.sub_filters}}) {
    detail::store_le<std::uint64_t>(at, number);
    at += 8;
  }
  for (const std::uint16_t number : {shape.bucket_size, shape.max_iterations, shape.expansion}) {
    detail::store_le<std::uint16_t>(at, number);
    at += 2;
  }
  return bytes;
}

Shape decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kHeaderBytes)
    throw Error(ErrorCode::corrupt, "the header of a cuckoo filter has another length");
  const auto wide = [&](std::size_t at) {
    return detail::load_le<std::uint64_t>(bytes.data() + at);
  };
  const auto narrow = [&](std::size_t at) {
    return detail::load_le<std::uint16_t>(bytes.data() + at);
  };
  Shape shape;
  shape.items = wide(0);
  shape.buckets = wide(8);
  shape.deletes = wide(16);
  // A number that is out of range stays so.
  shape.sub_filters = static_cast<std::uint32_t>(std::min<std::uint64_t>(wide(24), UINT32_MAX));
  shape.bucket_size = narrow(32);
  shape.max_iterations = narrow(34);
  shape.expansion = narrow(36);
  check(shape);
  return shape;
}

}  // namespace bloomery::server::cuckoo
