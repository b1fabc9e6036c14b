// Loads filters of a Redis module from dumps (BF.LOADCHUNK, RESTORE), and makes and reads the header of a dump.
//
//   auto from = ModuleFilter::open({{.host = "10.0.0.7"}, "urls"});
//   ModuleLoader to({{.host = "10.0.0.8"}, "urls"});
//   for (ModuleChunk chunk = from.dump(); chunk.iterator != 0; chunk = from.dump(chunk.iterator))
//     to.load(chunk);
//   to.publish();
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/module_filter.hpp>
#include <bloomery/plan.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bloomery {

// Loads a filter under a temporary name; publish() puts it into its place at once. Without publish(),
// the place keeps what it had, and the destructor removes the loaded filter. Error{wrong_kind}: the
// place is in shards.
class ModuleLoader {
 public:
  // With `replace` publish() replaces a filter of a module.
  explicit ModuleLoader(const RedisPlace& place, bool replace = false);
  ModuleLoader(const ModuleLoader&) = delete;
  ModuleLoader& operator=(const ModuleLoader&) = delete;
  ~ModuleLoader();

  // Loads the next chunk; call it for all chunks in order. Error{corrupt}: the module refuses the chunk. After an
  // Error{unavailable} begin again with another loader: a failover may have lost earlier chunks. The same holds for
  // publish().
  void load(const ModuleChunk& chunk);
  // Instead of load(): loads a payload of DUMP. Error{corrupt}: the payload is damaged, or comes from
  // another module or version; {not_a_filter}: it is not a filter.
  void restore(std::string_view payload);
  // Error{exists}: the key holds something that publish() does not replace.
  void publish();

 private:
  class Staged;
  std::unique_ptr<Staged> staged_;
};

// The header of a dump whose only array has the bits of this filter and which states `items` keys.
// The module takes only strings as keys, so it does not find keys that were inserted as integers.
// Error{wrong_kind}: the module does not have this hash or layout.
[[nodiscard]] std::string module_header(const Plan& plan, const Hasher& hasher,
                                        std::uint64_t items);
// The same for a frozen filter without a delta; its table and cells are the array.
[[nodiscard]] std::string module_header(const FrozenPlan& plan, const Hasher& hasher,
                                        std::uint64_t items);
// The reverse: the plan and hasher of a plain or frozen filter that can hold the bits that follow this header, and
// the number of keys that it states. Error{wrong_kind}: the filter has several sub-filters, RedisBloom's layout,
// counters or a window. {corrupt}.
struct ModuleContents {
  FilterPlan plan;
  Hasher hasher;
  std::uint64_t items = 0;
};
[[nodiscard]] ModuleContents contents_in_module_header(std::string_view header);

}  // namespace bloomery
