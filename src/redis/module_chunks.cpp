// Distrustful reading of chunks: their order, and their size.
#include "redis/module_chunks.hpp"

#include <bloomery/error.hpp>

#include <string_view>

#include "redis/connection.hpp"
#include "redis/module_replies.hpp"

namespace bloomery::detail {

void require_chunk_reply(const redisReply& reply, int type, const std::string& name) {
  // Of an unknown command the reply repeats the words.
  if (reply.type == REDIS_REPLY_ERROR && !says(reply, "unknown command"))
    for (const std::string_view text : {"received bad data", "invalid", "Bad data", "DUMP payload"})
      if (says(reply, text))
        throw Error(ErrorCode::corrupt,
                    name + ": " + std::string(reply.str, reply.len) +
                        "; what was sent is damaged, or of a module or a server "
                        "version that this one does not read");
  require_module_reply(reply, type, name);
}

ModuleChunk chunk_of(const redisReply& reply, std::uint64_t after, const std::string& name) {
  require_chunk_reply(reply, REDIS_REPLY_ARRAY, name);
  if (reply.elements != 2)
    throw Error(ErrorCode::io, name + ": an answer of another length; check the address");
  require_chunk_reply(*reply.element[0], REDIS_REPLY_INTEGER, name);
  require_chunk_reply(*reply.element[1], REDIS_REPLY_STRING, name);
  const auto iterator = static_cast<std::uint64_t>(reply.element[0]->integer);
  const std::string_view bytes(reply.element[1]->str, reply.element[1]->len);
  // An iterator that does not rise would go on for ever.
  if ((iterator != 0 && iterator <= after) || bytes.size() > kMostChunkBytes)
    throw Error(ErrorCode::io,
                name + ": a chunk that no module with BF commands gives; check the address");
  return {iterator, std::string(bytes)};
}

}  // namespace bloomery::detail
