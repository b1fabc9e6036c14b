// The parts that commands share.
#include "commands/command.hpp"

#include <algorithm>
#include <string_view>

#include "commands/settings.hpp"
#include "values/sub_filter.hpp"

namespace bloomery::server {

namespace {

// How much memory a filter may take: maxmemory, or, if nothing is evicted, what is left of it. With
// more the server would refuse every command that takes memory.
std::uint64_t room_in(ServerInfo* memory) noexcept {
  const auto field = [&](const char* name) {
    return api.ServerInfoGetFieldUnsigned(memory, name, nullptr);
  };
  const unsigned long long limit = field("maxmemory");
  if (limit == 0) return UINT64_MAX;
  const char* const policy = api.ServerInfoGetFieldC(memory, "maxmemory_policy");
  if (policy == nullptr || std::string_view(policy) != "noeviction") return limit;
  const unsigned long long total = field("used_memory");
  const unsigned long long used = total - std::min(total, field("mem_not_counted_for_evict"));
  return limit - std::min(limit, used);
}

bool is_beyond_limit(std::uint64_t bytes) noexcept {
  return settings.memory_limit != 0 && bytes > static_cast<std::uint64_t>(settings.memory_limit);
}

}  // namespace

bool is_replayed(const Arguments& arguments) noexcept {
  return (api.GetContextFlags(arguments.context) & (kContextIsReplicated | kContextIsLoading)) != 0;
}

bool fits(const Arguments& arguments, std::uint64_t bytes) noexcept {
  // Asking the server takes some time, and a smaller filter does not need it.
  constexpr std::uint64_t kAskAbove = std::uint64_t{1} << 20;
  if (bytes < kAskAbove || is_replayed(arguments)) return true;
  ServerInfo* info = api.GetServerInfo(arguments.context, "memory");
  const std::uint64_t room = room_in(info);
  api.FreeServerInfo(arguments.context, info);
  return bytes <= room;
}

void check_fits(const Arguments& arguments, std::uint64_t bytes) {
  if (!fits(arguments, bytes)) throw Error(ErrorCode::no_memory, "maxmemory has no room");
}

void ClaimedArrays::add(std::uint64_t bytes) {
  constexpr std::uint64_t kEnds = std::uint64_t{8} << 10;
  constexpr std::uint64_t kMost = std::uint64_t{32} << 20;
  bytes_ += bytes < kWorthACall ? bytes : kEnds;
  if (bytes_ > kMost && !is_replayed(arguments_))
    throw ErrorReply{
        "ERR the header claims too many sub-filters to make them before their bits come; load the "
        "filter by RESTORE of "
        "its DUMP"};
}

void check_filter_limit(const Arguments& arguments, std::uint64_t bytes) {
  if (is_beyond_limit(bytes) && !is_replayed(arguments)) throw ErrorReply{kBeyondFilterLimit};
}

bool GrowthLimit::allows(std::uint64_t bytes) const noexcept {
  if (value_ == nullptr || is_replayed(arguments_) ||
      !is_beyond_limit(value_->totals().bytes + sizeof(SubFilter) + bytes))
    return fits(arguments_, bytes);
  reason_ = kBeyondFilterLimit;
  return false;
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
