// Another library's filter. It runs its own loops, so that no call of ours is timed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bloomery::bench {

class [[gnu::visibility("default")]] Peer {
 public:
  virtual ~Peer() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  virtual void clear() = 0;
  virtual std::uint64_t insert_each(std::span<const std::uint64_t> keys) = 0;
  virtual std::uint64_t insert_bulk(std::span<const std::uint64_t> keys) = 0;
  virtual std::uint64_t contains_each(std::span<const std::uint64_t> keys) = 0;
  virtual std::uint64_t contains_bulk(std::span<const std::uint64_t> keys) = 0;
};

// The peer's best configurations for this rate; none if it was not compiled in.
[[gnu::visibility("default")]] std::vector<std::unique_ptr<Peer>> peers_for(double fpr,
                                                                            std::uint64_t keys);
// The same, compiled for any CPU.
[[gnu::visibility("default")]] std::vector<std::unique_ptr<Peer>> peers_without_flag(
    double fpr, std::uint64_t keys);

}  // namespace bloomery::bench
