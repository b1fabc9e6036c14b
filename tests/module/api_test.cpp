// Servers that are too old, or lack what is needed, are told so in their log.
#include "server/api.hpp"

#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

using namespace bloomery::server;

int version = 0;
std::string missing;
std::string logged;

void log(Context*, const char*, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  logged = text;
}
int server_version() { return version; }
void anything() {}

int get_api(const char* name, void** function) {
  if (missing == name) return 1;
  if (std::strcmp(name, "RedisModule_Log") == 0)
    *function = reinterpret_cast<void*>(log);
  else if (std::strcmp(name, "RedisModule_GetServerVersion") == 0)
    *function = reinterpret_cast<void*>(server_version);
  else
    *function = reinterpret_cast<void*>(anything);
  return 0;
}

bool loads(int of_version, const std::string& without) {
  version = of_version;
  missing = without;
  logged.clear();
  void* context[4] = {reinterpret_cast<void*>(get_api)};
  const bool loaded = load_api(reinterpret_cast<Context*>(context));
  api = {};
  return loaded;
}

TEST(Api, ServersFromSevenOnAreTaken) {
  EXPECT_TRUE(loads(0x00070000, ""));
  EXPECT_TRUE(loads(0x00070204, "RedisModule_AddACLCategory"));
  EXPECT_TRUE(loads(0x00080000, "RedisModule_SetCommandACLCategories"));
}

TEST(Api, OlderOnesAreToldWhatToTake) {
  EXPECT_FALSE(loads(0x0006020E, "RedisModule_SetCommandInfo"));
  EXPECT_EQ(logged, "bloomery needs Redis 7.0 or Valkey 7.2 or later; this server is 6.2.14");
  EXPECT_FALSE(loads(0, "RedisModule_GetServerVersion"));
  EXPECT_EQ(logged,
            "bloomery needs Redis 7.0 or Valkey 7.2 or later; this server is older than 6.0.9");
}

TEST(Api, AMissingFunctionIsNamed) {
  EXPECT_FALSE(loads(0x00070000, "RedisModule_TryAlloc"));
  EXPECT_NE(logged.find("RedisModule_TryAlloc"), std::string::npos);
}

}  // namespace
