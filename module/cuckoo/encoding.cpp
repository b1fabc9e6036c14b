// The fields of a cuckoo filter.
//
//   encver 4   sub-filters, buckets, items, deletes, bucket size, iterations, expansion; for each
//              sub-filter its buckets and a string of its slots
//   before     sub-filters, buckets, items; for each sub-filter the string
//
// Before encver 4 filters grew by sub-filters of one size. Their bucket size is how often the
// buckets go into the string; the iterations are RedisBloom's default.
#include "cuckoo/filter.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "types/rdb.hpp"

namespace bloomery::server::cuckoo {

namespace {

constexpr int kWithAllFields = 4;

[[noreturn]] void refuse(const char* what) { throw Error(ErrorCode::corrupt, what); }

// A field that the shape has in 16 or 32 bits. What does not fit is out of range there too.
template <class T>
T narrow(std::uint64_t number) {
  if (number > T(~T{0})) refuse("a field of a cuckoo filter is out of range");
  return static_cast<T>(number);
}

OwnedMemory slots_of(RdbString& string, std::uint64_t expected) {
  if (string.size != expected) refuse("the slots of a cuckoo filter have another length");
  return OwnedMemory(string.bytes.release());
}

}  // namespace

Filter::Pointer load(RdbSource& source, int encoding) {
  if (encoding < 0 || encoding > kEncoding)
    throw Error(ErrorCode::newer_format, "MBbloomCF has encoding " + std::to_string(encoding) +
                                             "; this module reads 0 to " +
                                             std::to_string(kEncoding));
  Shape shape;
  shape.sub_filters = narrow<std::uint32_t>(source.number());
  shape.buckets = source.number();
  shape.items = source.number();
  RdbString slots;
  if (encoding >= kWithAllFields) {
    shape.deletes = source.number();
    shape.bucket_size = narrow<std::uint16_t>(source.number());
    shape.max_iterations = narrow<std::uint16_t>(source.number());
    shape.expansion = narrow<std::uint16_t>(source.number());
  } else {
    slots = source.string();
    if (shape.buckets == 0) refuse("a cuckoo filter has no buckets");
    shape.bucket_size = narrow<std::uint16_t>(slots.size / shape.buckets);
  }
  Filter::Pointer filter = Filter::make_without_arrays(shape);
  for (std::uint32_t i = 0; i < shape.sub_filters; ++i) {
    if (encoding >= kWithAllFields && source.number() != shape.slots(i) / shape.bucket_size)
      refuse("the sub-filters of a cuckoo filter do not grow by its expansion");
    if (encoding >= kWithAllFields || i != 0) slots = source.string();
    filter->append(slots_of(slots, shape.slots(i)));
  }
  filter->has_come();
  return filter;
}

void save(const Filter& filter, RdbSink& sink) {
  const Shape& shape = filter.shape();
  for (const std::uint64_t number :
       {std::uint64_t{shape.sub_filters}, shape.buckets, shape.items, shape.deletes,
        std::uint64_t{shape.bucket_size}, std::uint64_t{shape.max_iterations},
        std::uint64_t{shape.expansion}})
    sink.number(number);
  Sent sent;
  for (std::uint32_t i = 0; i < shape.sub_filters; ++i) {
    const auto slots = filter.array(i);
    sink.number(slots.size() / shape.bucket_size);
    sink.string(slots.data(), slots.size());
    sent.give_back(slots);
  }
}

}  // namespace bloomery::server::cuckoo
