// What a command is: its name, its function, and what COMMAND INFO and COMMAND DOCS say of it. The
// tables are command_table.cpp and cuckoo/command_table.cpp.
#pragma once

#include <climits>
#include <vector>

#include "commands/command.hpp"

namespace bloomery::server {

using Argument = CommandArgument;

// ---- arguments ----------------------------------------------------------------------------------

constexpr Argument kKey{.name = "key", .type = kArgKey, .key_spec_index = 0};
constexpr Argument kItem{.name = "item", .type = kArgString};
constexpr Argument kItems{.name = "item", .type = kArgString, .flags = kArgMultiple};
constexpr Argument kOptionalItems{
    .name = "item", .type = kArgString, .flags = kArgMultiple | kArgOptional};
constexpr Argument kEnd{};

// One of several words. `words`: ended by kEnd.
constexpr Argument one_of(const char* name, Argument* words) {
  return {.name = name, .type = kArgOneOf, .flags = kArgOptional, .subargs = words};
}
constexpr Argument token(const char* name, const char* word) {
  return {.name = name, .type = kArgToken, .token = word, .flags = kArgOptional};
}
constexpr Argument option(const char* name, ArgumentType type, const char* word) {
  return {.name = name, .type = type, .token = word, .flags = kArgOptional};
}

// ---- functions ----------------------------------------------------------------------------------

// Replies what a command has thrown. Call it in a catch handler.
void reply_exception(Context* context) noexcept;

constexpr int kAnyNumber = INT_MAX;

struct Function {
  CommandFunction called;
  int arity;  // as servers have it: negative if it is the least number
};

// A command of `least` to `most` words, its name included. Servers check this, but not while they
// load an AOF.
template <void (*kRun)(const Arguments&), int kLeast, int kMost = kLeast>
constexpr Function takes = {[](Context* context, String** words, int count) noexcept {
                              if (count < kLeast || count > kMost) return api.WrongArity(context);
                              try {
                                kRun({context, {words, static_cast<std::size_t>(count)}});
                              } catch (...) {
                                reply_exception(context);
                              }
                              return kOk;
                            },
                            kLeast == kMost ? kLeast : -kLeast};

// ---- a command ----------------------------------------------------------------------------------

struct Access {
  const char* flags;       // the server's
  const char* categories;  // of access control, besides our own
  std::uint64_t key_flags;
};
constexpr auto kLooks = kKeyReadOnly | kKeyAccess;
constexpr auto kAdds = kKeyReadWrite | kKeyInsert;
constexpr auto kChanges = kKeyReadWrite | kKeyUpdate;
// RedisBloom's category: users' access rules were written for it.
constexpr Access kTell{"readonly fast", "read fast", kLooks};
constexpr Access kLook{"readonly fast", "read", kLooks};
constexpr Access kMake{"write deny-oom", "write fast", kAdds};
constexpr Access kAdd{"write deny-oom", "write", kAdds};
// The category of commands that RedisBloom does not have.
constexpr Access kChange{"write fast", "write fast", kChanges};
constexpr Access kChangeMuch{"write", "write", kChanges};

constexpr const char* kOwnSince = "0.1.0";        // of this module
constexpr const char* kDontCache = "dont_cache";  // a tip for clients that keep replies

struct Described {
  const char* name;
  Function function;
  Access access;
  const char* complexity;
  const char* summary;
  std::vector<Argument> arguments;
  const char* since;              // RedisBloom's version that had it first, or ours
  const char* changes = nullptr;  // what ours adds to RedisBloom's; null: nothing
  const char* tips = nullptr;
};

// Creates the commands, in our own category `category` in addition to those of their access, if the server takes new
// ones. False: a name is taken.
[[nodiscard]] bool create_all(Context* context, std::vector<Described> commands,
                              const char* category);

}  // namespace bloomery::server
