// The table of the commands BF.*.
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/command_definition.hpp"

namespace bloomery::server {

namespace {

// What RedisBloom's command of this name lacks; null: nothing, or RedisBloom has no command of this name.
const char* beside_redisbloom(std::string_view name) noexcept {
  if (name == "bf.reserve")
    return "Beside RedisBloom's: LAYOUT, IFNOTEXISTS, COUNTING, COUNTERBITS, WINDOW, SLICES, KEYED";
  return name == "bf.insert" ? "Beside RedisBloom's: KEYED, TIGHTENING, SEED, VALIDATESCALETO; "
                               "ITEMS may be left out"
                             : nullptr;
}

// The version of RedisBloom that had the command first, or ours.
const char* since(std::string_view name) noexcept {
  for (const std::string_view own :
       {"bf.clear", "bf.merge", "bf.del", "bf.mdel", "bf.count", "bf.advance"})
    if (name == own) return kOwnSince;
  return name == "bf.card" ? "2.4.4" : "1.0.0";
}

const char* tips(std::string_view name) noexcept {
  return name == "bf.info" || name == "bf.debug" || name == "bf.scandump" ? kDontCache : nullptr;
}

Described command(const char* name, Function function, const Access& access, const char* complexity,
                  const char* summary, std::vector<Argument> arguments) {
  return {name,        function,
          access,      complexity,
          summary,     std::move(arguments),
          since(name), beside_redisbloom(name),
          tips(name)};
}

constexpr const char* kPerItem = "O(s), s sub-filters";
constexpr const char* kPerItems = "O(n * s), n items, s sub-filters";
constexpr const char* kPerByte = "O(b), b bytes of bits";

Argument word(const char* name, const char* text) {
  return {.name = name, .type = kArgToken, .token = text};
}

std::vector<Described> described() {
  static std::array fields = {
      word("capacity", "CAPACITY"),     word("size", "SIZE"),
      word("filters", "FILTERS"),       word("items", "ITEMS"),
      word("expansion", "EXPANSION"),   word("error", "ERROR"),
      word("tightening", "TIGHTENING"), word("maxscaledcapacity", "MAXSCALEDCAPACITY"),
      word("reserve", "RESERVE"),       kEnd};
  return {
      command("bf.reserve", takes<reserve, 4, kAnyNumber>, kMake, "O(1)",
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
      command("bf.madd", takes<add_many, 3, kAnyNumber>, kAdd, kPerItems,
              "Adds items; makes the filter if there is none", {kKey, kItems}),
      command(
          "bf.insert", takes<insert, 3, kAnyNumber>, kAdd, kPerItems,
          "Adds items; makes a filter with these parameters if there is none",
          {kKey, option("capacity", kArgInteger, "CAPACITY"), option("error", kArgDouble, "ERROR"),
           option("expansion", kArgInteger, "EXPANSION"), token("nocreate", "NOCREATE"),
           token("nonscaling", "NONSCALING"), token("keyed", "KEYED"),
           option("tightening", kArgDouble, "TIGHTENING"), option("seed", kArgString, "SEED"),
           option("validatescaleto", kArgInteger, "VALIDATESCALETO"), token("items", "ITEMS"),
           kOptionalItems}),
      command("bf.exists", takes<exists, 3>, kLook, kPerItem,
              "Tells whether an item may have been added", {kKey, kItem}),
      command("bf.mexists", takes<exists_many, 3, kAnyNumber>, kLook, kPerItems,
              "Tells for each item whether it may have been added", {kKey, kItems}),
      command("bf.card", takes<card, 2>, kTell, "O(1)",
              "Returns how many items were new when they were added", {kKey}),
      command("bf.info", takes<info, 2, 3>, kTell, kPerItem,
              "Returns the facts about a filter, or one of them",
              {kKey, one_of("single_value", fields.data())}),
      command("bf.debug", takes<debug, 2>, kLook, kPerItem,
              "Returns the parameters of every sub-filter", {kKey}),
      command("bf.scandump", takes<scan_dump, 3>, kLook,
              "O(b), b bytes of the chunk, 16 MiB at most",
              "Returns a chunk of a filter; begin with iterator 0",
              {kKey, {.name = "iterator", .type = kArgInteger}}),
      command(
          "bf.loadchunk", takes<load_chunk, 4>, kAdd, "O(b), b bytes of the chunk",
          "Takes a chunk that BF.SCANDUMP returned",
          {kKey, {.name = "iterator", .type = kArgInteger}, {.name = "data", .type = kArgString}}),
      command("bf.clear", takes<clear, 2>, kChangeMuch, kPerByte,
              "Removes all items; the parameters stay", {kKey}),
      command(
          "bf.merge", takes<merge, 3, kAnyNumber>, kAdd, kPerByte,
          "Adds all items of filters with the same parameters to a filter",
          {kKey, {.name = "source", .type = kArgKey, .key_spec_index = 1, .flags = kArgMultiple}}),
      command("bf.del", takes<remove, 3>, kChange, "O(1)",
              "Takes back one insert of an item, in a filter that counts", {kKey, kItem}),
      command("bf.mdel", takes<remove_many, 3, kAnyNumber>, kChangeMuch, "O(n), n items",
              "Takes back one insert of each item, in a filter that counts", {kKey, kItems}),
      command("bf.count", takes<count, 3>, kTell, "O(1)",
              "Returns an upper bound of how often an item is in a filter that counts",
              {kKey, kItem}),
      command("bf.advance", takes<advance, 3>, {"write fast", "write", kChanges}, kPerByte,
              "Moves a window of seconds to a later time",
              {kKey, {.name = "seconds", .type = kArgUnixTime}}),
  };
}

}  // namespace

bool register_commands(Context* context) { return create_all(context, described(), "bloom"); }

}  // namespace bloomery::server
