// A real cluster of redis-servers on free loopback ports, whose slots a test can move.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "redis/cluster/slots.hpp"
#include "redis/listener.hpp"
#include "redis/server.hpp"

namespace bloomery::test {

// A port that is free for a server of this program, as is its cluster bus port, 10,000 above it. Both are below those
// that the system gives out by itself, from 32,768 on, so that no client's end of a connection takes them.
inline std::uint16_t free_port() {
  static std::mt19937 random{std::random_device{}()};
  for (;;) {
    const auto port = std::uniform_int_distribution<std::uint16_t>(10'000, 22'000)(random);
    if (hold_port(port) && hold_port(port + 10'000)) return port;
  }
}

class Nodes {
 public:
  explicit Nodes(std::size_t count, std::vector<std::string> options = {})
      : options_(std::move(options)) {
    for (std::size_t i = 0; i < count; ++i) start_one();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = i * detail::kSlots / count;
      const std::size_t last = (i + 1) * detail::kSlots / count - 1;
      servers_[i]->ask({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
      servers_[i]->ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
      servers_[0]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(ports_[i])});
    }
    until_agreed();
    set_timeout(15'000);
  }
  // After how many milliseconds without an answer the others take a node for dead. By default a server that a busy
  // machine holds up is not; a cluster is made with a short time, for it starts only after that.
  void set_timeout(int milliseconds) {
    for (const auto& server : servers_)
      server->ask({"CONFIG", "SET", "cluster-node-timeout", std::to_string(milliseconds)});
  }
  // One more node for each that there is, which follows it: node i + size() follows node i.
  void add_replicas() {
    const std::size_t masters = size();
    for (std::size_t i = 0; i < masters; ++i) {
      start_one();
      servers_[0]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(ports_.back())});
    }
    until_agreed();
    for (std::size_t i = 0; i < masters; ++i)
      servers_[masters + i]->ask({"CLUSTER", "REPLICATE", id(i)});
    for (std::size_t i = 0; i < masters; ++i) servers_[i]->wait_for("replication", "state=online");
  }

  [[nodiscard]] Server& operator[](std::size_t i) { return *servers_[i]; }
  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  [[nodiscard]] std::uint16_t port(std::size_t i) const { return ports_[i]; }
  [[nodiscard]] RedisAddress address(std::size_t i = 0) const { return {.port = ports_[i]}; }

  // The node that has the key.
  [[nodiscard]] std::size_t holder(std::string_view key) {
    for (std::size_t i = 0; i < size(); ++i) {
      const detail::Reply slots =
          servers_[i]->ask({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(detail::slot_of(key))});
      if (slots->integer > 0) return i;
    }
    ADD_FAILURE() << "nobody has " << key;
    return 0;
  }
  // The three steps in which a slot goes to the next node: both ends are told, the keys go over, all are told.
  struct Move {
    std::string slot;
    std::size_t from, to;
  };
  Move begin_move(std::string_view key) {
    const std::size_t from = holder(key), to = (from + 1) % size();
    const std::string slot = std::to_string(detail::slot_of(key));
    servers_[to]->ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", id(from)});
    servers_[from]->ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", id(to)});
    return {slot, from, to};
  }
  // One key; false: there was none left.
  bool move_key(const Move& move) {
    Server& from = *servers_[move.from];
    const detail::Reply keys = from.ask({"CLUSTER", "GETKEYSINSLOT", move.slot, "1"});
    if (keys->elements == 0) return false;
    const std::string_view key(keys->element[0]->str, keys->element[0]->len);
    from.ask({"MIGRATE", "127.0.0.1", std::to_string(ports_[move.to]), key, "0", "30000"});
    return true;
  }
  void end_move(const Move& move) {
    for (std::size_t i = 0; i < size(); ++i)  // the new node, the old one, the others
      servers_[(move.to + size() - i) % size()]->ask(
          {"CLUSTER", "SETSLOT", move.slot, "NODE", id(move.to)});
  }

  static void until(const std::function<bool()>& condition) {
    for (int i = 0; i < 12'000; ++i) {
      if (condition()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "not within two minutes";
  }

 private:
  void start_one() {
    ports_.push_back(free_port());
    std::vector<std::string> words = {
        "--port", std::to_string(ports_.back()), "--bind", "127.0.0.1", "--cluster-enabled",
        "yes",    "--cluster-node-timeout",      "2000"};
    words.insert(words.end(), options_.begin(), options_.end());
    servers_.push_back(std::make_unique<Server>(words));
  }
  void until_agreed() const {
    const std::string known = "cluster_known_nodes:" + std::to_string(size());
    until([&] {
      for (const auto& server : servers_) {
        const std::string info = text(server->ask({"CLUSTER", "INFO"}));
        if (info.find("cluster_state:ok") == std::string::npos ||
            info.find(known) == std::string::npos)
          return false;
      }
      return true;
    });
  }
  static std::string text(const detail::Reply& reply) { return {reply->str, reply->len}; }
  [[nodiscard]] std::string id(std::size_t i) const {
    return text(servers_[i]->ask({"CLUSTER", "MYID"}));
  }

  std::vector<std::string> options_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::unique_ptr<Server>> servers_;
};

// Until there is another master, calls are errors; then the same filter goes on. How many keys it finds.
template <class Filter>
std::size_t found_at_next_master(Filter& filter, const std::vector<std::string>& keys) {
  std::size_t found = 0;
  Nodes::until([&] {
    try {
      found = filter.may_contain_many(keys);
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable) << error.what();
      return false;
    }
  });
  return found;
}

// The one that tests share, with the module where there is one.
inline Nodes& three_nodes() {
  static Nodes nodes(3, module_options());
  return nodes;
}

}  // namespace bloomery::test
