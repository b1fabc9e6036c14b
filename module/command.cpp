// The parts that commands share.
#include "command.hpp"

#include <strings.h>

#include "statistics.hpp"
#include "window.hpp"

namespace bloomery::server {

bool is_word(const String* word, std::string_view expected) noexcept {
  const std::string_view text = text_of(word);
  return text.size() == expected.size() &&
         strncasecmp(text.data(), expected.data(), expected.size()) == 0;
}

Value& OpenedKey::put(AnyValue value) noexcept {
  count_in(*value);
  Type* const type = type_of(*value);
  value_ = value.release();
  api.ModuleTypeSetValue(key_, type, value_);
  return *value_;
}

namespace {

bool was_decided_before(const Arguments& arguments) noexcept {
  return (api.GetContextFlags(arguments.context) & (kContextIsReplicated | kContextIsLoading)) != 0;
}

}  // namespace

std::uint64_t time_for(const Value& value) noexcept {
  if (value.kind() != Kind::window || !static_cast<const Window&>(value).is_of_time()) return 0;
  return static_cast<std::uint64_t>(api.Milliseconds()) / 1000;
}

void bring_up_to_date(const Arguments& arguments, Value& value) noexcept {
  const std::uint64_t now = time_for(value);
  if (now == 0 || was_decided_before(arguments)) return;
  if (static_cast<Window&>(value).advance(now))
    api.Replicate(arguments.context, "BF.ADVANCE", "sl", arguments.key(),
                  static_cast<long long>(now));
}

std::uint64_t memory_limit(const Arguments& arguments) noexcept {
  if (was_decided_before(arguments)) return UINT64_MAX;
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

}  // namespace bloomery::server
