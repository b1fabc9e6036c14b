// The replies of a server: their texts, what its errors mean, and what a command requires of them.
#pragma once

#include <bloomery/error.hpp>

#include <hiredis/hiredis.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace bloomery::detail {

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

// The key in quotation marks. A zero byte, at which the text of an Error would end, is written as \x00.
[[nodiscard]] std::string quoted_key(std::string_view key);
// The text of a reply; empty: it has none.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
  return reply.str == nullptr ? std::string_view() : std::string_view(reply.str, reply.len);
}
// Whether the text of an error reply contains these words.
[[nodiscard]] inline bool says(const redisReply& reply, std::string_view part) noexcept {
  return text_of(reply).find(part) != std::string_view::npos;
}

// The Error for an error reply; `what` names the server or the key that it is about.
[[nodiscard]] Error meaning(const redisReply& reply, const std::string& what);

// Error{io}: the reply has another type than a reply to the command. Throws the Error of an error reply.
void require_type(const redisReply& reply, int type, const std::string& what);
inline void require_type(const Reply& reply, int type, const std::string& what) {
  require_type(*reply, type, what);
}
// Error{io}: the array has another number of elements.
void require_elements(const redisReply& reply, std::size_t count, const std::string& what);

}  // namespace bloomery::detail
