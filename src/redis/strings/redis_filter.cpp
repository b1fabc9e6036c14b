// A filter in strings: it is made at once under its own keys, and identified by its header.
#include <bloomery/redis_filter.hpp>

#include <bloomery/error.hpp>

#include <utility>

#include "redis/shards/shard_keys.hpp"
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

// KEYS: the filter; and, if a filter may be replaced, a temporary name. A server that refuses so long a string, or a
// command, ends the script, and then the old filter must still be there.
constexpr std::string_view kCreate =
    "if redis.call('EXISTS', KEYS[1]) == 1 and "
    "(not KEYS[2] or redis.call('TYPE', KEYS[1]).ok ~= 'string' or "
    "redis.call('GETRANGE', KEYS[1], 0, 9) ~= string.sub(ARGV[1], 1, 10)) then return 0 end "
    "make(KEYS[2] or KEYS[1], ARGV[1], ARGV[2], KEYS[2]) "
    "if KEYS[2] then put(KEYS[2], KEYS[1]) end return 1";

void create_string(Cluster& cluster, const std::string& key, const RedisHeader& header,
                   bool replace) {
  const std::string start = detail::encode_redis_header(header);
  const std::string last = std::to_string(header.string_bytes() - 1);
  std::vector<std::string> words = {"EVAL", std::string(detail::kMakeAndPut).append(kCreate),
                                    replace ? "2" : "1", key};
  if (replace) words.push_back(detail::scratch_name(key));
  words.insert(words.end(), {start, last});
  const detail::Reply created = cluster.ask(key, words);
  const std::string name = cluster.name_of(key);
  detail::require_type(created, REDIS_REPLY_INTEGER, name);
  if (created->integer != 1)
    throw Error(ErrorCode::exists, name +
                                       (replace ? " exists and is not a plain filter in one "
                                                  "string, and only such a filter is replaced; "
                                                : " exists already; open it, or ") +
                                       "choose another key");
}

void cut_shards(Cluster& cluster, const RedisHeader& header, const std::vector<std::string>& keys,
                const Error& wrong) {
  try {
    detail::cut_to_length(cluster, header, keys);
  } catch (const Error& error) {
    throw detail::not_cut(wrong, error);
  }
}

std::vector<detail::ShardString> strings_of(RedisHeader header,
                                            const std::vector<std::string>& keys) {
  std::vector<detail::ShardString> strings;
  for (header.shard = 0; header.shard < header.shards; ++header.shard)
    strings.push_back({keys[header.shard], detail::encode_redis_header(header)});
  return strings;
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
  detail::make_shard_strings(cluster, header.identity, strings_of(header, keys),
                             header.string_bytes());
  return {header, std::move(cluster), std::move(keys)};
}

RedisFilter RedisFilter::open(const RedisPlace& place) {
  Cluster cluster(place);
  const RedisHeader header = detail::header_at(cluster, place);
  if (header.generation != 0)
    throw Error(
        ErrorCode::wrong_kind,
        cluster.name_of(place.key) + " is a filter that rotates; open it as a RotatingRedisFilter");
  return open(place, header, std::move(cluster));
}

RedisFilter RedisFilter::open(const RedisPlace& place, const RedisHeader& header, Cluster cluster) {
  RedisFilter filter(
      header, std::move(cluster),
      place.shards ? detail::shard_keys(place.key, header.shards) : std::vector{place.key});
  if (!place.shards) return filter;
  StringBits& bits = *filter.bits_;
  try {
    bits.check_shards(header);
  } catch (const Error& error) {
    if (!bits.undo_interrupted()) {
      if (error.code() != ErrorCode::mismatch) throw;
      cut_shards(bits.cluster(), header, filter.keys_, error);
    }
    bits.check_shards(header);
  }
  return filter;
}

RedisFilter RedisFilter::store(const RedisPlace& place, const FilterView& filter, bool replace) {
  auto writer = RedisFilterWriter::of_bits(place, filter.plan(), filter.hasher(), replace);
  writer.write(0, filter.bytes());
  writer.publish();
  return open(place);
}

void RedisFilter::begin_call() const noexcept { bits_->begin(); }

std::size_t RedisFilter::do_insert(std::span<const Hash128> hashes, bool* fresh) {
  return bits_->run(BitOperation::set, detail::bits_of(plan_, bits_->shards(), hashes),
                    detail::answers_for(hashes, fresh));
}

std::size_t RedisFilter::do_contain(std::span<const Hash128> hashes, bool* found) const {
  return bits_->run(BitOperation::test, detail::bits_of(plan_, bits_->shards(), hashes),
                    detail::answers_for(hashes, found));
}

std::size_t RedisFilter::acknowledged() const noexcept { return bits_->acknowledged(); }

Stats RedisFilter::stats() { return detail::stats_from(plan_, bits_->share_of_ones()); }

void RedisFilter::read(std::uint64_t from, std::span<std::byte> out) {
  detail::require_within(plan_, from, out.size());
  bits_->read(from, out);
}

Filter RedisFilter::load() {
  if (!is_one_piece())
    throw Error(ErrorCode::wrong_kind,
                "the layout " + std::string(to_string(plan_.layout)) + " has other bits in " +
                    std::to_string(bits_->shards()) +
                    " shards than in one piece; build the filter again from its keys");
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
