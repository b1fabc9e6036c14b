// The parts that commands share.
#include "command.hpp"

namespace bloomery::server {

bool is_replayed(const Arguments& arguments) noexcept {
  return (api.GetContextFlags(arguments.context) & (kContextIsReplicated | kContextIsLoading)) != 0;
}

bool fits(const Arguments& arguments, std::uint64_t bytes) noexcept {
  // Nobody needs to ask the server for less, which takes some time.
  constexpr std::uint64_t kAskAbove = std::uint64_t{1} << 20;
  if (bytes < kAskAbove || is_replayed(arguments)) return true;
  ServerInfo* info = api.GetServerInfo(arguments.context, "memory");
  const unsigned long long limit = api.ServerInfoGetFieldUnsigned(info, "maxmemory", nullptr);
  api.FreeServerInfo(arguments.context, info);
  return limit == 0 || bytes <= limit;
}

void check_fits(const Arguments& arguments, std::uint64_t bytes) {
  if (!fits(arguments, bytes)) throw Error(ErrorCode::no_memory, "maxmemory is lower");
}

void announce(const Arguments& arguments, const char* event) noexcept {
  api.SignalModifiedKey(arguments.context, arguments.key());
  api.NotifyKeyspaceEvent(arguments.context, kNotifyModule, event, arguments.key());
}

void replicate_header(const Arguments& arguments, std::span<const std::byte> header) noexcept {
  api.Replicate(arguments.context, "BF.LOADCHUNK", "scb", arguments.key(), "1", header.data(),
                header.size());
}

void changed(const Arguments& arguments, const char* event) noexcept {
  api.ReplicateVerbatim(arguments.context);
  announce(arguments, event);
}

}  // namespace bloomery::server
