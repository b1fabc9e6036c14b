// The part of the server's module interface that the module uses, declared from its public
// reference.
//
// A server gives a module only one function, which finds functions by name. load_api() asks it for
// all functions that are listed here; the optional ones came after Redis 7.0, and are null on
// servers that lack them. Numbers and layouts are part of the interface's stable ABI.
//
// Source: the "Modules API reference" of Redis 7.0 and Valkey 7.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bloomery::server {

// ---- types that only the server knows ---------------------------------------------------------

struct Context;
struct String;
struct Key;
struct Type;
struct Io;
struct Digest;
struct DefragContext;
struct KeyContext;
struct InfoContext;
struct ServerInfo;
struct Command;
struct CommandFilter;
struct CommandFilterContext;

// ---- numbers ------------------------------------------------------------------------------------

constexpr int kOk = 0;
constexpr int kErr = 1;
constexpr int kApiVersion = 1;
constexpr int kRead = 1 << 0;
constexpr int kWrite = 1 << 1;
constexpr int kKeyIsEmpty = 0;
constexpr int kContextIsLua = 1 << 0;
constexpr int kContextIsReplicated = 1 << 12;
constexpr int kContextIsLoading = 1 << 13;
constexpr int kContextIsChild = 1 << 20;
constexpr int kContextIsResp3 = 1 << 22;
constexpr int kNotifyModule = 1 << 13;
constexpr int kHandleIoErrors = 1 << 0;
constexpr int kNoImplicitSignalModified = 1 << 1;
constexpr int kHandleAsyncLoad = 1 << 2;
constexpr int kHandleSlotMigration = 1 << 5;  // Valkey 9; it may be another option in Redis
constexpr int kFilterNotOwnCalls = 1 << 0;
constexpr unsigned kConfigMemory = 1U << 7;

// ---- callbacks ----------------------------------------------------------------------------------

using CommandFunction = int (*)(Context*, String**, int);
using FilterFunction = void (*)(CommandFilterContext*);
using InfoFunction = void (*)(InfoContext*, int for_crash_report);

struct TypeMethods {
  std::uint64_t version = 4;
  void* (*rdb_load)(Io*, int encver) = nullptr;
  void (*rdb_save)(Io*, void*) = nullptr;
  void (*aof_rewrite)(Io*, String* key, void*) = nullptr;
  std::size_t (*mem_usage)(const void*) = nullptr;
  void (*digest)(Digest*, void*) = nullptr;
  void (*free)(void*) = nullptr;
  int (*aux_load)(Io*, int encver, int when) = nullptr;
  void (*aux_save)(Io*, int when) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(String* key, const void*) = nullptr;
  void (*unlink)(String* key, const void*) = nullptr;
  void* (*copy)(String* from, String* to, const void*) = nullptr;
  int (*defrag)(DefragContext*, String* key, void**) = nullptr;
  std::size_t (*mem_usage2)(KeyContext*, const void*, std::size_t sample_size) = nullptr;
  std::size_t (*free_effort2)(KeyContext*, const void*) = nullptr;
  void (*unlink2)(KeyContext*, const void*) = nullptr;
  void* (*copy2)(KeyContext*, const void*) = nullptr;
};

using GetNumber = long long (*)(const char* name, void*);
using SetNumber = int (*)(const char* name, long long, void*, String** error);
using GetText = String* (*)(const char* name, void*);
using SetText = int (*)(const char* name, String*, void*, String** error);
using GetChoice = int (*)(const char* name, void*);
using SetChoice = int (*)(const char* name, int, void*, String** error);
using ApplyConfig = int (*)(Context*, void*, String** error);

// ---- COMMAND INFO and DOCS ----------------------------------------------------------------------

enum ArgumentType : int {
  kArgString,
  kArgInteger,
  kArgDouble,
  kArgKey,
  kArgPattern,
  kArgUnixTime,
  kArgToken,
  kArgOneOf,
  kArgBlock
};
constexpr int kArgOptional = 1 << 0;
constexpr int kArgMultiple = 1 << 1;

struct CommandArgument {
  const char* name = nullptr;
  ArgumentType type = kArgString;
  int key_spec_index = -1;
  const char* token = nullptr;
  const char* summary = nullptr;
  const char* since = nullptr;
  int flags = 0;
  const char* deprecated_since = nullptr;
  CommandArgument* subargs = nullptr;
  const char* display_text = nullptr;
};

