// Many keys in batches: two on the way at once, so that neither client nor servers wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "redis/cluster.hpp"

namespace bloomery::detail {

// Keys that are sent together: an order for each shard that has some of them.
struct Batch {
  std::vector<Order> orders;
  std::vector<bool> fast;                        // of each order: it cannot be sent on as it is
  std::vector<std::uint32_t> shards;             // of each order
  std::vector<std::vector<std::size_t>> places;  // of each order's keys in the run
};

struct BatchRun {
  std::size_t keys = 0;    // of the whole run
  std::size_t shards = 0;  // there are
  std::function<Batch(std::size_t first, std::size_t count)> make;
  std::function<void(const Batch&, std::size_t order, std::size_t command, const Reply&)> take;
  // Another order for the keys of a fast one that was redirected.
  std::function<Order(const Batch&, std::size_t order)> plain;
  // Called for a batch of which an order is at fault; nothing may be on the way to the same keys
  // that it would undo.
  std::function<void(const Batch&)> clean;
};

// The first fault. Other orders of its batch, and the next batch, may be done all the same.
[[nodiscard]] std::optional<Error> run_batches(Cluster& cluster, const BatchRun& run);

}  // namespace bloomery::detail
