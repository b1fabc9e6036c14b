// The protocol by hiredis' reader, the bytes by our own socket: hiredis' sockets would kill the
// program by SIGPIPE where the server hangs up.
#include "redis/connection.hpp"

#include <bloomery/module_dump.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace bloomery::detail {
namespace {

// How a TLS server's first answer to anything else begins (RFC 8446, 5.1); no reply of Redis does.
constexpr char kTlsAlert = 21;

std::string name_of(const RedisAddress& address) {
  std::string name = "redis ";
  if (!address.socket.empty()) return name.append(address.socket);
  return name.append(address.host).append(":").append(std::to_string(address.port));
}

// What is asked for is a chunk of a dump at most, and the answers to a batch of keys.
constexpr std::size_t kMostReplyBytes = kMostChunkBytes + (std::size_t{1} << 20);
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

// hiredis makes room for as many elements as the server speaks of, and takes a step of the stack to
// free each depth of them; the type of their number is another one in each of its versions.
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

// A server that does not know AUTH repeats its words, and the password with them.
Error auth_error(const redisReply& reply, const std::string& name) {
  static constexpr std::array<std::string_view, 11> kRepeatNothing = {
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
  const std::string_view text(reply.str, reply.len);
  for (const std::string_view each : kRepeatNothing)
    if (text.starts_with(each)) return Connection::meaning(reply, name);
  return {ErrorCode::denied, name + ": the server refuses AUTH; check user and password"};
}

void append_number(std::string& to, std::uint64_t value) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  to.append(digits.data(), end.ptr);
}

}  // namespace

std::string name_of(const std::string& server, std::string_view key) {
  std::string name = server;
  return name.append(" '").append(key).append("'");
}

bool says(const redisReply& reply, std::string_view part) noexcept {
  return reply.str != nullptr &&
         std::string_view(reply.str, reply.len).find(part) != std::string_view::npos;
}

Commands& Commands::begin(std::size_t words) {
  bytes_ += '*';
  append_number(bytes_, words);
  bytes_ += "\r\n";
  return *this;
}

Commands& Commands::word(std::string_view text) {
  bytes_ += '$';
  append_number(bytes_, text.size());
  bytes_ += "\r\n";
  bytes_ += text;
  bytes_ += "\r\n";
  return *this;
}

Commands& Commands::number(std::uint64_t value) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return word({digits.data(), static_cast<std::size_t>(end.ptr - digits.data())});
}

Commands& Commands::command(std::initializer_list<std::string_view> words) {
  begin(words.size());
  for (const std::string_view each : words) word(each);
  return *this;
}

Commands& Commands::append(std::string_view commands) {
  bytes_ += commands;
  return *this;
}

Connection::Connection(RedisAddress address)
    : address_(std::move(address)), name_(name_of(address_)), received_(std::size_t{256} << 10) {}

void Connection::drop() noexcept {
  socket_.reset();
  reader_.reset();
}

void Connection::connect() {
  socket_ = std::make_unique<Socket>(address_, name_);
  ++count_;
  reader_.reset(redisReaderCreate());
  if (!reader_) throw Error(ErrorCode::no_memory, name_ + ": no memory for a connection");
  reader_->fn = bounded_functions();
  reader_->privdata = elements_.get();
  *elements_ = 0;
  waiting_ = 0;
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
      throw auth ? auth_error(*reply, name_) : meaning(*reply, name_);
}

