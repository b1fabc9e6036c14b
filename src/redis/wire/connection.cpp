// The reader of hiredis parses the replies, and its allocations are limited.
#include "redis/wire/connection.hpp"

#include <array>
#include <chrono>
#include <thread>
#include <utility>

namespace bloomery::detail {
namespace {

// The first byte of a TLS server's answer to bytes that are not TLS (RFC 8446, 5.1); no reply of Redis begins with
// it.
constexpr char kTlsAlert = 21;

std::string host_and_port(const RedisAddress& address) {
  return address.host + ":" + std::to_string(address.port);
}

std::string name_of(const RedisAddress& address) {
  std::string name = "redis ";
  if (address.sentinels) return name.append("master ").append(address.sentinels->master);
  return name.append(address.socket.empty() ? host_and_port(address) : address.socket);
}

// Servers and what stands before them close connections that idled for seconds or longer.
constexpr std::chrono::seconds kIdle{1};
// A user without the right to INFO never gets an answer, and some proxies hang up at it. Once may be chance.
constexpr unsigned kMostInVain = 2;

constexpr std::size_t kReceived = std::size_t{256} << 10;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 20;
constexpr int kMostDepth = 8;

const redisReplyObjectFunctions& plain_functions() {
  static const redisReplyObjectFunctions functions = [] {
    const std::unique_ptr<redisReader, void (*)(redisReader*)> reader(redisReaderCreate(),
                                                                      redisReaderFree);
    if (!reader) throw Error(ErrorCode::no_memory, "no memory for a connection");
    return *reader->fn;
  }();
  return functions;
}

// hiredis allocates as many elements as the server announces, and frees nested ones recursively.
// The type of `elements` differs between its versions.
template <class Count>
void* bounded_array(const redisReadTask* task, Count elements) {
  auto& all = *static_cast<std::uint64_t*>(task->privdata);
  int depth = 1;
  for (const redisReadTask* above = task->parent; above != nullptr; above = above->parent) ++depth;
  if (static_cast<std::uint64_t>(elements) > kMostElements - all || depth > kMostDepth)
    return nullptr;
  all += static_cast<std::uint64_t>(elements);
  return plain_functions().createArray(task, elements);
}

redisReplyObjectFunctions* bounded_functions() {
  static redisReplyObjectFunctions functions = [] {
    redisReplyObjectFunctions changed = plain_functions();
    changed.createArray = bounded_array;
    return changed;
  }();
  return &functions;
}

// A server that does not know AUTH repeats the words of the command in its reply, including the password.
Error auth_error(const redisReply& reply, const std::string& name) {
  static constexpr std::array<std::string_view, 11> kSafeToShow = {
      "WRONGPASS",
      "NOAUTH",
      "NOPERM",
      "LOADING",
      "BUSY",
      "DENIED",
      "ERR invalid password",
      "ERR AUTH <password> called without any password",
      "ERR Client sent AUTH",
      "ERR wrong number of arguments",
      "ERR max number of clients"};
  for (const std::string_view each : kSafeToShow)
    if (text_of(reply).starts_with(each)) return meaning(reply, name);
  return {ErrorCode::denied, name + ": the server refuses AUTH; check user and password"};
}

std::vector<std::string> ask_sentinel(const RedisAddress& sentinel, const std::string& master) {
  Connection connection(sentinel);
  Commands commands;
  connection.send(commands.command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master}));
  const Reply reply = connection.receive();
  if (reply->type == REDIS_REPLY_ERROR && says(*reply, "unknown command"))
    throw Error(ErrorCode::io, connection.name() +
                                   ": this server is not a sentinel; name the port of one, which "
                                   "is 26379 by default");
  std::vector<std::string> said;
  if (reply->type == REDIS_REPLY_NIL) return said;
  require_type(reply, REDIS_REPLY_ARRAY, connection.name());
  require_elements(*reply, 2, connection.name());
  for (std::size_t i = 0; i < reply->elements; ++i) {
    require_type(*reply->element[i], REDIS_REPLY_STRING, connection.name());
    said.emplace_back(text_of(*reply->element[i]));
  }
  return said;
}

}  // namespace

