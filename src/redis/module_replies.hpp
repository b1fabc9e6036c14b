// What a module with BF commands answers, and the numbers that it is given.
#pragma once

#include <bloomery/error.hpp>

#include <hiredis/hiredis.h>

#include <string>
#include <string_view>

namespace bloomery::detail {

// A rate so that it is read as the same number.
[[nodiscard]] std::string text_of(double fpr);

// An error reply of the module, to its user; `name` is the filter's.
[[nodiscard]] Error module_meaning(const redisReply& reply, const std::string& name);
// In a script too, where each server has words of its own.
[[nodiscard]] bool is_unknown_command(const redisReply& reply) noexcept;

// Error: as module_meaning; {io}: a reply of another type, which no such module gives.
void require_module_reply(const redisReply& reply, int type, const std::string& name);

}  // namespace bloomery::detail
