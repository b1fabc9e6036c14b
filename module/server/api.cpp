// Finding the server's functions by name, and reading its strings.
#include "server/api.hpp"

#include <strings.h>

namespace bloomery::server {

Api api;

bool is_word(const String* text, std::string_view word) noexcept {
  const std::string_view bytes = text_of(text);
  return bytes.size() == word.size() && strncasecmp(bytes.data(), word.data(), word.size()) == 0;
}

bool load_api(Context* context) noexcept {
  // While a module loads, the first word of its context is the function that finds functions.
  using GetApi = int (*)(const char* name, void** function);
  const GetApi get_api = *reinterpret_cast<GetApi*>(context);
  if (get_api == nullptr) return false;
  const auto find = [&]<class Function>(const char* name, Function& function) {
    function = nullptr;
    get_api(name, reinterpret_cast<void**>(&function));
    return function != nullptr;
  };
  const char* missing = nullptr;
#define BLOOMERY_SERVER_FIND(result, name, arguments) \
  if (!find("RedisModule_" #name, api.name)) missing = #name;
  BLOOMERY_SERVER_NEEDED(BLOOMERY_SERVER_FIND)
#undef BLOOMERY_SERVER_FIND
#define BLOOMERY_SERVER_FIND(result, name, arguments) find("RedisModule_" #name, api.name);
  BLOOMERY_SERVER_OPTIONAL(BLOOMERY_SERVER_FIND)
#undef BLOOMERY_SERVER_FIND
  // Valkey has every function under a second name.
  void (*under_second_name)(Context*, int) = nullptr;
  api.is_valkey = find("ValkeyModule_SetModuleOptions", under_second_name);

  const int version = api.GetServerVersion == nullptr ? 0 : api.GetServerVersion();
  const bool too_old = version < 0x00070000;
  if (!too_old && missing == nullptr) return true;
  if (api.Log == nullptr) return false;
  if (too_old && version != 0)
    api.Log(nullptr, "warning",
            "bloomery needs Redis 7.0 or Valkey 7.2 or later; this server is %d.%d.%d",
            version >> 16, version >> 8 & 0xFF, version & 0xFF);
  else if (too_old)
    api.Log(nullptr, "warning",
            "bloomery needs Redis 7.0 or Valkey 7.2 or later; this server is older than 6.0.9");
  else
    api.Log(nullptr, "warning",
            "bloomery needs RedisModule_%s, which this server lacks; use Redis 7.0 or Valkey 7.2 "
            "or later",
            missing);
  return false;
}

}  // namespace bloomery::server
