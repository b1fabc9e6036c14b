// A header is believed only with the length that it says.
#include "redis/strings/header_io.hpp"

#include <bloomery/error.hpp>
#include <bloomery/redis_url.hpp>

#include "redis/shards/shard_keys.hpp"

namespace bloomery::detail {

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
      start.bytes.assign(reply->str, reply->len);
  });
  return start;
}

RedisHeader header_in(const StringStart& start) {
  if (start.bytes.empty())
    throw Error(ErrorCode::missing, start.name + " is not there; create it, or check the key");
  const RedisHeader header = decode_redis_header(start.bytes, start.name);
  if (header.shards == 0 && start.length != header.string_bytes())
    throw Error(ErrorCode::corrupt, start.name + " has " + std::to_string(start.length) +
                                        " bytes, and its header says " +
                                        std::to_string(header.string_bytes()) +
                                        "; build the filter anew");
  return header;
}

RedisHeader header_of_string(const Plan& plan, const Hasher& hasher) {
  validate(plan);
  if (plan.bits > kMaxRedisBits)
    throw Error(ErrorCode::too_large,
                std::to_string(plan.bits) + " bits do not fit into one Redis string; at most " +
                    std::to_string(kMaxRedisBits) +
                    " do: plan fewer items or a higher false-positive rate, or use shards");
  return {.plan = plan, .hasher = hasher, .identity = new_identity()};
}

}  // namespace bloomery::detail
