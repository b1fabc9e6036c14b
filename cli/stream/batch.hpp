// Keys that were decided and are not yet in the filter file, each once.
//
// An insertion of many keys takes one journal write and one wait for the disk; and a line may be
// remembered only after it was printed.
#pragma once

#include <bloomery/hash.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::cli {

class Batch {
 public:
  // True: the key was not in the batch. Exact to 128 bits of hash.
  bool insert(Hash128 hash);

  [[nodiscard]] std::span<const Hash128> hashes() const noexcept { return hashes_; }
  [[nodiscard]] bool empty() const noexcept { return hashes_.empty(); }
  // Whether there are a quarter of a million keys, or a second has passed: time to insert them.
  [[nodiscard]] bool due() const noexcept;
  void clear() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  void widen();

  std::vector<Hash128> hashes_;
  std::vector<std::uint32_t> table_;  // 1 + an index into hashes_, or 0; a power of two
  Clock::time_point since_ = Clock::now();
};

}  // namespace bloomery::cli
