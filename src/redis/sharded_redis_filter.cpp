// A filter in shards: made by shard_maker.hpp, found by its shard 0.
#include <bloomery/sharded_redis_filter.hpp>

#include <bloomery/error.hpp>

#include <utility>

#include "redis/shard_keys.hpp"
#include "redis/shard_maker.hpp"
#include "redis/shard_plan.hpp"
#include "redis/sharded_bits.hpp"
#include "redis/whole_string.hpp"

namespace bloomery {

using detail::ShardedBits;
static_assert(kMaxRedisShards == detail::kMostShards);

namespace {

// ARGV: the header, and where the string ends with the identity once more. A longer one is not taken
// over: who has it open writes behind the end of ours.
constexpr std::string_view kMake =
    "local found = redis.call('GETRANGE', KEYS[1], 0, 9) "
    "if found ~= '' and (found ~= string.sub(ARGV[1], 1, 10) or "
    "redis.call('BITCOUNT', KEYS[1], 128, -9) ~= 0) then return 0 end "
    "if redis.call('STRLEN', KEYS[1]) > tonumber(ARGV[2]) + 8 then return -2 end "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], string.sub(ARGV[1], 65, 72)) return 1";
// And the claim. It becomes as long as the string, if the server makes one so long, before it goes.
constexpr std::string_view kCommit =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[3] then return 0 end "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], '\\0') "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], string.sub(ARGV[1], 65, 72)) return 1";

// Shard 0 is both the last to be made and what stands for the filter.
detail::ShardsToMake strings_to_make(detail::RedisHeader header,
                                     const std::vector<std::string>& keys) {
  std::vector<std::string> headers;
  for (header.shard = 0; header.shard < header.shards; ++header.shard)
    headers.push_back(detail::encode_redis_header(header));
  const std::string end = std::to_string(header.string_bytes() - detail::kShardEndBytes);
  using Words = detail::ShardsToMake::Words;
  return {.first = keys[0],
          .claimed = keys[0],
          .identity = header.identity,
          .keys = {keys.begin() + 1, keys.end()},
          .committed = headers[0],
          .make =
              [=](std::size_t i) {
                return Words{"EVAL", std::string(kMake), "1", keys[i + 1], headers[i + 1], end};
              },
          .remove =
              [=](std::size_t i) {
                return Words{"EVAL", std::string(detail::kRemoveString), "1", keys[i + 1],
                             headers[i + 1]};
              },
          .commit =
              [=](const std::string& claim) {
                return Words{"EVAL", std::string(kCommit), "1", keys[0], headers[0], end, claim};
              }};
}

}  // namespace

ShardedRedisFilter::ShardedRedisFilter(const Plan& plan, const Hasher& hasher,
                                       std::unique_ptr<ShardedBits> bits)
    : plan_(plan), hasher_(hasher), bits_(std::move(bits)) {}
ShardedRedisFilter::ShardedRedisFilter(ShardedRedisFilter&&) noexcept = default;
ShardedRedisFilter& ShardedRedisFilter::operator=(ShardedRedisFilter&&) noexcept = default;
ShardedRedisFilter::~ShardedRedisFilter() = default;

ShardedRedisFilter ShardedRedisFilter::create(const RedisAddress& address, std::string_view name,
                                              const Plan& plan, std::uint32_t shards,
                                              const Hasher& hasher) {
  validate(plan);
  detail::Cluster cluster(address);
  if (shards == 0) shards = detail::shards_for(plan, cluster.nodes());
  std::vector<std::string> keys = detail::shard_keys(name, shards);
  const detail::RedisHeader header{.plan = detail::plan_for_shards(plan, shards),
                                   .hasher = hasher,
                                   .identity = detail::new_identity(),
                                   .shards = shards};
  detail::make_shards(cluster, strings_to_make(header, keys));
  return {header.plan, hasher,
          std::make_unique<ShardedBits>(std::move(cluster), header, std::move(keys))};
}

ShardedRedisFilter ShardedRedisFilter::open(const RedisAddress& address, std::string_view name) {
  detail::Cluster cluster(address);
  const std::string first = detail::first_shard_key(name);
  const std::string what = detail::name_of(cluster.name(), first);
  const detail::Reply start =
      cluster.ask(first, {"GETRANGE", first, "0", std::to_string(detail::kRedisHeaderBytes - 1)});
  detail::require_type(start, REDIS_REPLY_STRING, what);
  const std::string_view found(start->str, start->len);
  if (found.empty())
    throw Error(ErrorCode::missing, what + " is not there, the first shard of '" +
                                        std::string(name) +
                                        "'; create the filter, or check the name");
  if (detail::is_claim(found)) throw detail::being_made(what);
  const detail::RedisHeader header = detail::decode_redis_header(found, what);
  if (header.shards == 0)
    throw Error(ErrorCode::wrong_kind,
                what + " is a filter in one string; open it by its key, as a RedisFilter");
  std::vector<std::string> keys = detail::shard_keys(name, header.shards);
  auto bits = std::make_unique<ShardedBits>(std::move(cluster), header, std::move(keys));
  bits->check();
  return {header.plan, header.hasher, std::move(bits)};
}

std::size_t ShardedRedisFilter::insert_hashes(std::span<const Hash128> hashes,
                                              std::span<bool> fresh) {
  return bits_->run(ShardedBits::Change::set, hashes, fresh);
}

std::size_t ShardedRedisFilter::may_contain_hashes(std::span<const Hash128> hashes,
                                                   std::span<bool> found) {
  return bits_->run(ShardedBits::Change::test, hashes, found);
}

std::size_t ShardedRedisFilter::acknowledged() const noexcept { return bits_->acknowledged(); }

void ShardedRedisFilter::read(std::uint64_t from, std::span<std::byte> out) {
  detail::require_within(plan_, from, out.size());
  bits_->read(from, out);
}

RedisFill ShardedRedisFilter::watch() { return detail::fill_of(plan_, bits_->share_of_ones()); }

const std::vector<std::string>& ShardedRedisFilter::keys() const noexcept { return bits_->keys(); }

std::size_t ShardedRedisFilter::nodes() { return bits_->cluster().nodes(); }

}  // namespace bloomery
