// Bits without a header, and the script that rotates them.
#include <bloomery/redis_php_filter.hpp>

#include <bloomery/error.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "redis/strings/generations.hpp"
#include "redis/strings/header_io.hpp"
#include "redis/strings/redis_header.hpp"
#include "redis/strings/staged_strings.hpp"

namespace bloomery {

using detail::BitOperation;
using detail::Cluster;
using detail::StringBits;

namespace {

constexpr std::string_view kRotateBits =
    "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end "
    "if redis.call('TYPE', KEYS[1]).ok ~= 'string' then return -1 end "
    "local older = redis.call('TYPE', KEYS[2]).ok "
    "if older ~= 'string' and older ~= 'none' then return -2 end "
    "redis.call('RENAME', KEYS[1], KEYS[2]) return 1";

void require_unsharded(const RedisPlace& place) {
  if (place.shards)
    throw Error(ErrorCode::wrong_kind,
                detail::quoted_key(place.key) +
                    ": the bits of a PHP class are under one key, not in shards");
}

// Error{mismatch}: the key holds a filter with a header.
StringBits bits_under(const RedisPlace& place, const std::string& key, const PhpScheme& scheme) {
  Cluster cluster(place);
  const detail::BitString::Guard guard{.identity = std::nullopt, .bytes = (scheme.bits() + 7) / 8};
  const std::string name = cluster.name_of(key);
  StringBits bits(std::move(cluster), {{key, name, guard, scheme.hash_count()}});
  bits.check_lengths();
  // A client may rotate the bucket meanwhile: then there is nothing to read, and that is no error.
  const detail::StringStart start = detail::read_start(bits.cluster(), key);
  if (detail::begins_with_redis_header(start.bytes))
    throw Error(ErrorCode::mismatch,
                name +
                    " is a filter with a header of its own, and no PHP bucket; open it without a "
                    "scheme");
  return bits;
}

detail::NextKeyBits bits_of(const PhpScheme& scheme, std::span<const std::string_view> keys) {
  return [&scheme, left = keys](std::size_t most, detail::KeyBits& to) mutable {
    const std::size_t count = std::min(most, left.size());
    to.strings.resize(count);
    to.offsets.resize(count * scheme.hash_count());
    scheme.positions(left.first(count), to.offsets);
    left = left.subspan(count);
    return count;
  };
}

}  // namespace

RedisPhpFilter::RedisPhpFilter(const RedisPlace& place, const PhpScheme& scheme)
    : place_(place), scheme_(scheme) {
  require_unsharded(place);
  if (scheme.bits() > std::uint64_t{1} << 32)
    throw Error(ErrorCode::too_large,
                scheme.description() + " does not fit into one Redis string; at most 2^32 bits do");
  buckets_ = std::make_unique<Buckets>(
      bits_under(place, place.key, scheme), std::nullopt,
      [scheme](std::span<const std::string_view> keys) { return bits_of(scheme, keys); });
}
RedisPhpFilter::RedisPhpFilter(RedisPhpFilter&&) noexcept = default;
RedisPhpFilter& RedisPhpFilter::operator=(RedisPhpFilter&&) noexcept = default;
RedisPhpFilter::~RedisPhpFilter() = default;

RedisPhpFilter RedisPhpFilter::create(const RedisPlace& place, const PhpScheme& scheme) {
  return {place, scheme};
}

RedisPhpFilter RedisPhpFilter::open(const RedisPlace& place, const PhpScheme& scheme) {
  RedisPhpFilter filter(place, scheme);
  const detail::BitString& string = filter.buckets_->newer().strings()[0];
  if (string.guard().least_bytes == 0)
    throw Error(ErrorCode::missing,
                string.name() + " is not there; check the key, or create the bucket");
  return filter;
}

RedisPhpFilter RedisPhpFilter::make(const RedisPlace& place, const PhpScheme& scheme) {
  RedisPhpFilter filter(place, scheme);
  StringBits& bits = filter.buckets_->newer();
  const detail::Reply made =
      bits.cluster().ask(place.key, {"SET", place.key, std::string_view("\0", 1), "NX"});
  if (made->type == REDIS_REPLY_NIL)
    throw Error(ErrorCode::exists,
                bits.strings()[0].name() + " exists already; choose another key");
  return filter;
}

RedisPhpFilter RedisPhpFilter::store(const RedisPlace& place, const PhpFilter& filter) {
  RedisPhpFilter bucket(place, filter.scheme());
  StringBits& bits = bucket.buckets_->newer();
  const auto bytes = filter.string_bytes();
  const std::string length = std::to_string(bytes.size());
  constexpr detail::StagedKeys::Rules kBucket = {
      .functions = {},
      .may_go = "false",
      .is_longer = {},
      .is_whole = "redis.call('STRLEN', KEYS[2]) == tonumber(ARGV[1])",
      .is_ours = {}};
  detail::StagedStrings staged(bits.cluster(), detail::StagedKeys({place.key}, kBucket),
                               bytes.size());
  const std::string zero(1, '\0');
  staged.make({&zero, 1}, {&zero, 1});
  // The last byte is written first, and not again: if the server evicts the string, the next write leaves it shorter.
  staged.write(0, bytes.size() - 1, bytes.last(1));
  staged.write(0, 0, bytes.first(bytes.size() - 1));
  staged.flush();
  staged.unmoved().require_history();
  if (!staged.keys().publish_only(bits.cluster(), {length}))
    throw Error(ErrorCode::exists,
                bits.strings()[0].name() + " exists already; choose another key");
  staged.published();
  return bucket;
}

PhpFilter RedisPhpFilter::load() {
  StringBits& bits = buckets_->newer();
  bits.check_lengths();
  return PhpFilter::load(scheme_, bits.strings()[0].guard().least_bytes,
                         [&](std::span<std::byte> string) { bits.read(0, string); });
}

void RedisPhpFilter::ask_older() {
  buckets_->older().emplace(bits_under(place_, older_redis_key(place_.key), scheme_));
}

std::size_t RedisPhpFilter::do_insert(Texts keys, std::span<bool> fresh) {
  return buckets_->run(BitOperation::set, keys, fresh);
}

std::size_t RedisPhpFilter::do_contain(Texts keys, std::span<bool> found) const {
  return buckets_->run(BitOperation::test, keys, found);
}

void RedisPhpFilter::begin_call() const noexcept { buckets_->begin(); }

std::size_t RedisPhpFilter::acknowledged() const noexcept { return buckets_->acknowledged(); }

std::size_t RedisPhpFilter::insert_bits(std::string_view key, std::span<bool> before) {
  begin_call();
  if (before.size() < scheme_.hash_count())
    throw Error(ErrorCode::invalid_argument, "a key of " + scheme_.description() + " has " +
                                                 std::to_string(scheme_.hash_count()) +
                                                 " bits, and there is room for " +
                                                 std::to_string(before.size()) + " answers");
  std::vector<std::uint64_t> offsets(scheme_.hash_count());
  scheme_.positions(key, offsets);
  buckets_->newer().set_one(offsets, before);
  return offsets.size();
}

Stats RedisPhpFilter::stats() {
  const detail::Share share = buckets_->newer().share_of_ones();
  const auto m = static_cast<double>(scheme_.bits());
  const auto k = static_cast<double>(scheme_.hash_count());
  // The last byte may have bits that the scheme does not use.
  const double ones = std::min(1.0, share.ones * std::ceil(m / 8) * 8 / m);
  const double items =
      ones < 1 ? -m / k * std::log1p(-ones) : std::numeric_limits<double>::infinity();
  return {ones, share.error, share.sampled, items, std::pow(ones, k), ones > 0.5};
}

bool RedisPhpFilter::rotate(const RedisPlace& place) {
  require_unsharded(place);
  Cluster cluster(place);
  const std::string older = older_redis_key(place.key);
  const detail::Reply reply = cluster.ask(place.key, {"EVAL", kRotateBits, "2", place.key, older});
  const std::string name = cluster.name_of(place.key);
  detail::require_type(reply, REDIS_REPLY_INTEGER, name);
  if (reply->integer < 0)
    throw Error(ErrorCode::not_a_filter, (reply->integer == -1 ? name : cluster.name_of(older)) +
                                             " is not a string; check the key");
  return reply->integer == 1;
}

}  // namespace bloomery
