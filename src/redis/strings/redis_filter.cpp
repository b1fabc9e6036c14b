// A filter in strings: made at once under its own keys, and found by its header.
#include <bloomery/redis_filter.hpp>

#include <bloomery/error.hpp>

#include <utility>

#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/shards/shard_plan.hpp"
#include "redis/shards/staged_keys.hpp"
#include "redis/strings/header_io.hpp"
#include "redis/strings/redis_header.hpp"
#include "redis/strings/string_bits.hpp"

namespace bloomery {

using detail::BitOperation;
using detail::Cluster;
using detail::RedisHeader;
using detail::StringBits;

namespace {

// KEYS: the filter; and, if one may be replaced, a name for what is being made: a server that
// refuses such a long string, or a command, ends the script, and the old filter must still be
// there.
constexpr std::string_view kCreate =
    "if redis.call('EXISTS', KEYS[1]) == 1 and "
    "(not KEYS[2] or redis.call('TYPE', KEYS[1]).ok ~= 'string' or "
    "redis.call('GETRANGE', KEYS[1], 0, 9) ~= string.sub(ARGV[1], 1, 10)) then return 0 end "
    "make(KEYS[2] or KEYS[1], ARGV[1], ARGV[2], KEYS[2]) "
    "if KEYS[2] then put(KEYS[2], KEYS[1]) end return 1";

// ARGV: the header of a shard, and where the string ends with the identity once more. A longer
// string is not taken over: clients that have it open write beyond the end of ours.
constexpr std::string_view kMakeShard =
    "local found = redis.call('GETRANGE', KEYS[1], 0, 9) "
    "if found ~= '' and (found ~= string.sub(ARGV[1], 1, 10) or "
    "redis.call('BITCOUNT', KEYS[1], 128, -9) ~= 0) then return 0 end "
    "if redis.call('STRLEN', KEYS[1]) > tonumber(ARGV[2]) + 8 then return -2 end "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], string.sub(ARGV[1], 65, 72)) return 1";
// ARGV[3]: the claim. It becomes as long as the string, if the server makes such a long one, before
// it is replaced.
constexpr std::string_view kCommit =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[3] then return 0 end "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], '\\0') "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], string.sub(ARGV[1], 65, 72)) return 1";

void create_string(Cluster& cluster, const std::string& key, const RedisHeader& header,
                   bool replace) {
  const std::string start = detail::encode_redis_header(header);
  const std::string last = std::to_string(header.string_bytes() - 1);
  std::vector<std::string> words = {"EVAL", std::string(detail::kMakeAndPut).append(kCreate),
                                    replace ? "2" : "1", key};
  if (replace) words.push_back(detail::scratch_name(key));
  words.insert(words.end(), {start, last});
  const detail::Reply created = cluster.ask(key, words);
  const std::string name = detail::name_of(cluster.name(), key);
  detail::require_type(created, REDIS_REPLY_INTEGER, name);
  if (created->integer != 1)
    throw Error(ErrorCode::exists,
                name +
                    (replace ? " exists and is no filter, and only a filter is replaced; "
                             : " exists already; open it, or ") +
                    "choose another key");
}

void create_shards(Cluster& cluster, RedisHeader header, const std::vector<std::string>& keys) {
  std::vector<std::string> headers;
  for (header.shard = 0; header.shard < header.shards; ++header.shard)
    headers.push_back(detail::encode_redis_header(header));
  const std::string end = std::to_string(header.string_bytes() - detail::kShardEndBytes);
  using Words = detail::ShardsToMake::Words;
  // Shard 0 both is made last and stands for the filter.
  detail::make_shards(
      cluster,
      {.first = keys[0],
       .claimed = keys[0],
       .identity = header.identity,
       .keys = {keys.begin() + 1, keys.end()},
       .committed = headers[0],
       .make =
           [&](std::size_t i) {
             return Words{"EVAL", std::string(kMakeShard), "1", keys[i + 1], headers[i + 1], end};
           },
       .remove =
           [&](std::size_t i) {
             return Words{"EVAL", std::string(detail::kRemoveString), "1", keys[i + 1],
                          headers[i + 1]};
           },
       .commit =
           [&](const std::string& claim) {
             return Words{"EVAL", std::string(kCommit), "1", keys[0], headers[0], end, claim};
           }});
}

