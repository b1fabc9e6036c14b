// Requests to the nodes of a Redis Cluster, all nodes at work at once; or to one server alone.
//
// A redirection must never change what an answer means. So a command goes to another node as a
// whole, and the caller checks the answers for the identity of the string that gave them.
#pragma once

#include <bloomery/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/wire/connection.hpp"
#include "redis/wire/slots.hpp"

namespace bloomery::detail {

// Commands about one key, in order. Redirected commands follow those that were not redirected; the
// first command is then repeated on the other node, so that what it checks is checked there too.
class Request {
 public:
  explicit Request(std::string_view key) : slot_(slot_of(key)) {}

  // Begins the next command.
  Commands& next() {
    begins_.push_back(commands_.bytes().size());
    answered_.push_back(false);
    ++unanswered_;
    return commands_;
  }
  // Goes to the node to which another request was redirected.
  void goes_where(const Request& other) {
    node_ = other.node_;
    redirection_ = other.redirection_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return begins_.size(); }
  [[nodiscard]] bool answered() const noexcept { return unanswered_ == 0; }
  // Why something is not answered; or what was thrown when an answer was taken.
  [[nodiscard]] const std::optional<Error>& fault() const noexcept { return fault_; }
  // Neither answered nor at fault: redirected.
  [[nodiscard]] bool open() const noexcept { return !fault_ && !answered(); }

 private:
  friend class Cluster;
  [[nodiscard]] std::string_view bytes_of(std::size_t command) const;

  std::uint16_t slot_;
  Commands commands_;
  std::vector<std::size_t> begins_;
  std::vector<bool> answered_;
  std::size_t unanswered_ = 0;
  std::optional<Error> fault_;
  // In flight: which commands, to which node, over which of its connections, after ASKING or not.
  std::vector<std::size_t> sent_;
  SlotTable::Node node_ = 0;
  std::uint64_t connection_ = 0;
  bool asking_ = false;
  std::optional<Redirection> redirection_;
};

class Cluster {
 public:
  // Takes the answer to a command of a request: never a redirection, but perhaps another error.
  using Take = std::function<void(std::size_t request, std::size_t command, Reply)>;

  // One server has every key: it is not asked for slots, and its redirections are errors. Otherwise
  // the cluster is learned from the seed, which may be a server that is not in a cluster.
  enum class Scope : std::uint8_t { one_server, all_nodes };
  explicit Cluster(RedisAddress seed, Scope scope = Scope::all_nodes);
  // All nodes for a place in shards.
  explicit Cluster(const RedisPlace& place)
      : Cluster(place.address, place.shards ? Scope::all_nodes : Scope::one_server) {}

  // How many nodes have slots; 1 without a cluster.
  [[nodiscard]] std::size_t nodes();
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Sends the requests and does not wait. Requests must be finished in the order in which they were
  // started. What goes wrong is a fault of the requests that it concerns; nothing is thrown.
  void start(std::span<Request> requests);
  // Takes the answers to what start() has sent. Redirected requests are open afterwards.
  void finish(std::span<Request> requests, const Take& take);
  // Follows redirections until every request is answered or at fault. Nothing else may be in
  // flight.
  void follow(std::span<Request> requests, const Take& take);
  // All three.
  void run(std::span<Request> requests, const Take& take);
  // The same, and throws the first fault.
  void run_all(std::span<Request> requests, const Take& take);
  // Sends one command and returns its reply. An error of the server is thrown.
  Reply ask(std::string_view key, std::initializer_list<std::string_view> words);
  Reply ask(std::string_view key, const std::vector<std::string>& words);
  // Gives up whatever is in flight.
  void drop() noexcept;

 private:
  struct Node {
    explicit Node(const RedisAddress& address) : connection(address) {}
    Connection connection;
    Commands out;
  };
  void learn();
  Node& node(SlotTable::Node number);
  SlotTable::Node target_of(Request& request);
  Reply ask(std::string_view key, Request request);
  void forget() noexcept { known_ = scope_ == Scope::one_server; }

  std::string name_;
  RedisAddress seed_;
  Scope scope_;
  bool known_;
  bool clustered_ = false;
  SlotTable table_;
  std::vector<std::unique_ptr<Node>> nodes_;  // by their number in the table
};

}  // namespace bloomery::detail