Connection::Connection(RedisAddress address)
    : address_(std::move(address)),
      name_(name_of(address_)),
      received_(std::make_unique_for_overwrite<char[]>(kReceived)) {}

void Connection::drop() noexcept {
  socket_.reset();
  reader_.reset();
  awaited_ = 0;
}

void Connection::connect() {
  if (!address_.sentinels) return connect_to(address_);
  // While another master is elected, sentinels may name a master that is gone or has become a replica.
  const auto end = std::chrono::steady_clock::now() + address_.timeout;
  for (;;) try {
      return with_master(
          address_,
          [&](const RedisAddress& sentinel) {
            return ask_sentinel(sentinel, address_.sentinels->master);
          },
          [&](const RedisAddress& master) {
            connect_to(master);
            require_master();
          });
    } catch (const Error& error) {
      drop();
      if (error.code() != ErrorCode::unavailable || std::chrono::steady_clock::now() >= end) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

// Error{unavailable}: the server is a replica.
void Connection::require_master() {
  Commands commands;
  socket_->send(commands.command({"ROLE"}).bytes());
  const Reply role = receive();
  if (role->type == REDIS_REPLY_ERROR) throw meaning(*role, socket_->name());
  if (role->type != REDIS_REPLY_ARRAY || role->elements == 0 ||
      role->element[0]->type != REDIS_REPLY_STRING || text_of(*role->element[0]) != "master")
    throw Error(ErrorCode::unavailable,
                socket_->name() +
                    ": the server that the sentinels name is not the master; try again when "
                    "they have agreed on one");
}

void Connection::connect_to(const RedisAddress& address) {
  socket_ = std::make_unique<Socket>(
      address, address_.sentinels ? name_ + " at " + host_and_port(address) : name_);
  origin_ = Origin();
  ++count_;
  reader_.reset(redisReaderCreate());
  if (!reader_) throw Error(ErrorCode::no_memory, name_ + ": no memory for a connection");
  reader_->fn = bounded_functions();
  reader_->privdata = elements_.get();
  *elements_ = 0;
  unread_ = 0;
  Commands commands;
  std::size_t replies = 0;
  if (!address_.password.empty()) {
    if (address_.user.empty())
      commands.command({"AUTH", address_.password});
    else
      commands.command({"AUTH", address_.user, address_.password});
    ++replies;
  }
  if (address_.database != 0) {
    commands.begin(2).word("SELECT").number(address_.database);
    ++replies;
  }
  if (replies == 0) return;
  socket_->send(commands.bytes());
  for (bool auth = !address_.password.empty(); replies > 0; --replies, auth = false)
    if (const Reply reply = receive(); reply->type == REDIS_REPLY_ERROR)
      throw auth ? auth_error(*reply, socket_->name()) : meaning(*reply, socket_->name());
}

void Connection::ask_history() {
  Commands commands;
  for (const std::string_view section : History::kSections) commands.command({"INFO", section});
  ++asked_in_vain_;
  socket_->send(commands.bytes());
  History history;
  for (std::size_t i = 0; i < commands.count(); ++i) {
    const Reply reply = receive();
    // No answer to INFO: the server says it and hangs up.
    if (text_of(*reply).starts_with("ERR max number of clients")) {
      --asked_in_vain_;
      throw meaning(*reply, name_);
    }
    history.take(text_of(*reply));
  }
  if (!history.is_known()) return;
  history_ = std::move(history);
  asked_in_vain_ = 0;
}

void Connection::connect_to_the_same() {
  if (!history_ && socket_->has_ended()) {
    was_closed_ = true;
    throw Error(ErrorCode::unavailable,
                name_ + ": the server hung up; the next call connects again");
  }
  const std::optional<History> before = std::exchange(history_, std::nullopt);
  drop();
  connect();
  if (!before) return;
  ask_history();
  if (history_ && before->is_that_of(*history_)) return;
  const char* const what =
      history_
          ? ": the server was started again, got another role or its first replica, has lost its "
            "last one or is another one, so what was added last may be lost"
          : ": the connection was closed, and the server does not tell (INFO) whether it has lost "
            "anything";
  throw Error(ErrorCode::unavailable, name_ + what + "; the next call connects again");
}

void Connection::look_after_idling() {
  if (!has_unread() && !socket_->has_input()) {
    if (!history_ && asked_in_vain_ < kMostInVain) ask_history();
    return;
  }
  // Nothing was asked for, so this is the end, or nothing that can be an answer.
  was_closed_ = true;
  if (history_) return connect_to_the_same();
  throw Error(
      ErrorCode::unavailable,
      name_ +
          ": the server hung up, or sent what nobody had asked for; the next call connects again");
}

void Connection::send(const Commands& commands) {
  try {
    const auto now = std::chrono::steady_clock::now();
    if (socket_ && origin_.is_inherited())
      connect_to_the_same();
    else if (socket_ && awaited_ == 0 && (has_unread() || now - sent_ >= kIdle))
      look_after_idling();
    if (!socket_) {
      connect();
      history_.reset();
      if (was_closed_ && asked_in_vain_ < kMostInVain) ask_history();
    }
    sent_ = now;
    awaited_ += commands.count();
    socket_->send(commands.bytes());
  } catch (...) {
    drop();
    throw;
  }
}

Reply Connection::receive(std::uint64_t count) {
  if (!socket_ || count != count_)
    throw Error(ErrorCode::unavailable, name_ + ": the connection broke before the answer came");
  return receive();
}

Reply Connection::receive() {
  if (!socket_)
    throw Error(ErrorCode::unavailable,
                name_ + ": there is no connection to receive an answer from");
  try {
    for (bool begun = false;;) {
      void* reply = nullptr;
      if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
        if (reader_->err == REDIS_ERR_OOM)
          throw Error(ErrorCode::unavailable,
                      name_ + ": the answer has more than " + std::to_string(kMostElements) +
                          " elements, or there is no memory for it; check the address");
        throw Error(ErrorCode::unavailable,
                    received_[0] == kTlsAlert
                        ? name_ +
                              ": the server asks for TLS; write rediss:// or valkeys://, or "
                              "name a port without TLS"
                        : name_ + ": what answers is not a Redis server: " + reader_->errstr +
                              "; check the address");
      }
      if (reply != nullptr) {
        unread_ = 0;
        *elements_ = 0;
        if (awaited_ > 0) --awaited_;
        Reply whole(static_cast<redisReply*>(reply));
        // A master that was demoted by hand keeps its connections: the next one leads to the new master.
        if (address_.sentinels && whole->type == REDIS_REPLY_ERROR &&
            says(*whole, "READONLY You can't write"))
          throw Error(ErrorCode::unavailable,
                      name_ +
                          ": the server has become a replica; try again when the sentinels "
                          "name another master");
        return whole;
      }
      if (unread_ > kMostReplyBytes)
        throw Error(ErrorCode::unavailable,
                    name_ + ": the answer is longer than " + std::to_string(kMostReplyBytes >> 20) +
                        " MiB, and nothing so large was asked for; check the address");
      if (!std::exchange(begun, true)) socket_->begin_answer();
      const std::size_t size = socket_->receive({received_.get(), kReceived});
      unread_ += size;
      redisReaderFeed(reader_.get(), received_.get(), size);
    }
  } catch (...) {
    drop();
    throw;
  }
}

Reply Connection::ask(std::initializer_list<std::string_view> words) {
  Commands commands;
  send(commands.command(words));
  Reply reply = receive();
  if (reply->type == REDIS_REPLY_ERROR) throw meaning(*reply, name_);
  return reply;
}

}  // namespace bloomery::detail
