// Commands about one key that are executed together, also while its hash slot moves.
//
// They are sent with MULTI and EXEC. A node cannot redirect a transaction as a whole, and if its memory is full it
// queues no command; if it redirects or refuses one of the commands, a script runs the same commands. The script is a
// single command, but it takes twice as long for a MiB.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "redis/cluster/cluster.hpp"

namespace bloomery::detail {

struct Transaction {
  std::string key;
  std::string name;  // the name of the key in messages
  std::vector<std::vector<std::string>> commands;
};

// Takes the replies to the commands of a transaction, one per command; they may be errors of the server.
using TakeTransaction =
    std::function<void(std::size_t transaction, std::span<redisReply* const> replies)>;

// Runs all transactions at once and throws the first fault.
void run_transactions(Cluster& cluster, std::span<const Transaction> transactions,
                      const TakeTransaction& take);

// Whether the server did not queue a command because its memory is full. It refuses those that read too, although it
// executes them outside of a transaction.
[[nodiscard]] bool has_no_room(const redisReply& reply);

// Whether EXEC was refused because one of the commands was refused: the reply to that command has the reason. Throws
// the error in the reply to EXEC if EXEC was refused for another reason. `name`: the name of the key in messages.
[[nodiscard]] bool is_aborted(const redisReply& reply, const std::string& name);

}  // namespace bloomery::detail