// The header of the filter that a place says.
RedisHeader find(Cluster& cluster, const RedisPlace& place, const std::string& first) {
  const detail::StringStart start = detail::read_start(cluster, first);
  if (place.shards && start.bytes.empty())
    throw Error(ErrorCode::missing, start.name + " is not there, the first shard of '" + place.key +
                                        "'; create the filter, or check the name");
  if (place.shards && detail::is_claim(start.bytes)) throw detail::being_made(start.name);
  const RedisHeader header = detail::header_in(start);
  if (header.generation != 0)
    throw Error(
        ErrorCode::wrong_kind,
        start.name + " is a generation of a filter that rotates; open it as a RotatingRedisFilter");
  if (!place.shards && header.shards != 0)
    throw Error(ErrorCode::wrong_kind,
                start.name + " is shard " + std::to_string(header.shard) + " of " +
                    std::to_string(header.shards) +
                    " of a filter; open that by its name, as a RedisFilter in shards");
  if (place.shards && header.shards == 0)
    throw Error(ErrorCode::wrong_kind,
                start.name +
                    " is a filter in one string; open it by its key, as a RedisFilter "
                    "that is not in shards");
  if (place.shards.value_or(0) != 0 && *place.shards != header.shards)
    throw Error(ErrorCode::mismatch, start.name + ": it has " + std::to_string(header.shards) +
                                         " shards; leave their number out, or choose another name");
  return header;
}

}  // namespace

RedisFilter::RedisFilter(const RedisHeader& header, Cluster cluster, std::vector<std::string> keys)
    : plan_(header.plan),
      hasher_(header.hasher),
      keys_(std::move(keys)),
      bits_(std::make_unique<StringBits>(std::move(cluster), header, keys_)) {}
RedisFilter::RedisFilter(RedisFilter&&) noexcept = default;
RedisFilter& RedisFilter::operator=(RedisFilter&&) noexcept = default;
RedisFilter::~RedisFilter() = default;

RedisFilter RedisFilter::create(const RedisPlace& place, const Plan& plan, const Hasher& hasher,
                                bool replace) {
  if (place.shards && replace) {
    RedisFilterWriter::of_keys(place, plan, hasher, true).publish();
    return open(place);
  }
  validate(plan);
  Cluster cluster(place);
  if (!place.shards) {
    const RedisHeader header = detail::header_of_string(plan, hasher);
    create_string(cluster, place.key, header, replace);
    return {header, std::move(cluster), {place.key}};
  }
  const std::uint32_t shards =
      *place.shards != 0 ? *place.shards : detail::shards_for(plan, cluster.nodes());
  std::vector<std::string> keys = detail::shard_keys(place.key, shards);
  const RedisHeader header{.plan = detail::plan_for_shards(plan, shards),
                           .hasher = hasher,
                           .identity = detail::new_identity(),
                           .shards = shards};
  create_shards(cluster, header, keys);
  return {header, std::move(cluster), std::move(keys)};
}

RedisFilter RedisFilter::open(const RedisPlace& place) {
  Cluster cluster(place);
  const std::string first = place.shards ? detail::first_shard_key(place.key) : place.key;
  const RedisHeader header = find(cluster, place, first);
  RedisFilter filter(
      header, std::move(cluster),
      place.shards ? detail::shard_keys(place.key, header.shards) : std::vector{first});
  if (place.shards) filter.bits_->check_headers(header);
  return filter;
}

RedisFilter RedisFilter::store(const RedisPlace& place, const FilterView& filter, bool replace) {
  auto writer = RedisFilterWriter::of_bits(place, filter.plan(), filter.hasher(), replace);
  writer.write(0, filter.bytes());
  writer.publish();
  return open(place);
}

void RedisFilter::begin() const noexcept { bits_->begin(); }

std::size_t RedisFilter::do_insert(std::span<const Hash128> hashes, bool* fresh) {
  return bits_->run(BitOperation::set, detail::bits_of(plan_, bits_->shards(), hashes),
                    detail::answers_for(hashes, fresh));
}

std::size_t RedisFilter::do_contain(std::span<const Hash128> hashes, bool* found) const {
  return bits_->run(BitOperation::test, detail::bits_of(plan_, bits_->shards(), hashes),
                    detail::answers_for(hashes, found));
}

std::size_t RedisFilter::acknowledged() const noexcept { return bits_->acknowledged(); }

Stats RedisFilter::stats() { return detail::stats_of(plan_, bits_->share_of_ones()); }

void RedisFilter::read(std::uint64_t from, std::span<std::byte> out) {
  detail::require_within(plan_, from, out.size());
  bits_->read(from, out);
}

Filter RedisFilter::load() {
  if (!is_one_piece())
    throw Error(ErrorCode::wrong_kind,
                "the layout " + std::string(to_string(plan_.layout)) + " has other bits in " +
                    std::to_string(bits_->shards()) +
                    " shards than in one piece; build the filter anew from its keys");
  Filter filter(plan_, hasher_);
  read(0, filter.mutable_bytes());
  return filter;
}

bool RedisFilter::is_one_piece() const noexcept {
  return bits_->shards() == 1 || detail::one_block_per_key(plan_.layout);
}

std::optional<std::uint32_t> RedisFilter::shards() const noexcept {
  if (!bits_->strings()[0].guard().is_shard) return std::nullopt;
  return bits_->shards();
}

std::size_t RedisFilter::nodes() { return bits_->cluster().nodes(); }

}  // namespace bloomery
