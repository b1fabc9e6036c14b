// Claim, make, commit: each step of a shard is one script, which its server runs at once.
#include "redis/shard_maker.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <utility>

namespace bloomery::detail {
namespace {

constexpr std::string_view kClaimMagic(
    "\x89"
    "BLC\r\n\x1A\n",
    8);
constexpr std::string_view kClaimMilliseconds = "60000";

// Shards between two looks at the claim: 256 MiB each are zeroed in a few seconds at most.
constexpr std::size_t kAtOnce = 16;

constexpr std::string_view kMake =
    "local found = redis.call('GETRANGE', KEYS[1], 0, 9) "
    "if found ~= '' and (found ~= string.sub(ARGV[1], 1, 10) or "
    "redis.call('BITCOUNT', KEYS[1], 128, -9) ~= 0) then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1]) redis.call('SETRANGE', KEYS[1], ARGV[2], "
    "string.sub(ARGV[1], 65, 72)) return 1";
constexpr std::string_view kRenew =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
    "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
constexpr std::string_view kCommit =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[3] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1]) redis.call('SETRANGE', KEYS[1], ARGV[2], "
    "string.sub(ARGV[1], 65, 72)) return 1";
constexpr std::string_view kRemove =
    "if redis.call('GETRANGE', KEYS[1], 0, 127) ~= ARGV[1] then return 0 end "
    "return redis.call('UNLINK', KEYS[1])";

class Maker {
 public:
  Maker(Cluster& cluster, RedisHeader header, const std::vector<std::string>& keys)
      : cluster_(cluster),
        keys_(keys),
        end_(std::to_string(header.string_bytes() - kShardEndBytes)) {
    for (header.shard = 0; header.shard < header.shards; ++header.shard)
      headers_.push_back(encode_redis_header(header));
    claim_ = std::string(kClaimMagic).append(header.identity.data(), header.identity.size());
  }

  void make() {
    claim();
    try {
      for (std::size_t first = 1; first < keys_.size(); first += kAtOnce) {
        make_some(first, std::min(first + kAtOnce, keys_.size()));
        if (!is_one({"EVAL", kRenew, "1", keys_[0], claim_, kClaimMilliseconds})) throw lost();
      }
      if (!is_one({"EVAL", kCommit, "1", keys_[0], headers_[0], end_, claim_})) throw lost();
    } catch (const Error&) {
      remove();
      throw;
    }
  }

 private:
  [[nodiscard]] std::string name_of(std::size_t shard) const {
    return cluster_.name() + " '" + keys_[shard] + "'";
  }

  void claim() {
    const Reply set =
        cluster_.ask(keys_[0], {"SET", keys_[0], claim_, "NX", "PX", kClaimMilliseconds});
    if (set->type != REDIS_REPLY_NIL) {
      require_type(set, REDIS_REPLY_STATUS, name_of(0));
      return;
    }
    const Reply found = cluster_.ask(keys_[0], {"GETRANGE", keys_[0], "0", "7"});
    require_type(found, REDIS_REPLY_STRING, name_of(0));
    if (is_claim({found->str, found->len})) throw being_made(name_of(0));
    throw Error(ErrorCode::exists,
                name_of(0) + " exists already; open the filter, or choose another name");
  }

  void make_some(std::size_t first, std::size_t end) {
    std::vector<Order> orders;
    for (std::size_t i = first; i < end; ++i)
      orders.emplace_back(keys_[i]).next().command(
          {"EVAL", kMake, "1", keys_[i], headers_[i], end_});
    cluster_.run(orders, [&](std::size_t order, std::size_t, const Reply& reply) {
      require_type(reply, REDIS_REPLY_INTEGER, name_of(first + order));
      if (reply->integer != 1)
        throw Error(ErrorCode::exists,
                    name_of(first + order) +
                        " holds something, and is no empty shard; remove it, or choose another "
                        "name");
    });
    for (const Order& order : orders)
      if (order.fault()) throw *order.fault();
  }

  bool is_one(std::initializer_list<std::string_view> words) {
    const Reply reply = cluster_.ask(keys_[0], words);
    require_type(reply, REDIS_REPLY_INTEGER, name_of(0));
    return reply->integer == 1;
  }

  [[nodiscard]] Error lost() const {
    return {ErrorCode::unavailable,
            name_of(0) +
                ": making the shards took longer than a minute, or another began in the "
                "meantime; try again"};
  }

  void remove() noexcept {
    try {
      std::vector<Order> orders;
      for (std::size_t i = 0; i < keys_.size(); ++i)
        orders.emplace_back(keys_[i]).next().command(
            {"EVAL", kRemove, "1", keys_[i], i == 0 ? claim_ : headers_[i]});
      cluster_.run(orders, [](std::size_t, std::size_t, const Reply&) {});
    } catch (const Error&) {
      // What is left are a claim and empty shards, which the next maker takes over.
    }
  }

  Cluster& cluster_;
  const std::vector<std::string>& keys_;
  std::string end_;
  std::vector<std::string> headers_;
  std::string claim_;
};

}  // namespace

void make_shards(Cluster& cluster, RedisHeader header, const std::vector<std::string>& keys) {
  Maker(cluster, header, keys).make();
}

bool is_claim(std::string_view start) noexcept { return start.starts_with(kClaimMagic); }

Error being_made(const std::string& name) {
  return {ErrorCode::locked, name +
                                 ": the filter is being made, or its maker died less than a "
                                 "minute ago; try again in a minute"};
}

}  // namespace bloomery::detail
