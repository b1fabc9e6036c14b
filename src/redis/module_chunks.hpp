// The chunks of a module's filter as BF.SCANDUMP replies with them, and what BF.LOADCHUNK says.
#pragma once

#include <bloomery/module_dump.hpp>

#include <hiredis/hiredis.h>

#include <cstdint>
#include <string>

namespace bloomery::detail {

// As require_module_reply; {corrupt}: the module does not take what was sent.
void require_chunk_reply(const redisReply& reply, int type, const std::string& name);

// The chunk that was asked for with the iterator `after`. Error{io}: no module gives such a one.
[[nodiscard]] ModuleChunk chunk_of(const redisReply& reply, std::uint64_t after,
                                   const std::string& name);

}  // namespace bloomery::detail
