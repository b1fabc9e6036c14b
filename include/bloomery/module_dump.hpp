// Filters of a Redis module in pieces, as BF.SCANDUMP gives them and BF.LOADCHUNK takes them.
//
//   ModuleDumper from({.host = "10.0.0.7"}, "urls");
//   ModuleLoader to({.host = "10.0.0.8"}, "urls");
//   for (ModuleChunk chunk = from.next(); chunk.iterator != 0; chunk = from.next()) to.load(chunk);
//   to.publish();
//
// The first chunk is a header, which says what the filter is; the bits follow in pieces of at most
// 16 MiB. A dump is of the module that made it: bloomery.so reads RedisBloom's, RedisBloom reads those of
// filters with RedisBloom's layout.
#pragma once

#include <bloomery/filter.hpp>
#include <bloomery/module_filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bloomery {

struct ModuleChunk {
  std::uint64_t iterator = 0;  // for the next; 0: that was all, and there are no bytes
  std::string bytes;
};

constexpr std::size_t kMostChunkBytes = std::size_t{64} << 20;

namespace detail {
class Connection;
}

// Reads a filter chunk by chunk. Others may go on inserting meanwhile: their keys may be in it or not.
// A filter that was put in its place between two chunks would be mixed with it; what ModuleFilter
// sees of that, it sees.
class ModuleDumper {
 public:
  // Its next() throws Error{missing}, Error{mismatch}: the filter was replaced, and what
  // ModuleFilter throws. No chunk is larger than kMostChunkBytes, and each iterator is above the
  // one before.
  ModuleDumper(const RedisAddress& address, std::string_view key);
  ModuleDumper(const ModuleDumper&) = delete;
  ModuleDumper& operator=(const ModuleDumper&) = delete;
  ~ModuleDumper();
  [[nodiscard]] ModuleChunk next();

 private:
  std::unique_ptr<detail::Connection> connection_;
  RedisAddress address_;
  std::optional<ModuleFilter> watched_;  // the same filter; none before the first chunk
  std::string key_, name_;
  std::uint64_t iterator_ = 0;
};

// Makes a filter of chunks under another name, and puts it in the key's place at once. Dropped
// before publish(), it leaves the key as it was, and what was loaded goes.
class ModuleLoader {
 public:
  ModuleLoader(const RedisAddress& address, std::string_view key);
  ModuleLoader(const ModuleLoader&) = delete;
  ModuleLoader& operator=(const ModuleLoader&) = delete;
  ~ModuleLoader();

  // In order. Error{corrupt}: the module does not take it.
  void load(const ModuleChunk& chunk);
  // Instead of chunks: what DUMP gave. Error{corrupt}: damaged, or of another module or version.
  void restore(std::string_view payload);
  // Error{exists}: the key holds something; with `replace` only what is no filter of a module.
  void publish(bool replace = false);

 private:
  std::unique_ptr<detail::Connection> connection_;
  std::string key_, scratch_, name_;
  bool published_ = false;
};

// The header of a dump whose only array are the bits of this filter, which holds `items` keys. The
// module has strings for keys: what integers have put in, it does not find.
// Error{wrong_kind}: the module has no such hash or layout.
[[nodiscard]] std::string module_header(const Plan& plan, const Hasher& hasher,
                                        std::uint64_t items);
// The other way: what a filter in memory has to be to hold the bits behind this header.
// Error{wrong_kind}: several links, RedisBloom's layout, counters, a window. Error{corrupt}.
struct ModulePlain {
  Plan plan;
  Hasher hasher;
};
[[nodiscard]] ModulePlain plain_in_module_header(std::string_view header);

}  // namespace bloomery
