// Keys to the strings of their shards, and the checks of each answer.
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

Batch ShardedBits::batch(Change change, std::span<const Hash128> hashes, std::size_t first,
                         std::size_t count) {
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
  std::size_t count = 0;
  const BatchRun run{
      .keys = hashes.size(),
      .shards = keys_.size(),
      .make = [&](std::size_t first,
                  std::size_t keys) { return batch(change, hashes, first, keys); },
      .take =
          [&](const Batch& batch, std::size_t order, std::size_t command, const Reply& reply) {
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
          },
      .clean =
          [&](const Batch& batch) {
            if (change == Change::set) remove_debris(batch);
          }};
  if (hashes.empty()) return 0;
  if (const auto fault = run_batches(cluster_, run)) throw *fault;
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
