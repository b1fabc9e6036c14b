// Commands about one key that are executed together, wherever its slot moves meanwhile.
//
// They go out as MULTI and EXEC. A node cannot redirect a transaction as a whole; where it
// redirects one of the commands, a script runs the same commands: that is one command, but takes
// twice as long for a MiB.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

struct Transaction {
  std::string key;
  std::string name;  // of the key, in messages
  std::vector<std::vector<std::string>> commands;
};

// Takes the replies to the commands of a transaction, one for each; they may be errors of the
// server.
using TakeTransaction =
    std::function<void(std::size_t transaction, std::span<redisReply* const> replies)>;

// Runs all of them at once and throws the first fault.
void run_transactions(Cluster& cluster, std::span<const Transaction> transactions,
                      const TakeTransaction& take);

// Whether EXEC was refused because one of the commands was: the reply to that one says why. Throws what
// the reply to EXEC says, if it was refused for a reason of its own. `name`: of the key, in messages.
[[nodiscard]] bool is_aborted(const redisReply& reply, const std::string& name);

}  // namespace bloomery::detail
