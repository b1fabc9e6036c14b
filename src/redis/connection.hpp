// Commands to a Redis server and its replies, any number of them on the way at once.
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/redis_filter.hpp>

#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/socket.hpp"

namespace bloomery::detail {

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

// A key in errors: "redis host:port 'key'".
[[nodiscard]] std::string name_of(const std::string& server, std::string_view key);
// Whether an error of the server has these words.
[[nodiscard]] bool says(const redisReply& reply, std::string_view part) noexcept;

// Commands in the protocol's form, one after the other.
class Commands {
 public:
  // A command of `words` words, which follow by `word` and `number`.
  Commands& begin(std::size_t words);
  Commands& word(std::string_view text);
  Commands& number(std::uint64_t value);
  Commands& command(std::initializer_list<std::string_view> words);
  // Whole commands, as `bytes` gave them.
  Commands& append(std::string_view commands);

  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  std::string bytes_;
};

class Connection {
 public:
  explicit Connection(RedisAddress address);

  // Connects first, where there is no connection. Error{unavailable, denied}, and then there is
  // none.
  void send(const Commands& commands);
  // The next reply, be it an error of the server. Error{unavailable}, for one too that is larger
  // than any that is asked for, and then there is no connection any more.
  [[nodiscard]] Reply receive();
  // The same, of the connection that was the `count`th: what was asked over one is not answered
  // over the next.
  [[nodiscard]] Reply receive(std::uint64_t count);
  // How many connections have been made.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // One command and its reply; an error of the server is thrown.
  Reply ask(std::initializer_list<std::string_view> words);

  // What an error reply means to the user of `what` (a server or a key).
  [[nodiscard]] static Error meaning(const redisReply& reply, const std::string& what);
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  void drop() noexcept;

 private:
  void connect();

  struct FreeReader {
    void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
  };
  RedisAddress address_;
  std::string name_;
  std::unique_ptr<Socket> socket_;
  // Elements of the reply that is being read; the reader has its address.
  std::unique_ptr<std::uint64_t> elements_ = std::make_unique<std::uint64_t>(0);
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::vector<char> received_;
  std::uint64_t count_ = 0;
  std::size_t waiting_ = 0;  // bytes since the last reply was whole
};

// Commands whose replies are taken one by one. Whatever is thrown before `done` leaves some of them
// on the way, which would be taken for those of the next commands: the connection is dropped.
class Exchange {
 public:
  explicit Exchange(Connection& connection) noexcept : connection_(connection) {}
  ~Exchange() {
    if (!done_) connection_.drop();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  void done() noexcept { done_ = true; }

 private:
  Connection& connection_;
  bool done_ = false;
};

// Error{io}: the server replied with something else than the protocol of the command has.
void require_type(const redisReply& reply, int type, const std::string& what);
inline void require_type(const Reply& reply, int type, const std::string& what) {
  require_type(*reply, type, what);
}

}  // namespace bloomery::detail
