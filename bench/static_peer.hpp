// Another library's static filter: built once from all keys, then looked up. It runs its own loops, so that no
// call of ours is timed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bloomery::bench {

class StaticPeer {
 public:
  virtual ~StaticPeer() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  virtual void build(const std::vector<std::uint64_t>& keys) = 0;
  [[nodiscard]] virtual double bits() const = 0;
  [[nodiscard]] virtual std::uint64_t contains_each(
      const std::vector<std::uint64_t>& keys) const = 0;
};

// None if the headers of fastfilter_cpp were not given.
std::vector<std::unique_ptr<StaticPeer>> fastfilter_peers();

}  // namespace bloomery::bench
