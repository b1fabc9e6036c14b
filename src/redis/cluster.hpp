// Commands for keys, to whichever nodes have them: all nodes at work at once.
//
// Also for a server that is no cluster, which is one node with every slot. A redirection may never
// change what an answer means: a command goes whole to another node, and whoever gives it checks
// in its answer, as everywhere, that it was the right string that answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/connection.hpp"
#include "redis/slot_table.hpp"

namespace bloomery::detail {

// Commands for one key, in their order. What is redirected comes after what is not; the first
// command is asked again wherever others are sent on to, so that what it checks is checked there.
class Order {
 public:
  explicit Order(std::string_view key) : slot_(slot_of(key)) {}

  // Begins the next command.
  Commands& next() {
    begins_.push_back(commands_.bytes().size());
    answered_.push_back(false);
    ++unanswered_;
    return commands_;
  }
  // Takes the redirection of another.
  void goes_where(const Order& other) {
    node_ = other.node_;
    redirection_ = other.redirection_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return begins_.size(); }
  [[nodiscard]] bool answered() const noexcept { return unanswered_ == 0; }
  // Why not everything is answered; or what the taker of an answer threw.
  [[nodiscard]] const std::optional<Error>& fault() const noexcept { return fault_; }

 private:
  friend class Cluster;
  [[nodiscard]] std::string_view bytes_of(std::size_t command) const;

  std::uint16_t slot_;
  Commands commands_;
  std::vector<std::size_t> begins_;
  std::vector<bool> answered_;
  std::size_t unanswered_ = 0;
  std::optional<Error> fault_;
  // On the way: which commands, to whom, over which of its connections, and as an exception?
  std::vector<std::size_t> sent_;
  SlotTable::Node node_ = 0;
  std::uint64_t connection_ = 0;
  bool asking_ = false;
  std::optional<Redirection> redirection_;
};

class Cluster {
 public:
  // Takes the answer to a command of an order: never a redirection, but maybe another error.
  using Take = std::function<void(std::size_t order, std::size_t command, Reply)>;

  explicit Cluster(RedisAddress seed);

  // Finds out who has which slots, where that is not known. Error{unavailable, denied}.
  void learn();
  // Nodes that have slots; 1 where there is no cluster.
  [[nodiscard]] std::size_t nodes();
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Sends the orders, and does not wait. What was started first must be finished first. What goes
  // wrong is a fault of the orders it concerns; nothing is thrown.
  void start(std::span<Order> orders);
  // Takes the answers to what start has sent. Orders that were redirected are not yet answered.
  void finish(std::span<Order> orders, const Take& take);
  // Follows redirections until all is answered or at fault. Nothing else may be on the way.
  void settle(std::span<Order> orders, const Take& take);
  void run(std::span<Order> orders, const Take& take);
  // The same, and throws the first fault.
  void run_all(std::span<Order> orders, const Take& take);
  // One command and its reply; an error of the server is thrown.
  Reply ask(std::string_view key, std::initializer_list<std::string_view> words);
  // Forgets what is on the way.
  void drop() noexcept;

 private:
  struct Node {
    explicit Node(const RedisAddress& address) : connection(address) {}
    Connection connection;
    Commands out;
  };
  Node& node(SlotTable::Node number);
  SlotTable::Node target_of(Order& order);
  void forget() noexcept { known_ = false; }

  std::string name_;
  RedisAddress seed_;
  bool known_ = false;
  bool clustered_ = false;
  SlotTable table_;
  std::vector<std::unique_ptr<Node>> nodes_;  // by their number in the table
};

}  // namespace bloomery::detail
