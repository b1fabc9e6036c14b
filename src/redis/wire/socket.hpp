// A byte stream to a server: TCP or a unix socket, with a limit on every wait.
#pragma once

#include <bloomery/redis_url.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::detail {

class Socket {
 public:
  // Connects. Error{unavailable, invalid_argument}; `name` is the server's in messages.
  Socket(const RedisAddress& address, std::string name);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  // Sends all bytes. Error{unavailable}: none was taken in time, or the server hung up.
  void send(std::string_view bytes);
  // Receives at least one byte. Error{unavailable}.
  std::size_t receive(std::span<char> into);

 private:
  void wait(short events);
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void broken(const std::string& what) const;

  std::string name_;
  int timeout_;
  int descriptor_ = -1;
  bool has_received_ = false;
};

}  // namespace bloomery::detail
