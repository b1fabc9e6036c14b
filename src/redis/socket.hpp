// A stream to a server, with a limit on every wait.
#pragma once

#include <bloomery/redis_filter.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::detail {

class Socket {
 public:
  // Error{unavailable, invalid_argument}; `name` names the server in it.
  Socket(const RedisAddress& address, std::string name);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  // All of it. Error{unavailable}: no byte was taken in time, or the server hung up.
  void send(std::string_view bytes);
  // At least one byte. Error{unavailable}.
  std::size_t receive(std::span<char> into);

 private:
  void wait(short events);
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void broken(const std::string& what) const;

  std::string name_;
  int timeout_;
  int descriptor_ = -1;
  bool heard_ = false;  // the server has said something
};

}  // namespace bloomery::detail
