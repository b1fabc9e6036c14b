// Computes the bits of a key in the filters of PHP classes.
#include <bloomery/error.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "legacy/php_crc32_mt.hpp"

namespace bloomery {
namespace {

using detail::TwisterLanes;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

std::string names_of(std::span<const PhpHash> hashes) {
  std::string names;
  for (const PhpHash hash : hashes) {
    if (!names.empty()) names += ',';
    names += to_string(hash);
  }
  return names;
}

void require_offsets(std::span<const std::uint64_t> offsets, std::size_t keys, std::size_t hashes) {
  if (offsets.size() / hashes < keys)
    refuse("there is room for " + std::to_string(offsets.size()) + " offsets; make room for " +
           std::to_string(hashes) + " of each of " + std::to_string(keys) + " keys");
}

void draw_offsets(std::uint32_t seed, std::uint64_t bits,
                  std::span<std::uint64_t> offsets) noexcept {
  detail::MersenneTwister twister(seed);
  for (std::uint64_t& offset : offsets) offset = detail::draw_below(bits, twister);
}

// Computes the offsets of one key. False: the lanes have too few draws for it, because some were rejected.
bool take_offsets(const TwisterLanes& lanes, std::size_t lane, std::size_t draws,
                  std::uint64_t bits, std::span<std::uint64_t> offsets) noexcept {
  std::size_t used = 0;
  // After the draws the function returns zeros, which are never rejected, so the loop ends.
  const auto draw = [&]() -> std::uint32_t {
    return used < draws ? lanes.draw(used++, lane) : (++used, 0);
  };
  for (std::uint64_t& offset : offsets) offset = detail::draw_below(bits, draw);
  return used <= draws;
}

}  // namespace

PhpScheme PhpScheme::string_hashes(std::span<const PhpHash> hashes) {
  if (hashes.empty())
    refuse("no string hash is named; give one or more of " + names_of(kPhpHashes));
  PhpScheme scheme;
  scheme.bits_ = std::uint64_t{1} << 32;
  for (const PhpHash hash : hashes) {
    const auto named = scheme.hashes();
    if (std::find(named.begin(), named.end(), hash) != named.end())
      refuse(std::string(to_string(hash)) +
             " is named twice; name it once, its bit is the same both times");
    scheme.hashes_[scheme.named_++] = hash;
  }
  scheme.hash_count_ = scheme.named_;
  return scheme;
}

PhpScheme PhpScheme::string_hashes(std::string_view names) {
  std::vector<PhpHash> hashes;
  for (bool more = !names.empty(); more;) {
    const std::size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    const auto hash = php_hash_named(name);
    if (!hash) {
      std::string message;
      if (name.empty())
        message.append("a name in the list of string hashes is empty");
      else
        message.append("'").append(name.substr(0, 40)).append("' is not a string hash of PHP");
      refuse(message.append("; use ").append(names_of(kPhpHashes)));
    }
    hashes.push_back(*hash);
    if (hashes.size() > kPhpHashes.size()) break;  // so one is repeated: refused below
    more = comma != std::string_view::npos;
    if (more) names.remove_prefix(comma + 1);
  }
  return string_hashes(hashes);
}

PhpScheme PhpScheme::crc32_mt(std::uint64_t bits, std::uint64_t items) {
  if (bits == 0) refuse("a PHP filter of 0 bits holds nothing; give the m of its class");
  if (items == 0)
    refuse("a PHP filter for 0 items has no number of hashes; give the n of its class");
  if (bits > kMaxBits)
    throw Error(ErrorCode::too_large,
                "a PHP filter of " + std::to_string(bits) +
                    " bits is beyond the limit of 2^40; give the m of its class");
  const double hashes =
      std::ceil(static_cast<double>(bits) / static_cast<double>(items) * std::numbers::ln2);
  if (hashes > kMaxPhpHashes)
    refuse(std::to_string(bits) + " bits for " + std::to_string(items) + " items make " +
           std::to_string(static_cast<std::uint64_t>(hashes)) +
           " hashes per key, beyond the limit of " + std::to_string(kMaxPhpHashes) +
           "; check the m and n of the class");
  PhpScheme scheme;
  scheme.bits_ = bits;
  scheme.hash_count_ = static_cast<std::uint32_t>(hashes);
  return scheme;
}

void PhpScheme::positions(std::string_view key, std::span<std::uint64_t> offsets) const {
  require_offsets(offsets, 1, hash_count_);
  if (named_ == 0) return draw_offsets(detail::crc32(key), bits_, offsets.first(hash_count_));
  for (std::size_t i = 0; i < named_; ++i) offsets[i] = php_hash(hashes_[i], key);
}

void PhpScheme::positions(std::span<const std::string_view> keys,
                          std::span<std::uint64_t> offsets) const {
  require_offsets(offsets, keys.size(), hash_count_);
  const std::size_t words = std::size_t{hash_count_} * (bits_ > std::uint64_t{1} << 32 ? 2 : 1);
  const std::size_t draws = words + 2;  // two more, because some may be rejected
  while (named_ == 0 && keys.size() >= TwisterLanes::kLanes && draws <= TwisterLanes::kMaxDraws) {
    TwisterLanes::Seeds seeds;
    for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = detail::crc32(keys[i]);
    const TwisterLanes lanes(seeds, draws);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const auto own = offsets.subspan(i * hash_count_, hash_count_);
      if (!take_offsets(lanes, i, draws, bits_, own)) draw_offsets(seeds[i], bits_, own);
    }
    keys = keys.subspan(seeds.size());
    offsets = offsets.subspan(seeds.size() * hash_count_);
  }
  for (const std::string_view key : keys) {
    positions(key, offsets);
    offsets = offsets.subspan(hash_count_);
  }
}

std::string PhpScheme::description() const {
  if (named_ != 0) return "php-hashes=" + names_of(hashes());
  return "php-crc32-mt of " + std::to_string(bits_) + " bits and " + std::to_string(hash_count_) +
         " hashes";
}

}  // namespace bloomery
