// Each string is made by one command, with its header and its end.
#include "redis/strings/header_io.hpp"

#include <string_view>

#include "redis/shards/shard_maker.hpp"
#include "redis/strings/redis_header.hpp"
#include "redis/strings/staged_strings.hpp"

namespace bloomery::detail {
namespace {

// ARGV: the header of a shard, and the offset at which the string ends with the identity again. A longer string is
// not taken over: clients that have it open would write beyond the end of the new string.
constexpr std::string_view kMakeShard =
    "local found = redis.call('GETRANGE', KEYS[1], 0, 9) "
    "if found ~= '' and (found ~= string.sub(ARGV[1], 1, 10) or "
    "redis.call('BITCOUNT', KEYS[1], 128, -9) ~= 0) then return 0 end "
    "if redis.call('STRLEN', KEYS[1]) > tonumber(ARGV[2]) + 8 then return -2 end "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], string.sub(ARGV[1], 65, 72)) return 1";
// ARGV[3]: the claim. Before the claim is replaced, it is extended to the length of the string, which shows whether
// the server accepts such a long string.
constexpr std::string_view kCommit =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[3] then return 0 end "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], '\\0') "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "redis.call('SETRANGE', KEYS[1], ARGV[2], string.sub(ARGV[1], 65, 72)) return 1";

}  // namespace

void make_shard_strings(Cluster& cluster, const std::array<char, 8>& identity,
                        const std::vector<ShardString>& strings, std::uint64_t bytes) {
  const std::string end = std::to_string(bytes - kShardEndBytes);
  using Words = ShardsToMake::Words;
  std::vector<std::string> keys;
  for (std::size_t i = 1; i < strings.size(); ++i) keys.push_back(strings[i].key);
  const auto evaluate = [](std::string_view script, const ShardString& string) {
    return Words{"EVAL", std::string(script), "1", string.key, string.header};
  };
  make_shards(
      cluster,
      {.first = strings[0].key,
       .claimed = strings[0].key,
       .identity = identity,
       .keys = std::move(keys),
       .committed = strings[0].header,
       .after_claim = [&] { undo_noted(cluster, strings[0].key, strings_of_note(strings[0].key)); },
       .make =
           [&](std::size_t i) {
             Words words = evaluate(kMakeShard, strings[i + 1]);
             words.push_back(end);
             return words;
           },
       .remove = [&](std::size_t i, bool) { return evaluate(kRemoveString, strings[i + 1]); },
       .commit =
           [&](const std::string& claim) {
             Words words = evaluate(kCommit, strings[0]);
             words.insert(words.end(), {end, claim});
             return words;
           }});
}

}  // namespace bloomery::detail
