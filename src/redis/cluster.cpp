// Send to all, then receive from all; what is redirected goes out again, a bounded number of times.
#include "redis/cluster.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace bloomery::detail {
namespace {

// A slot that moves sends a command on once or twice. TRYAGAIN waits for its keys to have moved:
// 1 ms, 2 ms ... 128 ms, 1.4 s in all.
constexpr int kMostRounds = 16;

std::chrono::milliseconds pause_of(int round) {
  return std::chrono::milliseconds(1 << std::min(round, 7));
}

}  // namespace

std::string_view Order::bytes_of(std::size_t command) const {
  const std::string_view bytes = commands_.bytes();
  const std::size_t end = command + 1 < begins_.size() ? begins_[command + 1] : bytes.size();
  return bytes.substr(begins_[command], end - begins_[command]);
}

Cluster::Cluster(RedisAddress seed) : name_(Connection(seed).name()), seed_(std::move(seed)) {}

void Cluster::learn() {
  if (known_) return;
  // The address that was given, then every node that has been heard of: one is enough.
  std::vector<RedisAddress> candidates = {seed_};
  candidates.insert(candidates.end(), table_.nodes().begin(), table_.nodes().end());
  std::optional<Error> fault;
  for (const RedisAddress& candidate : candidates) {
    try {
      Connection connection(candidate);
      Commands commands;
      connection.send(commands.command({"CLUSTER", "SLOTS"}));
      const Reply reply = connection.receive();
      clustered_ = reply->type != REDIS_REPLY_ERROR;
      if (clustered_)
        table_.learn(*reply, candidate);
      else if (!says(*reply, "cluster support disabled") && !says(*reply, "unknown"))
        throw Connection::meaning(*reply, connection.name());
      known_ = true;
      return;
    } catch (const Error& error) {
      if (!fault) fault = error;
    }
  }
  throw *fault;
}

std::size_t Cluster::nodes() {
  learn();
  return clustered_ ? std::max<std::size_t>(1, table_.owning()) : 1;
}

Cluster::Node& Cluster::node(SlotTable::Node number) {
  if (nodes_.size() <= number) nodes_.resize(number + std::size_t{1});
  if (!nodes_[number]) nodes_[number] = std::make_unique<Node>(table_.nodes()[number]);
  return *nodes_[number];
}

SlotTable::Node Cluster::target_of(Order& order) {
  order.asking_ = false;
  if (const auto to = std::exchange(order.redirection_, std::nullopt);
      to && to->kind != Redirection::Kind::again) {
    const RedisAddress from = table_.nodes()[order.node_];
    const SlotTable::Node node = table_.node_of(to->host, to->port, from);
    order.asking_ = to->kind == Redirection::Kind::ask;
    if (!order.asking_) table_.move(order.slot_, node);
    return node;
  }
  SlotTable::Node node = table_.owner(order.slot_);
  // Nobody's slot: the server that was given says why, or has all of them.
  if (node == SlotTable::kNobody) node = table_.node_at(seed_);
  return node;
}

void Cluster::start(std::span<Order> orders) {
  try {
    learn();
  } catch (const Error& error) {
    for (Order& order : orders) {
      order.sent_.clear();
      if (!order.fault_ && !order.answered()) order.fault_ = error;
    }
    return;
  }
  // What a start that threw has left unsent would take the answers of what comes now.
  for (const std::unique_ptr<Node>& each : nodes_)
    if (each) each->out.clear();
  for (Order& order : orders) {
    if (!order.answered()) order.answered_[0] = false;
    order.unanswered_ =
        static_cast<std::size_t>(std::count(order.answered_.begin(), order.answered_.end(), false));
    order.sent_.clear();
    if (order.fault_ || order.unanswered_ == 0) continue;
    try {
      order.node_ = target_of(order);
    } catch (const Error& error) {
      order.fault_ = error;
      continue;
    }
    Commands& out = node(order.node_).out;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order.answered_[i]) continue;
      if (order.asking_) out.command({"ASKING"});
      out.append(order.bytes_of(i));
      order.sent_.push_back(i);
    }
  }
  for (std::size_t number = 0; number < nodes_.size(); ++number) {
    if (!nodes_[number] || nodes_[number]->out.bytes().empty()) continue;
    Node& to = *nodes_[number];
    std::optional<Error> fault;
    try {
      to.connection.send(to.out);
    } catch (const Error& error) {
      fault = error;
      forget();
    }
    to.out.clear();
    for (Order& order : orders)
      if (order.node_ == number && !order.sent_.empty()) {
        order.connection_ = to.connection.count();
        if (fault) order.fault_ = fault;
      }
  }
}

void Cluster::finish(std::span<Order> orders, const Take& take) {
  for (std::size_t i = 0; i < orders.size(); ++i) {
    Order& order = orders[i];
    if (order.fault_) continue;
    Connection& connection = node(order.node_).connection;
    try {
      for (const std::size_t command : std::exchange(order.sent_, {})) {
        // What another order has lost with its connection cannot come over the next one.
        if (order.asking_) (void)connection.receive(order.connection_);
        Reply reply = connection.receive(order.connection_);
        if (auto to = redirection_of(*reply)) {
          order.redirection_ = std::move(to);
          continue;
        }
        order.answered_[command] = true;
        --order.unanswered_;
        if (order.fault_) continue;
        try {
          take(i, command, std::move(reply));
        } catch (const Error& error) {
          order.fault_ = error;
        }
      }
    } catch (const Error& error) {
      forget();
      if (!order.fault_) order.fault_ = error;
    }
  }
}

void Cluster::settle(std::span<Order> orders, const Take& take) {
  const auto open = [](const Order& order) { return !order.fault_ && !order.answered(); };
  for (int round = 0; round < kMostRounds; ++round) {
    if (std::none_of(orders.begin(), orders.end(), open)) return;
    if (std::any_of(orders.begin(), orders.end(), [&](const Order& order) {
          return open(order) && order.redirection_ &&
                 order.redirection_->kind == Redirection::Kind::again;
        }))
      std::this_thread::sleep_for(pause_of(round));
    start(orders);
    finish(orders, take);
  }
  for (Order& order : orders)
    if (open(order))
      order.fault_.emplace(ErrorCode::unavailable,
                           name_ + ": the cluster sent a command from node to node " +
                               std::to_string(kMostRounds) + " times; try again when slot " +
                               std::to_string(order.slot_) + " has moved");
}

void Cluster::run(std::span<Order> orders, const Take& take) {
  try {
    start(orders);
    finish(orders, take);
    settle(orders, take);
  } catch (...) {
    drop();
    throw;
  }
}

void Cluster::run_all(std::span<Order> orders, const Take& take) {
  run(orders, take);
  for (const Order& order : orders)
    if (order.fault()) throw *order.fault();
}

void Cluster::drop() noexcept {
  for (const std::unique_ptr<Node>& node : nodes_) {
    if (!node) continue;
    node->connection.drop();
    node->out.clear();
  }
}

Reply Cluster::ask(std::string_view key, std::initializer_list<std::string_view> words) {
  std::vector<Order> orders(1, Order(key));
  orders[0].next().command(words);
  Reply answer;
  run(orders, [&](std::size_t, std::size_t, Reply reply) {
    if (reply->type == REDIS_REPLY_ERROR)
      throw Connection::meaning(*reply, name_of(node(orders[0].node_).connection.name(), key));
    answer = std::move(reply);
  });
  if (orders[0].fault()) throw *orders[0].fault();
  return answer;
}

}  // namespace bloomery::detail
