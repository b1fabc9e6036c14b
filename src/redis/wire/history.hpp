// Whether a server still has all that it has acknowledged.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace bloomery::detail {

// What a server calls the history of its data, and what it called it before it was a master. A master also takes a new
// name when its first replica comes, or a copy such as redis-cli --rdb, and when the last one left long ago; then the
// former name is zeros, even if it was a replica in between, but then it has received bytes from a master. A replica
// takes the name of its master, and CONFIG RESETSTAT makes it forget what it has received; Redis 6 does not count that.
// Empty: the server does not tell it to this user. A proxy may take another process for the same server.
struct History {
  // Of INFO, each asked by a command of its own.
  static constexpr std::array<std::string_view, 3> kSections = {"replication", "stats", "server"};

  std::string name, former, received, process, role;

  // Takes what a section has of it.
  void take(std::string_view section);
  // Whether the server tells what is_that_of() compares.
  [[nodiscard]] bool is_known() const noexcept;
  // Whether nothing has happened by which a server can lose what it has acknowledged. A server that was a replica
  // meanwhile may lack what its master had not sent it, and one that has started again what it had not saved. The new
  // name that a first or a last replica brings counts as a loss.
  [[nodiscard]] bool is_that_of(const History& now) const;
  // Whether writes may be lost that were acknowledged when this was the history. The new name that a first or a last
  // replica brings counts as none. That is wrong only for a server that has been a replica, then none for
  // repl-backlog-ttl (an hour), and was told CONFIG RESETSTAT, all of it since then.
  [[nodiscard]] bool may_be_lost(const History& now) const;
};

}  // namespace bloomery::detail
