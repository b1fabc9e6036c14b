// What the error replies of servers mean, and what replies must have.
#include "redis/wire/replies.hpp"

#include <array>

namespace bloomery::detail {

std::string quoted_key(std::string_view key) {
  std::string quoted = "'";
  for (const char c : key) {
    if (c == '\0')
      quoted += "\\x00";
    else
      quoted += c;
  }
  return quoted += '\'';
}

Error meaning(const redisReply& reply, const std::string& what) {
  struct Meaning {
    std::string_view start;
    ErrorCode code;
    const char* hint;
  };
  constexpr const char* kLacking =
      "the server is too old for it, has renamed it (rename-command), or lacks a module "
      "(bloomery.so or RedisBloom)";
  constexpr const char* kTooLong = "raise the server's proto-max-bulk-len";
  static constexpr std::array<Meaning, 25> kMeanings = {{
      {"NOAUTH", ErrorCode::denied, "give a password"},
      {"WRONGPASS", ErrorCode::denied, "check user and password"},
      {"ERR invalid password", ErrorCode::denied, "check the password"},
      {"ERR AUTH <password> called without any password", ErrorCode::denied,
       "leave the password out"},
      {"NOPERM", ErrorCode::denied, "give the user these rights"},
      {"LOADING", ErrorCode::unavailable, "try again when it has read its data"},
      {"BUSY", ErrorCode::unavailable, "try again when its script has ended"},
      {"MASTERDOWN", ErrorCode::unavailable,
       "try again when the replica is connected to its master"},
      {"CLUSTERDOWN", ErrorCode::unavailable, "try again when the cluster serves all slots"},
      {"TRYAGAIN", ErrorCode::unavailable, "try again when the slot has moved"},
      {"MOVED", ErrorCode::unavailable, "give the address of the cluster's node that is named"},
      {"ASK", ErrorCode::unavailable, "try again when the slot has moved"},
      {"CROSSSLOT", ErrorCode::invalid_argument,
       "a brace in the name is no hash tag; leave it out, or put the whole name into braces"},
      {"READONLY", ErrorCode::read_only, "give the address of the primary"},
      {"OOM", ErrorCode::no_space, "raise the server's maxmemory"},
      {"MISCONF", ErrorCode::no_space, "see why the server cannot save"},
      {"NOREPLICAS", ErrorCode::unavailable, "try again when its replicas are connected"},
      {"ERR max number of clients", ErrorCode::unavailable,
       "try again when some have gone, or raise the server's maxclients"},
      {"ERR bit offset", ErrorCode::io, kTooLong},
      {"ERR string exceeds maximum", ErrorCode::io, kTooLong},
      {"WRONGTYPE", ErrorCode::not_a_filter, "check the key"},
      {"ERR unknown command", ErrorCode::io, kLacking},
      {"ERR Unknown Redis command", ErrorCode::io, kLacking},  // in a script
      {"ERR Unknown command", ErrorCode::io, kLacking},        // in a script of Valkey 8
      // Since Valkey 9.1 Lua is a module, which may be left out.
      {"ERR Could not find scripting engine", ErrorCode::io,
       "the server was built without Lua; load the module with that engine"},
  }};
  // A right that a script lacks is reported as an ERR about the script. The first text is that of 6.2 and 7.0, the
  // second that of later versions.
  static constexpr std::array<std::string_view, 2> kDeniedToScript = {
      "The user executing the script can't ", "ACL failure in script: "};
  const std::string_view text = text_of(reply);
  std::string message = what;
  message.append(": ").append(text);
  // 6.2 quotes the error of a command within a script; later versions report it as outside of one.
  const std::size_t quoted =
      text.starts_with("ERR Error running script") ? text.find(": -") : std::string_view::npos;
  const std::string_view said = quoted == std::string_view::npos ? text : text.substr(quoted + 3);
  for (const Meaning& each : kMeanings)
    if (said.starts_with(each.start)) return {each.code, message.append("; ").append(each.hint)};
  for (const std::string_view each : kDeniedToScript)
    if (text.starts_with("ERR ") && text.find(each) != std::string_view::npos)
      return {ErrorCode::denied,
              message.append(
                  "; give the user EXISTS, TYPE, GET, SET, GETRANGE, SETRANGE, STRLEN, BITFIELD, "
                  "BITCOUNT, RENAME, EXPIRE, PERSIST, PEXPIRE, UNLINK and DEL (and BF.* for "
                  "filters of a module), on the key and on {key}:*")};
  return {ErrorCode::io, message};
}

void require_type(const redisReply& reply, int type, const std::string& what) {
  if (reply.type == REDIS_REPLY_ERROR) throw meaning(reply, what);
  if (reply.type != type)
    throw Error(ErrorCode::io,
                what + ": this is not how a Redis server answers; check the address");
}

void require_elements(const redisReply& reply, std::size_t count, const std::string& what) {
  if (reply.elements != count)
    throw Error(ErrorCode::io, what + ": the answer has " + std::to_string(reply.elements) +
                                   " elements, and " + std::to_string(count) +
                                   " were asked for; check the address");
}

}  // namespace bloomery::detail
