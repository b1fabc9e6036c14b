// A header is valid only if the string has the length that it says.
#include "redis/strings/header_io.hpp"

#include <bloomery/error.hpp>

#include "plan/refuse.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"

namespace bloomery::detail {
namespace {

// KEYS: the string. ARGV: its header, its right length.
constexpr std::string_view kShorten =
    "if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) == ARGV[1] then "
    "redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, ARGV[2] - 1), 'KEEPTTL') end";

std::string wrong_length(const StringStart& start, const RedisHeader& header) {
  return start.name + " has " + std::to_string(start.length) + " bytes, and its header says " +
         std::to_string(header.string_bytes());
}

// A client of a larger filter that inserts many keys when a smaller one takes its place sets bits behind the end of
// that. No filter has them, so they are cut off. Error{corrupt}: they cannot be, because a right, room or the primary is
// missing.
void shorten(Cluster& cluster, std::string_view key, StringStart& start) {
  if (!begins_with_redis_header(start.bytes)) return;
  const RedisHeader header = decode_redis_header(start.bytes, start.name);
  if (header.shards != 0 || start.length <= header.string_bytes()) return;
  try {
    (void)cluster.ask(
        key, {"EVAL", kShorten, "1", key, start.bytes, std::to_string(header.string_bytes())});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unavailable) throw;
    throw Error(ErrorCode::corrupt, wrong_length(start, header) +
                                        "; what a client of a larger filter has written behind "
                                        "its end cannot be cut off: " +
                                        error.what());
  }
  start = read_start(cluster, key);
}

}  // namespace

StringStart read_start(Cluster& cluster, std::string_view key) {
  StringStart start{name_of(cluster.name(), key), {}, 0};
  Request request(key);
  request.next().command({"STRLEN", key});
  request.next().command({"GETRANGE", key, "0", std::to_string(kRedisHeaderBytes - 1)});
  cluster.run_all({&request, 1}, [&](std::size_t, std::size_t command, const Reply& reply) {
    require_type(reply, command == 0 ? REDIS_REPLY_INTEGER : REDIS_REPLY_STRING, start.name);
    if (command == 0)
      start.length = static_cast<std::uint64_t>(reply->integer);
    else
      start.bytes = text_of(*reply);
  });
  return start;
}

RedisHeader header_in(const StringStart& start) {
  if (start.bytes.empty())
    throw Error(ErrorCode::missing, start.name + " is not there; create it, or check the key");
  const RedisHeader header = decode_redis_header(start.bytes, start.name);
  if (header.shards == 0 && start.length != header.string_bytes())
    throw Error(ErrorCode::corrupt, wrong_length(start, header) + "; build the filter again");
  return header;
}

RedisHeader header_at(Cluster& cluster, const RedisPlace& place) {
  StringStart start = read_start(cluster, place.shards ? first_shard_key(place.key) : place.key);
  if (!place.shards) shorten(cluster, place.key, start);
  if (place.shards && start.bytes.empty())
    throw Error(ErrorCode::missing, start.name + " is not there, the first shard of " +
                                        quoted_key(place.key) +
                                        "; create the filter, or check the name");
  if (place.shards && is_claim(start.bytes)) throw being_made(start.name);
  const RedisHeader header = header_in(start);
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

RedisHeader header_of_string(const Plan& plan, const Hasher& hasher) {
  validate(plan);
  if (plan.bits > kMaxRedisBits)
    throw Error(ErrorCode::too_large,
                grouped(plan.bits) + " bits do not fit into one Redis string; at most " +
                    grouped(kMaxRedisBits) +
                    " do: plan fewer items or a higher false-positive rate, or use shards, as "
                    "with redis+cluster://");
  return {.plan = plan, .hasher = hasher, .identity = new_identity()};
}

}  // namespace bloomery::detail
