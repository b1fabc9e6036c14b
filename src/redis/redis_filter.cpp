// Filters over plain Redis strings: our scheme behind a header, PHP's buckets as they are.
#include <bloomery/redis_filter.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "redis/one_string.hpp"
#include "redis/redis_bits.hpp"
#include "redis/redis_header.hpp"
#include "redis/script.hpp"
#include "redis/whole_string.hpp"

namespace bloomery {
namespace {

using detail::Connection;
using detail::name_of;
using detail::offsets_of;
using detail::RedisBits;

// KEYS: the filter; and, where one may be replaced, a name for what is being made: a server that
// refuses so long a string, or a command, stops the script, and the old filter must still be there.
constexpr std::string_view kCreate =
    "if redis.call('EXISTS', KEYS[1]) == 1 and "
    "(not KEYS[2] or redis.call('TYPE', KEYS[1]).ok ~= 'string' or "
    "redis.call('GETRANGE', KEYS[1], 0, 9) ~= string.sub(ARGV[1], 1, 10)) then return 0 end "
    "make(KEYS[2] or KEYS[1], ARGV[1], ARGV[2], KEYS[2]) "
    "if KEYS[2] then put(KEYS[2], KEYS[1]) end return 1";

std::unique_ptr<RedisBits> bits_of(Connection connection, std::string_view key,
                                   const detail::RedisHeader& header) {
  const RedisBits::Guard guard{.identity = header.identity,
                               .bytes = header.string_bytes(),
                               .blocks = header.plan.layout != Layout::standard};
  return std::make_unique<RedisBits>(std::move(connection), std::string(key), guard,
                                     header.plan.hashes);
}

detail::Over over(bool replace) { return replace ? detail::Over::filter : detail::Over::nothing; }

detail::RedisHeader new_header(const Plan& plan, const Hasher& hasher) {
  detail::require_string_fits(plan);
  return {.plan = plan, .hasher = hasher, .identity = detail::new_identity()};
}

}  // namespace

RedisFilter::RedisFilter(const Plan& plan, const Hasher& hasher, std::unique_ptr<RedisBits> bits)
    : plan_(plan), hasher_(hasher), bits_(std::move(bits)) {}
RedisFilter::RedisFilter(RedisFilter&&) noexcept = default;
RedisFilter& RedisFilter::operator=(RedisFilter&&) noexcept = default;
RedisFilter::~RedisFilter() = default;

RedisFilter RedisFilter::create(const RedisAddress& address, std::string_view key, const Plan& plan,
                                const Hasher& hasher, bool replace) {
  const detail::RedisHeader header = new_header(plan, hasher);
  Connection connection(address);
  const std::string name = name_of(connection.name(), key);
  const std::string last = std::to_string(detail::kRedisHeaderBytes + plan.bytes() - 1);
  const std::string start = detail::encode_redis_header(header);
  const std::string text = detail::script({detail::kMakeAndPut, kCreate});
  const detail::Reply created =
      replace ? connection.ask({"EVAL", text, "2", key, detail::scratch_name(key), start, last})
              : connection.ask({"EVAL", text, "1", key, start, last});
  detail::require_type(created, REDIS_REPLY_INTEGER, name);
  if (created->integer != 1)
    throw Error(ErrorCode::exists,
                name +
                    (replace ? " exists and is no filter, which is never replaced; "
                             : " exists already; open it, or ") +
                    "choose another key");
  return {plan, hasher, bits_of(std::move(connection), key, header)};
}

RedisFilter RedisFilter::store(const RedisAddress& address, std::string_view key,
                               const FilterView& filter, bool replace) {
  const detail::RedisHeader header = new_header(filter.plan(), filter.hasher());
  Connection connection(address);
  {
    detail::StringWriter writer(connection, key, header.string_bytes());
    const std::string start = detail::encode_redis_header(header);
    writer.write(0, std::as_bytes(std::span(start)));
    writer.write(start.size(), filter.bytes());
    writer.publish(over(replace));
  }
  return {filter.plan(), filter.hasher(), bits_of(std::move(connection), key, header)};
}

RedisFilterWriter::RedisFilterWriter(const RedisAddress& address, std::string_view key,
                                     const Plan& plan, const Hasher& hasher)
    : plan_(plan), connection_(std::make_unique<Connection>(address)) {
  const detail::RedisHeader header = new_header(plan, hasher);
  writer_ = std::make_unique<detail::StringWriter>(*connection_, key, header.string_bytes());
  const std::string start = detail::encode_redis_header(header);
  writer_->write(0, std::as_bytes(std::span(start)));
}
RedisFilterWriter::~RedisFilterWriter() = default;

void RedisFilterWriter::write(std::uint64_t at, std::span<const std::byte> bytes) {
  detail::require_within(plan_, at, bytes.size());
  writer_->write(detail::kRedisHeaderBytes + at, bytes);
}

void RedisFilterWriter::publish(bool replace) { writer_->publish(over(replace)); }

RedisFilter RedisFilter::open(const RedisAddress& address, std::string_view key) {
  Connection connection(address);
  const std::string name = name_of(connection.name(), key);
  const auto header = detail::read_redis_header(connection, key);
  if (header.generation != 0)
    throw Error(ErrorCode::wrong_kind,
                name +
                    " is a generation of a filter that rotates; open it as a "
                    "RotatingRedisFilter");
  if (header.shards != 0)
    throw Error(ErrorCode::wrong_kind, name + " is shard " + std::to_string(header.shard) + " of " +
                                           std::to_string(header.shards) +
                                           " of a filter; open that by its name, as a "
                                           "ShardedRedisFilter");
  return {header.plan, header.hasher, bits_of(std::move(connection), key, header)};
}

namespace {

RedisBits::OffsetsOf offsets_of(const PhpScheme& scheme, std::span<const std::string_view> keys) {
  return [&scheme, keys](std::size_t first, std::size_t count, std::span<std::uint64_t> offsets) {
    scheme.positions(keys.subspan(first, count), offsets);
  };
}

}  // namespace

std::size_t RedisFilter::insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh) {
  return bits_->set(hashes.size(), offsets_of(plan_, hashes), fresh);
}

