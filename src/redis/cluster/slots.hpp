// The hash slots of a Redis Cluster: the slot of a key, and the node of a slot as far as the cluster has reported it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/wire/connection.hpp"

namespace bloomery::detail {

constexpr std::uint32_t kSlots = 16'384;

// CRC16/XMODEM: polynomial 0x1021, initial value zero.
[[nodiscard]] constexpr std::uint16_t crc16(std::string_view text) noexcept {
  std::uint32_t sum = 0;
  for (const char each : text) {
    sum ^= std::uint32_t{static_cast<unsigned char>(each)} << 8;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum << 1 ^ ((sum & 0x8000) != 0 ? 0x1021U : 0U)) & 0xFFFF;
  }
  return static_cast<std::uint16_t>(sum);
}
static_assert(crc16("123456789") == 0x31C3);

// The checksum, modulo 16384, of the key or of its hash tag: the part between the first '{' and the next '}', if it
// is not empty (Redis Cluster Specification, "Hash tags").
[[nodiscard]] constexpr std::uint16_t slot_of(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open);
    if (close != std::string_view::npos && close > open + 1)
      key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % kSlots;
}

// A name in the same hash slot as `key`: "{key}:end", or "key:end" if the key has a {tag}.
[[nodiscard]] std::string name_beside(std::string_view key, std::string_view end);

// The target of a redirection in an error reply: "MOVED 3999 10.0.0.7:6381", "ASK ...", "TRYAGAIN ...".
struct Redirection {
  enum class Reply : std::uint8_t { moved, ask, try_again };
  Reply reply = Reply::try_again;
  std::string host;  // empty: the host that sent the reply
  std::uint16_t port = 0;
};
[[nodiscard]] std::optional<Redirection> redirection_of(const redisReply& reply);

class SlotTable {
 public:
  using Node = std::uint16_t;
  static constexpr Node kNobody = 0xFFFF;

  SlotTable() { owners_.fill(kNobody); }

  // Takes the masters from a reply to CLUSTER SLOTS that came from the server at `asked`. Everything in the reply is
  // checked. Error{io} leaves the table unchanged.
  void learn(const redisReply& slots, const RedisAddress& asked);
  // The node at an address; adds a new node if there is none.
  Node node_at(const RedisAddress& address);
  // Like node_at. Fields that a node does not report about another node (user, password, an unknown host) are taken
  // from `like`.
  Node node_of(const std::string& host, std::uint16_t port, const RedisAddress& like);
  void move(std::uint16_t slot, Node to) { owners_[slot] = to; }

  [[nodiscard]] Node owner(std::uint16_t slot) const { return owners_[slot]; }
  // Every node that was ever named, indexed by its number.
  [[nodiscard]] const std::vector<RedisAddress>& nodes() const { return nodes_; }
  // The same, those that have hash slots first: the others may be gone long since.
  [[nodiscard]] std::vector<RedisAddress> nodes_to_ask() const;
  // The number of nodes that have hash slots.
  [[nodiscard]] std::size_t owning() const;

 private:
  [[nodiscard]] std::vector<bool> which_own() const;

  std::array<Node, kSlots> owners_;
  std::vector<RedisAddress> nodes_;
};

}  // namespace bloomery::detail
