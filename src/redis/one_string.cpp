// A header that is believed only with the length that it speaks of.
#include "redis/one_string.hpp"

#include <bloomery/detail/layout.hpp>
#include <bloomery/error.hpp>
#include <bloomery/redis_filter.hpp>

namespace bloomery::detail {

void require_string_fits(const Plan& plan) {
  validate(plan);
  if (plan.bits > kMaxRedisBits)
    throw Error(ErrorCode::too_large,
                std::to_string(plan.bits) + " bits do not fit into one Redis string; at most " +
                    std::to_string(kMaxRedisBits) + " do: plan fewer items or a higher rate");
}

RedisHeader read_redis_header(Connection& connection, std::string_view key) {
  const std::string name = name_of(connection.name(), key);
  const std::string last = std::to_string(kRedisHeaderBytes - 1);
  const Reply start = connection.ask({"GETRANGE", key, "0", last});
  const Reply length = connection.ask({"STRLEN", key});
  require_type(start, REDIS_REPLY_STRING, name);
  require_type(length, REDIS_REPLY_INTEGER, name);
  if (start->len == 0)
    throw Error(ErrorCode::missing, name + " is not there; create it, or check the key");
  const RedisHeader header = decode_redis_header({start->str, start->len}, name);
  const std::uint64_t bytes = header.string_bytes();
  if (static_cast<std::uint64_t>(length->integer) != bytes)
    throw Error(ErrorCode::corrupt, name + " has " + std::to_string(length->integer) +
                                        " bytes, and its header speaks of " +
                                        std::to_string(bytes) + "; build the filter anew");
  return header;
}

RedisBits::OffsetsOf offsets_of(const Plan& plan, std::span<const Hash128> hashes) {
  return [positions = Positions(plan), hashes, k = std::size_t{plan.hashes}](
             std::size_t first, std::size_t count, std::span<std::uint64_t> offsets) {
    for (std::size_t i = 0; i < count; ++i) positions(hashes[first + i], offsets.subspan(i * k, k));
    for (std::uint64_t& offset : offsets) offset = redis_offset(offset);
  };
}

}  // namespace bloomery::detail
