// The sockets never block: every wait is a poll with a timeout. (hiredis' own sockets would kill
// the program by SIGPIPE when the server hangs up.)
#include "redis/wire/socket.hpp"

#include <bloomery/error.hpp>

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include "base/os.hpp"

namespace bloomery::detail {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Other systems may report the end without being asked.
#ifdef POLLRDHUP
constexpr short kEnd = POLLRDHUP;
#else
constexpr short kEnd = 0;
#endif

void set_option(int descriptor, int level, int name, int value) noexcept {
  setsockopt(descriptor, level, name, &value, sizeof value);
}

// The bytes of TLS that bring no byte of an answer: certificates, tickets, keys. A record has at most 17 KiB.
constexpr std::uint64_t kMostWithoutAnswer = std::uint64_t{256} << 10;

// Balancers and firewalls forget a connection that is silent for minutes (4 in some clouds), and tell nobody. So the
// system asks after 60 seconds of silence and then each 15, and gives up after 4 questions without an answer.
void keep_alive(int descriptor) noexcept {
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 4);
#endif
}

}  // namespace

Socket::Socket(const RedisAddress& address, std::string name)
    : name_(std::move(name)),
      timeout_(std::clamp<std::chrono::milliseconds::rep>(address.timeout.count(), 1,
                                                          std::numeric_limits<int>::max())) {
  const auto connect_to = [this](int family, const sockaddr* to, socklen_t size) {
    const int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    descriptor_ = above_standard_streams(made < 0 ? -errno : made);
    if (descriptor_ < 0) return -descriptor_;
    const auto end = Clock::now() + timeout_;
    const auto connected = [&] { return connect(descriptor_, to, size) == 0 ? 0 : errno; };
    int error = connected();
    // The queue of a Unix socket is full. No poll waits for room in it.
    while (error == EAGAIN && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      error = connected();
    }
    if (error == EAGAIN) error = ETIMEDOUT;
    if (error == EINPROGRESS) {
      socklen_t length = sizeof error;
      if (!wait(POLLOUT, timeout_))
        error = ETIMEDOUT;
      else
        getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error != 0) close(std::exchange(descriptor_, -1));
    return error;
  };

  int error = 0;
  if (!address.socket.empty()) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (address.socket.size() >= sizeof to.sun_path)
      throw Error(ErrorCode::invalid_argument,
                  name_ + ": the path of a socket has at most 107 bytes; use a shorter one");
    std::memcpy(to.sun_path, address.socket.data(), address.socket.size());
    error = connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  } else {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int status =
        getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
    if (status != 0) refuse(std::string("the host is not found: ") + gai_strerror(status));
    const Addresses addresses(found, &freeaddrinfo);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      error = connect_to(each->ai_family, each->ai_addr, each->ai_addrlen);
      if (error == 0) break;
    }
    if (error == 0) {
      set_option(descriptor_, IPPROTO_TCP, TCP_NODELAY, 1);
      keep_alive(descriptor_);
    }
  }
  if (error != 0)
    refuse(std::string("cannot be reached: ") + std::strerror(error) +
           (error == EMFILE ? "; raise the limit of open files (ulimit -n)"
                            : "; is the server running?"));
  if (!address.tls) return;
  try {
    begin_tls(*address.tls, address.host);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

void Socket::begin_tls(const RedisTls& options, const std::string& host) {
  encrypted_.resize(std::size_t{64} << 10);
  auto tls = std::make_unique<Tls>(options, host, name_);
  begin_answer();
  for (bool done = false;;) {
    done = tls->shake_hands();
    send_raw(tls->take_outgoing());
    if (done) break;
    feed(*tls, 0);
  }
  tls_ = std::move(tls);
}

Socket::~Socket() { close(descriptor_); }

void Socket::send(std::string_view bytes) {
  if (tls_ == nullptr) return send_raw(bytes);
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, Tls::kMostWritten);
    tls_->write(part);
    send_raw(tls_->take_outgoing());
    bytes.remove_prefix(part.size());
  }
}

void Socket::send_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait(POLLOUT, timeout_)) refuse_silence();
    } else if (errno != EINTR) {
      const std::string what = std::string("the connection broke: ") + std::strerror(errno);
      hear_reason();
      broken(what);
    }
  }
}

