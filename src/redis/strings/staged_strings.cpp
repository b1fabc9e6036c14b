// Every write is followed by EXPIRE; zeros are not sent.
#include "redis/strings/staged_strings.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <string_view>

#include "base/zeros.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/strings/bit_string.hpp"

namespace bloomery::detail {
namespace {

// The number of strings that are zeroed at once: 256 MiB each take a server a second or two.
constexpr std::size_t kMadeAtOnce = 16;
constexpr std::size_t kPiecesWritten = 4;

}  // namespace

// Empty shards can always be replaced. A longer shard never can: clients that have it open would write beyond the end
// of the new one.
const StagedKeys::Rules kShardStrings = {
    .functions = {},
    .may_go =
        "redis.call('TYPE', KEYS[1]).ok == 'string' and "
        "redis.call('GETRANGE', KEYS[1], 0, 9) == string.sub(ARGV[1], 1, 10) and "
        "(ARGV[3] == '1' or redis.call('BITCOUNT', KEYS[1], 128, -9) == 0)",
    .is_longer = "redis.call('STRLEN', KEYS[1]) > tonumber(ARGV[2])",
    .is_whole = "redis.call('STRLEN', KEYS[2]) == tonumber(ARGV[2])",
    .is_ours = "redis.call('GETRANGE', KEYS[1], 0, 127) == ARGV[1]"};

std::vector<std::string> headers_of(RedisHeader header) {
  std::vector<std::string> headers;
  for (header.shard = 0; header.shard < std::max(header.shards, 1U); ++header.shard)
    headers.push_back(encode_redis_header(header));
  return headers;
}

KeysOfNote strings_of_note(const std::string& first) {
  return [first](std::string_view number, std::string_view committed) -> NotedKeys {
    const RedisHeader header = decode_redis_header(committed, note_beside(first));
    if (header.shards == 0)
      throw Error(ErrorCode::corrupt, note_beside(first) + " names no shards; remove it");
    return {StagedKeys(shard_keys(name_of_shards(first), header.shards), kShardStrings, number),
            header.identity,
            [headers = headers_of(header),
             bytes = std::to_string(header.string_bytes())](std::size_t i) {
              return StagedKeys::Words{headers[i], bytes, "1"};
            }};
  };
}

StagedStrings::~StagedStrings() {
  if (!published_) keys_.drop_staged(cluster_);
}

void StagedStrings::make(std::span<const std::string> starts, std::span<const std::string> ends) {
  const std::vector<std::string>& names = keys_.names();
  keys_.require_expiry(cluster_);
  unmoved_ = UnmovedSlots(cluster_, names);
  for (std::size_t i = 0; i < names.size();) {
    std::vector<Request> requests;
    for (; i < names.size() && requests.size() < kMadeAtOnce; ++i) {
      Request& request = requests.emplace_back(names[i]);
      // The end is written first: if a server cannot hold the string, it then holds nothing of it.
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
    if (!is_zeros(piece))  // the string already has zeros
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
  unmoved_.require();
  keep_alive();
  run(pieces_);
  pieces_.clear();
}

// SETRANGE replies with the length of the string, EXPIRE with 1.
void StagedStrings::run(std::vector<Request>& requests) try {
  cluster_.run_all(requests, [&](std::size_t, std::size_t, const Reply& reply) {
    require_type(reply, REDIS_REPLY_INTEGER, cluster_.name());
    if (reply->integer != 1 && static_cast<std::uint64_t>(reply->integer) != bytes_)
      throw dropped_key(cluster_.name());
  });
} catch (const Error& error) {
  unmoved_.explain(error);
}

}  // namespace bloomery::detail
