// Commands for one key that all hold for one moment, wherever its slot goes meanwhile.
//
// A transaction; and where a node sends it on to another, which it cannot do with one as a whole, a
// script of the same commands: that is one command, but takes twice the time for a MiB.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "redis/cluster.hpp"

namespace bloomery::detail {

struct Moment {
  std::string key;
  std::string name;  // in errors
  std::vector<std::vector<std::string>> commands;
};

// Takes the replies to the commands of a moment: as many as they are, maybe errors of the server.
using TakeMoment = std::function<void(std::size_t moment, std::span<redisReply* const> replies)>;

// All of them at once; throws the first fault.
void run_moments(Cluster& cluster, std::span<const Moment> moments, const TakeMoment& take);

// A transaction of which a command was refused; the refusal came before, as that command's answer.
[[nodiscard]] bool is_aborted(const redisReply& reply);

}  // namespace bloomery::detail
