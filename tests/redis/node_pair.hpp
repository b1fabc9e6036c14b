// Two nodes of a cluster that say what a test tells them.
#pragma once

#include <bloomery/redis_filter.hpp>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"

namespace bloomery::test {

// The answer of CLUSTER SLOTS: the node at this port has all slots.
inline std::string all_slots_at(std::uint16_t port) {
  return "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + std::to_string(port) + "\r\n";
}

// Both are in front of one real server, so that either can have any slot, and of a filter with keys().
struct NodePair {
  using Words = Scripted::Words;
  using Said = std::optional<std::string>;

  NodePair() : first(real.path()), second(real.path()) {
    everything_at_first();
    filter.emplace(RedisFilter::create({address(), "filter", 3}, plan(10'000, 0.01)));
    filter->insert_many(keys());
  }
  static std::vector<std::uint64_t> keys() {
    std::vector<std::uint64_t> all(500);
    std::iota(all.begin(), all.end(), 1'000);
    return all;
  }
  static bool is_look_up(const Words& words) {
    return words[0] == "BITFIELD_RO" || words[0] == "BITFIELD";
  }
  [[nodiscard]] RedisAddress address() const {
    return {.port = first.port(), .timeout = std::chrono::seconds(2)};
  }
  [[nodiscard]] std::string slots() const { return all_slots_at(first.port()); }
  void everything_at_first() {
    const auto answer = [slots = slots()](const Words& words) -> Said {
      return words[0] == "CLUSTER" ? Said(slots) : std::nullopt;
    };
    first.say(answer);
    second.say(answer);
  }
  // The first node answers so to every command for a shard of the filter.
  void first_says(const std::string& reply) {
    first.say([reply, slots = slots()](const Words& words) -> Said {
      if (words[0] == "CLUSTER") return slots;
      return reply;
    });
  }
  [[nodiscard]] std::string to_second(const std::string& word,
                                      const std::string& host = "127.0.0.1") const {
    return "-" + word + " 13907 " + host + ":" + std::to_string(second.port()) + "\r\n";
  }
  bool all_there() { return filter->may_contain_many(keys()) == keys().size(); }

  Server real;
  Scripted first, second;
  std::optional<RedisFilter> filter;
};

}  // namespace bloomery::test
