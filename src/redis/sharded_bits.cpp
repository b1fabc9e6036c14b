// Two batches on the way at once, so that neither side waits for the other.
#include "redis/sharded_bits.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <utility>

#include "redis/shard_of.hpp"
#include "redis/shard_plan.hpp"

namespace bloomery::detail {
namespace {

// SETBIT and BITFIELD count the bits of a byte from the most significant one, filters from the
// least.
constexpr std::uint64_t kFlipped = 7;

// Keys on the way for each node; and for each shard, where these are many.
constexpr std::size_t kKeysOfNode = 1024;
constexpr std::size_t kKeysOfShard = 32;

}  // namespace

ShardedBits::ShardedBits(Cluster cluster, const RedisHeader& header, std::vector<std::string> keys)
    : cluster_(std::move(cluster)),
      header_(header),
      keys_(std::move(keys)),
      positions_(plan_of_shard(header.plan, header.shards)) {
  for (header_.shard = 0; header_.shard < header_.shards; ++header_.shard) {
    const BitString::Guard guard{.identity = string_identity(header_),
                                 .bytes = header_.string_bytes()};
    const std::string& key = keys_[header_.shard];
    strings_.emplace_back(key, cluster_.name() + " '" + key + "'", guard, header_.plan.hashes);
  }
}

ShardedBits::Batch ShardedBits::batch(Change change, std::span<const Hash128> hashes,
                                      std::size_t first, std::size_t count) {
  Batch batch;
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> order_of(strings_.size(), kNone);
  std::vector<std::uint64_t> offsets(header_.plan.hashes);
  for (std::size_t i = first; i < first + count; ++i) {
    const InShard place = in_shard(hashes[i], header_.shards);
    const BitString& string = strings_[place.shard];
    std::size_t& order = order_of[place.shard];
    if (order == kNone) {
      order = batch.orders.size();
      batch.orders.emplace_back(string.key());
      batch.shards.push_back(place.shard);
      batch.places.emplace_back();
      string.ask_length(batch.orders.back().next());
    }
    positions_(place.hash, offsets);
    for (std::uint64_t& offset : offsets) offset = kRedisHeaderBytes * 8 + (offset ^ kFlipped);
    string.ask(batch.orders[order].next(), change, offsets);
    batch.places[order].push_back(i);
  }
  return batch;
}

std::size_t ShardedBits::run(Change change, std::span<const Hash128> hashes,
                             std::span<bool> answers) {
  done_.assign(hashes.size(), false);
  if (hashes.empty()) return 0;
  std::size_t count = 0;
  std::optional<Error> fault;
  std::vector<Batch> batches;  // on the way
  const std::size_t most = std::max(kKeysOfNode * cluster_.nodes(), kKeysOfShard * keys_.size());
  const auto take_into = [&](const Batch& batch) {
    return [&](std::size_t order, std::size_t command, const Reply& reply) {
      BitString& string = strings_[batch.shards[order]];
      if (command == 0) {
        string.check_length(reply);
        return;
      }
      const std::size_t place = batch.places[order][command - 1];
      const bool answer = string.answer_of(change, reply);
      if (!answers.empty()) answers[place] = answer;
      count += answer ? 1 : 0;
      done_[place] = true;
    };
  };
  try {
    for (std::size_t sent = 0; sent < hashes.size() || !batches.empty();) {
      if (sent < hashes.size() && !fault) {
        const std::size_t keys = std::min(most, hashes.size() - sent);
        batches.push_back(batch(change, hashes, sent, keys));
        cluster_.start(batches.back().orders);
        sent += keys;
        if (batches.size() == 1 && sent < hashes.size()) continue;
      }
      if (batches.empty()) break;
      Batch& oldest = batches.front();
      cluster_.finish(oldest.orders, take_into(oldest));
      if (std::any_of(oldest.orders.begin(), oldest.orders.end(),
                      [](const Order& order) { return !order.fault() && !order.answered(); })) {
        // A slot has moved. What is on the way comes in first; to finish it twice does nothing.
        for (Batch& later : std::span(batches).subspan(1))
          cluster_.finish(later.orders, take_into(later));
        cluster_.settle(oldest.orders, take_into(oldest));
      }
      for (const Order& order : oldest.orders)
        if (order.fault() && !fault) fault = order.fault();
      if (fault && change == Change::set) remove_debris(oldest);
      batches.erase(batches.begin());
    }
  } catch (...) {
    cluster_.drop();
    throw;
  }
  if (fault) throw *fault;
  return count;
}

std::size_t ShardedBits::acknowledged() const noexcept {
  return static_cast<std::size_t>(std::find(done_.begin(), done_.end(), false) - done_.begin());
}

void ShardedBits::remove_debris(const Batch& batch) {
  std::vector<Order> removals;
  for (std::size_t i = 0; i < batch.orders.size(); ++i) {
    const auto& fault = batch.orders[i].fault();
    if (!fault || fault->code() != ErrorCode::missing) continue;
    const BitString& string = strings_[batch.shards[i]];
    string.ask_to_remove_debris(removals.emplace_back(string.key()).next());
  }
  // What is left all the same has no header: whoever opens or uses it is told so.
  if (!removals.empty()) cluster_.run(removals, [](std::size_t, std::size_t, const Reply&) {});
}

void ShardedBits::check() {
  std::vector<Order> orders;
  for (const BitString& string : strings_) {
    Order& order = orders.emplace_back(string.key());
    string.ask_length(order.next());
    order.next().command({"GETRANGE", string.key(), "0", std::to_string(kRedisHeaderBytes - 1)});
  }
  cluster_.run(orders, [&](std::size_t shard, std::size_t command, const Reply& reply) {
    BitString& string = strings_[shard];
    if (command == 0) {
      string.check_length(reply);
      return;
    }
    require_type(reply, REDIS_REPLY_STRING, string.name());
    header_.shard = static_cast<std::uint32_t>(shard);
    if (std::string_view(reply->str, reply->len) != encode_redis_header(header_))
      throw Error(ErrorCode::mismatch, string.name() + " is not shard " + std::to_string(shard) +
                                           " of " + std::to_string(header_.shards) +
                                           " of this filter; build the filter anew");
  });
  for (const Order& order : orders)
    if (order.fault()) throw *order.fault();
}

double ShardedBits::share_of_ones() {
  constexpr std::uint64_t kRanges = 1024;
  constexpr std::uint64_t kRange = 4096;
  const std::uint64_t bytes = header_.plan.bytes() / header_.shards;
  const bool sampled = bytes * header_.shards > kRanges * kRange;
  // Of each shard as many, as all are of one size.
  const std::uint64_t ranges =
      sampled ? std::min((kRanges + header_.shards - 1) / header_.shards, bytes / kRange + 1) : 1;
  const std::uint64_t range = sampled ? std::min(kRange, bytes) : bytes;
  std::vector<Order> orders;
  for (const BitString& string : strings_) {
    Order& order = orders.emplace_back(string.key());
    string.ask_length(order.next());
    for (std::uint64_t i = 0; i < ranges; ++i) {
      const std::uint64_t from = kRedisHeaderBytes + (bytes - range) / ranges * i;
      Commands& to = order.next();
      to.begin(4).word("BITCOUNT").word(string.key()).number(from).number(from + range - 1);
    }
  }
  double ones = 0;
  cluster_.run(orders, [&](std::size_t shard, std::size_t command, const Reply& reply) {
    if (command == 0) {
      strings_[shard].check_length(reply);
      return;
    }
    require_type(reply, REDIS_REPLY_INTEGER, strings_[shard].name());
    ones += static_cast<double>(reply->integer);
  });
  for (const Order& order : orders)
    if (order.fault()) throw *order.fault();
  return ones / static_cast<double>(ranges * range * 8 * header_.shards);
}

}  // namespace bloomery::detail
