// The Lua scripts that contain the rules.
#include "redis/shards/staged_keys.hpp"

#include <bloomery/hash.hpp>

#include <initializer_list>
#include <utility>

namespace bloomery::detail {
namespace {

// If a user lacks the right to a command, the server does not undo the commands before it in the script. So a script
// first uses every right that it or a later script needs, in a way that does no harm.
constexpr std::string_view kUseRights =
    "redis.call('PERSIST', KEYS[2]) redis.call('EXPIRE', KEYS[2], 600) ";
constexpr std::string_view kIntoPlace =
    "redis.call('RENAME', KEYS[2], KEYS[1]) redis.call('PERSIST', KEYS[1]) return 1";
// The replaced key is kept until all is done, which takes seconds, or the maker gives up. If the maker is killed, it
// is kept for a day: during that time the replacement can be undone.
constexpr std::string_view kSetAside =
    "if have then redis.call('RENAME', KEYS[1], KEYS[3]) redis.call('EXPIRE', KEYS[3], 86400) "
    "else redis.call('SET', KEYS[3], '', 'EX', 86400) end ";
// While the staged key is there, nothing was put into the place; when it is gone, no command that arrives late puts
// anything there. The key that was set aside proves that something was put there: without it, the key in the place is
// not ours to remove, whatever it looks like. If an empty string was set aside, the place was empty. If our key has
// gone from the place meanwhile, the place is empty now.
constexpr std::string_view kMayRemove =
    "if redis.call('UNLINK', KEYS[2]) == 1 or redis.call('EXISTS', KEYS[3]) == 0 "
    "or redis.call('EXISTS', KEYS[1]) == 1 and not (";
constexpr std::string_view kRemoveIfAlone =
    ") then return 0 end "
    "if redis.call('TYPE', KEYS[3]).ok == 'string' "
    "and redis.call('GETRANGE', KEYS[3], 0, 0) == '' then "
    "redis.call('UNLINK', KEYS[1], KEYS[3]) return 1 end ";
// Before anything moves, a user without the right to RENAME or PERSIST gets the error.
constexpr std::string_view kPutBack =
    "redis.call('RENAME', KEYS[3], KEYS[3]) redis.call('PERSIST', KEYS[3]) "
    "redis.call('RENAME', KEYS[3], KEYS[1]) return 1";
constexpr std::string_view kRemove = "redis.call('UNLINK', KEYS[1]) return 1";

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// 16 random hexadecimal digits.
std::string random_name() {
  const std::uint64_t value = random_seed(HashFamily::xxh3).low;
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
  return out;
}

}  // namespace

std::string scratch_name(std::string_view key) { return name_beside(key, "new-" + random_name()); }

StagedKeys::StagedKeys(std::vector<std::string> places, const Rules& rules,
                       std::chrono::seconds keep_every)
    : StagedKeys(std::move(places), rules, random_name()) {
  keep_every_ = keep_every;
}

StagedKeys::StagedKeys(std::vector<std::string> places, const Rules& rules, std::string_view number)
    : number_(number),
      places_(std::move(places)),
      rules_(rules),
      kept_(std::chrono::steady_clock::now()) {
  for (const std::string& place : places_) {
    names_.push_back(name_beside(place, "new-" + number_));
    replaced_.push_back(name_beside(place, "old-" + number_));
  }
}

void StagedKeys::require_expiry(Cluster& cluster) const {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < names_.size(); ++i)
    expire(i, requests.emplace_back(names_[i]).next());
  cluster.run_all(requests, [&](std::size_t i, std::size_t, const Reply& reply) {
    require_type(reply, REDIS_REPLY_INTEGER, cluster.name_of(places_[i]));
  });
}

void StagedKeys::expire(std::size_t i, Commands& to) const {
  to.command({"EXPIRE", names_[i], kScratchSeconds});
}

void StagedKeys::keep_alive(Cluster& cluster, std::size_t made) {
  const auto now = std::chrono::steady_clock::now();
  if (now - kept_ < keep_every_) return;
  std::vector<Request> requests;
  for (std::size_t i = 0; i < made; ++i) expire(i, requests.emplace_back(names_[i]).next());
  cluster.run_all(requests, [&](std::size_t i, std::size_t, const Reply& reply) {
    const std::string name = cluster.name_of(places_[i]);
    require_type(reply, REDIS_REPLY_INTEGER, name);
    if (reply->integer != 1) throw dropped_key(name);
  });
  kept_ = now;
}

StagedKeys::Words StagedKeys::evaluate(const std::string& script, std::size_t i,
                                       const Words& arguments) const {
  Words words = {"EVAL", script, "3", places_[i], names_[i], replaced_[i]};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

bool StagedKeys::publish_only(Cluster& cluster, const Words& arguments) const {
  const Reply reply = cluster.ask(
      places_[0], evaluate(join({rules_.functions, "if redis.call('EXISTS', KEYS[1]) == 1 then if ",
                                 rules_.is_ours.empty() ? "false" : rules_.is_ours,
                                 " then redis.pcall('UNLINK', KEYS[2]) return 1 end if not (",
                                 rules_.may_go, ") then return 0 end end if not (", rules_.is_whole,
                                 ") then return -1 end ", kUseRights, kIntoPlace}),
                           0, arguments));
  const std::string name = cluster.name_of(places_[0]);
  require_type(reply, REDIS_REPLY_INTEGER, name);
  if (reply->integer < 0) throw dropped_key(name);
  return reply->integer == 1;
}

StagedKeys::Words StagedKeys::place(std::size_t i, const Words& arguments) const {
  return evaluate(
      join({rules_.functions, "local have = redis.call('EXISTS', KEYS[1]) == 1 if have and not (",
            rules_.may_go, ") then return 0 end if have and (", rules_.is_longer,
            ") then return -2 end if not (", rules_.is_whole,
            ") then return -1 end redis.call('UNLINK', KEYS[3]) ", kUseRights, kSetAside,
            kIntoPlace}),
      i, arguments);
}

StagedKeys::Words StagedKeys::remove(std::size_t i, const Words& arguments, bool put_back) const {
  return evaluate(join({rules_.functions, kMayRemove, rules_.is_ours, kRemoveIfAlone,
                        put_back ? kPutBack : kRemove}),
                  i, arguments);
}

void StagedKeys::drop(Cluster& cluster, const std::vector<std::string>& names) noexcept {
  try {
    cluster.drop();
    std::vector<Request> requests;
    for (const std::string& name : names) requests.push_back({name, {"UNLINK", name}});
    cluster.run(requests, [](std::size_t, std::size_t, const Reply&) {});
  } catch (...) {
    // The server drops the keys when they expire.
  }
}

}  // namespace bloomery::detail