void Socket::hear_reason() {
  std::array<char, 16384> said{};
  const ssize_t size = recv(descriptor_, said.data(), said.size(), 0);
  if (size <= 0) return;
  const auto bytes = std::span(said).first(static_cast<std::size_t>(size));
  if (tls_ != nullptr) {
    tls_->feed(bytes);
    char first = 0;
    (void)tls_->read({&first, 1});
  } else if (std::string_view(bytes.data(), bytes.size())
                 .starts_with("-ERR max number of clients")) {
    refuse(
        "max number of clients reached; try again when some have gone, or raise the server's "
        "maxclients");
  }
}

bool Socket::has_input() const { return wait(POLLIN, std::chrono::milliseconds(0)); }

bool Socket::has_ended() const { return wait(kEnd, std::chrono::milliseconds(0)); }

void Socket::begin_answer() noexcept {
  answer_since_ = Clock::now();
  answer_bytes_ = 0;
}

std::size_t Socket::receive(std::span<char> into) {
  if (tls_ == nullptr) return receive_raw(into);
  for (const std::uint64_t before = answer_bytes_;;) {
    const std::size_t size = tls_->read(into);
    send_raw(tls_->take_outgoing());
    if (size != 0) return size;
    feed(*tls_, before);
  }
}

void Socket::feed(Tls& tls, std::uint64_t before) {
  if (answer_bytes_ - before > kMostWithoutAnswer)
    refuse(
        "TLS goes on without an answer: 256 KiB of keys, tickets and the like came; check the "
        "address");
  tls.feed(std::span(encrypted_).first(receive_raw(encrypted_)));
}

std::size_t Socket::receive_raw(std::span<char> into) {
  for (;;) {
    const ssize_t size = recv(descriptor_, into.data(), into.size(), 0);
    if (size > 0) {
      has_received_ = true;
      answer_bytes_ += static_cast<std::uint64_t>(size);
      return static_cast<std::size_t>(size);
    }
    if (size == 0) broken("the server hung up");
    if (errno == EAGAIN)
      wait_for_answer();
    else if (errno != EINTR)
      broken(std::string("the connection broke: ") + std::strerror(errno));
  }
}

std::chrono::milliseconds Socket::left_for_answer() const noexcept {
  const std::chrono::milliseconds earned(answer_bytes_ * 1000 / kLeastBytesPerSecond);
  const auto end = answer_since_ + timeout_ + earned;
  return std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
}

void Socket::wait_for_answer() {
  using std::chrono::milliseconds;
  const milliseconds left = left_for_answer();
  if (left > milliseconds(0) && wait(POLLIN, std::min(left, timeout_))) return;
  if (answer_bytes_ == 0 || left >= timeout_) refuse_silence();
  refuse(
      "the answer comes too slowly: " + std::to_string(answer_bytes_) +
      " bytes of it came, less than 16 KiB per second; find out why, or use a faster connection");
}

bool Socket::wait(short events, std::chrono::milliseconds most) const {
  const auto end = Clock::now() + most;
  pollfd poller{descriptor_, events, 0};
  int ready = poll(&poller, 1, static_cast<int>(most.count()));
  while (ready < 0 && errno == EINTR) {  // a signal does not extend the timeout
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    ready = poll(&poller, 1, std::max(0, static_cast<int>(left.count())));
  }
  return ready != 0;
}

void Socket::refuse_silence() const {
  const bool may_lack_tls = !has_received_ && !encrypted_.empty();
  refuse("no answer within " + std::to_string(timeout_.count()) + " ms; " +
         (may_lack_tls ? "if its port is one without TLS, write redis://"
                       : "find out why, or add &timeout=SECONDS to the address"));
}

void Socket::broken(const std::string& what) const {
  if (tls_ != nullptr && tls_->lacks_certificate()) tls_->refuse_client(what);
  if (has_received_) refuse(what + "; the next call connects again");
  // The TLS port of redis-server closes the connection at the first byte that is not TLS.
  refuse(what + " before it said anything; if its port is one " +
         (encrypted_.empty() ? "for TLS, write rediss:// or valkeys://"
                             : "without TLS, write redis://; a server that has all the clients "
                               "that it takes (maxclients) hangs up, too"));
}

void Socket::refuse(const std::string& what) const {
  throw Error(ErrorCode::unavailable, name_ + ": " + what);
}

}  // namespace bloomery::detail
