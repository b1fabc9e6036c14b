// Every write is followed by an EXPIRE; zeros are not sent.
#include "redis/strings/staged_strings.hpp"

#include <bloomery/error.hpp>

#include <algorithm>

#include "redis/strings/bit_string.hpp"

namespace bloomery::detail {
namespace {

// Strings that are zeroed at once: 256 MiB each take a server a second or two.
constexpr std::size_t kMadeAtOnce = 16;
constexpr std::size_t kPiecesWritten = 4;

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

}  // namespace

StagedStrings::~StagedStrings() {
  if (!published_) keys_.drop_staged(cluster_);
}

void StagedStrings::make(std::span<const std::string> starts, std::span<const std::string> ends) {
  const std::vector<std::string>& names = keys_.names();
  // Who lacks the right to EXPIRE learns it before there is a string that would stay.
  std::vector<Request> rights;
  for (std::size_t i = 0; i < names.size(); ++i)
    keys_.expire(i, rights.emplace_back(names[i]).next());
  cluster_.run_all(rights, [&](std::size_t, std::size_t, const Reply& reply) {
    require_type(reply, REDIS_REPLY_INTEGER, cluster_.name());
  });
  for (std::size_t i = 0; i < names.size();) {
    std::vector<Request> requests;
    for (; i < names.size() && requests.size() < kMadeAtOnce; ++i) {
      Request& request = requests.emplace_back(names[i]);
      // The end first: a server that cannot hold the string then holds nothing of it.
      request.next().command(
          {"SETRANGE", names[i], std::to_string(bytes_ - ends[i].size()), ends[i]});
      keys_.expire(i, request.next());
      request.next().command({"SETRANGE", names[i], "0", starts[i]});
    }
    run(requests);
  }
}

void StagedStrings::write(std::size_t string, std::uint64_t at, std::span<const std::byte> bytes) {
  const std::string& name = keys_.names()[string];
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(kPiece, bytes.size()));
    Request& request = pieces_.emplace_back(name);
    if (!is_zero(piece))  // the string has zeros already
      request.next()
          .begin(4)
          .word("SETRANGE")
          .word(name)
          .number(at)
          .word({reinterpret_cast<const char*>(piece.data()), piece.size()});
    keys_.expire(string, request.next());
    at += piece.size();
    bytes = bytes.subspan(piece.size());
    if (pieces_.size() == kPiecesWritten) flush();
  }
}

void StagedStrings::flush() {
  keep_alive();
  run(pieces_);
  pieces_.clear();
}

// SETRANGE replies with the length of the string, EXPIRE with 1.
void StagedStrings::run(std::vector<Request>& requests) {
  cluster_.run_all(requests, [&](std::size_t, std::size_t, const Reply& reply) {
    require_type(reply, REDIS_REPLY_INTEGER, cluster_.name());
    if (reply->integer != 1 && static_cast<std::uint64_t>(reply->integer) != bytes_)
      throw dropped_key(cluster_.name());
  });
}

}  // namespace bloomery::detail
