// Two windows of commands on the way at once, so that neither side waits for the other.
#include "redis/redis_bits.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "redis/block_reads.hpp"

#include "redis/redis_header.hpp"
#include "redis/whole_string.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t kWindow = 1024;

}  // namespace

RedisBits::RedisBits(Connection connection, const std::string& key, const Guard& guard,
                     std::size_t hashes)
    : connection_(std::move(connection)),
      string_(key, name_of(connection_.name(), key), guard, hashes) {}

std::size_t RedisBits::set(std::size_t keys, const OffsetsOf& offsets_of, std::span<bool> answers,
                           std::span<std::uint64_t> generations) {
  return run(Change::set, keys, offsets_of, answers, generations);
}

std::size_t RedisBits::test(std::size_t keys, const OffsetsOf& offsets_of, std::span<bool> answers,
                            std::span<std::uint64_t> generations) {
  if (string_.guard().blocks && keys >= BlockReads::kFewest)
    return run_blocks(keys, offsets_of, answers);
  return run(Change::test, keys, offsets_of, answers, generations);
}

std::size_t RedisBits::run(Change change, std::size_t keys, const OffsetsOf& offsets_of,
                           std::span<bool> answers, std::span<std::uint64_t> generations) {
  acknowledged_ = 0;
  if (change == Change::set && keys > 0 && (string_.guard().identity || string_.guard().least != 0))
    check();
  std::size_t count = 0;
  std::size_t sent = 0;
  std::optional<Error> fault;
  std::array<Window, 2> windows;  // on the way
  std::size_t on_the_way = 0;
  Exchange exchange(connection_);
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
    const auto take_length = [&] {
      take([&](const Reply& reply) { string_.check_length(reply); });
    };
    const bool after = is_checked_after(change);
    if (!after) take_length();
    for (std::size_t i = 0; i < window.keys; ++i)
      take([&](const Reply& reply) {
        const bool answer = string_.answer_of(change, reply);
        if (!answers.empty()) answers[window.first + i] = answer;
        if (!generations.empty()) generations[window.first + i] = BitString::generation_of(reply);
        count += answer ? 1 : 0;
        acknowledged_ += after ? 0 : 1;
      });
    if (after) {
      take_length();
      take([&](const Reply& reply) { string_.check_identity(*reply); });
      if (!fault) acknowledged_ += window.keys;
    }
    if (!fault && change == Change::set) string_.reaches(window.reach);
  }
  exchange.done();
  if (!fault) return count;
  if (change == Change::set && string_.guard().identity && fault->code() == ErrorCode::missing)
    remove_debris();
  throw *fault;
}

std::size_t RedisBits::run_blocks(std::size_t keys, const OffsetsOf& offsets_of,
                                  std::span<bool> answers) {
  struct OnTheWay {
    BlockReads reads;
    std::size_t first;
    std::size_t commands;
  };
  acknowledged_ = 0;
  std::size_t count = 0;
  std::size_t sent = 0;
  std::optional<Error> fault;
  std::deque<OnTheWay> windows;
  Exchange exchange(connection_);
  while (!windows.empty() || (sent < keys && !fault)) {
    while (sent < keys && windows.size() < 2 && !fault) {
      const std::size_t size = std::min(kWindow, keys - sent);
      const std::size_t hashes = string_.hashes();
      offsets_.resize(size * hashes);
      offsets_of(sent, size, offsets_);
      OnTheWay& window = windows.emplace_back(OnTheWay{BlockReads(string_), sent, 0});
      window.reads.add(offsets_);
      commands_.clear();
      window.commands = window.reads.ask([this]() -> Commands& { return commands_; });
      connection_.send(commands_);
      sent += size;
    }
    const OnTheWay& window = windows.front();
    for (std::size_t i = 0; i < window.commands; ++i) {
      const Reply reply = connection_.receive();
      if (fault) continue;  // what is still to come is taken off the connection
      try {
        if (i + 1 < window.commands) {
          window.reads.queued(reply);
          continue;
        }
        window.reads.answer(reply, [&](std::size_t key, bool answer) {
          if (!answers.empty()) answers[window.first + key] = answer;
          count += answer ? 1 : 0;
          ++acknowledged_;
        });
      } catch (const Error& error) {
        fault = error;
      }
    }
    windows.pop_front();
  }
  exchange.done();
  if (fault) throw *fault;
  return count;
}

// A string that was cut never has its length again: a length that is right, and the identity behind
// it, which says whose length that was, prove of what was read before that nothing was missing.
// (Generations of a filter that rotates have one identity. But the newer one does not become the
// older while it is cut, and the older one's keys are forgotten when another takes its place.) PHP's
// buckets have no length of their own; and one that is rotated in between has moved what it answered
// for, and its length would be an error for nothing.
bool RedisBits::is_checked_after(Change change) const {
  return change == Change::test && string_.guard().identity;
}

RedisBits::Window RedisBits::send(Change change, std::size_t first, std::size_t keys,
                                  const OffsetsOf& offsets_of) {
  const std::size_t hashes = string_.hashes();
  offsets_.resize(keys * hashes);
  offsets_of(first, keys, offsets_);
  commands_.clear();
  const bool after = is_checked_after(change);
  if (!after) string_.ask_length(commands_);
  for (std::size_t i = 0; i < offsets_.size(); i += hashes)
    string_.ask(commands_, change, std::span(offsets_).subspan(i, hashes));
  if (after) {
    string_.ask_length(commands_);
    string_.ask_identity(commands_);
  }
  connection_.send(commands_);
  return {first, keys, *std::max_element(offsets_.begin(), offsets_.end()) / 8 + 1};
}

void RedisBits::check() {
  commands_.clear();
  string_.ask_length(commands_);
  connection_.send(commands_);
  string_.check_length(connection_.receive());
}

void RedisBits::remove_debris() noexcept {
  try {
    commands_.clear();
    string_.ask_to_remove_debris(commands_);
    connection_.send(commands_);
    (void)connection_.receive();
  } catch (...) {
    connection_.drop();  // the error that led here is the one to tell
  }
}

void RedisBits::read(std::uint64_t from, std::span<std::byte> out) {
  check();
  read_string(connection_, string_.key(), string_.name(), from, out);
  if (!string_.guard().identity) return;
  BitString::Identity identity{};
  read_string(connection_, string_.key(), string_.name(), kRedisIdentityAt,
              std::as_writable_bytes(std::span(identity)));
  if (identity != *string_.guard().identity)
    throw Error(ErrorCode::mismatch,
                string_.name() + " was replaced by another filter; open it again");
}

Share RedisBits::share_of_ones(std::uint64_t from) {
  OnesSample sample(string_.guard().bytes - from);
  commands_.clear();
  string_.ask_length(commands_);
  for (std::uint64_t i = 0; i < sample.ranges(); ++i) sample.ask(i, string_.key(), from, commands_);
  Exchange exchange(connection_);
  connection_.send(commands_);
  std::vector<Reply> replies;
  for (std::uint64_t i = 0; i <= sample.ranges(); ++i) replies.push_back(connection_.receive());
  exchange.done();
  string_.check_length(replies[0]);
  for (std::size_t i = 1; i < replies.size(); ++i) sample.take(replies[i], string_.name());
  return sample.share();
}

}  // namespace bloomery::detail
