// A socket that listens at a free port of this machine, for servers that a test plays itself.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace bloomery::test {

class Listener {
 public:
  explicit Listener(int waiting = 8) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    if (bind(fd_, reinterpret_cast<const sockaddr*>(&name), size) != 0) std::abort();
    getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &size);
    port_ = ntohs(name.sin_port);
    if (listen(fd_, waiting) != 0) std::abort();
  }
  ~Listener() { close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
};

// Whether the port was free. Then a socket is bound to it until the program ends, without listening: a server can
// listen there, for it may use an address again (SO_REUSEADDR), and no other test finds the port free.
inline bool hold_port(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int yes = 1;  // set afterwards: this socket must not share the port with another holder
  if (bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
      setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0)
    return true;
  close(fd);
  return false;
}

}  // namespace bloomery::test
