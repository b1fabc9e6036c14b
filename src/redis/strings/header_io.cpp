// A header is valid only if the string has the length that it says.
#include "redis/strings/header_io.hpp"

#include <bloomery/error.hpp>

#include "plan/refuse.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"

namespace bloomery::detail {
namespace {

// ARGV: the header of a string, its right length, its end. A shard that was cut has zeros in its end, or none, and is
// left alone: that strangers set just the bits that its end had, and at most eight others, has a probability below
// 1e-9, however many they set.
constexpr std::string_view kCutToLength =
    "local bytes, ending = tonumber(ARGV[2]), ARGV[3] "
    "if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return end "
    "local found, more = redis.call('GETRANGE', KEYS[1], bytes - #ending, bytes - 1), 0 "
    "if #found < #ending then return end "
    "for i = 1, #ending do "
    "local byte, now = string.byte(ending, i), string.byte(found, i) "
    "if bit.band(now, byte) ~= byte then return end "
    "for j = 0, 7 do more = more + bit.band(bit.rshift(now - byte, j), 1) end end "
    "if more > 8 then return end "
    "if redis.call('STRLEN', KEYS[1]) > bytes then "
    "redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, bytes - 1), 'KEEPTTL') end "
    "if more > 0 then redis.call('SETRANGE', KEYS[1], bytes - #ending, ending) end";

std::string wrong_length(const StringStart& start, const RedisHeader& header) {
  return start.name + " has " + std::to_string(start.length) + " bytes, and its header says " +
         std::to_string(header.string_bytes());
}

// Error{corrupt}: the string is longer than its header says, and cannot be cut, because a right, room or the primary is
// missing.
void shorten(Cluster& cluster, const std::string& key, StringStart& start) {
  if (!begins_with_redis_header(start.bytes)) return;
  const RedisHeader header = decode_redis_header(start.bytes, start.name);
  if (header.shards != 0 || start.length <= header.string_bytes()) return;
  try {
    cut_to_length(cluster, header, {key});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unavailable) throw;
    throw not_cut({ErrorCode::corrupt, wrong_length(start, header)}, error);
  }
  start = read_start(cluster, key);
}

}  // namespace

StringStart read_start(Cluster& cluster, std::string_view key) {
  StringStart start{cluster.name_of(key), {}, 0};
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

void cut_to_length(Cluster& cluster, RedisHeader header, const std::vector<std::string>& keys) {
  std::vector<Request> requests;
  for (header.shard = 0; header.shard < keys.size(); ++header.shard) {
    const std::string& key = keys[header.shard];
    const std::string start = encode_redis_header(header);
    requests.emplace_back(key).next().command(
        {"EVAL", kCutToLength, "1", key, start, std::to_string(header.string_bytes()),
         header.shards == 0 ? "" : start.substr(kRedisIdentityAt, kShardEndBytes)});
  }
  cluster.run_all(requests, [&](std::size_t i, std::size_t, const Reply& reply) {
    require_type(*reply, REDIS_REPLY_NIL, cluster.name_of(keys[i]));
  });
}

Error not_cut(const Error& wrong, const Error& why) {
  return {wrong.code(),
          std::string(wrong.what()) +
              "; what a client of a larger filter may have written behind its end cannot "
              "be cut off: " +
              why.what()};
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
