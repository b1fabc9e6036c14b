// What a command is: its name, its function, and what COMMAND INFO and COMMAND DOCS say of it. The
// tables are commands.cpp and cuckoo/commands.cpp.
#pragma once

#include <climits>
#include <vector>

#include "command.hpp"

namespace bloomery::server {

using Argument = CommandArgument;

// ---- arguments ----------------------------------------------------------------------------------

constexpr Argument kKey{.name = "key", .type = kArgKey, .key_spec_index = 0};
constexpr Argument kItem{.name = "item", .type = kArgString};
constexpr Argument kItems{.name = "item", .type = kArgString, .flags = kArgMultiple};
constexpr Argument kOptionalItems{
    .name = "item", .type = kArgString, .flags = kArgMultiple | kArgOptional};
constexpr Argument kEnd{};

constexpr Argument token(const char* name, const char* word) {
  return {.name = name, .type = kArgToken, .token = word, .flags = kArgOptional};
}
constexpr Argument option(const char* name, ArgumentType type, const char* word) {
  return {.name = name, .type = type, .token = word, .flags = kArgOptional};
}

// ---- functions ----------------------------------------------------------------------------------

// Replies what a command has thrown. To be called from a handler.
void reply_exception(Context* context) noexcept;

constexpr int kAnyNumber = INT_MAX;

struct Function {
  CommandFunction called;
  int arity;  // as servers give it: negative, if it is the least
};

// A command of `least` to `most` words with its name. Servers check this, but not in an AOF that
// they load.
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
  const char* categories;  // of access control, beside our own
  std::uint64_t key_flags;
};
constexpr auto kLooks = kKeyReadOnly | kKeyAccess;
constexpr auto kAdds = kKeyReadWrite | kKeyInsert;
constexpr auto kChanges = kKeyReadWrite | kKeyUpdate;
constexpr Access kLook{"readonly fast", "read fast", kLooks};
constexpr Access kLookAtMuch{"readonly", "read", kLooks};
constexpr Access kAdd{"write deny-oom fast", "write fast", kAdds};
constexpr Access kAddMuch{"write deny-oom", "write", kAdds};
constexpr Access kChange{"write fast", "write fast", kChanges};
constexpr Access kChangeMuch{"write", "write", kChanges};

struct Described {
  const char* name;
  Function function;
  Access access;
  const char* complexity;
  const char* summary;
  std::vector<Argument> arguments;
  const char* since;
  const char* changes = nullptr;  // since then; null: none
};

// Creates a command. `category`: of ours, beside those of its access; empty: the server has none.
// False: the name is taken.
[[nodiscard]] bool create(Context* context, Described command, const char* category);
// The category, if the server takes new ones, or an empty text.
[[nodiscard]] const char* own_category(Context* context, const char* name) noexcept;

}  // namespace bloomery::server
