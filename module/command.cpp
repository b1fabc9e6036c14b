// The parts that commands share.
#include "command.hpp"

#include <strings.h>

namespace bloomery::server {

bool is_word(const String* word, std::string_view expected) noexcept {
  const std::string_view text = text_of(word);
  return text.size() == expected.size() &&
         strncasecmp(text.data(), expected.data(), expected.size()) == 0;
}

bool is_replayed(const Arguments& arguments) noexcept {
  return (api.GetContextFlags(arguments.context) & (kContextIsReplicated | kContextIsLoading)) != 0;
}

std::uint64_t memory_limit(const Arguments& arguments) noexcept {
  if (is_replayed(arguments)) return UINT64_MAX;
  ServerInfo* info = api.GetServerInfo(arguments.context, "memory");
  const unsigned long long limit = api.ServerInfoGetFieldUnsigned(info, "maxmemory", nullptr);
  api.FreeServerInfo(arguments.context, info);
  return limit == 0 ? UINT64_MAX : limit;
}

void check_fits(const Arguments& arguments, std::uint64_t bytes) {
  if (bytes >= kAskAbove && bytes > memory_limit(arguments))
    throw Error(ErrorCode::no_memory, "maxmemory is lower");
}

void announce(const Arguments& arguments, const char* event) noexcept {
  api.SignalModifiedKey(arguments.context, arguments.key());
  api.NotifyKeyspaceEvent(arguments.context, kNotifyModule, event, arguments.key());
}

void changed(const Arguments& arguments, const char* event) noexcept {
  api.ReplicateVerbatim(arguments.context);
  announce(arguments, event);
}

}  // namespace bloomery::server
