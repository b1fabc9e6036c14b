// A connection to one Redis server: it sends commands and receives replies, any number of them in flight.
#pragma once

#include <bloomery/redis_url.hpp>

#include <hiredis/read.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.hpp"
#include "redis/wire/commands.hpp"
#include "redis/wire/history.hpp"
#include "redis/wire/replies.hpp"
#include "redis/wire/socket.hpp"

namespace bloomery::detail {

// The limit on the length of a reply: the longest reply that is requested is a chunk of a dump.
constexpr std::size_t kMostReplyBytes = std::size_t{65} << 20;

class Connection {
 public:
  explicit Connection(RedisAddress address);

  // Connects first if there is no connection, or if it is that of the parent of a fork, which would get the replies of
  // this process. A connection that was closed while nothing was under way is made again if the server is known to have
  // lost nothing since. An Error{unavailable, denied} closes the connection.
  void send(const Commands& commands);
  // Returns the next reply, which may be an error of the server. Error{unavailable}, also for a reply longer than
  // kMostReplyBytes, and from a master of sentinels that has become a replica, closes the connection.
  [[nodiscard]] Reply receive();
  // Like receive(), but only over the connection with this count(): a command that was sent over one connection gets
  // no reply over the next.
  [[nodiscard]] Reply receive(std::uint64_t count);
  // The number of connections that this object has made.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // Sends one command and returns its reply. An error of the server is thrown.
  Reply ask(std::initializer_list<std::string_view> words);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  void drop() noexcept;

 private:
  void connect();
  void connect_to(const RedisAddress& address);
  void require_master();
  // Makes the connection again. Error{unavailable}: something may be lost since, as far as the history or, if it was
  // not known, the end of the connection tells.
  void connect_to_the_same();
  void look_after_idling();
  // Whether bytes have come with the last answer that are no part of it.
  [[nodiscard]] bool has_unread() noexcept {
    return reader_->pos != reader_->len || socket_->has_unread();
  }
  void ask_history();

  struct FreeReader {
    void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
  };
  RedisAddress address_;
  std::string name_;
  std::unique_ptr<Socket> socket_;
  Origin origin_;  // of the socket
  // The number of elements of the reply that is being read. The reader keeps its address.
  std::unique_ptr<std::uint64_t> elements_ = std::make_unique<std::uint64_t>(0);
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::unique_ptr<char[]> received_;  // kReceived bytes; most answers touch the first only
  std::uint64_t count_ = 0;
  std::size_t awaited_ = 0;                     // replies
  std::size_t unread_ = 0;                      // bytes since the last whole reply
  std::chrono::steady_clock::time_point sent_;  // when the last commands were
  std::optional<History> history_;              // of the server, if it has told it
  bool was_closed_ = false;                     // while it idled: the next connection may be, too
  unsigned asked_in_vain_ = 0;                  // for the history: how often in a row
};

// ---- sentinels (sentinel.cpp) ---------------------------------------------------------------------
// Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/

// A sentinel's reply about a master: host and port, or nothing if it does not know a master of that name. Errors as
// for a connection.
using AskSentinel = std::function<std::vector<std::string>(const RedisAddress& sentinel)>;

// Calls `use` with the address, without sentinels, of the master that a sentinel names. The sentinels are asked one
// after the other, with a password only if they require one, until `use` throws nothing: a sentinel that does not reach
// the others may name a server that is no master any more. Error{missing}: the sentinels that answer know no such
// master. Otherwise the error of `use` or of one of them.
void with_master(const RedisAddress& address, const AskSentinel& ask,
                 const std::function<void(const RedisAddress& master)>& use);

}  // namespace bloomery::detail
