// TLS over bytes that the caller sends and receives: OpenSSL works between two buffers in memory, so it never touches
// the socket (its own writes would kill the program by SIGPIPE).
#pragma once

#include <bloomery/redis_url.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct bio_st;
struct ssl_ctx_st;
struct ssl_st;

namespace bloomery::detail {

// The client side. Error{invalid_argument}: a file of the options cannot be read. Error{denied}: the server is not
// the one that was meant, or it refuses this client. Error{unavailable}: any other failure. Messages begin with
// `name`.
class Tls {
 public:
  Tls(const RedisTls& options, const std::string& host, std::string name);

  // Takes bytes that the server has sent.
  void feed(std::span<const char> bytes);
  // Continues the handshake as far as the fed bytes allow; returns true when it is done.
  [[nodiscard]] bool shake_hands();
  // Decrypts the fed bytes; 0: there are no more.
  [[nodiscard]] std::size_t read(std::span<char> into);
  // Whether the fed bytes have more for read(), or the end. (A new ticket or key of the server's is neither.)
  [[nodiscard]] bool has_unread() noexcept;
  void write(std::string_view text);  // at most kMostWritten at once
  // The bytes that must be sent now. They are valid until the next call of any function.
  [[nodiscard]] std::string_view take_outgoing();
  // Whether the server has asked for a certificate, got none, and has not answered since then: in TLS 1.3 it hangs up
  // after the handshake, and its reason may be lost.
  [[nodiscard]] bool lacks_certificate() const noexcept { return lacks_certificate_; }
  [[noreturn]] void refuse_client(const std::string& reason) const;

  static constexpr std::size_t kMostWritten = std::size_t{256} << 10;

 private:
  [[noreturn]] void fail(int result);

  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
    void operator()(ssl_st* session) const noexcept;
  };
  std::string name_;
  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::unique_ptr<ssl_st, Free> session_;
  bio_st* in_ = nullptr;  // owned by the session
  bio_st* out_ = nullptr;
  std::string outgoing_;
  bool has_certificate_;
  bool lacks_certificate_ = false;
};

}  // namespace bloomery::detail