struct CommandHistory {
  const char* since = nullptr;
  const char* changes = nullptr;
};

constexpr std::uint64_t kKeyReadOnly = 1 << 0;
constexpr std::uint64_t kKeyReadWrite = 1 << 1;
constexpr std::uint64_t kKeyAccess = 1 << 4;
constexpr std::uint64_t kKeyUpdate = 1 << 5;
constexpr std::uint64_t kKeyInsert = 1 << 6;

// The interface has two unions here. Only the members that are used are declared: keys are a range
// that begins at an index. The paddings replace the wider members of the unions.
struct KeySpec {
  const char* notes = nullptr;
  std::uint64_t flags = 0;
  int begin_search = 0;  // 2: an index
  int padding_before = 0;
  struct {
    int position;
    int padding[3];
  } begin = {};
  int find_keys = 0;  // 2: a range
  struct {
    int last_key;
    int step;
    int limit;
  } find = {};
};

struct CommandInfoVersion {
  int version = 1;
  std::size_t sizeof_history = sizeof(CommandHistory);
  std::size_t sizeof_key_spec = sizeof(KeySpec);
  std::size_t sizeof_argument = sizeof(CommandArgument);
};

struct CommandInfo {
  const CommandInfoVersion* version = nullptr;
  const char* summary = nullptr;
  const char* complexity = nullptr;
  const char* since = nullptr;
  CommandHistory* history = nullptr;
  const char* tips = nullptr;
  int arity = 0;
  KeySpec* key_specs = nullptr;
  CommandArgument* arguments = nullptr;
};

// ---- functions ----------------------------------------------------------------------------------

