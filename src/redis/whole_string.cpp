// Pieces of a MiB, four of them on the way at once.
#include "redis/whole_string.hpp"

#include <bloomery/hash.hpp>

#include <algorithm>
#include <cstring>

#include "redis/script.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t kOnTheWay = 4;

// 1: done; 0: the key holds something else; -1: what was written is gone.
constexpr std::string_view kPublish =
    "if redis.call('EXISTS', KEYS[2]) == 1 then "
    "if ARGV[1] == '0' or redis.call('TYPE', KEYS[2]).ok ~= 'string' then return 0 end "
    "if ARGV[1] == '1' and "
    "redis.call('GETRANGE', KEYS[2], 0, 9) ~= redis.call('GETRANGE', KEYS[1], 0, 9) "
    "then return 0 end end "
    "if redis.call('STRLEN', KEYS[1]) ~= tonumber(ARGV[2]) then return -1 end ";

std::string hex(std::uint64_t value) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
  return out;
}

Error dropped_string(const std::string& name) {
  return {ErrorCode::no_space,
          name + ": the server dropped the new string before it was whole; raise its maxmemory"};
}

}  // namespace

std::string name_beside(std::string_view key, std::string_view end) {
  std::string name(key);
  if (key.find('{') == std::string_view::npos) name = "{" + name + "}";
  return name.append(":").append(end);
}

std::string random_name() { return hex(random_seed(HashFamily::xxh3).low); }

std::string scratch_name(std::string_view key) { return name_beside(key, "new-" + random_name()); }

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

void require_within(const Plan& plan, std::uint64_t from, std::uint64_t bytes) {
  if (from <= plan.bytes() && bytes <= plan.bytes() - from) return;
  throw Error(ErrorCode::invalid_argument,
              std::to_string(bytes) + " bytes from byte " + std::to_string(from) +
                  " on are more than a filter of " + std::to_string(plan.bytes()) + " has");
}

void read_string(Connection& connection, std::string_view key, const std::string& name,
                 std::uint64_t from, std::span<std::byte> out) {
  std::size_t asked = 0, taken = 0;
  Exchange exchange(connection);
  while (taken < out.size()) {
    Commands commands;
    for (; asked < out.size() && asked < taken + kOnTheWay * kPiece;
         asked += std::min(kPiece, out.size() - asked)) {
      const std::uint64_t first = from + asked;
      commands.begin(4)
          .word("GETRANGE")
          .word(key)
          .number(first)
          .number(first + std::min(kPiece, out.size() - asked) - 1);
    }
    if (!commands.bytes().empty()) connection.send(commands);
    const Reply reply = connection.receive();
    const std::size_t expected = std::min(kPiece, out.size() - taken);
    require_type(reply, REDIS_REPLY_STRING, name);
    if (reply->len != expected)
      throw Error(ErrorCode::missing, name + " was deleted or cut short while it was read");
    std::memcpy(out.data() + taken, reply->str, expected);
    taken += expected;
  }
  exchange.done();
}

StringWriter::StringWriter(Connection& connection, std::string_view key, std::uint64_t bytes)
    : connection_(connection),
      key_(key),
      scratch_(scratch_name(key)),
      name_(name_of(connection.name(), key_)),
      bytes_(bytes) {
  try {
    // The right to it is missed before there is a string that would stay for ever.
    connection_.ask({"EXPIRE", scratch_, kScratchSeconds});
    Commands commands;
    commands.command({"SETRANGE", scratch_, std::to_string(bytes - 1), std::string_view("\0", 1)});
    commands.command({"EXPIRE", scratch_, kScratchSeconds});
    connection_.send(commands);
    ++on_the_way_;
    take_replies(0);
  } catch (...) {
    discard();
    throw;
  }
}

StringWriter::~StringWriter() {
  if (!published_) discard();
}

void StringWriter::discard() noexcept {
  try {
    connection_.drop();
    connection_.ask({"UNLINK", scratch_});
  } catch (...) {
    // The server drops it in time.
  }
}

void StringWriter::take_replies(std::size_t most_left) {
  for (; on_the_way_ > most_left; --on_the_way_) {
    const Reply length = connection_.receive();
    require_type(length, REDIS_REPLY_INTEGER, name_);
    if (static_cast<std::uint64_t>(length->integer) != bytes_) throw dropped_string(name_);
    require_type(connection_.receive(), REDIS_REPLY_INTEGER, name_);
  }
}

void StringWriter::write(std::uint64_t at, std::span<const std::byte> bytes) {
  bool sent = false;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(kPiece, bytes.size()));
    if (!is_zero(piece)) {  // as the string is already
      Commands commands;
      commands.begin(4)
          .word("SETRANGE")
          .word(scratch_)
          .number(at)
          .word({reinterpret_cast<const char*>(piece.data()), piece.size()});
      commands.command({"EXPIRE", scratch_, kScratchSeconds});
      connection_.send(commands);
      sent = true;
      ++on_the_way_;
      take_replies(kOnTheWay);
    }
    at += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  if (!sent) keep_alive();
}

void StringWriter::keep_alive() {
  take_replies(0);
  const Reply reply = connection_.ask({"EXPIRE", scratch_, kScratchSeconds});
  require_type(reply, REDIS_REPLY_INTEGER, name_);
  if (reply->integer != 1) throw dropped_string(name_);
}

void StringWriter::publish(Over over) {
  take_replies(0);
  const std::string rule = std::to_string(static_cast<int>(over));
  const Reply reply = connection_.ask(
      {"EVAL", script({kPublish, kIntoPlace}), "2", scratch_, key_, rule, std::to_string(bytes_)});
  require_type(reply, REDIS_REPLY_INTEGER, name_);
  if (reply->integer == 0)
    throw Error(ErrorCode::exists,
                name_ + (over == Over::nothing ? " exists already; choose another key"
                                               : " exists and is something else, which is never "
                                                 "replaced; choose another key"));
  if (reply->integer < 0) throw dropped_string(name_);
  published_ = true;
}

}  // namespace bloomery::detail
