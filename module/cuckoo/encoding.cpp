// The fields of a cuckoo filter.
//
//   encver 4   sub-filters, buckets, items, deletes, bucket size, iterations, expansion; for each
//              sub-filter its buckets and a string of its entries
//   before     sub-filters, buckets, items; for each sub-filter the string
//
// Before encver 4 filters grew by sub-filters of one size. Their bucket size is the length of the
// string divided by the buckets; the iterations are RedisBloom's default.
#include "cuckoo/filter.hpp"

#include <bloomery/error.hpp>

#include "types/rdb.hpp"

namespace bloomery::server::cuckoo {

namespace {

constexpr int kWithAllFields = 4;

[[noreturn]] void refuse(const char* what) { throw Error(ErrorCode::corrupt, what); }

// A field that has 16 or 32 bits in the header. A number that does not fit is out of range there too.
template <class T>
T narrow(std::uint64_t number) {
  if (number > T(~T{0})) refuse("a field of a cuckoo filter is out of range");
  return static_cast<T>(number);
}

OwnedMemory entries_of(RdbString& string, std::uint64_t expected) {
  if (string.size != expected) refuse("the entries of a cuckoo filter have a wrong length");
  return OwnedMemory(string.bytes.release());
}

}  // namespace

Filter::Pointer load(RdbSource& source, int encoding) {
  check_encoding(encoding, kEncoding, "MBbloomCF");
  Header header;
  header.sub_filters = narrow<std::uint32_t>(source.number());
  header.buckets = source.number();
  header.items = source.number();
  RdbString entries;
  if (encoding >= kWithAllFields) {
    header.deletes = source.number();
    header.bucket_size = narrow<std::uint16_t>(source.number());
    header.max_iterations = narrow<std::uint16_t>(source.number());
    header.expansion = narrow<std::uint16_t>(source.number());
  } else {
    entries = source.string();
    if (header.buckets == 0) refuse("a cuckoo filter has no buckets");
    header.bucket_size = narrow<std::uint16_t>(entries.size / header.buckets);
  }
  Filter::Pointer filter = Filter::make_without_arrays(header);
  for (std::uint32_t i = 0; i < header.sub_filters; ++i) {
    if (encoding >= kWithAllFields && source.number() != header.entries(i) / header.bucket_size)
      refuse("the sub-filters of a cuckoo filter do not grow by its expansion");
    if (encoding >= kWithAllFields || i != 0) entries = source.string();
    filter->append(entries_of(entries, header.entries(i)));
  }
  filter->has_come();
  return filter;
}

void save(const Filter& filter, RdbSink& sink) {
  const Header& header = filter.header();
  for (const std::uint64_t number :
       {std::uint64_t{header.sub_filters}, header.buckets, header.items, header.deletes,
        std::uint64_t{header.bucket_size}, std::uint64_t{header.max_iterations},
        std::uint64_t{header.expansion}})
    sink.number(number);
  Sent sent;
  for (std::uint32_t i = 0; i < header.sub_filters; ++i) {
    const auto entries = filter.array(i);
    sink.number(entries.size() / header.bucket_size);
    sink.string(entries.data(), entries.size());
    sent.give_back(entries);
  }
}

}  // namespace bloomery::server::cuckoo
