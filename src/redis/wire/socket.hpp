// A byte stream to a server: TCP, with or without TLS, or a Unix socket, with a limit on every wait and on every
// answer.
#pragma once

#include <bloomery/redis_url.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/wire/tls.hpp"

namespace bloomery::detail {

// An answer may take the timeout plus one second for each so many bytes of it. So an answer that makes progress is
// received over any usable link; an answer that arrives byte by byte ends in an error, as silence does.
constexpr std::size_t kLeastBytesPerSecond = std::size_t{16} << 10;

class Socket {
 public:
  // Connects. Error{unavailable, invalid_argument, denied}; `name` is the name of the server in messages.
  Socket(const RedisAddress& address, std::string name);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Sends all bytes. Error{unavailable}: the server took no bytes in time, or hung up. (The system reports room only
  // when much of its buffer is free, so a server that takes byte by byte counts as one that takes none.)
  void send(std::string_view bytes);
  // Whether more came with what was received: over TLS each record is received by itself.
  [[nodiscard]] bool has_unread() noexcept { return tls_ != nullptr && tls_->has_unread(); }
  // Whether there are bytes to receive, or the end.
  [[nodiscard]] bool has_input() const;
  // Whether the server has hung up. Nothing is received, so who shares the connection after a fork misses nothing.
  [[nodiscard]] bool has_ended() const;
  // Begins an answer: all bytes that are received from now on belong to it.
  void begin_answer() noexcept;
  // Receives at least one byte. Error{unavailable}.
  std::size_t receive(std::span<char> into);

 private:
  using Clock = std::chrono::steady_clock;

  void begin_tls(const RedisTls& options, const std::string& host);
  void send_raw(std::string_view bytes);
  // When nothing can be sent any more. Error: the server has said why. It may refuse a client that is already sending:
  // if it has too many, and in TLS 1.3 after the handshake (errors of Tls::read).
  void hear_reason();
  std::size_t receive_raw(std::span<char> into);
  // Gives TLS what comes next. `before`: the bytes of the answer when the last byte of it was there.
  void feed(Tls& tls, std::uint64_t before);
  [[nodiscard]] std::chrono::milliseconds left_for_answer() const noexcept;
  void wait_for_answer();
  // False: nothing happened during that time.
  [[nodiscard]] bool wait(short events, std::chrono::milliseconds most) const;
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_silence() const;
  [[noreturn]] void broken(const std::string& what) const;

  std::string name_;
  std::chrono::milliseconds timeout_;
  Clock::time_point answer_since_;
  std::uint64_t answer_bytes_ = 0;
  int descriptor_ = -1;
  bool has_received_ = false;
  std::unique_ptr<Tls> tls_;
  std::vector<char> encrypted_;  // a buffer for received bytes, with TLS
};

}  // namespace bloomery::detail
