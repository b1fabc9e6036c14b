// Commands for a module with BF commands, and the meaning of its replies.
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/module_messages.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redis/cluster/cluster.hpp"

namespace bloomery::detail {

// The words of BF.RESERVE after the key, for a filter of this capacity. Error{invalid_argument}.
[[nodiscard]] std::vector<std::string> reserve_words(const ModuleReserve& reserve,
                                                     std::uint64_t capacity);

// The Error for an error reply of the module; `name` is the name of the filter.
[[nodiscard]] Error module_meaning(const redisReply& reply, const std::string& name);
// Recognizes the error also inside a script, where each server has a text of its own.
[[nodiscard]] bool is_unknown_command(const redisReply& reply) noexcept;
// Errors as for module_meaning; {io}: a reply of another type.
void require_module_reply(const redisReply& reply, int type, const std::string& name);

// Error{io}: this is not a reply to BF.INFO.
[[nodiscard]] ModuleInfo info_in(const redisReply& reply, const std::string& name);

// The fill in a reply to BF.DEBUG. nullopt: the reply is an error, or the filter is neither plain nor growing.
[[nodiscard]] std::optional<ModuleFill> fill_in(const redisReply& reply);

// The parameters in bloomery.so's reply to BF.INFO key RESERVE. nullopt: it is RedisBloom, which does not know the
// word RESERVE. Error{io}: this is not a reply to it.
[[nodiscard]] std::optional<ModuleReserve> reserve_in(const redisReply& reply,
                                                      const std::string& name);

// Like require_module_reply; {corrupt}: the module refuses the data that was sent.
void require_chunk_reply(const redisReply& reply, int type, const std::string& name);
// The chunk that was requested with the iterator `after`. Error{io}: no module returns such a chunk.
[[nodiscard]] ModuleChunk chunk_in(const redisReply& reply, std::uint64_t after,
                                   const std::string& name);
// Loads a chunk under a staged name; `name` is the name of the filter.
void load_chunk(Cluster& cluster, const std::string& to, const ModuleChunk& chunk,
                const std::string& name);

}  // namespace bloomery::detail
