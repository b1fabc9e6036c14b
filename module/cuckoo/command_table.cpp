// The table of the commands CF.*. Flags, categories and arguments are RedisBloom's, except for CF.COMPACT; what a
// command does with its key is said as for BF.*.
#include "cuckoo/command_table.hpp"

#include <utility>
#include <vector>

#include "commands/command_definition.hpp"

namespace bloomery::server::cuckoo {

namespace {

constexpr const char* kSince = "1.0.0";  // of RedisBloom

// RedisBloom's key specs say only whether a command writes. A server then lets a user with only the right to read a
// key (%R~) change it, and one with only the right to write it (%W~) read it.
constexpr Access kRemove{"write fast", "write", kChanges};
// RedisBloom flags it as a read. Then it may run while writes are paused, and a server that has to
// replicate at that time ends itself.
constexpr Access kCompact{"write", "write", kChanges};

constexpr const char* kPerAdd = "O(s + i), s sub-filters, i iterations at most";
constexpr const char* kPerAdds = "O(n * (s + i)), n items, s sub-filters, i iterations at most";
constexpr const char* kPerItem = "O(s), s sub-filters";
constexpr const char* kPerItems = "O(n * s), n items, s sub-filters";

Described command(const char* name, Function function, const Access& access, const char* complexity,
                  const char* summary, std::vector<Argument> arguments,
                  const char* tips = nullptr) {
  return {name, function, access, complexity, summary, std::move(arguments), kSince, nullptr, tips};
}

std::vector<Described> described() {
  const Argument iterator{.name = "iterator", .type = kArgInteger};
  const Argument items{.name = "items", .type = kArgToken, .token = "ITEMS"};
  const std::vector<Argument> inserts = {kKey, option("capacity", kArgInteger, "CAPACITY"),
                                         token("nocreate", "NOCREATE"), items, kItems};
  return {
      command("cf.reserve", takes<reserve, 3, kAnyNumber>, kMake, "O(1)",
              "Makes an empty cuckoo filter for a number of items",
              {kKey,
               {.name = "capacity", .type = kArgInteger},
               option("bucketsize", kArgInteger, "BUCKETSIZE"),
               option("maxiterations", kArgInteger, "MAXITERATIONS"),
               option("expansion", kArgInteger, "EXPANSION")}),
      command("cf.add", takes<add, 3>, kAdd, kPerAdd,
              "Adds an item to a cuckoo filter; makes the filter if there is none", {kKey, kItem}),
      command("cf.addnx", takes<add_new, 3>, kAdd, kPerAdd,
              "Adds an item to a cuckoo filter unless it seems to be there", {kKey, kItem}),
      command("cf.insert", takes<insert, 4, kAnyNumber>, kAdd, kPerAdds,
              "Adds items to a cuckoo filter; makes one of this capacity if there is none",
              inserts),
      command("cf.insertnx", takes<insert_new, 4, kAnyNumber>, kAdd, kPerAdds,
              "Adds those items to a cuckoo filter that do not seem to be there", inserts),
      command("cf.exists", takes<exists, 3>, kLook, kPerItem,
              "Tells whether an item may be in a cuckoo filter", {kKey, kItem}),
      command("cf.mexists", takes<exists_many, 3, kAnyNumber>, kLook, kPerItems,
              "Tells for each item whether it may be in a cuckoo filter", {kKey, kItems}),
      command("cf.count", takes<count, 3>, kLook, kPerItem,
              "Returns an upper bound of how often an item is in a cuckoo filter", {kKey, kItem}),
      command("cf.del", takes<remove, 3>, kRemove, kPerItem,
              "Takes one add of an item back from a cuckoo filter", {kKey, kItem}),
      command("cf.compact", takes<compact, 2>, kCompact, "O(n * s), n entries, s sub-filters",
              "Moves the items of a cuckoo filter to its older sub-filters", {kKey}),
      command("cf.scandump", takes<scan_dump, 3>, kLook,
              "O(b), b bytes of the chunk, 16 MiB at most",
              "Returns a chunk of a cuckoo filter; begin with iterator 0", {kKey, iterator},
              kDontCache),
      command("cf.loadchunk", takes<load_chunk, 4>, kAdd, "O(b), b bytes of the chunk",
              "Takes a chunk that CF.SCANDUMP returned",
              {kKey, iterator, {.name = "data", .type = kArgString}}),
      command("cf.info", takes<info, 2>, kTell, "O(1)", "Returns the facts about a cuckoo filter",
              {kKey}, kDontCache),
      command("cf.debug", takes<debug, 2>, kLook, "O(1)",
              "Returns the parameters of a cuckoo filter as text", {kKey}, kDontCache),
  };
}

}  // namespace

bool register_commands(Context* context) { return create_all(context, described(), "cuckoo"); }

}  // namespace bloomery::server::cuckoo