std::size_t RedisFilter::may_contain_hashes(std::span<const Hash128> hashes,
                                            std::span<bool> found) {
  return bits_->test(hashes.size(), offsets_of(plan_, hashes), found);
}

Filter RedisFilter::load() {
  Filter filter(plan_, hasher_);
  read(0, filter.mutable_bytes());
  return filter;
}

void RedisFilter::read(std::uint64_t from, std::span<std::byte> out) {
  detail::require_within(plan_, from, out.size());
  bits_->read(detail::kRedisHeaderBytes + from, out);
}

std::size_t RedisFilter::acknowledged() const noexcept { return bits_->acknowledged(); }

RedisFill RedisFilter::watch() {
  return detail::fill_of(plan_, bits_->share_of_ones(detail::kRedisHeaderBytes));
}

RedisPhpFilter::RedisPhpFilter(const PhpScheme& scheme, std::unique_ptr<RedisBits> bits)
    : scheme_(scheme), bits_(std::move(bits)) {}
RedisPhpFilter::RedisPhpFilter(RedisPhpFilter&&) noexcept = default;
RedisPhpFilter& RedisPhpFilter::operator=(RedisPhpFilter&&) noexcept = default;
RedisPhpFilter::~RedisPhpFilter() = default;

RedisPhpFilter RedisPhpFilter::open(const RedisAddress& address, std::string_view key,
                                    const PhpScheme& scheme) {
  RedisPhpFilter filter = create(address, key, scheme);
  if (filter.bits_->least_bytes() == 0) {
    throw Error(ErrorCode::missing, name_of(Connection(address).name(), key) +
                                        " is not there; check the key, or create the bucket");
  }
  return filter;
}

RedisPhpFilter RedisPhpFilter::create(const RedisAddress& address, std::string_view key,
                                      const PhpScheme& scheme) {
  if (scheme.bits() > std::uint64_t{1} << 32)
    throw Error(ErrorCode::too_large,
                scheme.description() + " does not fit into one Redis string; at most 2^32 bits do");
  const RedisBits::Guard guard{.identity = std::nullopt, .bytes = (scheme.bits() + 7) / 8};
  auto bits = std::make_unique<RedisBits>(Connection(address), std::string(key), guard,
                                          scheme.hash_count());
  bits->check();
  if (bits->least_bytes() >= detail::kRedisHeaderBytes) {
    std::array<char, detail::kRedisHeaderBytes> start;
    bits->read(0, std::as_writable_bytes(std::span(start)));
    if (detail::has_redis_magic({start.data(), start.size()}))
      throw Error(ErrorCode::mismatch, bits->name() +
                                           " is a filter with a header of its own, and no PHP "
                                           "bucket; open it without a scheme");
  }
  return {scheme, std::move(bits)};
}

RedisPhpFilter RedisPhpFilter::make(const RedisAddress& address, std::string_view key,
                                    const PhpScheme& scheme) {
  RedisPhpFilter filter = create(address, key, scheme);
  const detail::Reply made =
      filter.bits_->connection().ask({"SET", key, std::string_view("\0", 1), "NX"});
  if (made->type == REDIS_REPLY_NIL)
    throw Error(ErrorCode::exists, filter.bits_->name() + " exists already; choose another key");
  return filter;
}

RedisPhpFilter RedisPhpFilter::store(const RedisAddress& address, std::string_view key,
                                     const PhpFilter& filter) {
  RedisPhpFilter bucket = create(address, key, filter.scheme());
  const auto bytes = filter.string_bytes();
  detail::StringWriter writer(bucket.bits_->connection(), key, bytes.size());
  writer.write(0, bytes);
  writer.publish(detail::Over::nothing);
  return bucket;
}

PhpFilter RedisPhpFilter::load() {
  bits_->check();
  std::vector<std::byte> bytes(bits_->least_bytes());
  bits_->read(0, bytes);
  return PhpFilter::load(scheme_, bytes);
}

std::size_t RedisPhpFilter::insert_many(std::span<const std::string_view> keys,
                                        std::span<bool> fresh) {
  return bits_->set(keys.size(), offsets_of(scheme_, keys), fresh);
}

std::size_t RedisPhpFilter::may_contain_many(std::span<const std::string_view> keys,
                                             std::span<bool> found) {
  return bits_->test(keys.size(), offsets_of(scheme_, keys), found);
}

std::size_t RedisPhpFilter::acknowledged() const noexcept { return bits_->acknowledged(); }

RedisFill RedisPhpFilter::watch() {
  const auto share = bits_->share_of_ones(0);
  const auto m = static_cast<double>(scheme_.bits());
  const auto k = static_cast<double>(scheme_.hash_count());
  // The last byte may have bits that are none of the scheme's.
  const double ones = std::min(1.0, share.ones * std::ceil(m / 8) * 8 / m);
  const double items =
      ones < 1 ? -m / k * std::log1p(-ones) : std::numeric_limits<double>::infinity();
  return {ones, share.error, share.sampled, items, std::pow(ones, k), ones > 0.5};
}

}  // namespace bloomery
