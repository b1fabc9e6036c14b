// The loop, and what it does where a slot has moved.
#include "redis/batches.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace bloomery::detail {
namespace {

// Keys on the way for each node; and for each shard, where these are many.
constexpr std::size_t kKeysOfNode = 1024;
constexpr std::size_t kKeysOfShard = 32;

}  // namespace

std::optional<Error> run_batches(Cluster& cluster, const BatchRun& run) {
  std::optional<Error> fault;
  std::vector<Batch> batches;  // on the way
  const std::size_t most = std::max(kKeysOfNode * cluster.nodes(), kKeysOfShard * run.shards);
  const auto take_into = [&run](const Batch& batch) {
    return [&run, &batch](std::size_t order, std::size_t command, const Reply& reply) {
      run.take(batch, order, command, reply);
    };
  };
  try {
    for (std::size_t sent = 0; (sent < run.keys && !fault) || !batches.empty();) {
      if (sent < run.keys && !fault) {
        const std::size_t keys = std::min(most, run.keys - sent);
        batches.push_back(run.make(sent, keys));
        cluster.start(batches.back().orders);
        sent += keys;
        if (batches.size() == 1 && sent < run.keys) continue;
      }
      Batch& oldest = batches.front();
      cluster.finish(oldest.orders, take_into(oldest));
      const auto is_open = [](const Order& each) { return !each.fault() && !each.answered(); };
      const auto is_faulty = [](const Order& each) { return each.fault().has_value(); };
      const bool open = std::any_of(oldest.orders.begin(), oldest.orders.end(), is_open);
      const auto faulty = std::find_if(oldest.orders.begin(), oldest.orders.end(), is_faulty);
      if (open || faulty != oldest.orders.end()) {
        // A slot has moved, or something has to be cleaned up. What is on the way comes in first;
        // to finish it twice does nothing.
        for (Batch& later : std::span(batches).subspan(1))
          cluster.finish(later.orders, take_into(later));
        for (std::size_t i = 0; i < oldest.orders.size(); ++i) {
          if (!is_open(oldest.orders[i]) || !oldest.fast[i]) continue;
          Order order = run.plain(oldest, i);
          order.goes_where(oldest.orders[i]);
          oldest.orders[i] = std::move(order);
          oldest.fast[i] = false;
        }
        cluster.settle(oldest.orders, take_into(oldest));
      }
      const auto first = std::find_if(oldest.orders.begin(), oldest.orders.end(), is_faulty);
      if (first != oldest.orders.end()) {
        if (!fault) fault = first->fault();
        if (run.clean) run.clean(oldest);
      }
      batches.erase(batches.begin());
    }
  } catch (...) {
    cluster.drop();
    throw;
  }
  return fault;
}

}  // namespace bloomery::detail
