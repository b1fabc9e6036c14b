// A Lua script that is put together of parts which others have too.
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

}  // namespace bloomery::detail
