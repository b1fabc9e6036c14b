// A server on a loopback port that says what a test wants, and passes the rest to a real one.
#pragma once

#include <hiredis/hiredis.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "redis/listener.hpp"
#include "redis/wire/connection.hpp"

namespace bloomery::test {

inline std::string error_reply(std::string_view text) {
  std::string reply(1, '-');
  return reply.append(text).append("\r\n");
}

class Scripted {
 public:
  using Words = std::vector<std::string>;
  // The raw reply to a command; none: the real server's. An empty one hangs up.
  using Say = std::function<std::optional<std::string>(const Words&)>;

  explicit Scripted(std::string real) : real_(std::move(real)) {
    thread_ = std::thread([this] { serve(); });
  }
  ~Scripted() {
    stopping_ = true;
    thread_.join();
  }
  Scripted(const Scripted&) = delete;
  Scripted& operator=(const Scripted&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
  void say(Say say) {
    const std::lock_guard lock(mutex_);
    say_ = std::move(say);
    asked_ = 0;
  }
  // Commands since the last `say`.
  [[nodiscard]] int asked() const { return asked_; }

 private:
  struct FreeReader {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
  };
  using Reader = std::unique_ptr<redisReader, FreeReader>;
  struct Client {
    Reader reader{redisReaderCreate()};
    int server = -1;
    Reader replies{redisReaderCreate()};
  };

  void serve() {
    std::map<int, Client> clients;
    while (!stopping_) {
      std::vector<pollfd> pollers = {{listener_.fd(), POLLIN, 0}};
      for (const auto& [descriptor, client] : clients) pollers.push_back({descriptor, POLLIN, 0});
      if (poll(pollers.data(), pollers.size(), 20) <= 0) continue;
      if (pollers[0].revents != 0) {
        const int client = accept(listener_.fd(), nullptr, nullptr);
        const int at_once =
            1;  // each reply is a segment of its own, which waits for none before it
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        clients[client];
      }
      for (std::size_t i = 1; i < pollers.size(); ++i)
        if (pollers[i].revents != 0 && !hear(pollers[i].fd, clients.at(pollers[i].fd))) {
          close(clients.at(pollers[i].fd).server);
          close(pollers[i].fd);
          clients.erase(pollers[i].fd);
        }
    }
    for (const auto& [descriptor, client] : clients) {
      close(client.server);
      close(descriptor);
    }
  }

  bool hear(int descriptor, Client& client) {
    std::array<char, 65'536> bytes;
    const ssize_t size = recv(descriptor, bytes.data(), bytes.size(), 0);
    if (size <= 0) return false;
    redisReaderFeed(client.reader.get(), bytes.data(), static_cast<std::size_t>(size));
    for (;;) {
      void* command = nullptr;
      if (redisReaderGetReply(client.reader.get(), &command) != REDIS_OK) return false;
      if (command == nullptr) return true;
      const detail::Reply owned(static_cast<redisReply*>(command));
      Words words;
      for (std::size_t i = 0; i < owned->elements; ++i)
        words.emplace_back(owned->element[i]->str, owned->element[i]->len);
      Say say;
      {
        const std::lock_guard lock(mutex_);
        say = say_;
      }
      ++asked_;
      std::optional<std::string> reply = say ? say(words) : std::nullopt;
      if (!reply) reply = pass(client, words);
      if (reply->empty()) return false;
      if (::send(descriptor, reply->data(), reply->size(), MSG_NOSIGNAL) < 0) return false;
    }
  }

  // The real server's reply, as it came.
  std::string pass(Client& client, const Words& words) {
    if (client.server < 0) {
      client.server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un name{};
      name.sun_family = AF_UNIX;
      std::memcpy(name.sun_path, real_.data(), real_.size());
      if (connect(client.server, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
        return "";
    }
    detail::Commands commands;
    commands.begin(words.size());
    for (const std::string& word : words) commands.word(word);
    const std::string_view request = commands.bytes();
    if (::send(client.server, request.data(), request.size(), MSG_NOSIGNAL) < 0) return "";
    std::string raw;
    for (;;) {
      std::array<char, 65'536> bytes;
      const ssize_t size = recv(client.server, bytes.data(), bytes.size(), 0);
      if (size <= 0) return "";
      raw.append(bytes.data(), static_cast<std::size_t>(size));
      redisReaderFeed(client.replies.get(), bytes.data(), static_cast<std::size_t>(size));
      void* reply = nullptr;
      if (redisReaderGetReply(client.replies.get(), &reply) != REDIS_OK) return "";
      if (reply == nullptr) continue;
      freeReplyObject(reply);
      return raw;
    }
  }

  std::string real_;
  Listener listener_;
  std::mutex mutex_;
  Say say_;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace bloomery::test
