// One BITFIELD command a key: the server runs it at once, and it is the quickest way.
//
// Measured (docs/benchmarks.md): neither a command a bit nor a script over a batch is quicker, and a
// script needs leave to run. What a script could have checked first is checked in the answers: each
// command also reads the filter's identity, so that no answer of another string is believed.
#include "redis/redis_bits.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "redis/redis_header.hpp"

#include "base/endian.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t kWindow = 1024;

// An insert into a string that is no longer there has made a new one, of zeros but for its bits.
// Nobody can have stored there what has no header.
constexpr std::string_view kRemoveDebris =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) == string.rep('\\0', 128) then "
    "return redis.call('DEL', KEYS[1]) end return 0";

}  // namespace

RedisBits::RedisBits(Connection connection, std::string key, const Guard& guard, std::size_t hashes)
    : connection_(std::move(connection)),
      key_(std::move(key)),
      name_(connection_.name() + " '" + key_ + "'"),
      guard_(guard),
      hashes_(hashes) {}

std::size_t RedisBits::set(std::size_t keys, const OffsetsOf& offsets_of, std::span<bool> answers) {
  return run(Change::set, keys, offsets_of, answers);
}

std::size_t RedisBits::test(std::size_t keys, const OffsetsOf& offsets_of,
                            std::span<bool> answers) {
  return run(Change::test, keys, offsets_of, answers);
}

std::size_t RedisBits::run(Change change, std::size_t keys, const OffsetsOf& offsets_of,
                           std::span<bool> answers) {
  acknowledged_ = 0;
  std::size_t count = 0;
  std::size_t sent = 0;
  std::optional<Error> fault;
  std::array<Window, 2> windows;  // on the way
  std::size_t on_the_way = 0;
  while (on_the_way > 0 || (sent < keys && !fault)) {
    while (sent < keys && on_the_way < windows.size() && !fault) {
      windows[on_the_way] = send(change, sent, std::min(kWindow, keys - sent), offsets_of);
      sent += windows[on_the_way++].keys;
    }
    const Window window = windows[0];
    windows[0] = windows[1];
    --on_the_way;
    // After a fault the answers that are still to come are taken off the connection.
    const auto take = [&](auto&& use) {
      const Reply reply = connection_.receive();
      try {
        if (!fault) use(reply);
      } catch (const Error& error) {
        fault = error;
      }
    };
    take([&](const Reply& reply) { check_length(reply); });
    for (std::size_t i = 0; i < window.keys; ++i)
      take([&](const Reply& reply) {
        const bool answer = answer_of(change, reply);
        if (!answers.empty()) answers[window.first + i] = answer;
        count += answer ? 1 : 0;
        ++acknowledged_;
      });
    if (!fault && change == Change::set) guard_.least = std::max(guard_.least, window.reach);
  }
  if (!fault) return count;
  if (change == Change::set && guard_.identity && fault->code() == ErrorCode::missing)
    remove_debris();
  throw *fault;
}

RedisBits::Window RedisBits::send(Change change, std::size_t first, std::size_t keys,
                                  const OffsetsOf& offsets_of) {
  offsets_.resize(keys * hashes_);
  offsets_of(first, keys, offsets_);
  commands_.clear();
  commands_.command({"STRLEN", key_});
  const bool setting = change == Change::set;
  const std::size_t words = 2 + (guard_.identity ? 3 : 0) + hashes_ * (setting ? 4 : 3);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < offsets_.size(); i += hashes_) {
    commands_.begin(words).word(setting ? "BITFIELD" : "BITFIELD_RO").word(key_);
    if (guard_.identity) commands_.word("GET").word("i64").number(kRedisIdentityAt * 8);
    for (std::size_t j = 0; j < hashes_; ++j) {
      commands_.word(setting ? "SET" : "GET").word("u1").number(offsets_[i + j]);
      if (setting) commands_.word("1");
      last = std::max(last, offsets_[i + j]);
    }
  }
  connection_.send(commands_);
  return {first, keys, last / 8 + 1};
}

void RedisBits::check_length(const Reply& reply) {
  require_type(reply, REDIS_REPLY_INTEGER, name_);
  const auto bytes = static_cast<std::uint64_t>(reply->integer);
  if (bytes == 0 && (guard_.identity || guard_.least != 0)) gone();
  if (bytes < (guard_.identity ? guard_.bytes : guard_.least))
    throw Error(ErrorCode::corrupt, name_ + " was cut short: it has " + std::to_string(bytes) +
                                        " bytes and had more; build the filter anew");
  if (bytes > guard_.bytes)
    throw Error(ErrorCode::mismatch, name_ + " has " + std::to_string(bytes) +
                                         " bytes, more than the " + std::to_string(guard_.bytes) +
                                         " of its scheme; check the key and the scheme");
  guard_.least = bytes;
}

void RedisBits::check() {
  commands_.clear();
  connection_.send(commands_.command({"STRLEN", key_}));
  check_length(connection_.receive());
}

bool RedisBits::answer_of(Change change, const Reply& reply) const {
  require_type(reply, REDIS_REPLY_ARRAY, name_);
  const std::size_t before = guard_.identity ? 1 : 0;
  if (reply->elements != before + hashes_)
    throw Error(ErrorCode::io, name_ + ": an answer of another length; check the address");
  const std::span elements(reply->element, reply->elements);
  if (guard_.identity) {
    // BITFIELD reads big-endian.
    std::uint64_t expected = load_le64(guard_.identity->data());
    expected = __builtin_bswap64(expected);
    const auto found = static_cast<std::uint64_t>(elements[0]->integer);
    if (found == 0) gone();
    if (found != expected)
      throw Error(ErrorCode::mismatch,
                  name_ + " was replaced by another filter; open it again if that is yours");
  }
  const bool all =
      std::all_of(elements.begin() + static_cast<std::ptrdiff_t>(before), elements.end(),
                  [](const redisReply* bit) { return bit->integer == 1; });
  return change == Change::set ? !all : all;
}

void RedisBits::gone() const {
  throw Error(ErrorCode::missing,
              name_ + " is not there any more: deleted, expired or evicted; build the filter anew");
}

void RedisBits::remove_debris() noexcept {
  try {
    connection_.ask({"EVAL", kRemoveDebris, "1", key_});
  } catch (const Error&) {
    // What is left has no header: whoever opens or uses it is told so.
  }
}

double RedisBits::share_of_ones(std::uint64_t from) {
  constexpr std::uint64_t kRanges = 1024;
  constexpr std::uint64_t kRange = 4096;
  const std::uint64_t bytes = guard_.bytes - from;
  const bool sampled = bytes > kRanges * kRange;
  const std::uint64_t ranges = sampled ? kRanges : 1;
  const std::uint64_t range = sampled ? kRange : bytes;
  commands_.clear();
  commands_.command({"STRLEN", key_});
  for (std::uint64_t i = 0; i < ranges; ++i) {
    const std::uint64_t start = from + (bytes - range) / ranges * i;
    commands_.begin(4).word("BITCOUNT").word(key_).number(start).number(start + range - 1);
  }
  connection_.send(commands_);
  std::vector<Reply> replies;
  for (std::uint64_t i = 0; i <= ranges; ++i) replies.push_back(connection_.receive());
  check_length(replies[0]);
  double ones = 0;
  for (std::size_t i = 1; i < replies.size(); ++i) {
    require_type(replies[i], REDIS_REPLY_INTEGER, name_);
    ones += static_cast<double>(replies[i]->integer);
  }
  return ones / static_cast<double>(ranges * range * 8);
}

}  // namespace bloomery::detail
