// New Redis strings under staged names: made of zeros in full length, then written in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redis/cluster/cluster.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/staged_keys.hpp"
#include "redis/strings/redis_header.hpp"

namespace bloomery::detail {

// The rules for the shards of a filter. ARGV: the header, the length of the string, and 1 if a filter
// may be replaced.
extern const StagedKeys::Rules kShardStrings;
// The header of each string of a filter.
[[nodiscard]] std::vector<std::string> headers_of(RedisHeader header);
// The shards that belong, or belonged, to this first shard.
[[nodiscard]] KeysOfNote strings_of_note(const std::string& first);

// Unless published() was called, the destructor removes the strings.
class StagedStrings {
 public:
  // For strings of `bytes` bytes each. The cluster must live longer than this object.
  StagedStrings(Cluster& cluster, StagedKeys keys, std::uint64_t bytes)
      : cluster_(cluster), keys_(std::move(keys)), bytes_(bytes), unmoved_(cluster) {}
  StagedStrings(const StagedStrings&) = delete;
  StagedStrings& operator=(const StagedStrings&) = delete;
  ~StagedStrings();

  // Makes the strings: zeros, except for the first and last bytes of each.
  void make(std::span<const std::string> starts, std::span<const std::string> ends);
  // Sets bytes of a string that are still zeros. It sends them in pieces; some wait until flush().
  // Error{no_space}: the server has dropped a string.
  void write(std::size_t string, std::uint64_t at, std::span<const std::byte> bytes);
  void flush();
  void keep_alive() { keys_.keep_alive(cluster_, keys_.names().size()); }
  // Since make().
  [[nodiscard]] const UnmovedSlots& unmoved() const noexcept { return unmoved_; }
  void published() noexcept { published_ = true; }

  [[nodiscard]] const StagedKeys& keys() const noexcept { return keys_; }

 private:
  void run(std::vector<Request>& requests);

  Cluster& cluster_;
  StagedKeys keys_;
  std::uint64_t bytes_;
  UnmovedSlots unmoved_;
  std::vector<Request> pieces_;  // not yet sent
  bool published_ = false;
};

}  // namespace bloomery::detail
