// Lua scripts that are put together of parts which others have too.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace bloomery::detail {

[[nodiscard]] inline std::string script(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// A server does not undo what a script did before a command that fails, be it for want of memory or
// of a right. So in these parts RENAME alone removes what is replaced, a right that is needed after it
// is missed before it, and what is put in a place expires until then.
//
// make: a string of zeros behind a header, up to the byte `last`. put: what expires in a place.
constexpr std::string_view kMakeAndPut =
    "local function make(key, header, last, expires) "
    "if expires then redis.call('PERSIST', key) redis.call('EXPIRE', key, 600) end "
    "redis.call('SETRANGE', key, last, '\\0') "
    "if expires then redis.call('EXPIRE', key, 600) end "
    "redis.call('SETRANGE', key, 0, header) end "
    "local function put(key, place) "
    "redis.call('RENAME', key, place) redis.call('PERSIST', place) end ";
// The end of one that puts KEYS[1], which was written by others and expires, in the place of KEYS[2].
constexpr std::string_view kIntoPlace =
    "redis.call('PERSIST', KEYS[1]) redis.call('EXPIRE', KEYS[1], 600) "
    "redis.call('RENAME', KEYS[1], KEYS[2]) redis.call('PERSIST', KEYS[2]) return 1";

}  // namespace bloomery::detail
