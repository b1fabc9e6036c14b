// Filters in RDB files.
#include "types/rdb.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "server/pages.hpp"
#include "values/make.hpp"

namespace bloomery::server {

namespace {

namespace redisbloom = legacy::redisbloom;

constexpr std::size_t kSavedPart = std::size_t{1} << 20;
// How much memory is taken on the word of a header alone, before any bits have come.
constexpr std::size_t kTrusted = std::size_t{64} << 20;

[[noreturn]] void refuse_value(const std::string& what) { throw Error(ErrorCode::corrupt, what); }

// A native array, which comes in parts. Its memory doubles as they come, so that a wrong header
// costs little.
class Arriving {
 public:
  explicit Arriving(std::size_t total) : total_(total) { room_for(std::min(total, kTrusted)); }

  void take(const RdbString& part) {
    if (part.size != std::min(kSavedPart, total_ - held_))
      refuse_value("an array comes in parts of the wrong length");
    if (held_ + part.size > room_) room_for(std::min(total_, 2 * room_));
    copy_used({reinterpret_cast<const std::byte*>(part.bytes.get()), part.size},
              aligned(memory_.get()) + held_);
    held_ += part.size;
  }
  [[nodiscard]] bool whole() const noexcept { return held_ == total_; }
  [[nodiscard]] OwnedMemory give() noexcept { return std::move(memory_); }

 private:
  void room_for(std::size_t bytes) {
    OwnedMemory larger(allocate_aligned(bytes));
    require_memory(larger != nullptr);
    if (held_ != 0) {
      std::byte* const held = aligned(memory_.get());
      if (are_mostly_there(held, held_)) let_be_huge(aligned(larger.get()), bytes);
      copy_used({held, held_}, aligned(larger.get()));
      release_array(memory_.release(), {held, room_});
    }
    memory_ = std::move(larger);
    room_ = bytes;
  }
  std::size_t total_;
  std::size_t room_ = 0;
  std::size_t held_ = 0;
  OwnedMemory memory_;
};

}  // namespace

void check_encoding(int encoding, int newest, const char* type) {
  if (encoding > newest)
    throw Error(ErrorCode::newer_format, std::string(type) + " has encoding " +
                                             std::to_string(encoding) +
                                             "; this module reads 0 to " + std::to_string(newest));
}

AnyValue load_redisbloom(RdbSource& source, int encoding) {
  check_encoding(encoding, kRedisBloomEncoding, "MBbloom--");
  Header header;
  header.family = Family::redisbloom;
  header.size = source.number();
  const std::uint64_t count = source.number();
  const std::uint64_t options = encoding >= 2 ? source.number() : 0;
  const std::uint64_t growth = encoding >= 4 ? source.number() : 2;
  if (count == 0) refuse_value("a filter has no sub-filter");
  if ((options & ~std::uint64_t{redisbloom::kKnownOptions}) != 0)
    refuse_value("a filter has unknown options");
  if (growth > UINT32_MAX) refuse_value("a filter's expansion is out of range");
  header.options = static_cast<std::uint32_t>(options);
  header.growth = static_cast<std::uint32_t>(growth);
  std::vector<OwnedMemory> arrays;
  for (std::uint64_t i = 0; i < count; ++i) {
    redisbloom::SubFilter sub_filter;
    sub_filter.entries = source.number();
    sub_filter.error = source.real();
    const std::uint64_t hashes = source.number();
    sub_filter.bits_per_entry = source.real();
    std::uint64_t exponent = 0;
    if (encoding >= 1) {
      sub_filter.bits = source.number();
      exponent = source.number();
    } else {
      const double bits = static_cast<double>(sub_filter.entries) * sub_filter.bits_per_entry;
      if (!(bits >= 0 && bits < 0x1p62)) refuse_value("the bits of a filter are out of range");
      sub_filter.bits = static_cast<std::uint64_t>(bits);
    }
    if (hashes > redisbloom::kMaxHashes || exponent > 63)
      refuse_value("the hashes or the exponent of a filter are out of range");
    sub_filter.hashes = static_cast<std::uint32_t>(hashes);
    sub_filter.exponent = static_cast<std::uint8_t>(exponent);
    RdbString bits = source.string();
    sub_filter.bytes = bits.size;
    redisbloom::fill_in_bits(sub_filter);
    redisbloom::check(sub_filter);
    sub_filter.size = source.number();
    arrays.emplace_back(bits.bytes.release());
    header.sub_filters.push_back(sub_filter);
  }
  if (!header.add_up())
    refuse_value("the sub-filters do not hold the items that the filter counts");
  std::size_t next = 0;
  return make_value(header, [&](std::uint64_t) { return std::move(arrays[next++]); });
}

void save_redisbloom(const Value& value, RdbSink& sink) {
  const Header header = value.header();
  sink.number(header.size);
  sink.number(header.sub_filters.size());
  sink.number(header.options);
  sink.number(header.growth);
  Sent sent;
  std::size_t number = 0;
  for (const redisbloom::SubFilter& sub_filter : header.sub_filters) {
    sink.number(sub_filter.entries);
    sink.real(sub_filter.error);
    sink.number(sub_filter.hashes);
    sink.real(sub_filter.bits_per_entry);
    sink.number(sub_filter.bits);
    sink.number(sub_filter.exponent);
    const auto bits = value.array(number++);
    sink.string(bits.data(), bits.size());
    sent.give_back(bits);
    sink.number(sub_filter.size);
  }
}

AnyValue load_native(RdbSource& source, int encoding) {
  if (encoding < 1) refuse_value("the encoding is 0");
  check_encoding(encoding, kNativeEncoding, "bloomery-");
  const RdbString bytes = source.string();
  const Header header =
      decode_header(std::as_bytes(std::span<const char>(bytes.bytes.get(), bytes.size)));
  if (header.family != Family::native) refuse_value("the header is of RedisBloom's scheme");
  return make_value(header, [&](std::uint64_t size) {
    Arriving array(size);
    while (!array.whole()) array.take(source.string());
    return array.give();
  });
}

void save_native(const Value& value, RdbSink& sink) {
  Header described = value.header();
  described.loading = value.is_loading();
  const std::vector<std::byte> header = encode_header(described);
  sink.string(header.data(), header.size());
  Sent sent;
  value.for_parts(kSavedPart, [&](std::span<const std::byte> part) {
    sink.string(part.data(), part.size());
    sent.give_back(part);
  });
}

}  // namespace bloomery::server
