// Servers that are too old, lack what is needed or refuse something are told so in their log.
#include "server/api.hpp"

#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

extern "C" int RedisModule_OnLoad(bloomery::server::Context*, bloomery::server::String**,
                                  int) noexcept;

namespace {

using namespace bloomery::server;

struct {
  int number = 0;          // its version
  std::string missing;     // the function that it does not have
  std::string refused;     // the function that refuses
  int taken_before = 0;    // how many of its calls it takes before
  bool any_name = true;    // it also takes settings whose names have no prefix
  std::string logged;      // the last line
  bool filters = false;    // it calls the module before every command
  int options = 0;         // of the module
  std::string categories;  // of the last command
  std::map<std::string, TypeMethods> types;
} server;

// What a function of the server answers that refuses, and one that does not.
template <class Result>
Result answer(const char* name) {
  const bool refuses = server.refused == name && server.taken_before-- == 0;
  if constexpr (std::is_pointer_v<Result>)
    return refuses ? nullptr : reinterpret_cast<Result>(&server.number);
  else if constexpr (!std::is_void_v<Result>)
    return static_cast<Result>(refuses ? kErr : kOk);
}
template <class Name, class Function>
struct Fake;
template <class Name, class Result, class... Arguments>
struct Fake<Name, Result(Arguments...)> {
  static Result call(Arguments...) { return answer<Result>(Name::text()); }
};
template <class Name, class Result, class... Arguments>
struct Fake<Name, Result(Arguments..., ...)> {
  static Result call(Arguments..., ...) { return answer<Result>(Name::text()); }
};

void log(Context*, const char*, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  server.logged = text;
}
int server_version() { return server.number; }
String* create_string(Context*, const char* bytes, std::size_t size) {
  return reinterpret_cast<String*>(new std::string(bytes, size));
}
const char* bytes_of(const String* text, std::size_t* size) {
  const auto& bytes = *reinterpret_cast<const std::string*>(text);
  *size = bytes.size();
  return bytes.data();
}
void free_string(Context*, String* text) { delete reinterpret_cast<std::string*>(text); }
void set_options(Context*, int all) { server.options = all; }
int set_categories(Command*, const char* all) {
  server.categories = all;
  return answer<int>("SetCommandACLCategories");
}
Type* create_type(Context*, const char* name, int, TypeMethods* methods) {
  server.types[name] = *methods;
  return answer<Type*>("CreateDataType");
}
CommandFilter* filter_commands(Context*, FilterFunction, int) {
  auto* const made = answer<CommandFilter*>("RegisterCommandFilter");
  server.filters = made != nullptr;
  return made;
}
int register_number(Context*, const char*, long long, unsigned flags, long long, long long,
                    GetNumber, SetNumber, ApplyConfig, void*) {
  const bool has_no_prefix = (flags & (1U << 9)) != 0;
  return has_no_prefix && !server.any_name ? kErr : answer<int>("RegisterNumericConfig");
}

int get_api(const char* name, void** function) {
  static const std::map<std::string, void*> functions = [] {
    std::map<std::string, void*> all;
#define FAKE(result, name, arguments)           \
  struct Named##name {                          \
    static const char* text() { return #name; } \
  };                                            \
  all[#name] = reinterpret_cast<void*>(Fake<Named##name, result arguments>::call);
    BLOOMERY_SERVER_NEEDED(FAKE)
    BLOOMERY_SERVER_OPTIONAL(FAKE)
#undef FAKE
    all["Log"] = reinterpret_cast<void*>(log);
    all["GetServerVersion"] = reinterpret_cast<void*>(server_version);
    all["CreateString"] = reinterpret_cast<void*>(create_string);
    all["StringPtrLen"] = reinterpret_cast<void*>(bytes_of);
    all["FreeString"] = reinterpret_cast<void*>(free_string);
    all["SetModuleOptions"] = reinterpret_cast<void*>(set_options);
    all["CreateDataType"] = reinterpret_cast<void*>(create_type);
    all["SetCommandACLCategories"] = reinterpret_cast<void*>(set_categories);
    all["RegisterCommandFilter"] = reinterpret_cast<void*>(filter_commands);
    all["RegisterNumericConfig"] = reinterpret_cast<void*>(register_number);
    return all;
  }();
  if (server.missing == name) return 1;
  const std::string_view word = name;
  const auto found = functions.find(std::string(word.substr(word.find('_') + 1)));
  if (found == functions.end()) return 1;
  *function = found->second;
  return 0;
}

bool loads(int of_version, const std::string& without) {
  server.number = of_version;
  server.missing = without;
  server.logged.clear();
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
  EXPECT_EQ(server.logged,
            "bloomery needs Redis 7.0 or Valkey 7.2 or later; this server is 6.2.14");
  EXPECT_FALSE(loads(0, "RedisModule_GetServerVersion"));
  EXPECT_EQ(server.logged,
            "bloomery needs Redis 7.0 or Valkey 7.2 or later; this server is older than 6.0.9");
}

TEST(Api, AMissingFunctionIsNamed) {
  EXPECT_FALSE(loads(0x00070000, "RedisModule_TryAlloc"));
  EXPECT_NE(server.logged.find("RedisModule_TryAlloc"), std::string::npos);
}

TEST(Api, AServerWithoutALogIsNotTaken) {
  EXPECT_FALSE(loads(0x00070000, "RedisModule_Log"));
  EXPECT_FALSE(loads(0, "RedisModule_Log"));
  void* context[4] = {};
  EXPECT_FALSE(load_api(reinterpret_cast<Context*>(context)));
}

// ---- the module ---------------------------------------------------------------------------------

bool takes_module(const std::string& refuses, int after, const std::string& without = "") {
  server.number = 0x00080000;
  server.missing = without;
  server.refused = refuses;
  server.taken_before = after;
  server.filters = false;
  server.logged.clear();
  void* context[4] = {reinterpret_cast<void*>(get_api)};
  const bool taken = RedisModule_OnLoad(reinterpret_cast<Context*>(context), nullptr, 0) == kOk;
  api = {};
  return taken;
}

// Whatever the server refuses, it has no half of the module, and its log says what to do.
TEST(Api, AServerThatRefusesAnythingDoesNotHaveTheModule) {
  struct Refusal {
    const char* function;
    int calls;
    const char* says;
  };
  for (const auto& [function, calls, says] :
       {Refusal{"IsModuleNameBusy", 1, ""},
        Refusal{"CreateDataType", 3, "the data type MBbloom--, MBbloomCF or "},
        Refusal{"CreateCommand", 31, "a command named BF.* or CF.* is taken"},
        Refusal{"GetCommand", 31, "a command named BF.* or CF.* is taken"},
        Refusal{"SetCommandInfo", 31, "a command named BF.* or CF.* is taken"},
        Refusal{"SetCommandACLCategories", 31, "a command named BF.* or CF.* is taken"},
        Refusal{"RegisterInfoFunc", 1, "the server refuses the INFO section"},
        Refusal{"RegisterEnumConfig", 5, "the server refuses the settings"},
        Refusal{"RegisterStringConfig", 2, "the server refuses the settings"},
        Refusal{"RegisterNumericConfig", 10, "the server refuses the settings"},
        Refusal{"LoadConfigs", 1, "the server refuses the settings"},
        Refusal{"RegisterCommandFilter", 1, "the server refuses a command filter"}}) {
    for (int i = 0; i < calls; ++i) {
      EXPECT_FALSE(takes_module(function, i, "RedisModule_LoadDefaultConfigs")) << function << i;
      EXPECT_NE(server.logged.find(says), std::string::npos) << function << ": " << server.logged;
      EXPECT_FALSE(server.filters) << function;
    }
    EXPECT_TRUE(takes_module(function, calls, "RedisModule_LoadDefaultConfigs")) << function;
    EXPECT_TRUE(server.filters);
    EXPECT_EQ(server.logged, "");
  }
  EXPECT_FALSE(takes_module("", 0, "RedisModule_TryAlloc"));
}

TEST(Api, AServerThatRefusesNamesWithoutAPrefixHasTheModule) {
  EXPECT_FALSE(takes_module("RegisterStringConfig", 1)) << "bf.bloom-fp-rate";
  EXPECT_TRUE(takes_module("RegisterStringConfig", 2)) << "bf-error-rate";
  EXPECT_EQ(server.logged,
            "bloomery: the server does not take the setting bf-error-rate; use bf.error-rate");
  server.any_name = false;
  EXPECT_TRUE(takes_module("", 0));
  EXPECT_EQ(
      server.logged,
      "bloomery: the server does not take the setting cf-max-expansions; use bf.cf-max-expansions");
  EXPECT_TRUE(takes_module("", 0, "RedisModule_LoadDefaultConfigs"));
  EXPECT_EQ(server.logged, "") << "an older one is not asked";
  server.any_name = true;
}

TEST(Api, CommandsAreInACategoryOfTheirOwnWhereTheServerTakesOne) {
  EXPECT_TRUE(takes_module("", 0));
  EXPECT_TRUE(server.categories.ends_with(" cuckoo")) << server.categories;
  EXPECT_TRUE(takes_module("AddACLCategory", 1));
  EXPECT_EQ(server.categories.find("cuckoo"), std::string::npos);
  EXPECT_TRUE(takes_module("", 0, "RedisModule_AddACLCategory"));
  EXPECT_EQ(server.categories.find("cuckoo"), std::string::npos);
  server.categories.clear();
  EXPECT_TRUE(takes_module("", 0, "RedisModule_SetCommandACLCategories"));
  EXPECT_EQ(server.categories, "");
}

TEST(Api, SlotsMigrateOnAValkey) {
  EXPECT_TRUE(takes_module("", 0));
  EXPECT_NE(server.options & kHandleSlotMigration, 0);
  EXPECT_TRUE(takes_module("", 0, "ValkeyModule_SetModuleOptions"));
  // These numbers are the server's.
  EXPECT_EQ(server.options, 1 | 2 | 4);
  EXPECT_EQ(kHandleSlotMigration, 32);
}

// The server calls only what it is told of; a server that moves values or copies them is not in every test.
TEST(Api, EveryTypeHasItsCallbacks) {
  server.types.clear();
  EXPECT_TRUE(takes_module("", 0));
  ASSERT_EQ(server.types.size(), 3U);
  for (const auto& [name, methods] : server.types) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(methods.rdb_load != nullptr && methods.rdb_save != nullptr);
    EXPECT_TRUE(methods.aof_rewrite != nullptr && methods.digest != nullptr);
    EXPECT_TRUE(methods.free != nullptr && methods.copy2 != nullptr && methods.defrag != nullptr);
    EXPECT_TRUE(methods.mem_usage2 != nullptr && methods.free_effort2 != nullptr);
  }
}

TEST(Api, AServerWhoseMachineLacksTheKernelDoesNotHaveTheModule) {
  const char* const given = std::getenv("BLOOMERY_KERNEL");
  const std::string before = given == nullptr ? "" : given;
  ASSERT_EQ(setenv("BLOOMERY_KERNEL", "none", 1), 0);
  EXPECT_FALSE(takes_module("", 0));
  EXPECT_NE(server.logged.find("BLOOMERY_KERNEL=none is not a kernel"), std::string::npos)
      << server.logged;
  ASSERT_EQ(
      given == nullptr ? unsetenv("BLOOMERY_KERNEL") : setenv("BLOOMERY_KERNEL", before.c_str(), 1),
      0);
  EXPECT_TRUE(takes_module("", 0));
}

}  // namespace
