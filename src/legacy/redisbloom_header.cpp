// The header of RedisBloom's dumps: packed little-endian fields, believed only once checked.
#include <bloomery/error.hpp>

#include <bit>
#include <string>

#include "base/endian.hpp"
#include "legacy/redisbloom.hpp"

namespace bloomery::legacy::redisbloom {

namespace {

constexpr std::size_t kHeadBytes = 20;
constexpr std::size_t kSubFilterBytes = 53;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::corrupt, what); }

SubFilter decode_sub_filter(const std::byte* at) {
  SubFilter sub_filter;
  sub_filter.bytes = detail::load_le64(at);
  sub_filter.bits = detail::load_le64(at + 8);
  sub_filter.size = detail::load_le64(at + 16);
  sub_filter.error = std::bit_cast<double>(detail::load_le64(at + 24));
  sub_filter.bits_per_entry = std::bit_cast<double>(detail::load_le64(at + 32));
  sub_filter.hashes = detail::load_le<std::uint32_t>(at + 40);
  sub_filter.entries = detail::load_le64(at + 44);
  sub_filter.exponent = static_cast<std::uint8_t>(at[52]);
  check(sub_filter);
  return sub_filter;
}

void encode_sub_filter(const SubFilter& sub_filter, std::byte* at) noexcept {
  detail::store_le64(at, sub_filter.bytes);
  detail::store_le64(at + 8, sub_filter.bits);
  detail::store_le64(at + 16, sub_filter.size);
  detail::store_le64(at + 24, std::bit_cast<std::uint64_t>(sub_filter.error));
  detail::store_le64(at + 32, std::bit_cast<std::uint64_t>(sub_filter.bits_per_entry));
  detail::store_le(at + 40, sub_filter.hashes);
  detail::store_le64(at + 44, sub_filter.entries);
  at[52] = std::byte{sub_filter.exponent};
}

}  // namespace

std::vector<std::byte> encode(const Header& header) {
  std::vector<std::byte> bytes(kHeadBytes + kSubFilterBytes * header.sub_filters.size());
  detail::store_le64(bytes.data(), header.size);
  detail::store_le(bytes.data() + 8, static_cast<std::uint32_t>(header.sub_filters.size()));
  detail::store_le(bytes.data() + 12, header.options);
  detail::store_le(bytes.data() + 16, header.growth);
  std::byte* at = bytes.data() + kHeadBytes;
  for (const SubFilter& sub_filter : header.sub_filters) {
    encode_sub_filter(sub_filter, at);
    at += kSubFilterBytes;
  }
  return bytes;
}

Header decode(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) refuse("a header has at least 20 bytes");
  Header header;
  header.size = detail::load_le64(bytes.data());
  const auto sub_filters = detail::load_le<std::uint32_t>(bytes.data() + 8);
  header.options = detail::load_le<std::uint32_t>(bytes.data() + 12);
  header.growth = detail::load_le<std::uint32_t>(bytes.data() + 16);
  if (sub_filters == 0 || (bytes.size() - kHeadBytes) / kSubFilterBytes != sub_filters ||
      (bytes.size() - kHeadBytes) % kSubFilterBytes != 0)
    refuse("the header does not have the length of its links");
  if ((header.options & ~kKnownOptions) != 0) refuse("the header has unknown options");
  std::uint64_t size = 0;
  std::uint64_t total = 0;
  header.sub_filters.reserve(sub_filters);
  for (const std::byte* at = bytes.data() + kHeadBytes; header.sub_filters.size() < sub_filters;
       at += kSubFilterBytes) {
    const SubFilter& sub_filter = header.sub_filters.emplace_back(decode_sub_filter(at));
    if (__builtin_add_overflow(size, sub_filter.size, &size) ||
        __builtin_add_overflow(total, sub_filter.bytes, &total) || total > std::uint64_t{1} << 59)
      refuse("the sizes of the links are beyond any memory");
  }
  if (size != header.size) refuse("the links do not hold the items that the header counts");
  return header;
}

}  // namespace bloomery::legacy::redisbloom
