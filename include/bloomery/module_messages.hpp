// The requests and replies of a Redis module with BF commands: the plan of a filter, the state of a
// filter, a chunk of a dump.
#pragma once

#include <bloomery/kind.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bloomery {

// The arguments of BF.RESERVE. Only bloomery.so has filters that count or forget.
struct ModuleReserve {
  Kind kind = Kind::scalable;      // a plain filter does not grow; it refuses keys when full
  std::uint64_t capacity = 0;      // in shards: of all of them together
  double fpr = 0.01;               // the stated false-positive rate, up to the capacity
  std::uint32_t expansion = 2;     // of a scalable filter: the factor by which it grows
  std::string layout = {};         // "native" or "redisbloom"; empty: the setting of the server
  std::uint32_t counter_bits = 4;  // of a counting filter
  std::uint64_t window = 0;        // of a window: its length
  bool seconds = false;            // in seconds; otherwise in insertions
  std::uint32_t slices = 8;
};

// The reply of BF.INFO. For shards it is the sum over all of them, without the marker items.
struct ModuleInfo {
  std::uint64_t capacity = 0;
  std::uint64_t bytes = 0;
  std::uint64_t filters = 0;
  std::uint64_t items = 0;                      // keys that were new when inserted
  std::optional<std::uint64_t> expansion = {};  // nullopt if it does not grow
};

// The fill of a plain or scalable filter, computed from its layout and from the items of each sub-filter, which
// BF.DEBUG reports. For shards it is the mean over all of them.
struct ModuleFill {
  double fill = 0;         // the share of ones
  double current_fpr = 0;  // the false-positive rate
};

// A chunk of a dump, as BF.SCANDUMP gives it. The first chunk is a header with the parameters of the
// filter; the bits follow in chunks of at most 16 MiB. bloomery.so reads dumps of both modules; RedisBloom
// reads its own dumps, and those of filters with RedisBloom's layout.
struct ModuleChunk {
  std::uint64_t iterator =
      0;  // asks for the next chunk; 0: the dump has ended, and there are no bytes
  std::string bytes;
};
constexpr std::size_t kMostChunkBytes = std::size_t{64} << 20;

}  // namespace bloomery