// X(result, name, arguments): the server calls it RedisModule_name.
#define BLOOMERY_SERVER_NEEDED(X)                                                                 \
  X(int, SetModuleAttribs, (Context*, const char* name, int version, int api_version))            \
  X(int, IsModuleNameBusy, (const char* name))                                                    \
  X(void, SetModuleOptions, (Context*, int))                                                      \
  X(void, Log, (Context*, const char* level, const char* format, ...))                            \
  X(void, LogIOError, (Io*, const char* level, const char* format, ...))                          \
  X(void*, TryAlloc, (std::size_t))                                                               \
  X(void, Free, (void*))                                                                          \
  X(std::size_t, MallocSize, (void*))                                                             \
  X(int, CreateCommand,                                                                           \
    (Context*, const char* name, CommandFunction, const char* flags, int first, int last,         \
     int step))                                                                                   \
  X(Command*, GetCommand, (Context*, const char* name))                                           \
  X(int, SetCommandInfo, (Command*, const CommandInfo*))                                          \
  X(Type*, CreateDataType, (Context*, const char* name, int encver, TypeMethods*))                \
  X(int, WrongArity, (Context*))                                                                  \
  X(int, ReplyWithError, (Context*, const char*))                                                 \
  X(int, ReplyWithSimpleString, (Context*, const char*))                                          \
  X(int, ReplyWithStringBuffer, (Context*, const char*, std::size_t))                             \
  X(int, ReplyWithLongLong, (Context*, long long))                                                \
  X(int, ReplyWithBool, (Context*, int))                                                          \
  X(int, ReplyWithDouble, (Context*, double))                                                     \
  X(int, ReplyWithNull, (Context*))                                                               \
  X(int, ReplyWithArray, (Context*, long))                                                        \
  X(int, ReplyWithMap, (Context*, long))                                                          \
  X(int, GetContextFlags, (Context*))                                                             \
  X(const char*, StringPtrLen, (const String*, std::size_t*))                                     \
  X(int, StringToLongLong, (const String*, long long*))                                           \
  X(int, StringToDouble, (const String*, double*))                                                \
  X(String*, CreateString, (Context*, const char*, std::size_t))                                  \
  X(void, FreeString, (Context*, String*))                                                        \
  X(CommandFilter*, RegisterCommandFilter, (Context*, FilterFunction, int flags))                 \
  X(int, CommandFilterArgsCount, (CommandFilterContext*))                                         \
  X(const String*, CommandFilterArgGet, (CommandFilterContext*, int))                             \
  X(Key*, OpenKey, (Context*, String*, int mode))                                                 \
  X(void, CloseKey, (Key*))                                                                       \
  X(int, KeyType, (Key*))                                                                         \
  X(Type*, ModuleTypeGetType, (Key*))                                                             \
  X(void*, ModuleTypeGetValue, (Key*))                                                            \
  X(int, ModuleTypeSetValue, (Key*, Type*, void*))                                                \
  X(int, ReplicateVerbatim, (Context*))                                                           \
  X(int, Replicate, (Context*, const char* command, const char* format, ...))                     \
  X(int, SignalModifiedKey, (Context*, String*))                                                  \
  X(int, NotifyKeyspaceEvent, (Context*, int type, const char* event, String*))                   \
  X(void, SaveUnsigned, (Io*, std::uint64_t))                                                     \
  X(std::uint64_t, LoadUnsigned, (Io*))                                                           \
  X(void, SaveDouble, (Io*, double))                                                              \
  X(double, LoadDouble, (Io*))                                                                    \
  X(void, SaveStringBuffer, (Io*, const char*, std::size_t))                                      \
  X(char*, LoadStringBuffer, (Io*, std::size_t*))                                                 \
  X(int, IsIOError, (Io*))                                                                        \
  X(void, EmitAOF, (Io*, const char* command, const char* format, ...))                           \
  X(void, DigestAddStringBuffer, (Digest*, const char*, std::size_t))                             \
  X(void, DigestEndSequence, (Digest*))                                                           \
  X(void*, DefragAlloc, (DefragContext*, void*))                                                  \
  X(int, RegisterInfoFunc, (Context*, InfoFunction))                                              \
  X(int, InfoAddSection, (InfoContext*, const char*))                                             \
  X(int, InfoAddFieldULongLong, (InfoContext*, const char*, unsigned long long))                  \
  X(int, InfoAddFieldCString, (InfoContext*, const char*, const char*))                           \
  X(ServerInfo*, GetServerInfo, (Context*, const char* section))                                  \
  X(unsigned long long, ServerInfoGetFieldUnsigned, (ServerInfo*, const char* field, int* error)) \
  X(const char*, ServerInfoGetFieldC, (ServerInfo*, const char* field))                           \
  X(void, FreeServerInfo, (Context*, ServerInfo*))                                                \
  X(int, RegisterNumericConfig,                                                                   \
    (Context*, const char* name, long long default_value, unsigned flags, long long least,        \
     long long most, GetNumber, SetNumber, ApplyConfig, void*))                                   \
  X(int, RegisterStringConfig,                                                                    \
    (Context*, const char* name, const char* default_value, unsigned flags, GetText, SetText,     \
     ApplyConfig, void*))                                                                         \
  X(int, RegisterEnumConfig,                                                                      \
    (Context*, const char* name, int default_value, unsigned flags, const char** names,           \
     const int* values, int count, GetChoice, SetChoice, ApplyConfig, void*))                     \
  X(int, LoadConfigs, (Context*))                                                                 \
  X(long long, Milliseconds, ())

#define BLOOMERY_SERVER_OPTIONAL(X)               \
  X(int, GetServerVersion, ())                    \
  X(int, LoadDefaultConfigs, (Context*))          \
  X(int, AddACLCategory, (Context*, const char*)) \
  X(int, SetCommandACLCategories, (Command*, const char* categories))

struct Api {
#define BLOOMERY_SERVER_MEMBER(result, name, arguments) result(*name) arguments = nullptr;
  BLOOMERY_SERVER_NEEDED(BLOOMERY_SERVER_MEMBER)
  BLOOMERY_SERVER_OPTIONAL(BLOOMERY_SERVER_MEMBER)
#undef BLOOMERY_SERVER_MEMBER
  bool is_valkey = false;  // from 8.0 on; until then nothing differs
};

// The functions of the server that runs this process. All are null until load_api is called.
extern Api api;

// The bytes of a string, as long as it lives.
[[nodiscard]] inline std::string_view text_of(const String* text) noexcept {
  std::size_t size = 0;
  const char* bytes = api.StringPtrLen(text, &size);
  return {bytes, size};
}
// Whether a string is this word, in upper or lower case.
[[nodiscard]] bool is_word(const String* text, std::string_view word) noexcept;

// Finds all functions. False: one is missing, or the server is too old; its log says which, if it
// has one.
bool load_api(Context* context) noexcept;

}  // namespace bloomery::server
