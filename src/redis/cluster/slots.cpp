// Checks everything that nodes report about each other.
#include "redis/cluster/slots.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

namespace bloomery::detail {
namespace {

constexpr std::size_t kMostNodes = 4096;

std::string host_in(const redisReply& reply) {
  const bool is_text = reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS;
  return std::string(is_text ? text_of(reply) : "");
}

[[noreturn]] void refuse(const RedisAddress& asked) {
  throw Error(ErrorCode::io, "redis " + asked.host + ":" + std::to_string(asked.port) +
                                 ": this is not how a Redis server answers CLUSTER SLOTS; "
                                 "check the address");
}

}  // namespace

std::string name_beside(std::string_view key, std::string_view end) {
  std::string name(key);
  if (key.find('{') == std::string_view::npos) name = "{" + name + "}";
  return name.append(":").append(end);
}

std::optional<Redirection> redirection_of(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ERROR) return std::nullopt;
  std::string_view text = text_of(reply);
  Redirection to;
  if (text.starts_with("TRYAGAIN")) return to;
  if (text.starts_with("MOVED "))
    to.reply = Redirection::Reply::moved;
  else if (text.starts_with("ASK "))
    to.reply = Redirection::Reply::ask;
  else
    return std::nullopt;
  // The address is the last word; its port follows the last colon, because IPv6 addresses contain colons too.
  text.remove_prefix(text.find_last_of(' ') + 1);
  const std::size_t colon = text.find_last_of(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), to.port);
  if (fault != std::errc() || end != port.data() + port.size() || to.port == 0) return std::nullopt;
  to.host = text.substr(0, colon);
  return to;
}

SlotTable::Node SlotTable::node_at(const RedisAddress& address) {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const RedisAddress& each) {
    return each.socket == address.socket &&
           (!each.socket.empty() || (each.host == address.host && each.port == address.port));
  });
  if (found == nodes_.end() && nodes_.size() == kMostNodes)
    throw Error(ErrorCode::io, "the cluster has more than " + std::to_string(kMostNodes) +
                                   " nodes; check the address");
  const auto node = static_cast<Node>(found - nodes_.begin());
  if (found == nodes_.end()) nodes_.push_back(address);
  return node;
}

SlotTable::Node SlotTable::node_of(const std::string& host, std::uint16_t port,
                                   const RedisAddress& like) {
  RedisAddress address = like;
  address.socket.clear();
  // If a node does not know its own host, it is at the address that was asked.
  if (!host.empty() && host != "?") address.host = host;
  address.port = port;
  return node_at(address);
}

void SlotTable::learn(const redisReply& slots, const RedisAddress& asked) {
  if (slots.type != REDIS_REPLY_ARRAY) refuse(asked);
  SlotTable next = *this;
  next.owners_.fill(kNobody);
  for (const redisReply* range : std::span(slots.element, slots.elements)) {
    // The elements are: first slot, last slot, the master, its replicas.
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3) refuse(asked);
    const redisReply& first = *range->element[0];
    const redisReply& last = *range->element[1];
    const redisReply& master = *range->element[2];
    if (first.type != REDIS_REPLY_INTEGER || last.type != REDIS_REPLY_INTEGER ||
        first.integer < 0 || last.integer < first.integer || last.integer >= kSlots ||
        master.type != REDIS_REPLY_ARRAY || master.elements < 2)
      refuse(asked);
    const redisReply& port = *master.element[1];
    if (port.type != REDIS_REPLY_INTEGER || port.integer < 1 || port.integer > 65'535)
      refuse(asked);
    const Node node =
        next.node_of(host_in(*master.element[0]), static_cast<std::uint16_t>(port.integer), asked);
    std::fill(next.owners_.begin() + first.integer, next.owners_.begin() + last.integer + 1, node);
  }
  *this = std::move(next);
}

std::vector<bool> SlotTable::which_own() const {
  std::vector<bool> own(nodes_.size());
  for (const Node owner : owners_)
    if (owner != kNobody) own[owner] = true;
  return own;
}

std::size_t SlotTable::owning() const {
  const std::vector<bool> own = which_own();
  return static_cast<std::size_t>(std::count(own.begin(), own.end(), true));
}

std::vector<RedisAddress> SlotTable::nodes_to_ask() const {
  const std::vector<bool> own = which_own();
  std::vector<RedisAddress> ordered;
  for (const bool owning : {true, false})
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (own[i] == owning) ordered.push_back(nodes_[i]);
  return ordered;
}

}  // namespace bloomery::detail
