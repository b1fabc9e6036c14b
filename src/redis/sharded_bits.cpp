// Keys to the strings of their shards, and the checks of each answer.
#include "redis/sharded_bits.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <utility>

#include "redis/shard_of.hpp"
#include "redis/shard_plan.hpp"

namespace bloomery::detail {
namespace {

// A transaction of which a command was refused; the refusal came before, as that command's answer.
bool is_aborted(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ERROR &&
         std::string_view(reply.str, reply.len).starts_with("EXECABORT");
}

}  // namespace

ShardedBits::ShardedBits(Cluster cluster, const RedisHeader& header, std::vector<std::string> keys)
    : cluster_(std::move(cluster)),
      header_(header),
      keys_(std::move(keys)),
      positions_(plan_of_shard(header.plan, header.shards)) {
  for (header_.shard = 0; header_.shard < header_.shards; ++header_.shard) {
    const BitString::Guard guard{.identity = string_identity(header_),
                                 .bytes = header_.string_bytes(),
                                 .lines = header_.plan.layout != Layout::classic};
    const std::string& key = keys_[header_.shard];
    strings_.emplace_back(key, cluster_.name() + " '" + key + "'", guard, header_.plan.hashes);
  }
}

void ShardedBits::offsets_of(Hash128 hash, std::span<std::uint64_t> offsets) const {
  positions_(hash, offsets);
  for (std::uint64_t& offset : offsets) offset = redis_offset(offset);
}

Order ShardedBits::plain_order(Change change, std::uint32_t shard, std::span<const Hash128> hashes,
                               std::span<const std::size_t> places) const {
  const BitString& string = strings_[shard];
  Order order(string.key());
  string.ask_length(order.next());
  std::vector<std::uint64_t> offsets(string.hashes());
  for (const std::size_t place : places) {
    offsets_of(in_shard(hashes[place], header_.shards).hash, offsets);
    string.ask(order.next(), change, offsets);
  }
  return order;
}

Batch ShardedBits::batch(Change change, std::span<const Hash128> hashes, std::size_t first,
                         std::size_t count) {
  std::vector<std::vector<std::size_t>> places(strings_.size());
  for (std::size_t i = first; i < first + count; ++i)
    places[in_shard(hashes[i], header_.shards).shard].push_back(i);
  Batch batch;
  std::vector<std::uint64_t> offsets(header_.plan.hashes);
  for (std::uint32_t shard = 0; shard < header_.shards; ++shard) {
    if (places[shard].empty()) continue;
    BitString& string = strings_[shard];
    const bool fast = change == Change::test && string.guard().lines &&
                      places[shard].size() >= LineReads::kFewest;
    if (fast) {
      LineReads& reads = reads_.emplace(places[shard][0], LineReads(string)).first->second;
      for (const std::size_t place : places[shard]) {
        offsets_of(in_shard(hashes[place], header_.shards).hash, offsets);
        reads.add(offsets);
      }
      Order& order = batch.orders.emplace_back(string.key());
      reads.ask([&]() -> Commands& { return order.next(); });
    } else {
      batch.orders.push_back(plain_order(change, shard, hashes, places[shard]));
    }
    batch.fast.push_back(fast);
    batch.shards.push_back(shard);
    batch.places.push_back(std::move(places[shard]));
  }
  return batch;
}

std::size_t ShardedBits::run(Change change, std::span<const Hash128> hashes,
                             std::span<bool> answers) {
  done_.assign(hashes.size(), false);
  reads_.clear();
  std::size_t count = 0;
  const auto answered = [&](std::size_t place, bool answer) {
    if (!answers.empty()) answers[place] = answer;
    count += answer ? 1 : 0;
    done_[place] = true;
  };
  const BatchRun run{
      .keys = hashes.size(),
      .shards = keys_.size(),
      .make = [&](std::size_t first,
                  std::size_t keys) { return batch(change, hashes, first, keys); },
      .take =
          [&](const Batch& batch, std::size_t order, std::size_t command, const Reply& reply) {
            const std::vector<std::size_t>& places = batch.places[order];
            BitString& string = strings_[batch.shards[order]];
            if (batch.fast[order]) {
              const auto reads = reads_.find(places[0]);
              if (command + 1 < batch.orders[order].size()) {
                reads->second.queued(reply);
                return;
              }
              const auto last = reads_.extract(reads);
              if (!is_aborted(*reply))
                last.mapped().answer(
                    reply, [&](std::size_t key, bool answer) { answered(places[key], answer); });
              return;
            }
            if (command == 0)
              string.check_length(reply);
            else
              answered(places[command - 1], string.answer_of(change, reply));
          },
      .plain =
          [&](const Batch& batch, std::size_t order) {
            return plain_order(change, batch.shards[order], hashes, batch.places[order]);
          },
      .clean =
          [&](const Batch& batch) {
            if (change == Change::set) remove_debris(batch);
          }};
  if (hashes.empty()) return 0;
  if (const auto fault = run_batches(cluster_, run)) throw *fault;
  if (acknowledged() != hashes.size())
    throw Error(
        ErrorCode::unavailable,
        cluster_.name() + ": a server gave up a batch of keys and did not say why; try again");
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

Share ShardedBits::share_of_ones() {
  OnesSample sample(header_.plan.bytes() / header_.shards, header_.shards);
  std::vector<Order> orders;
  for (const BitString& string : strings_) {
    Order& order = orders.emplace_back(string.key());
    string.ask_length(order.next());
    for (std::uint64_t i = 0; i < sample.ranges(); ++i)
      sample.ask(i, string.key(), kRedisHeaderBytes, order.next());
  }
  cluster_.run(orders, [&](std::size_t shard, std::size_t command, const Reply& reply) {
    if (command == 0)
      strings_[shard].check_length(reply);
    else
      sample.take(reply, strings_[shard].name());
  });
  for (const Order& order : orders)
    if (order.fault()) throw *order.fault();
  return sample.share();
}

}  // namespace bloomery::detail
