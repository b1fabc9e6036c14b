// Errors of RedisBloom and of bloomery.so are told apart by their texts: they have no codes.
#include "redis/module_replies.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "redis/connection.hpp"

namespace bloomery::detail {

std::string text_of(double fpr) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), fpr).ptr};
}

bool is_unknown_command(const redisReply& reply) noexcept {
  return says(reply, "unknown command") || says(reply, "Unknown command") ||
         says(reply, "Unknown Redis command");
}

Error module_meaning(const redisReply& reply, const std::string& name) {
  const std::string said = name + ": " + std::string(reply.str, reply.len);
  if (says(reply, "unknown command") && says(reply, "BF.MDEL"))
    return {ErrorCode::wrong_kind,
            name + ": the server's module cannot remove keys; load bloomery.so"};
  if (says(reply, "unknown command"))
    return {ErrorCode::io,
            name +
                ": the server has no module with BF commands; load bloomery.so, or use a filter "
                "in a plain string"};
  if (says(reply, "not found"))
    return {ErrorCode::missing, name + " is not there; create it, or check the key"};
  if (says(reply, "item exists"))
    return {ErrorCode::exists, name + " exists already; choose another key"};
  if (says(reply, "is full"))
    return {ErrorCode::no_space, said + "; make a larger filter, or one that grows"};
  if (says(reply, "does not count")) return {ErrorCode::wrong_kind, said};
  return Connection::meaning(reply, name);
}

void require_module_reply(const redisReply& reply, int type, const std::string& name) {
  if (reply.type == REDIS_REPLY_ERROR) throw module_meaning(reply, name);
  if (reply.type != type)
    throw Error(ErrorCode::io,
                name + ": an answer that no module with BF commands gives; check the address");
}

}  // namespace bloomery::detail
