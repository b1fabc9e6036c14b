// Every command: its name, its function, and what COMMAND INFO and COMMAND DOCS say of it.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "command.hpp"

namespace bloomery::server {

namespace {

using Argument = CommandArgument;

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

struct Described {
  const char* name;
  CommandFunction function;
  const char* flags;       // the server's
  const char* categories;  // of access control, beside our own
  std::uint64_t key_flags;
  int last_key;  // keys from the first to this argument; -1: to the last
  int arity;
  const char* since;
  const char* complexity;
  const char* summary;
  std::vector<Argument> arguments;
};

std::vector<Described> described() {
  constexpr auto kAdds = kKeyReadWrite | kKeyInsert;
  constexpr auto kChanges = kKeyReadWrite | kKeyUpdate;
  constexpr auto kLooks = kKeyReadOnly | kKeyAccess;
  constexpr const char* kFirst = "0.1.0";  // of this module
  constexpr const char* kOne = "O(s), s sub-filters";
  constexpr const char* kMany = "O(n * s), n items, s sub-filters";
  constexpr const char* kWhole = "O(b), b bytes of bits";
  return {
      {"bf.reserve",
       guarded<reserve>,
       "write deny-oom fast",
       "write fast",
       kAdds,
       1,
       -4,
       kFirst,
       "O(1)",
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
        token("keyed", "KEYED")}},
      {"bf.add",
       guarded<add>,
       "write deny-oom fast",
       "write fast",
       kAdds,
       1,
       3,
       kFirst,
       kOne,
       "Adds an item; makes the filter where there is none",
       {kKey, kItem}},
      {"bf.madd",
       guarded<add_many>,
       "write deny-oom",
       "write",
       kAdds,
       1,
       -3,
       kFirst,
       kMany,
       "Adds items; makes the filter where there is none",
       {kKey, kItems}},
      {"bf.insert",
       guarded<insert>,
       "write deny-oom",
       "write",
       kAdds,
       1,
       -4,
       kFirst,
       kMany,
       "Adds items; makes a filter of these parameters where there is none",
       {kKey,
        option("capacity", kArgInteger, "CAPACITY"),
        option("error", kArgDouble, "ERROR"),
        option("expansion", kArgInteger, "EXPANSION"),
        token("nocreate", "NOCREATE"),
        token("nonscaling", "NONSCALING"),
        token("keyed", "KEYED"),
        {.name = "items", .type = kArgToken, .token = "ITEMS"},
        kItems}},
      {"bf.exists",
       guarded<exists>,
       "readonly fast",
       "read fast",
       kLooks,
       1,
       3,
       kFirst,
       kOne,
       "Whether an item may have been added",
       {kKey, kItem}},
      {"bf.mexists",
       guarded<exists_many>,
       "readonly",
       "read",
       kLooks,
       1,
       -3,
       kFirst,
       kMany,
       "Whether items may have been added",
       {kKey, kItems}},
      {"bf.card",
       guarded<card>,
       "readonly fast",
       "read fast",
       kLooks,
       1,
       2,
       kFirst,
       "O(1)",
       "The number of items that were new when they were added",
       {kKey}},
      {"bf.info",
       guarded<info>,
       "readonly fast",
       "read fast",
       kLooks,
       1,
       -2,
       kFirst,
       "O(s), s sub-filters",
       "What a filter is, or one field of it",
       {kKey,
        {.name = "field",
         .type = kArgString,
         .flags = kArgOptional,
         .display_text = "CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION"}}},
      {"bf.debug",
       guarded<debug>,
       "readonly fast",
       "read",
       kLooks,
       1,
       2,
       kFirst,
       "O(s), s sub-filters",
       "The parameters of every sub-filter",
       {kKey}},
      {"bf.scandump",
       guarded<scan_dump>,
       "readonly",
       "read",
       kLooks,
       1,
       3,
       kFirst,
       "O(b), b bytes of the chunk, 16 MiB at most",
       "A filter in chunks: begin with iterator 0",
       {kKey, {.name = "iterator", .type = kArgInteger}}},
      {"bf.loadchunk",
       guarded<load_chunk>,
       "write deny-oom",
       "write",
       kAdds,
       1,
       4,
       kFirst,
       "O(b), b bytes of the chunk",
       "Takes a chunk that BF.SCANDUMP gave",
       {kKey, {.name = "iterator", .type = kArgInteger}, {.name = "data", .type = kArgString}}},
      {"bf.clear",
       guarded<clear>,
       "write",
       "write",
       kChanges,
       1,
       2,
       kFirst,
       kWhole,
       "Forgets every item; the parameters stay",
       {kKey}},
      {"bf.merge",
       guarded<merge>,
       "write deny-oom",
       "write",
       kAdds,
       -1,
       -3,
       kFirst,
       kWhole,
       "Adds every item of filters with the same parameters to a filter",
       {kKey, {.name = "source", .type = kArgKey, .key_spec_index = 1, .flags = kArgMultiple}}},
      {"bf.del",
       guarded<remove>,
       "write fast",
       "write fast",
       kChanges,
       1,
       3,
       kFirst,
       "O(1)",
       "Takes back one insert of an item, in a filter that counts",
       {kKey, kItem}},
      {"bf.mdel",
       guarded<remove_many>,
       "write",
       "write",
       kChanges,
       1,
       -3,
       kFirst,
       "O(n), n items",
       "Takes back one insert of each item, in a filter that counts",
       {kKey, kItems}},
      {"bf.count",
       guarded<count>,
       "readonly fast",
       "read fast",
       kLooks,
       1,
       3,
       kFirst,
       "O(1)",
       "At most how often an item is in a filter that counts",
       {kKey, kItem}},
      {"bf.advance",
       guarded<advance>,
       "write fast",
       "write",
       kChanges,
       1,
       3,
       kFirst,
       kWhole,
       "Moves a window of time on to a time",
       {kKey, {.name = "seconds", .type = kArgUnixTime}}},
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

// `own_category`: the server has made the category `bloom`.
bool create(Context* context, Described& command, bool own_category) {
  const bool many = command.last_key < 0;
  if (api.CreateCommand(context, command.name, command.function, command.flags, 1, command.last_key,
                        1) != kOk)
    return false;
  Command* const made = api.GetCommand(context, command.name);
  static const CommandInfoVersion version;
  std::array<KeySpec, 3> specs = {};
  specs[0] = key_spec(command.key_flags, 1, 0);
  if (many) specs[1] = key_spec(kKeyReadOnly | kKeyAccess, 2, -1);
  command.arguments.push_back(kEnd);
  CommandInfo info;
  info.version = &version;
  info.summary = command.summary;
  info.complexity = command.complexity;
  info.since = command.since;
  // What RedisBloom's commands of these names have not.
  std::array<CommandHistory, 2> history = {};
  if (std::strcmp(command.name, "bf.reserve") == 0) {
    history[0] = {
        command.since,
        "Beside RedisBloom's: LAYOUT, IFNOTEXISTS, COUNTING, COUNTERBITS, WINDOW, SLICES, "
        "KEYED"};
    info.history = history.data();
  } else if (std::strcmp(command.name, "bf.insert") == 0) {
    history[0] = {command.since, "Beside RedisBloom's: KEYED"};
    info.history = history.data();
  }
  info.arity = command.arity;
  info.key_specs = specs.data();
  info.arguments = command.arguments.data();
  if (made == nullptr || api.SetCommandInfo(made, &info) != kOk) return false;
  // Redis and Valkey 7.2 take only their own categories, older servers none; one that is unknown
  // would cost a command all of them.
  if (api.SetCommandACLCategories == nullptr) return true;
  const std::string categories = std::string(command.categories) + (own_category ? " bloom" : "");
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
