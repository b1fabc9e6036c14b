// There is one scan for each type of filter; the server leaves out other keys.
#include "redis/module/module_scan.hpp"

#include <bloomery/error.hpp>

#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "redis/cluster/cluster.hpp"
#include "redis/module/module_replies.hpp"

namespace bloomery::detail {
namespace {

constexpr std::string_view kTypes[] = {"bloomery-", "MBbloom--"};
constexpr std::string_view kKeysOfRound = "512";

class Scan {
 public:
  Scan(const RedisPlace& place, const std::function<void(const ScannedFilter&)>& use,
       const std::function<void(const std::string&, const Error&)>& refused)
      : cluster_(place.address, Cluster::Scope::one_server),
        pattern_(place.key),
        use_(use),
        refused_(refused) {}

  void run(std::string_view type) {
    std::string cursor = "0";
    do {
      const Reply reply = cluster_.ask(
          "", {"SCAN", cursor, "MATCH", pattern_, "COUNT", kKeysOfRound, "TYPE", type});
      require_type(reply, REDIS_REPLY_ARRAY, cluster_.name());
      require_elements(*reply, 2, cluster_.name());
      require_type(*reply->element[1], REDIS_REPLY_ARRAY, cluster_.name());
      take({reply->element[1]->element, reply->element[1]->elements});
      cursor = text_of(*reply->element[0]);
    } while (cursor != "0");
  }

 private:
  void take(std::span<redisReply* const> names) {
    std::vector<std::string> keys;
    Request request("");
    for (const redisReply* name : names) {
      const auto [key, is_new] = met_.emplace(text_of(*name));
      if (!is_new) continue;
      keys.push_back(*key);
      request.next().command({"BF.INFO", *key});
      request.next().command({"BF.INFO", *key, "RESERVE"});
      request.next().command({"BF.DEBUG", *key});
    }
    if (met_.size() > kMaxScannedFilters)
      throw Error(ErrorCode::too_large, cluster_.name() + ": more than " +
                                            std::to_string(kMaxScannedFilters) + " filters match " +
                                            quoted_key(pattern_) + "; narrow the pattern");
    if (!keys.empty()) ask(keys, request);
  }

  void ask(std::span<const std::string> keys, Request& request) {
    ScannedFilter filter;
    bool is_there = false;
    cluster_.run_all({&request, 1}, [&](std::size_t, std::size_t command, const Reply& reply) {
      const std::string& key = keys[command / 3];
      is_there = (command % 3 == 0 || is_there) && !has_gone(*reply);
      if (!is_there) return;
      try {
        take_reply(command % 3, *reply, key, filter);
      } catch (const Error& error) {
        // What concerns the whole server is no matter of one filter.
        if (error.code() == ErrorCode::unavailable) throw;
        is_there = false;
        return refused_(key, error);
      }
      if (command % 3 == 2) use_(filter);
    });
  }

  void take_reply(std::size_t command, const redisReply& reply, const std::string& key,
                  ScannedFilter& filter) {
    const std::string name = cluster_.name_of(key);
    if (command == 0) filter = {key, info_in(reply, name), std::nullopt, std::nullopt};
    if (command == 1) filter.reserve = reserve_in(reply, name);
    if (command == 2) filter.fill = fill_in(reply);
  }

  // Whether the key was deleted, or has another type by now.
  static bool has_gone(const redisReply& reply) noexcept {
    return says(reply, "not found") || says(reply, "WRONGTYPE");
  }

  Cluster cluster_;
  std::string pattern_;
  const std::function<void(const ScannedFilter&)>& use_;
  const std::function<void(const std::string&, const Error&)>& refused_;
  std::unordered_set<std::string> met_;
};

}  // namespace

void scan_module_filters(
    const RedisPlace& place, const std::function<void(const ScannedFilter&)>& use,
    const std::function<void(const std::string& key, const Error& error)>& refused) {
  Scan scan(place, use, refused);
  for (const std::string_view type : kTypes) scan.run(type);
}

}  // namespace bloomery::detail
