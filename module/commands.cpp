// Every command: its name, its function, and what COMMAND INFO and COMMAND DOCS say of it.
#include <bloomery/error.hpp>

#include <array>
#include <climits>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"

namespace bloomery::server {

namespace {

using Argument = CommandArgument;

constexpr const char* kNoMemory = "ERR Insufficient memory to create filter";
constexpr const char* kSince = "0.1.0";  // of this module

constexpr Argument kKey{.name = "key", .type = kArgKey, .key_spec_index = 0};
constexpr Argument kItem{.name = "item", .type = kArgString};
constexpr Argument kItems{.name = "item", .type = kArgString, .flags = kArgMultiple};
constexpr Argument kEnd{};

constexpr Argument token(const char* name, const char* word) {
  return {.name = name, .type = kArgToken, .token = word, .flags = kArgOptional};
}
constexpr Argument option(const char* name, ArgumentType type, const char* word) {
  return {.name = name, .type = type, .token = word, .flags = kArgOptional};
}

// ---- what the server calls ----------------------------------------------------------------------

// Replies what a command has thrown. To be called from a handler.
void reply_exception(Context* context) noexcept {
  try {
    throw;
  } catch (const ErrorReply& error) {
    api.ReplyWithError(context, error.message);
  } catch (const WrongArity&) {
    api.WrongArity(context);
  } catch (const Error& error) {
    api.ReplyWithError(context, error.code() == ErrorCode::no_memory
                                    ? kNoMemory
                                    : ("ERR " + std::string(error.what())).c_str());
  } catch (const std::bad_alloc&) {
    api.ReplyWithError(context, kNoMemory);
  } catch (...) {
    api.ReplyWithError(context, "ERR the command failed");
  }
}

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

// ---- the table ----------------------------------------------------------------------------------

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

constexpr const char* kPerItem = "O(s), s sub-filters";
constexpr const char* kPerItems = "O(n * s), n items, s sub-filters";
constexpr const char* kPerByte = "O(b), b bytes of bits";

struct Described {
  const char* name;
  Function function;
  Access access;
  const char* complexity;
  const char* summary;
  std::vector<Argument> arguments;
};

Described command(const char* name, Function function, const Access& access, const char* complexity,
                  const char* summary, std::vector<Argument> arguments) {
  return {name, function, access, complexity, summary, std::move(arguments)};
}

std::vector<Described> described() {
  return {
      command("bf.reserve", takes<reserve, 4, kAnyNumber>, kAdd, "O(1)",
              "Makes an empty filter for a number of items at an error rate",
              {kKey,
               {.name = "error_rate", .type = kArgDouble},
               {.name = "capacity", .type = kArgInteger},
               option("expansion", kArgInteger, "EXPANSION"),
               token("nonscaling", "NONSCALING"),
               option("layout", kArgString, "LAYOUT"),
               token("counting", "COUNTING"),
               option("counter_bits", kArgInteger, "COUNTERBITS"),
               option("window", kArgInteger, "WINDOW"),
               token("of_items", "ITEMS"),
               token("of_seconds", "SECONDS"),
               option("slices", kArgInteger, "SLICES"),
               token("ifnotexists", "IFNOTEXISTS"),
               token("keyed", "KEYED")}),
      command("bf.add", takes<add, 3>, kAdd, kPerItem,
              "Adds an item; makes the filter if there is none", {kKey, kItem}),
      command("bf.madd", takes<add_many, 3, kAnyNumber>, kAddMuch, kPerItems,
              "Adds items; makes the filter if there is none", {kKey, kItems}),
      command("bf.insert", takes<insert, 4, kAnyNumber>, kAddMuch, kPerItems,
              "Adds items; makes a filter with these parameters if there is none",
              {kKey,
               option("capacity", kArgInteger, "CAPACITY"),
               option("error", kArgDouble, "ERROR"),
               option("expansion", kArgInteger, "EXPANSION"),
               token("nocreate", "NOCREATE"),
               token("nonscaling", "NONSCALING"),
               token("keyed", "KEYED"),
               {.name = "items", .type = kArgToken, .token = "ITEMS"},
               kItems}),
      command("bf.exists", takes<exists, 3>, kLook, kPerItem,
              "Tells whether an item may have been added", {kKey, kItem}),
      command("bf.mexists", takes<exists_many, 3, kAnyNumber>, kLookAtMuch, kPerItems,
              "Tells for each item whether it may have been added", {kKey, kItems}),
      command("bf.card", takes<card, 2>, kLook, "O(1)",
              "Returns how many items were new when they were added", {kKey}),
      command("bf.info", takes<info, 2, 3>, kLook, kPerItem,
              "Returns the facts about a filter, or one of them",
              {kKey,
               {.name = "field",
                .type = kArgString,
                .flags = kArgOptional,
                .display_text = "CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION"}}),
      command("bf.debug", takes<debug, 2>, {"readonly fast", "read", kLooks}, kPerItem,
              "Returns the parameters of every sub-filter", {kKey}),
      command("bf.scandump", takes<scan_dump, 3>, kLookAtMuch,
              "O(b), b bytes of the chunk, 16 MiB at most",
              "Returns a chunk of a filter; begin with iterator 0",
              {kKey, {.name = "iterator", .type = kArgInteger}}),
      command(
          "bf.loadchunk", takes<load_chunk, 4>, kAddMuch, "O(b), b bytes of the chunk",
          "Takes a chunk that BF.SCANDUMP returned",
          {kKey, {.name = "iterator", .type = kArgInteger}, {.name = "data", .type = kArgString}}),
      command("bf.clear", takes<clear, 2>, kChangeMuch, kPerByte,
              "Removes all items; the parameters stay", {kKey}),
      command(
          "bf.merge", takes<merge, 3, kAnyNumber>, kAddMuch, kPerByte,
          "Adds all items of filters with the same parameters to a filter",
          {kKey, {.name = "source", .type = kArgKey, .key_spec_index = 1, .flags = kArgMultiple}}),
      command("bf.del", takes<remove, 3>, kChange, "O(1)",
              "Takes back one insert of an item, in a filter that counts", {kKey, kItem}),
      command("bf.mdel", takes<remove_many, 3, kAnyNumber>, kChangeMuch, "O(n), n items",
              "Takes back one insert of each item, in a filter that counts", {kKey, kItems}),
      command("bf.count", takes<count, 3>, kLook, "O(1)",
              "Returns how often an item is at most in a filter that counts", {kKey, kItem}),
      command("bf.advance", takes<advance, 3>, {"write fast", "write", kChanges}, kPerByte,
              "Moves a window of seconds on to a time",
              {kKey, {.name = "seconds", .type = kArgUnixTime}}),
  };
}

KeySpec key_spec(std::uint64_t flags, int first, int last) {
  KeySpec spec;
  spec.flags = flags;
  spec.begin_search = 2;
  spec.begin.position = first;
  spec.find_keys = 2;
  spec.find = {last, 1, 0};
  return spec;
}

// What RedisBloom's command of this name does not have; null: nothing, or there is no such command.
const char* beside_redisbloom(std::string_view name) noexcept {
  if (name == "bf.reserve")
    return "Beside RedisBloom's: LAYOUT, IFNOTEXISTS, COUNTING, COUNTERBITS, WINDOW, SLICES, KEYED";
  return name == "bf.insert" ? "Beside RedisBloom's: KEYED" : nullptr;
}

// `own_category`: the server has made the category `bloom`.
bool create(Context* context, Described& command, bool own_category) {
  const bool has_sources = command.arguments.back().key_spec_index == 1;
  if (api.CreateCommand(context, command.name, command.function.called, command.access.flags, 1,
                        has_sources ? -1 : 1, 1) != kOk)
    return false;
  Command* const made = api.GetCommand(context, command.name);
  static const CommandInfoVersion version;
  std::array<KeySpec, 3> specs = {};
  specs[0] = key_spec(command.access.key_flags, 1, 0);
  if (has_sources) specs[1] = key_spec(kKeyReadOnly | kKeyAccess, 2, -1);
  command.arguments.push_back(kEnd);
  CommandInfo info;
  info.version = &version;
  info.summary = command.summary;
  info.complexity = command.complexity;
  info.since = kSince;
  std::array<CommandHistory, 2> history = {{{kSince, beside_redisbloom(command.name)}, {}}};
  if (history[0].changes != nullptr) info.history = history.data();
  info.arity = command.function.arity;
  info.key_specs = specs.data();
  info.arguments = command.arguments.data();
  if (made == nullptr || api.SetCommandInfo(made, &info) != kOk) return false;
  // Redis and Valkey 7.2 take only their own categories, older servers none. A category that the
  // server does not know would cost the command all of them.
  if (api.SetCommandACLCategories == nullptr) return true;
  const std::string categories =
      std::string(command.access.categories) + (own_category ? " bloom" : "");
  return api.SetCommandACLCategories(made, categories.c_str()) == kOk;
}

}  // namespace

bool register_commands(Context* context) {
  const bool own_category =
      api.AddACLCategory != nullptr && api.AddACLCategory(context, "bloom") == kOk;
  for (Described& command : described())
    if (!create(context, command, own_category)) return false;
  return true;
}

}  // namespace bloomery::server
