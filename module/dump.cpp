// The headers of dumps, believed only once checked, and the arrays behind them.
#include "dump.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/endian.hpp"

namespace bloomery::server {

namespace {

namespace redisbloom = legacy::redisbloom;

constexpr char kMagic[8] = {'B', 'L', 'O', 'O', 'M', 'E', 'R', 'Y'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeadBytes = 36;
constexpr std::size_t kLinkBytes = 40;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::corrupt, what); }

Header decode_ours(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) refuse("the header is cut off");
  const std::byte* at = bytes.data();
  if (const auto version = detail::load_le<std::uint32_t>(at + 8); version != kVersion)
    throw Error(ErrorCode::newer_format, "the dump has version " + std::to_string(version) +
                                             "; this module reads version 1");
  if (detail::load_le<std::uint32_t>(at + 12) != static_cast<std::uint32_t>(Kind::chain))
    refuse("the header is of an unknown kind of filter");
  Header header;
  header.size = detail::load_le64(at + 16);
  header.growth = detail::load_le<std::uint32_t>(at + 24);
  header.options = detail::load_le<std::uint32_t>(at + 28);
  const auto links = detail::load_le<std::uint32_t>(at + 32);
  if ((header.options & ~std::uint32_t{redisbloom::kNoScaling}) != 0)
    refuse("the header has unknown options");
  if (links == 0 || bytes.size() - kHeadBytes != links * std::uint64_t{kLinkBytes})
    refuse("the header does not have the length of its links");
  at += kHeadBytes;
  for (std::uint32_t i = 0; i < links; ++i, at += kLinkBytes) {
    Plan plan;
    plan.bits = detail::load_le64(at);
    plan.capacity = detail::load_le64(at + 8);
    plan.rate = std::bit_cast<double>(detail::load_le64(at + 24));
    plan.hashes = detail::load_le<std::uint32_t>(at + 32);
    const auto layout = detail::load_le<std::uint32_t>(at + 36);
    if (layout < 1 || layout > 3) refuse("a filter has an unknown layout");
    plan.layout = static_cast<Layout>(layout);
    try {
      validate(plan);
    } catch (const Error& error) {
      refuse(error.what());
    }
    header.links.push_back(sizes_of(plan));
    header.links.back().size = detail::load_le64(at + 16);
  }
  return header;
}

Header decode_theirs(std::span<const std::byte> bytes) {
  redisbloom::Header header = redisbloom::decode(bytes);
  return {Family::redisbloom, header.options, header.growth, header.size, std::move(header.links)};
}

std::vector<std::byte> encode_theirs(const Chain& chain) {
  redisbloom::Header header{chain.size(), chain.options(), chain.growth(), {}};
  for (const Link& link : chain.links()) header.links.push_back(link.sizes);
  return redisbloom::encode(header);
}

}  // namespace

std::vector<std::byte> encode_header(const Chain& chain) {
  if (chain.family() == Family::redisbloom) return encode_theirs(chain);
  std::vector<std::byte> bytes(kHeadBytes + kLinkBytes * chain.links().size());
  std::byte* at = bytes.data();
  std::memcpy(at, kMagic, sizeof kMagic);
  detail::store_le(at + 8, kVersion);
  detail::store_le(at + 12, static_cast<std::uint32_t>(Kind::chain));
  detail::store_le64(at + 16, chain.size());
  detail::store_le(at + 24, chain.growth());
  detail::store_le(at + 28, chain.options());
  detail::store_le(at + 32, static_cast<std::uint32_t>(chain.links().size()));
  at += kHeadBytes;
  for (const Link& link : chain.links()) {
    detail::store_le64(at, link.sizes.bits);
    detail::store_le64(at + 8, link.sizes.entries);
    detail::store_le64(at + 16, link.sizes.size);
    detail::store_le64(at + 24, std::bit_cast<std::uint64_t>(link.sizes.error));
    detail::store_le(at + 32, link.sizes.hashes);
    detail::store_le(at + 36, std::uint32_t{link.sizes.exponent});
    at += kLinkBytes;
  }
  return bytes;
}

std::uint64_t Header::bit_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const redisbloom::Link& link : links) total += link.bytes;
  return total;
}

Header decode_header(std::span<const std::byte> bytes) {
  const bool ours =
      bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
  Header header = ours ? decode_ours(bytes) : decode_theirs(bytes);
  std::uint64_t size = 0;
  for (const redisbloom::Link& link : header.links)
    if (__builtin_add_overflow(size, link.size, &size)) refuse("the links hold too many items");
  if (size != header.size) refuse("the links do not hold the items that the header counts");
  return header;
}

ValuePointer<Chain> make_empty(const Header& header) {
  if (!machine_could_hold(header.bit_bytes()))
    throw Error(ErrorCode::no_memory, "no memory for a filter");
  auto chain = Chain::empty(header.family, header.options, header.growth);
  for (const redisbloom::Link& link : header.links) chain->append(link);
  chain->set_size(header.size);
  return chain;
}

std::span<std::byte> part_at(const Chain& chain, std::uint64_t offset, std::size_t most) noexcept {
  for (std::size_t i = 0; i < chain.links().size(); ++i) {
    const auto bits = chain.bits(i);
    if (offset < bits.size())
      return bits.subspan(offset, std::min<std::uint64_t>(most, bits.size() - offset));
    offset -= bits.size();
  }
  return {};
}

}  // namespace bloomery::server
