// Which node has which slot, as far as the cluster has told us.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection.hpp"
#include "redis/slot.hpp"

namespace bloomery::detail {

// Where an error reply sends a command: "MOVED 3999 10.0.0.7:6381", "ASK ...", "TRYAGAIN ...".
struct Redirection {
  enum class Kind : std::uint8_t { moved, ask, again };
  Kind kind = Kind::again;
  std::string host;  // empty: the host that said so
  std::uint16_t port = 0;
};
[[nodiscard]] std::optional<Redirection> redirection_of(const redisReply& reply);

class SlotTable {
 public:
  using Node = std::uint16_t;
  static constexpr Node kNobody = 0xFFFF;

  SlotTable() { owners_.fill(kNobody); }

  // The reply of CLUSTER SLOTS, asked of `asked`: the masters, a node each. Believes nothing:
  // Error{io}, and then nothing has changed.
  void learn(const redisReply& slots, const RedisAddress& asked);
  // The node of an address; a new one where there is none. What a node does not say of another
  // (user, password, a host) is `like` its own.
  Node node_at(const RedisAddress& address);
  Node node_of(const std::string& host, std::uint16_t port, const RedisAddress& like);
  void move(std::uint16_t slot, Node to) { owners_[slot] = to; }

  [[nodiscard]] Node owner(std::uint16_t slot) const { return owners_[slot]; }
  // All that were ever named, by their number.
  [[nodiscard]] const std::vector<RedisAddress>& nodes() const { return nodes_; }
  // How many of them have slots.
  [[nodiscard]] std::size_t owning() const;

 private:
  std::array<Node, kSlots> owners_;
  std::vector<RedisAddress> nodes_;
};

}  // namespace bloomery::detail