void Connection::send(const Commands& commands) {
  try {
    if (!socket_) connect();
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
                name_ + ": there is no connection for an answer to come by");
  try {
    for (;;) {
      void* reply = nullptr;
      if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
        if (reader_->err == REDIS_ERR_OOM)
          throw Error(ErrorCode::unavailable,
                      name_ + ": an answer of more than " + std::to_string(kMostElements) +
                          " elements, or no memory for it; check the address");
        throw Error(ErrorCode::unavailable,
                    received_[0] == kTlsAlert
                        ? name_ +
                              ": the server asks for TLS, which is not supported here; use a "
                              "tunnel such as stunnel, or a port without TLS"
                        : name_ + ": what answers is not a Redis server: " + reader_->errstr +
                              "; check the address");
      }
      if (reply != nullptr) {
        waiting_ = 0;
        *elements_ = 0;
        return Reply(static_cast<redisReply*>(reply));
      }
      if (waiting_ > kMostReplyBytes)
        throw Error(ErrorCode::unavailable,
                    name_ + ": an answer of more than " + std::to_string(kMostReplyBytes >> 20) +
                        " MiB, and none so large was asked for; check the address");
      const std::size_t size = socket_->receive(received_);
      waiting_ += size;
      redisReaderFeed(reader_.get(), received_.data(), size);
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

Error Connection::meaning(const redisReply& reply, const std::string& what) {
  struct Meaning {
    std::string_view start;
    ErrorCode code;
    const char* mend;
  };
  constexpr const char* kLacking =
      "the server is too old for it, or lacks a module (bloomery.so or RedisBloom)";
  static constexpr std::array<Meaning, 18> kMeanings = {{
      {"NOAUTH", ErrorCode::denied, "give a password"},
      {"WRONGPASS", ErrorCode::denied, "check user and password"},
      {"ERR invalid password", ErrorCode::denied, "check the password"},
      {"NOPERM", ErrorCode::denied, "give the user these rights"},
      {"LOADING", ErrorCode::unavailable, "try again when it has read its data"},
      {"BUSY", ErrorCode::unavailable, "try again when its script has ended"},
      {"MASTERDOWN", ErrorCode::unavailable, "try again when the replica is in touch"},
      {"CLUSTERDOWN", ErrorCode::unavailable, "try again when the cluster serves all slots"},
      {"TRYAGAIN", ErrorCode::unavailable, "try again when the slot has moved"},
      {"MOVED", ErrorCode::unavailable, "give the address of the cluster's node that is named"},
      {"ASK", ErrorCode::unavailable, "try again when the slot has moved"},
      {"READONLY", ErrorCode::read_only, "give the address of the primary"},
      {"OOM", ErrorCode::no_space, "raise the server's maxmemory"},
      {"MISCONF", ErrorCode::no_space, "see why the server cannot save"},
      {"WRONGTYPE", ErrorCode::not_a_filter, "check the key"},
      {"ERR unknown command", ErrorCode::io, kLacking},
      {"ERR Unknown Redis command", ErrorCode::io, kLacking},  // in a script
      {"ERR Unknown command", ErrorCode::io, kLacking},        // in one of Valkey 8
  }};
  // What a script may not do is told as an ERR about the script: by 6.2 and 7.0, and by later ones.
  static constexpr std::array<std::string_view, 2> kDeniedToScript = {
      "The user executing the script can't ", "ACL failure in script: "};
  const std::string_view text(reply.str, reply.len);
  std::string message = what;
  message.append(": ").append(text);
  for (const Meaning& each : kMeanings)
    if (text.starts_with(each.start)) return {each.code, message.append("; ").append(each.mend)};
  // By 6.2; later ones say it as they do outside of a script.
  if (text.starts_with("ERR ") && text.find(": -OOM ") != std::string_view::npos)
    return {ErrorCode::no_space, message.append("; raise the server's maxmemory")};
  for (const std::string_view each : kDeniedToScript)
    if (text.starts_with("ERR ") && text.find(each) != std::string_view::npos)
      return {ErrorCode::denied,
              message.append(
                  "; give the user EXISTS, TYPE, GET, SET, GETRANGE, SETRANGE, STRLEN, BITFIELD, "
                  "BITCOUNT, RENAME, EXPIRE, PERSIST, PEXPIRE, UNLINK and DEL (and BF.* for "
                  "filters of a module), on the key and on {key}:*")};
  return {ErrorCode::io, message};
}

void require_type(const redisReply& reply, int type, const std::string& what) {
  if (reply.type == REDIS_REPLY_ERROR) throw Connection::meaning(reply, what);
  if (reply.type != type)
    throw Error(ErrorCode::io, what + ": an answer that no Redis server gives; check the address");
}

}  // namespace bloomery::detail
