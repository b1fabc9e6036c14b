// The header of RedisBloom's dumps: packed little-endian fields, believed only once checked.
#include <bloomery/error.hpp>

#include <bit>
#include <string>

#include "base/endian.hpp"
#include "legacy/redisbloom.hpp"

namespace bloomery::legacy::redisbloom {

namespace {

constexpr std::size_t kHeadBytes = 20;
constexpr std::size_t kLinkBytes = 53;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::corrupt, what); }

Link decode_link(const std::byte* at) {
  Link link;
  link.bytes = detail::load_le64(at);
  link.bits = detail::load_le64(at + 8);
  link.size = detail::load_le64(at + 16);
  link.error = std::bit_cast<double>(detail::load_le64(at + 24));
  link.bits_per_entry = std::bit_cast<double>(detail::load_le64(at + 32));
  link.hashes = detail::load_le<std::uint32_t>(at + 40);
  link.entries = detail::load_le64(at + 44);
  link.exponent = static_cast<std::uint8_t>(at[52]);
  check(link);
  return link;
}

void encode_link(const Link& link, std::byte* at) noexcept {
  detail::store_le64(at, link.bytes);
  detail::store_le64(at + 8, link.bits);
  detail::store_le64(at + 16, link.size);
  detail::store_le64(at + 24, std::bit_cast<std::uint64_t>(link.error));
  detail::store_le64(at + 32, std::bit_cast<std::uint64_t>(link.bits_per_entry));
  detail::store_le(at + 40, link.hashes);
  detail::store_le64(at + 44, link.entries);
  at[52] = std::byte{link.exponent};
}

}  // namespace

std::vector<std::byte> encode(const Header& header) {
  std::vector<std::byte> bytes(kHeadBytes + kLinkBytes * header.links.size());
  detail::store_le64(bytes.data(), header.size);
  detail::store_le(bytes.data() + 8, static_cast<std::uint32_t>(header.links.size()));
  detail::store_le(bytes.data() + 12, header.options);
  detail::store_le(bytes.data() + 16, header.growth);
  std::byte* at = bytes.data() + kHeadBytes;
  for (const Link& link : header.links) {
    encode_link(link, at);
    at += kLinkBytes;
  }
  return bytes;
}

Header decode(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) refuse("a header has at least 20 bytes");
  Header header;
  header.size = detail::load_le64(bytes.data());
  const auto links = detail::load_le<std::uint32_t>(bytes.data() + 8);
  header.options = detail::load_le<std::uint32_t>(bytes.data() + 12);
  header.growth = detail::load_le<std::uint32_t>(bytes.data() + 16);
  if (links == 0 || (bytes.size() - kHeadBytes) / kLinkBytes != links ||
      (bytes.size() - kHeadBytes) % kLinkBytes != 0)
    refuse("the header does not have the length of its links");
  if ((header.options & ~kKnownOptions) != 0) refuse("the header has unknown options");
  std::uint64_t size = 0;
  std::uint64_t total = 0;
  header.links.reserve(links);
  for (const std::byte* at = bytes.data() + kHeadBytes; header.links.size() < links;
       at += kLinkBytes) {
    const Link& link = header.links.emplace_back(decode_link(at));
    if (__builtin_add_overflow(size, link.size, &size) ||
        __builtin_add_overflow(total, link.bytes, &total) || total > std::uint64_t{1} << 59)
      refuse("the sizes of the links are beyond any memory");
  }
  if (size != header.size) refuse("the links do not hold the items that the header counts");
  return header;
}

}  // namespace bloomery::legacy::redisbloom
