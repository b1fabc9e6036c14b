// The input of BF.LOADCHUNK and RESTORE, without a server.
//
// The input is a header for decode_header, or fields for the RDB loaders; they are of a cuckoo filter if
// the first byte is 128 or more. The result must be an Error, or a filter that can be looked up, extended,
// encoded and copied.
#include <bloomery/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "cuckoo/filter.hpp"
#include "types/rdb.hpp"
#include "values/make.hpp"

namespace {

using namespace bloomery::server;

// Larger allocations fail, as on a server with little memory.
constexpr std::uint64_t kMost = std::uint64_t{1} << 22;

class Limit final : public MemoryLimit {
  bool allows(std::uint64_t bytes) const noexcept override { return bytes <= kMost; }
};

class Fields final : public RdbSource {
 public:
  explicit Fields(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}
  std::uint64_t number() override {
    std::uint64_t value = 0;
    std::memcpy(&value, take(8).data(), 8);
    return value;
  }
  double real() override {
    double value = 0;
    std::memcpy(&value, take(8).data(), 8);
    return value;
  }
  RdbString string() override {
    std::uint16_t size = 0;
    std::memcpy(&size, take(2).data(), 2);
    const auto bytes = take(size);
    RdbString read;
    read.size = size;
    read.bytes.reset(static_cast<char*>(allocate(size + std::size_t{1})));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(read.bytes.get()));
    return read;
  }

 private:
  std::span<const std::uint8_t> take(std::size_t size) {
    if (bytes_.size() < size) throw bloomery::Error(bloomery::ErrorCode::io, "the end");
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  std::span<const std::uint8_t> bytes_;
};

void use(Value& value) {
  bool answer = false;
  for (int i = 0; i < 8; ++i) {
    const auto hash = value.hash(std::to_string(i));
    const auto added = value.insert(std::span(&hash, 1), std::span(&answer, 1), Limit());
    value.may_contain(std::span(&hash, 1), std::span(&answer, 1), 0);
    if (added.answered == 1 && !answer) std::abort();
  }
  const auto header = encode_header(value.header());
  if (decode_header(header).bit_bytes() != value.bit_bytes()) std::abort();
  if (encode_header(copy(value)->header()) != header) std::abort();
}

AnyValue load(std::span<const std::uint8_t> input, std::uint8_t how) {
  if (how % 8 < 5) {
    Fields fields(input);
    return load_redisbloom(fields, how % 8);
  }
  if (how % 8 == 5) {
    Fields fields(input);
    return load_native(fields, kNativeEncoding);
  }
  const Header header = decode_header(std::as_bytes(input));
  if (header.bit_bytes() > kMost)
    throw bloomery::Error(bloomery::ErrorCode::no_memory, "more than is tried");
  return make_empty(header);
}

// A cuckoo filter, from a header or from fields.
void try_cuckoo(std::span<const std::uint8_t> input, std::uint8_t how) {
  cuckoo::Filter::Pointer filter;
  if (how % 8 < 5) {
    Fields fields(input);
    filter = cuckoo::load(fields, how % 8);
  } else {
    const cuckoo::Header header = cuckoo::decode(std::as_bytes(input));
    if (header.all_entries() > kMost) return;
    filter = cuckoo::Filter::make(header);
  }
  // The expansion says how many entries each growth makes, so few items are enough.
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t hash = cuckoo::hash(std::to_string(i));
    const auto inserted = filter->insert(hash, i % 2 == 0, Limit());
    const bool there = filter->may_contain(hash) && filter->count(hash) != 0;
    if (inserted == cuckoo::Inserted::yes && !there) std::abort();
    if (there && i % 3 == 0 && !filter->remove(hash)) std::abort();
  }
  filter->compact();
  if (cuckoo::decode(cuckoo::encode(filter->header())) != filter->header()) std::abort();
  if (filter->copy()->header() != filter->header()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    if (data[0] >= 128)
      try_cuckoo(std::span(data, size).subspan(1), data[0]);
    else
      use(*load(std::span(data, size).subspan(1), data[0]));
  } catch (const bloomery::Error&) {
  }
  return 0;
}
