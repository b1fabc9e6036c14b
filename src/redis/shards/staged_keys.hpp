// New keys under names of their own. They expire unless they are put into the places of other keys.
//
// A staged key is in the hash slot of its place, so that the server can rename it. A single key is put into its place
// at once. If there are several, a script puts them into their places one after the other: the old key of the place,
// or a sign that there was none, gets a third name, expires in a day, and is put back if a later step fails
// (shard_maker.hpp has the steps). Only the rules, which are expressions in these scripts, know whether the keys are
// strings or filters of a module.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.hpp"
#include "redis/cluster/cluster.hpp"
#include "redis/shards/shard_maker.hpp"

namespace bloomery::detail {

// A name beside `key` in the same slot that no other process uses.
[[nodiscard]] std::string scratch_name(std::string_view key);
// The time for which the server keeps a key under such a name.
constexpr std::string_view kScratchSeconds = "600";

class StagedKeys {
 public:
  using Words = ShardsToMake::Words;
  // Lua expressions about KEYS (1: the place, 2: the staged key) and about ARGV, which are the `arguments`.
  struct Rules {
    std::string_view functions;  // functions that the expressions call
    std::string_view may_go;     // may the key in the place be replaced?
    std::string_view is_longer;  // is it too long to be replaced?
    std::string_view is_whole;   // is the staged key there, and complete?
    std::string_view is_ours;    // is the key in the place the one that was staged?
  };

  StagedKeys(std::vector<std::string> places, const Rules& rules,
             std::chrono::seconds keep_every = std::chrono::minutes(1));

  // Keys that another maker has staged under this number.
  StagedKeys(std::vector<std::string> places, const Rules& rules, std::string_view number);

  // 16 hexadecimal digits, which all names of these keys contain and no other names.
  [[nodiscard]] const std::string& number() const noexcept { return number_; }
  [[nodiscard]] const std::vector<std::string>& places() const noexcept { return places_; }
  // The staged names, in the order of the places.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

  // Asks for the right to EXPIRE, so that a user without it gets the error before there is a key that would stay.
  void require_expiry(Cluster& cluster) const;
  // Must be called after every write to staged key i.
  void expire(std::size_t i, Commands& to) const;
  // Renews the time to live of the first `made` keys, unless that was done less than `keep_every` ago.
  // Error{no_space}: one of them is gone.
  void keep_alive(Cluster& cluster, std::size_t made);

  // Puts the only key into its place, in which it may be already. False: the key that is there may not be replaced.
  // Error{no_space}.
  [[nodiscard]] bool publish_only(Cluster& cluster, const Words& arguments) const;
  // Commands for ShardsToMake, which reply with 1, 0, -1 or -2.
  [[nodiscard]] Words place(std::size_t i, const Words& arguments) const;
  // Undoes place(i): the old key of the place is put back, or stays where it is.
  [[nodiscard]] Words remove(std::size_t i, const Words& arguments, bool put_back) const;
  // The name of the old key of place i until all keys are in their places.
  [[nodiscard]] const std::string& replaced(std::size_t i) const { return replaced_[i]; }
  // Removes the old keys of the places when all keys are in their places.
  void drop_replaced(Cluster& cluster) const noexcept { drop(cluster, replaced_); }
  // Removes the staged keys, but not in a child that inherited this object.
  void drop_staged(Cluster& cluster) const noexcept {
    if (!origin_.is_inherited()) drop(cluster, names_);
  }

 private:
  [[nodiscard]] Words evaluate(const std::string& script, std::size_t i,
                               const Words& arguments) const;
  static void drop(Cluster& cluster, const std::vector<std::string>& names) noexcept;

  Origin origin_;
  std::string number_;
  std::vector<std::string> places_, names_, replaced_;
  Rules rules_;
  std::chrono::seconds keep_every_{60};
  std::chrono::steady_clock::time_point kept_;
};

}  // namespace bloomery::detail
