// The bits of a PHP filter in memory, in the order of a Redis string.
#include <bloomery/detail/key_calls.hpp>
#include <bloomery/error.hpp>
#include <bloomery/php_filter.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "legacy/php_crc32_mt.hpp"

namespace bloomery {
namespace {

constexpr std::size_t kGroup = 64;

std::byte mask_of(std::uint64_t offset) noexcept {
  return std::byte{0x80} >> static_cast<int>(offset & 7);
}

bool holds(std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  return (bytes[offset >> 3] & mask_of(offset)) != std::byte{0};
}

// True: the bit was off before.
bool set(std::span<std::byte> bytes, std::uint64_t offset) noexcept {
  std::byte& byte = bytes[offset >> 3];
  const bool fresh = (byte & mask_of(offset)) == std::byte{0};
  byte |= mask_of(offset);
  return fresh;
}

// Calls visit(offset) for the offsets of a key until visit returns false. An offset is computed only when it is
// needed.
template <class Visit>
void visit_offsets(const PhpScheme& scheme, std::string_view key, Visit visit) noexcept {
  if (!scheme.hashes().empty()) {
    for (const PhpHash hash : scheme.hashes())
      if (!visit(php_hash(hash, key))) return;
    return;
  }
  detail::MersenneTwister twister(detail::crc32(key));
  for (std::uint32_t i = 0; i < scheme.hash_count(); ++i)
    if (!visit(detail::draw_below(scheme.bits(), twister))) return;
}

}  // namespace

PhpFilter::PhpFilter(PhpScheme scheme) : scheme_(scheme), memory_((scheme.bits() + 7) / 8) {}

PhpFilter PhpFilter::load(PhpScheme scheme, std::span<const std::byte> string) {
  return load(scheme, string.size(),
              [&](std::span<std::byte> out) { std::ranges::copy(string, out.begin()); });
}

PhpFilter PhpFilter::load(PhpScheme scheme, std::uint64_t size,
                          const std::function<void(std::span<std::byte> string)>& read) {
  const std::uint64_t bytes = (scheme.bits() + 7) / 8;
  if (size > bytes)
    throw Error(ErrorCode::mismatch, "the string has " + std::to_string(size) + " bytes, and " +
                                         scheme.description() + " at most " +
                                         std::to_string(bytes) + "; check the scheme and the key");
  PhpFilter filter(scheme);
  read(filter.memory_.bytes().first(size));
  const auto beyond = static_cast<int>(bytes * 8 - scheme.bits());
  if ((filter.bytes().back() & std::byte((1 << beyond) - 1)) != std::byte{0})
    throw Error(ErrorCode::mismatch, "the string has ones past the last bit of " +
                                         scheme.description() + "; check its bits");
  return filter;
}

bool PhpFilter::insert(std::string_view key) noexcept {
  bool fresh = false;
  visit_offsets(scheme_, key, [&](std::uint64_t offset) {
    fresh |= set(memory_.bytes(), offset);
    return true;
  });
  return fresh;
}

bool PhpFilter::may_contain(std::string_view key) const noexcept {
  bool held = true;
  visit_offsets(scheme_, key, [&](std::uint64_t offset) { return held = holds(bytes(), offset); });
  return held;
}

template <class Apply>
std::size_t PhpFilter::in_groups(std::span<const std::string_view> keys, std::span<bool> answers,
                                 Apply apply) const {
  detail::require_room(answers, keys.size());
  const std::size_t hashes = scheme_.hash_count();
  std::vector<std::uint64_t> offsets(std::min(keys.size(), kGroup) * hashes);
  std::size_t count = 0;
  for (std::size_t done = 0; done < keys.size(); done += kGroup) {
    const auto group = keys.subspan(done, std::min(kGroup, keys.size() - done));
    const std::span used(offsets.data(), group.size() * hashes);
    scheme_.positions(group, used);
    for (const std::uint64_t offset : used) __builtin_prefetch(&bytes()[offset >> 3]);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const bool answer = apply(used.subspan(i * hashes, hashes));
      if (!answers.empty()) answers[done + i] = answer;
      count += answer ? 1 : 0;
    }
  }
  return count;
}

std::size_t PhpFilter::do_insert(Texts keys, std::span<bool> fresh) {
  return in_groups(keys, fresh, [&](std::span<const std::uint64_t> offsets) {
    bool any = false;
    for (const std::uint64_t offset : offsets) any |= set(memory_.bytes(), offset);
    return any;
  });
}

std::size_t PhpFilter::do_contain(Texts keys, std::span<bool> found) const {
  return in_groups(keys, found, [&](std::span<const std::uint64_t> offsets) {
    return std::all_of(offsets.begin(), offsets.end(),
                       [&](std::uint64_t offset) { return holds(bytes(), offset); });
  });
}

bool PhpFilter::may_contain_all(std::span<const std::string_view> keys) const noexcept {
  return std::all_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return may_contain(key); });
}

std::span<const std::byte> PhpFilter::string_bytes() const noexcept {
  std::size_t size = bytes().size();
  while (size > 1 && bytes()[size - 1] == std::byte{}) --size;
  return bytes().first(size);
}

double PhpFilter::fill() const noexcept {
  std::uint64_t ones = 0;
  auto rest = bytes();
  for (; rest.size() >= 8; rest = rest.subspan(8)) {
    std::uint64_t word;
    std::memcpy(&word, rest.data(), sizeof word);
    ones += static_cast<unsigned>(std::popcount(word));
  }
  for (const std::byte byte : rest)
    ones += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(byte)));
  return static_cast<double>(ones) / static_cast<double>(scheme_.bits());
}

double PhpFilter::least_fpr() const noexcept { return std::pow(fill(), scheme_.hash_count()); }

}  // namespace bloomery
