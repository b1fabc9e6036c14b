// Requests to the nodes of a Redis Cluster, with all nodes working at once; or to a single server.
//
// A redirection must never change the meaning of an answer. So a command is sent to another node as a whole, and the
// caller checks the answers for the identity of the string that gave them.
#pragma once

#include <bloomery/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/cluster/slots.hpp"
#include "redis/wire/connection.hpp"
#include "redis/wire/history.hpp"

namespace bloomery::detail {

// Commands about one key, in order. Redirected commands are executed after those that were not redirected; the first
// command is then repeated on the other node, so that its check is made there too.
class Request {
 public:
  explicit Request(std::string_view key) : slot_(slot_of(key)) {}
  // A request of one command.
  Request(std::string_view key, std::initializer_list<std::string_view> words) : Request(key) {
    next().command(words);
  }
  Request(std::string_view key, const std::vector<std::string>& words) : Request(key) {
    next().command(words);
  }

  // Begins the next command.
  Commands& next() {
    begins_.push_back(commands_.bytes().size());
    answered_.push_back(false);
    ++unanswered_;
    return commands_;
  }
  // Sends this request to the node to which another request was redirected.
  void goes_where(const Request& other) {
    node_ = other.node_;
    redirection_ = other.redirection_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return begins_.size(); }
  [[nodiscard]] bool answered() const noexcept { return unanswered_ == 0; }
  // The reason why a command has no answer, or the Error that was thrown when an answer was taken.
  [[nodiscard]] const std::optional<Error>& fault() const noexcept { return fault_; }
  // True: the request is neither answered nor at fault, so it was redirected.
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
  // In flight: the commands, their node, the connection, and whether ASKING was sent before them.
  std::vector<std::size_t> sent_;
  SlotTable::Node node_ = 0;
  std::uint64_t connection_ = 0;
  bool asking_ = false;
  std::optional<Redirection> redirection_;
};

class Cluster {
 public:
  // Takes the answer to a command of a request. It is never a redirection, but may be another error.
  using Take = std::function<void(std::size_t request, std::size_t command, Reply)>;

  // one_server: the server has every key, is not asked for hash slots, and its redirections are errors. all_nodes:
  // the cluster is learned from the seed, which may be a server outside of a cluster.
  enum class Scope : std::uint8_t { one_server, all_nodes };
  explicit Cluster(RedisAddress seed, Scope scope = Scope::all_nodes);
  // If the place is in shards, all nodes are used.
  explicit Cluster(const RedisPlace& place)
      : Cluster(place.address, place.shards ? Scope::all_nodes : Scope::one_server) {}

  // The number of nodes that have hash slots; 1 without a cluster.
  [[nodiscard]] std::size_t nodes();
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // The name of a key in errors: "redis host:port 'key'".
  [[nodiscard]] std::string name_of(std::string_view key) const {
    return name_ + " " + quoted_key(key);
  }
  // How often so far a slot may have got another node: a node has refused a command because the slot is not its own, or
  // a connection broke in a call.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

  // Sends the requests and does not wait. Requests must be finished in the order in which they were started. An error
  // becomes a fault of the requests that it concerns; nothing is thrown.
  void start(std::span<Request> requests);
  // Takes the answers to the commands that start() sent. Redirected requests are open afterwards.
  void finish(std::span<Request> requests, const Take& take);
  // Follows redirections until every request is answered or at fault. Nothing else may be in
  // flight.
  void follow(std::span<Request> requests, const Take& take);
  // Calls start, finish and follow.
  void run(std::span<Request> requests, const Take& take);
  // Does the same, and throws the first fault.
  void run_all(std::span<Request> requests, const Take& take);
  // The reply to a request of one command. It may be an error of the server.
  Reply reply_to(Request& request);
  // Sends one command and returns its reply. An error of the server is thrown.
  Reply ask(std::string_view key, std::initializer_list<std::string_view> words);
  Reply ask(std::string_view key, const std::vector<std::string>& words);
  // The history of each key's node.
  [[nodiscard]] std::vector<History> histories(const std::vector<std::string>& keys);
  // Drops everything that is in flight.
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
  Reply ask_for(std::string_view key, Request request);
  void forget() noexcept {
    known_ = scope_ == Scope::one_server;
    ++changes_;
  }

  std::string name_;
  RedisAddress seed_;
  Scope scope_;
  bool known_;
  bool clustered_ = false;
  std::uint64_t changes_ = 0;
  SlotTable table_;
  std::vector<std::unique_ptr<Node>> nodes_;  // indexed by their numbers in the table
};

// Watches whether the nodes of a filter stay the same while it is written. Another node may be a replica that has taken
// over and lacks writes that the old node has acknowledged; nothing in the strings shows that.
class UnmovedSlots {
 public:
  explicit UnmovedSlots(Cluster& cluster) noexcept
      : cluster_(&cluster), changes_(cluster.changes()) {}
  // Watches the histories of the nodes that have these keys, too.
  UnmovedSlots(Cluster& cluster, std::vector<std::string> keys)
      : cluster_(&cluster),
        changes_(cluster.changes()),
        keys_(std::move(keys)),
        histories_(cluster.histories(keys_)) {}
  // Error{unavailable}: a slot may have moved. Without a failover that loses nothing, but it looks the same.
  void require() const;
  // Asks the nodes. Error{unavailable}: one has become a replica and a master again, and may have lost writes without
  // losing a connection.
  void require_history() const;
  // Throws the error that an operation ended with, or, if slots have moved, which explains it, that.
  [[noreturn]] void explain(const Error& error) const;

 private:
  Cluster* cluster_;
  std::uint64_t changes_;
  std::vector<std::string> keys_;
  std::vector<History> histories_;
};

}  // namespace bloomery::detail
