// A batch split by its keys' shards, each of which is believed when its end was seen behind its answers.
#include "redis/sharded_bits.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include "redis/moments.hpp"
#include "redis/shard_of.hpp"
#include "redis/shard_plan.hpp"
#include "redis/whole_string.hpp"

namespace bloomery::detail {
namespace {

constexpr std::uint64_t kReadAtOnce = 4 * kPiece;

}  // namespace

ShardedBits::ShardedBits(Cluster cluster, const RedisHeader& header, std::vector<std::string> keys)
    : cluster_(std::move(cluster)),
      header_(header),
      keys_(std::move(keys)),
      positions_(plan_of_shard(header.plan, header.shards)) {
  for (header_.shard = 0; header_.shard < header_.shards; ++header_.shard) {
    const BitString::Guard guard{.identity = string_identity(header_),
                                 .bytes = header_.string_bytes(),
                                 .blocks = header_.plan.layout != Layout::standard};
    const std::string& key = keys_[header_.shard];
    strings_.emplace_back(key, name_of(cluster_.name(), key), guard, header_.plan.hashes);
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
  // Behind what is read, for a string that was cut never has its end again; before what is set.
  if (change == Change::set) string.ask_length(order.next());
  std::vector<std::uint64_t> offsets(string.hashes());
  for (const std::size_t place : places) {
    offsets_of(in_shard(hashes[place], header_.shards).hash, offsets);
    string.ask(order.next(), change, offsets);
  }
  if (change == Change::test) string.ask_end(order.next());
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
    const bool fast = change == Change::test && string.guard().blocks &&
                      places[shard].size() >= BlockReads::kFewest;
    if (fast) {
      BlockReads& reads = reads_.emplace(places[shard][0], BlockReads(string)).first->second;
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
  // Counted at the end: the first command of an order may be answered twice.
  std::vector<bool> all(hashes.size());
  const auto answered = [&](std::size_t place, bool answer) {
    if (!answers.empty()) answers[place] = answer;
    all[place] = answer;
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
            const bool setting = change == Change::set;
            if (setting && command == 0) {
              string.check_length(reply);
            } else if (command < places.size() + (setting ? 1 : 0)) {
              const std::size_t place = places[command - (setting ? 1 : 0)];
              answered(place, string.answer_of(change, reply));
              done_[place] = setting;
            } else {
              string.check_end(*reply);
              for (const std::size_t place : places) done_[place] = true;
            }
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
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), true));
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
  cluster_.run_all(orders, [&](std::size_t shard, std::size_t command, const Reply& reply) {
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
                                           " of this filter: another is being put in its place, "
                                           "or was left there half way; try again, and if that "
                                           "does not help build the filter anew");
  });
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
  cluster_.run_all(orders, [&](std::size_t shard, std::size_t command, const Reply& reply) {
    if (command == 0)
      strings_[shard].check_length(reply);
    else
      sample.take(reply, strings_[shard].name());
  });
  return sample.share();
}

void ShardedBits::read(std::uint64_t from, std::span<std::byte> out) {
  const std::uint64_t shard_bytes = header_.plan.bytes() / header_.shards;
  struct Piece {
    const BitString* string;
    std::span<std::byte> out;
  };
  while (!out.empty()) {
    std::vector<Piece> pieces;
    std::vector<Moment> moments;
    for (std::uint64_t asked = 0; !out.empty() && asked < kReadAtOnce;) {
      const std::uint64_t at = from % shard_bytes;
      const std::uint64_t size = std::min<std::uint64_t>({kPiece, out.size(), shard_bytes - at});
      const BitString& string = strings_[from / shard_bytes];
      const auto range = [&](std::uint64_t first, std::uint64_t bytes) {
        return std::vector<std::string>{"GETRANGE", string.key(), std::to_string(first),
                                        std::to_string(first + bytes - 1)};
      };
      // A filter that takes the place of another, and gives it back, is not read between two pieces
      // that are right.
      moments.push_back({string.key(),
                         string.name(),
                         {range(string.guard().bytes - kShardEndBytes, kShardEndBytes),
                          range(kRedisHeaderBytes + at, size)}});
      pieces.push_back({&string, out.first(size)});
      asked += size;
      from += size;
      out = out.subspan(size);
    }
    run_moments(cluster_, moments, [&](std::size_t i, std::span<redisReply* const> replies) {
      const Piece& piece = pieces[i];
      piece.string->check_end(*replies[0]);
      require_type(*replies[1], REDIS_REPLY_STRING, piece.string->name());
      if (replies[1]->len != piece.out.size())
        throw Error(ErrorCode::corrupt,
                    piece.string->name() + " was cut short; build the filter anew");
      std::memcpy(piece.out.data(), replies[1]->str, piece.out.size());
    });
  }
}

}  // namespace bloomery::detail
