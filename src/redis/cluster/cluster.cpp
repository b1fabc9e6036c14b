// Everything is sent before anything is received; redirected commands are sent again, a limited number of times.
#include "redis/cluster/cluster.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

namespace bloomery::detail {
namespace {

// A hash slot that moves redirects a command once or twice. After TRYAGAIN the client waits until the keys of the
// slot have moved: 1 ms, 2 ms ... 128 ms, 1.4 s in total.
constexpr int kMostRounds = 16;

std::chrono::milliseconds pause_of(int round) {
  return std::chrono::milliseconds(1 << std::min(round, 7));
}

}  // namespace

std::string_view Request::bytes_of(std::size_t command) const {
  const std::string_view bytes = commands_.bytes();
  const std::size_t end = command + 1 < begins_.size() ? begins_[command + 1] : bytes.size();
  return bytes.substr(begins_[command], end - begins_[command]);
}

Cluster::Cluster(RedisAddress seed, Scope scope)
    : name_(Connection(seed).name()),
      seed_(std::move(seed)),
      scope_(scope),
      known_(scope == Scope::one_server) {}

void Cluster::learn() {
  if (known_) return;
  // Any node can answer: the seed, then every node that was ever named.
  std::vector<RedisAddress> candidates = table_.nodes_to_ask();
  candidates.insert(candidates.begin(), seed_);
  std::optional<Error> fault;
  for (const RedisAddress& candidate : candidates) {
    try {
      Connection connection(candidate);
      Commands commands;
      connection.send(commands.command({"CLUSTER", "SLOTS"}));
      const Reply reply = connection.receive();
      const bool is_node = reply->type != REDIS_REPLY_ERROR;
      if (!is_node && !says(*reply, "cluster support disabled") && !says(*reply, "unknown"))
        throw meaning(*reply, connection.name());
      // A new server may have the address of a node that is gone; the others know which nodes there are.
      const bool has_slots = is_node && (reply->type != REDIS_REPLY_ARRAY || reply->elements != 0);
      if (clustered_ && table_.owning() != 0 && !has_slots)
        throw Error(ErrorCode::unavailable,
                    connection.name() +
                        ": the server is no node of the cluster any more; try again when it is, or "
                        "give the address of another node");
      clustered_ = is_node;
      if (is_node) table_.learn(*reply, candidate);
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

SlotTable::Node Cluster::target_of(Request& request) {
  request.asking_ = false;
  if (const auto to = std::exchange(request.redirection_, std::nullopt);
      to && to->reply != Redirection::Reply::try_again) {
    const RedisAddress from = table_.nodes()[request.node_];
    const SlotTable::Node node = table_.node_of(to->host, to->port, from);
    request.asking_ = to->reply == Redirection::Reply::ask;
    if (!request.asking_) table_.move(request.slot_, node);
    return node;
  }
  SlotTable::Node node = table_.owner(request.slot_);
  // If a hash slot has no owner, the seed is asked: it reports why, or it has all slots.
  if (node == SlotTable::kNobody) node = table_.node_at(seed_);
  return node;
}

void Cluster::start(std::span<Request> requests) {
  try {
    learn();
  } catch (const Error& error) {
    for (Request& request : requests) {
      request.sent_.clear();
      if (!request.fault_ && !request.answered()) request.fault_ = error;
    }
    return;
  }
  // A failed start() may have left commands unsent; their replies would be taken for those of later commands.
  for (const std::unique_ptr<Node>& each : nodes_)
    if (each) each->out.clear();
  for (Request& request : requests) {
    if (!request.answered()) request.answered_[0] = false;
    request.unanswered_ = static_cast<std::size_t>(
        std::count(request.answered_.begin(), request.answered_.end(), false));
    request.sent_.clear();
    if (request.fault_ || request.unanswered_ == 0) continue;
    try {
      request.node_ = target_of(request);
    } catch (const Error& error) {
      request.fault_ = error;
      continue;
    }
    Commands& out = node(request.node_).out;
    for (std::size_t i = 0; i < request.size(); ++i) {
      if (request.answered_[i]) continue;
      if (request.asking_) out.command({"ASKING"});
      out.append(request.bytes_of(i));
      request.sent_.push_back(i);
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
    for (Request& request : requests)
      if (request.node_ == number && !request.sent_.empty()) {
        request.connection_ = to.connection.count();
        if (fault) request.fault_ = fault;
      }
  }
}

void Cluster::finish(std::span<Request> requests, const Take& take) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Request& request = requests[i];
    if (request.fault_) continue;
    Connection& connection = node(request.node_).connection;
    try {
      for (const std::size_t command : std::exchange(request.sent_, {})) {
        // A command that was sent over a lost connection gets no reply over the next connection.
        if (request.asking_) {
          const Reply said = connection.receive(request.connection_);
          if (said->type == REDIS_REPLY_ERROR && !request.fault_)
            request.fault_ = meaning(*said, connection.name());
        }
        Reply reply = connection.receive(request.connection_);
        if (auto to = scope_ == Scope::all_nodes ? redirection_of(*reply) : std::nullopt) {
          if (to->reply == Redirection::Reply::moved) ++changes_;
          request.redirection_ = std::move(to);
          continue;
        }
        // As a node says that was taken out of the cluster. (One that says "The cluster is down" is still in it.)
        if (reply->type == REDIS_REPLY_ERROR && says(*reply, "CLUSTERDOWN Hash slot not served"))
          forget();
        request.answered_[command] = true;
        --request.unanswered_;
        if (request.fault_) continue;
        try {
          take(i, command, std::move(reply));
        } catch (const Error& error) {
          request.fault_ = error;
        }
      }
    } catch (const Error& error) {
      forget();
      if (!request.fault_) request.fault_ = error;
    }
  }
}

void Cluster::follow(std::span<Request> requests, const Take& take) {
  for (int round = 0; round < kMostRounds; ++round) {
    if (std::ranges::none_of(requests, &Request::open)) return;
    if (std::ranges::any_of(requests, [](const Request& request) {
          return request.open() && request.redirection_ &&
                 request.redirection_->reply == Redirection::Reply::try_again;
        }))
      std::this_thread::sleep_for(pause_of(round));
    start(requests);
    finish(requests, take);
  }
  for (Request& request : requests)
    if (request.open())
      request.fault_.emplace(ErrorCode::unavailable,
                             name_ + ": the cluster sent a command from node to node " +
                                 std::to_string(kMostRounds) + " times; try again when slot " +
                                 std::to_string(request.slot_) + " has moved");
}

void Cluster::run(std::span<Request> requests, const Take& take) {
  try {
    start(requests);
    finish(requests, take);
    follow(requests, take);
  } catch (...) {
    drop();
    throw;
  }
}

void Cluster::run_all(std::span<Request> requests, const Take& take) {
  run(requests, take);
  for (const Request& request : requests)
    if (request.fault()) throw *request.fault();
}

Reply Cluster::reply_to(Request& request) {
  Reply answer;
  run_all({&request, 1}, [&](std::size_t, std::size_t, Reply reply) { answer = std::move(reply); });
  return answer;
}

void UnmovedSlots::require() const {
  if (cluster_->changes() != changes_)
    throw Error(
        ErrorCode::unavailable,
        cluster_->name() +
            ": a slot has moved to another node, or a connection was lost, while the filter "
            "was written; a failover may have lost a part of it, so run it again");
}

void UnmovedSlots::require_history() const {
  const std::vector<History> now = cluster_->histories(keys_);
  require();  // what moved slots and lost connections explain
  if (!std::ranges::equal(histories_, now, std::not_fn(&History::may_be_lost)))
    throw Error(
        ErrorCode::unavailable,
        cluster_->name() +
            ": a server was made a replica, or another took its place, "
            "while the filter was written, and may have lost a part of it, so run it again");
}

void UnmovedSlots::explain(const Error& error) const {
  if (error.code() != ErrorCode::unavailable) require();
  throw error;
}

std::vector<History> Cluster::histories(const std::vector<std::string>& keys) {
  std::vector<Request> requests;
  for (const std::string& key : keys) {
    Request& request = requests.emplace_back(key);
    for (const std::string_view section : History::kSections)
      request.next().command({"INFO", section});
  }
  std::vector<History> histories(keys.size());
  run_all(requests, [&](std::size_t i, std::size_t, const Reply& reply) {
    const std::string_view text = text_of(*reply);
    // With other errors it does not tell, now or later.
    constexpr std::array<std::string_view, 4> kPassing = {"BUSY", "LOADING", "MASTERDOWN",
                                                          "CLUSTERDOWN"};
    if (reply->type == REDIS_REPLY_ERROR &&
        std::ranges::any_of(kPassing,
                            [&](std::string_view each) { return text.starts_with(each); }))
      throw meaning(*reply, name_of(keys[i]));
    histories[i].take(text);
  });
  return histories;
}

void Cluster::drop() noexcept {
  for (const std::unique_ptr<Node>& node : nodes_) {
    if (!node) continue;
    node->connection.drop();
    node->out.clear();
  }
}

Reply Cluster::ask(std::string_view key, std::initializer_list<std::string_view> words) {
  return ask_for(key, {key, words});
}

Reply Cluster::ask(std::string_view key, const std::vector<std::string>& words) {
  return ask_for(key, {key, words});
}

Reply Cluster::ask_for(std::string_view key, Request request) {
  Reply reply = reply_to(request);
  if (reply->type == REDIS_REPLY_ERROR)
    throw meaning(*reply, node(request.node_).connection.name() + " " + quoted_key(key));
  return reply;
}

}  // namespace bloomery::detail
