// Stands between a client and a server, and breaks the connection after a given byte.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

namespace bloomery::test {

class Proxy {
 public:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  Proxy(std::string path, std::string server) : path_(std::move(path)), server_(std::move(server)) {
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un to = name_of(path_);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) std::abort();
    if (listen(listener_, 8) != 0) std::abort();
    thread_ = std::thread([this] { serve(); });
  }
  ~Proxy() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // The next connection passes this many bytes each way, and breaks. So does the present one, from now on; nothing may be
  // under way.
  void cut(std::size_t requests, std::size_t replies) {
    requests_ = requests;
    replies_ = replies;
    connections_ = 0;
    ++cuts_;
  }
  // How many connections there were since.
  [[nodiscard]] std::size_t connections() const { return connections_; }
  // What the last connection has passed.
  [[nodiscard]] std::size_t requests_passed() const { return requests_passed_; }
  [[nodiscard]] std::size_t replies_passed() const { return replies_passed_; }

 private:
  static sockaddr_un name_of(const std::string& path) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.data(), path.size());
    return name;
  }

  void serve() {
    while (!stopping_) {
      const int client = accept(listener_, nullptr, nullptr);
      if (client < 0) continue;
      ++connections_;
      const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_un to = name_of(server_);
      if (connect(server, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0)
        pass(client, server);
      close(client);
      close(server);
    }
  }

  void pass(int client, int server) {
    std::size_t cuts = cuts_, requests_left = requests_, replies_left = replies_;
    requests_passed_ = replies_passed_ = 0;
    const auto move = [](int from, int to, std::size_t& left, std::atomic<std::size_t>& passed) {
      std::array<char, 65'536> bytes;
      const ssize_t size = recv(from, bytes.data(), bytes.size(), 0);
      if (size <= 0) return false;
      const std::size_t take = std::min(left, static_cast<std::size_t>(size));
      passed += take;  // before the other side has it, and may ask
      if (take > 0 && ::send(to, bytes.data(), take, MSG_NOSIGNAL) < 0) return false;
      left -= take;
      return left > 0;
    };
    if (requests_left == 0 || replies_left == 0) return;
    for (;;) {
      std::array<pollfd, 2> pollers = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
      if (poll(pollers.data(), pollers.size(), 100) < 0 || stopping_) return;
      if (const std::size_t now = cuts_; now != cuts) {
        cuts = now;
        requests_left = requests_;
        replies_left = replies_;
      }
      if (pollers[0].revents != 0 && !move(client, server, requests_left, requests_passed_)) return;
      if (pollers[1].revents != 0 && !move(server, client, replies_left, replies_passed_)) return;
    }
  }

  std::string path_, server_;
  int listener_ = -1;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> requests_ = kNever, replies_ = kNever;
  std::atomic<std::size_t> connections_ = 0, cuts_ = 0;
  std::atomic<std::size_t> requests_passed_ = 0, replies_passed_ = 0;
  std::thread thread_;
};

}  // namespace bloomery::test
