// Two scripts around the expressions of a kind of shards, and a clock.
#include "redis/staged_shards.hpp"

#include <bloomery/error.hpp>

#include <utility>

#include "redis/script.hpp"
#include "redis/whole_string.hpp"

namespace bloomery::detail {
namespace {

// What is replaced has ten minutes: until all is done, which takes seconds, or is given up. A server
// does not undo what a script did before a command that the user may not run: so all that this one
// and the later ones need are run first, where they harm nothing.
constexpr std::string_view kTake =
    "redis.call('UNLINK', KEYS[3]) "
    "redis.call('PERSIST', KEYS[2]) redis.call('EXPIRE', KEYS[2], 600) "
    "if have then redis.call('RENAME', KEYS[1], KEYS[3]) redis.call('EXPIRE', KEYS[3], 600) "
    "else redis.call('SET', KEYS[3], '', 'EX', 600) end "
    "redis.call('RENAME', KEYS[2], KEYS[1]) redis.call('PERSIST', KEYS[1]) return 1";
// While the staged name is there, nothing was put in the place; and when it has gone, nothing is put
// there any more by a command that comes late. What was replaced says that it was: without it, what is
// in the place is not ours to remove, whatever it looks like. An empty string: there was nothing.
// Where ours has gone from the place meanwhile, it is empty.
constexpr std::string_view kMayGiveBack =
    "if redis.call('UNLINK', KEYS[2]) == 1 or redis.call('EXISTS', KEYS[3]) == 0 "
    "or redis.call('EXISTS', KEYS[1]) == 1 and not (";
constexpr std::string_view kGiveBack =
    ") then return 0 end "
    "if redis.call('TYPE', KEYS[3]).ok == 'string' and redis.call('STRLEN', KEYS[3]) == 0 then "
    "redis.call('UNLINK', KEYS[1], KEYS[3]) else "
    "redis.call('RENAME', KEYS[3], KEYS[1]) redis.call('PERSIST', KEYS[1]) end return 1";

}  // namespace

StagedShards::StagedShards(std::vector<std::string> places, const Kind& kind,
                           std::chrono::seconds keep_every)
    : places_(std::move(places)),
      kind_(kind),
      keep_every_(keep_every),
      kept_(std::chrono::steady_clock::now()) {
  const std::string number = random_name();
  for (const std::string& place : places_) {
    names_.push_back(name_beside(place, "new-" + number));
    replaced_.push_back(name_beside(place, "old-" + number));
  }
}

void StagedShards::expire(std::size_t i, Commands& to) const {
  to.command({"EXPIRE", names_[i], kScratchSeconds});
}

void StagedShards::keep_alive(Cluster& cluster, std::size_t made) {
  const auto now = std::chrono::steady_clock::now();
  if (now - kept_ < keep_every_) return;
  std::vector<Order> orders;
  for (std::size_t i = 0; i < made; ++i) expire(i, orders.emplace_back(names_[i]).next());
  cluster.run_all(orders, [&](std::size_t i, std::size_t, const Reply& reply) {
    const std::string name = name_of(cluster.name(), places_[i]);
    require_type(reply, REDIS_REPLY_INTEGER, name);
    if (reply->integer != 1)
      throw Error(ErrorCode::no_space, name +
                                           ": the server dropped the new shard while it was "
                                           "written; raise its maxmemory, or write faster");
  });
  kept_ = now;
}

StagedShards::Words StagedShards::evaluate(std::string text, std::size_t i,
                                           const Words& arguments) const {
  Words words = {"EVAL", std::move(text), "3", places_[i], names_[i], replaced_[i]};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

StagedShards::Words StagedShards::place(std::size_t i, const Words& arguments) const {
  return evaluate(
      script({kind_.functions, "local have = redis.call('EXISTS', KEYS[1]) == 1 if have and not (",
              kind_.may_go, ") then return 0 end if have and (", kind_.is_longer,
              ") then return -2 end if not (", kind_.is_whole, ") then return -1 end ", kTake}),
      i, arguments);
}

StagedShards::Words StagedShards::put_back(std::size_t i, const Words& arguments) const {
  return evaluate(script({kind_.functions, kMayGiveBack, kind_.is_ours, kGiveBack}), i, arguments);
}

void StagedShards::drop(Cluster& cluster, const std::vector<std::string>& names) noexcept {
  try {
    cluster.drop();
    std::vector<Order> orders;
    for (const std::string& name : names)
      orders.emplace_back(name).next().command({"UNLINK", name});
    cluster.run(orders, [](std::size_t, std::size_t, const Reply&) {});
  } catch (...) {
    // The servers drop it in time.
  }
}

std::string claim_beside(std::string_view first) { return name_beside(first, "replacing"); }

}  // namespace bloomery::detail
