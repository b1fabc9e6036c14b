// What a module with BF commands is told, and what it replies.
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/module_messages.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

// The words of BF.RESERVE behind the key, for a filter of this capacity. Error{invalid_argument}.
[[nodiscard]] std::vector<std::string> reserve_words(const ModuleReserve& reserve,
                                                     std::uint64_t capacity);

// The Error for an error reply of the module; `name` is the filter's.
[[nodiscard]] Error module_meaning(const redisReply& reply, const std::string& name);
// Also inside a script, where each server has words of its own.
[[nodiscard]] bool is_unknown_command(const redisReply& reply) noexcept;
// Errors of module_meaning; {io}: a reply of another type.
void require_module_reply(const redisReply& reply, int type, const std::string& name);

// Error{io}: not a reply to BF.INFO.
[[nodiscard]] ModuleInfo info_in(const redisReply& reply, const std::string& name);

// What follows from a reply to BF.DEBUG. Nothing: an error, or not of a filter that is plain or grows.
[[nodiscard]] std::optional<ModuleFill> fill_in(const redisReply& reply);

// What bloomery.so says to BF.INFO key RESERVE. Nothing: RedisBloom, which does not know the word.
// Error{io}: not a reply to it.
[[nodiscard]] std::optional<ModuleReserve> reserve_in(const redisReply& reply,
                                                      const std::string& name);

// As require_module_reply; {corrupt}: the module does not take what was sent.
void require_chunk_reply(const redisReply& reply, int type, const std::string& name);
// The chunk that was asked for with the iterator `after`. Error{io}: no module gives such a chunk.
[[nodiscard]] ModuleChunk chunk_in(const redisReply& reply, std::uint64_t after,
                                   const std::string& name);
// Loads a chunk under a staged name; `name` is the filter's.
void load_chunk(Cluster& cluster, const std::string& to, const ModuleChunk& chunk,
                const std::string& name);

}  // namespace bloomery::detail
