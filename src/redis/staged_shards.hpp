// New shards under names of their own, which expire, until they take the places of others together.
//
// A staged shard is in the slot of the key that it is for, so that its server can rename it. A
// script puts one in its place at once: what stood there, or a sign that nothing did, goes to a third
// name, from which it comes back where a later step fails (shard_maker.hpp has the steps), and which
// expires. What the shards are, strings or a module's filters, only the expressions of those scripts
// know.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "redis/cluster.hpp"
#include "redis/shard_maker.hpp"

namespace bloomery::detail {

class StagedShards {
 public:
  using Words = ShardsToMake::Words;
  // Lua, over KEYS (1: the place, 2: the staged shard) and ARGV, which `arguments` gives.
  struct Kind {
    std::string_view functions;  // which the expressions call
    std::string_view may_go;     // whether what is in the place may leave it
    std::string_view is_longer;  // whether that one is too long for ours to stand there
    std::string_view is_whole;   // whether the staged shard is there, and complete
    std::string_view is_ours;    // whether what is in the place is the shard that was staged
  };

  StagedShards(std::vector<std::string> places, const Kind& kind,
               std::chrono::seconds keep_every = std::chrono::minutes(1));

  [[nodiscard]] const std::vector<std::string>& places() const noexcept { return places_; }
  // The names, in the order of the places.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  // To be sent after whatever writes to shard i.
  void expire(std::size_t i, Commands& to) const;
  // Gives the first `made` of them their time anew, unless that was done just before.
  // Error{no_space}: one is gone.
  void keep_alive(Cluster& cluster, std::size_t made);
  // For ShardsToMake: replies 1, 0, -1 or -2.
  [[nodiscard]] Words place(std::size_t i, const Words& arguments) const;
  [[nodiscard]] Words put_back(std::size_t i, const Words& arguments) const;
  // Where what stood in a place is until all are in theirs.
  [[nodiscard]] const std::string& replaced(std::size_t i) const { return replaced_[i]; }
  // Once all are in their places: what stood there. Until then nobody drops it.
  void drop_replaced(Cluster& cluster) const noexcept { drop(cluster, replaced_); }
  // Where they are not to be put there.
  void drop_staged(Cluster& cluster) const noexcept { drop(cluster, names_); }

 private:
  [[nodiscard]] Words evaluate(std::string text, std::size_t i, const Words& arguments) const;
  static void drop(Cluster& cluster, const std::vector<std::string>& names) noexcept;

  std::vector<std::string> places_, names_, replaced_;
  Kind kind_;
  std::chrono::seconds keep_every_;
  std::chrono::steady_clock::time_point kept_;
};

// Where the claim of one who replaces what `first` stands for is made.
[[nodiscard]] std::string claim_beside(std::string_view first);

}  // namespace bloomery::detail
