// BF.MEXISTS of marks and items is one command, and so one moment. An insert must not carry the
// marks, which it would plant in another's filter: they are asked for after it, and until they are
// seen nothing is acknowledged.
#include "redis/sharded_module.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <utility>

#include "redis/module_chunks.hpp"
#include "redis/module_replies.hpp"
#include "redis/moments.hpp"
#include "redis/shard_keys.hpp"
#include "redis/shard_maker.hpp"
#include "redis/shard_of.hpp"

namespace bloomery::detail {
namespace {

// ARGV: the most items that an empty shard has, the common mark, how many words of BF.RESERVE,
// those words, the marks. What is there is taken over only if nothing was ever inserted. A shard
// without marks would be nobody's: whoever may not insert them does not leave it.
constexpr std::string_view kMake =
    "if redis.call('EXISTS', KEYS[1]) == 1 then "
    "local card = redis.pcall('BF.CARD', KEYS[1]) "
    "if type(card) ~= 'number' or card > tonumber(ARGV[1]) or "
    "redis.call('BF.EXISTS', KEYS[1], ARGV[2]) == 0 then return 0 end end "
    "redis.call('UNLINK', KEYS[1]) "
    "local words = tonumber(ARGV[3]) "
    "redis.call('BF.RESERVE', KEYS[1], unpack(ARGV, 4, 3 + words)) "
    "local added = redis.pcall('BF.MADD', KEYS[1], unpack(ARGV, 4 + words)) "
    "if added.err then redis.call('UNLINK', KEYS[1]) return added end return 1";
// ARGV: the marks of a shard. What another has made since is not removed.
constexpr std::string_view kRemove =
    "for _, found in ipairs(redis.call('BF.MEXISTS', KEYS[1], unpack(ARGV))) do "
    "if found ~= 1 and found ~= true then return 0 end end return redis.call('UNLINK', KEYS[1])";
constexpr std::string_view kCommit =
    "if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1]) return 1";

}  // namespace

std::string module_record_key(std::string_view name) {
  return first_shard_key(name).append(":shards");
}

ShardedModule::ShardedModule(Cluster cluster, const ModuleRecord& record,
                             std::vector<std::string> keys)
    : cluster_(std::move(cluster)), record_(record), keys_(std::move(keys)) {
  for (std::uint32_t shard = 0; shard < record_.shards; ++shard)
    marks_.push_back(record_.marks(shard));
}

std::string ShardedModule::name_of(std::uint32_t shard) const {
  return detail::name_of(cluster_.name(), keys_[shard]);
}

void ShardedModule::require(const redisReply& reply, int type, std::uint32_t shard) const {
  if (reply.type == REDIS_REPLY_ERROR && says(reply, "not found"))
    throw Error(ErrorCode::missing, name_of(shard) +
                                        " is not there any more: deleted, expired or evicted; "
                                        "build the filter anew");
  require_module_reply(reply, type, name_of(shard));
}

void ShardedModule::ask_for_marks(std::uint32_t shard, std::size_t items, Commands& to) const {
  ask_for_marks(shard, keys_[shard], items, to);
}

void ShardedModule::ask_for_marks(std::uint32_t shard, std::string_view key, std::size_t items,
                                  Commands& to) const {
  to.begin(2 + marks_[shard].size() + items).word("BF.MEXISTS").word(key);
  for (const std::string& mark : marks_[shard]) to.word(mark);
}

std::span<redisReply* const> ShardedModule::after_marks(std::uint32_t shard, std::size_t items,
                                                        const redisReply& reply) const {
  require(reply, REDIS_REPLY_ARRAY, shard);
  const std::size_t marks = marks_[shard].size();
  const std::span<redisReply* const> all(reply.element, reply.elements);
  for (const redisReply* each : all) require(*each, REDIS_REPLY_INTEGER, shard);
  if (all.size() != marks + items)
    throw Error(ErrorCode::io, name_of(shard) + ": an answer of another length; check the address");
  if (!std::all_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(marks),
                   [](const redisReply* each) { return each->integer == 1; }))
    throw Error(ErrorCode::missing, name_of(shard) +
                                        " is not there any more, or is another filter: deleted, "
                                        "expired, evicted or replaced; build the filter anew");
  return all.subspan(marks);
}

Batch ShardedModule::batch(bool inserting, Items items, std::size_t first,
                           std::size_t count) const {
  Batch batch;
  const Hasher hasher = shard_hasher();
  std::vector<std::vector<std::size_t>> places(keys_.size());
  for (std::size_t i = first; i < first + count; ++i)
    places[in_shard(hasher(items[i]), record_.shards).shard].push_back(i);
  for (std::uint32_t shard = 0; shard < record_.shards; ++shard) {
    std::vector<std::size_t>& here = places[shard];
    if (here.empty()) continue;
    Order& order = batch.orders.emplace_back(keys_[shard]);
    Commands& to = order.next();
    if (inserting)
      to.begin(4 + here.size()).word("BF.INSERT").word(keys_[shard]).word("NOCREATE").word("ITEMS");
    else
      ask_for_marks(shard, here.size(), to);
    for (const std::size_t place : here) to.word(items[place]);
    if (inserting) ask_for_marks(shard, 0, order.next());
    batch.fast.push_back(false);
    batch.shards.push_back(shard);
    batch.places.push_back(std::move(here));
  }
  return batch;
}

std::size_t ShardedModule::look_up(Items items, std::span<bool> answers) {
  done_.assign(items.size(), false);
  std::size_t count = 0;
  const BatchRun run{
      .keys = items.size(),
      .shards = keys_.size(),
      .make = [&](std::size_t first,
                  std::size_t number) { return batch(false, items, first, number); },
      .take =
          [&](const Batch& batch, std::size_t order, std::size_t, const Reply& reply) {
            const std::vector<std::size_t>& places = batch.places[order];
            const auto said = after_marks(batch.shards[order], places.size(), *reply);
            for (std::size_t i = 0; i < places.size(); ++i) {
              const bool answer = said[i]->integer != 0;
              if (!answers.empty()) answers[places[i]] = answer;
              count += answer ? 1 : 0;
              done_[places[i]] = true;
            }
          },
      .plain = {},
      .clean = {}};
  if (items.empty()) return 0;
  if (const auto fault = run_batches(cluster_, run)) throw *fault;
  return count;
}

std::size_t ShardedModule::insert(Items items, std::span<bool> answers) {
  done_.assign(items.size(), false);
  std::size_t count = 0;
  std::vector<bool> inserted(items.size());
  const BatchRun run{
      .keys = items.size(),
      .shards = keys_.size(),
      .make = [&](std::size_t first,
                  std::size_t number) { return batch(true, items, first, number); },
      .take =
          [&](const Batch& batch, std::size_t order, std::size_t command, const Reply& reply) {
            const std::uint32_t shard = batch.shards[order];
            const std::vector<std::size_t>& places = batch.places[order];
            if (command == 1) {
              (void)after_marks(shard, 0, *reply);
              for (const std::size_t place : places) done_[place] = inserted[place];
              return;
            }
            require(*reply, REDIS_REPLY_ARRAY, shard);
            // An item that is refused has an error in its place, and ends the answer.
            for (std::size_t i = 0; i < places.size(); ++i) {
              if (i >= reply->elements)
                throw Error(ErrorCode::io,
                            name_of(shard) + ": an answer of another length; check the address");
              require(*reply->element[i], REDIS_REPLY_INTEGER, shard);
              // Sent on with its check, it was new the first time.
              if (inserted[places[i]]) continue;
              inserted[places[i]] = true;
              const bool answer = reply->element[i]->integer != 0;
              if (!answers.empty()) answers[places[i]] = answer;
              count += answer ? 1 : 0;
            }
          },
      .plain = {},
      .clean = {}};
  if (items.empty()) return 0;
  if (const auto fault = run_batches(cluster_, run)) throw *fault;
  if (acknowledged() != items.size())
    throw Error(ErrorCode::unavailable,
                cluster_.name() +
                    ": a slot went to another node and back within a batch; "
                    "insert it again");
  return count;
}

std::size_t ShardedModule::acknowledged() const noexcept {
  return static_cast<std::size_t>(std::find(done_.begin(), done_.end(), false) - done_.begin());
}

void ShardedModule::check() {
  std::vector<Order> orders;
  for (std::uint32_t shard = 0; shard < record_.shards; ++shard) {
    Order& order = orders.emplace_back(keys_[shard]);
    ask_for_marks(shard, 0, order.next());
    order.next().command({"BF.INFO", keys_[shard]});
  }
  cluster_.run_all(orders, [&](std::size_t order, std::size_t command, const Reply& reply) {
    const auto shard = static_cast<std::uint32_t>(order);
    if (command == 0) {
      (void)after_marks(shard, 0, *reply);
      return;
    }
    require(*reply, REDIS_REPLY_ARRAY, shard);
    // Names and values in turn.
    const auto value_of = [&](std::string_view name) -> const redisReply* {
      for (std::size_t i = 0; i + 1 < reply->elements; i += 2) {
        const redisReply& title = *reply->element[i];
        if ((title.type == REDIS_REPLY_STATUS || title.type == REDIS_REPLY_STRING) &&
            std::string_view(title.str, title.len) == name)
          return reply->element[i + 1];
      }
      return nullptr;
    };
    const redisReply* capacity = value_of("Capacity");
    const redisReply* expansion = value_of("Expansion rate");
    if (capacity == nullptr || expansion == nullptr || capacity->type != REDIS_REPLY_INTEGER)
      throw Error(ErrorCode::io, name_of(shard) +
                                     ": an answer to BF.INFO that no module with BF "
                                     "commands gives; check the address");
    const auto grows_by = expansion->type == REDIS_REPLY_INTEGER ? expansion->integer : 0;
    if (static_cast<std::uint64_t>(capacity->integer) < record_.capacity_of_each() ||
        grows_by != record_.plan.expansion)
      throw Error(ErrorCode::mismatch,
                  name_of(shard) +
                      " was made with other parameters than its record has; build "
                      "the filter anew");
  });
}

void ShardedModule::check_marks(std::uint32_t shard, Cluster& cluster,
                                const std::string& key) const {
  std::vector<Order> orders(1, Order(key));
  ask_for_marks(shard, key, 0, orders[0].next());
  cluster.run_all(orders, [&](std::size_t, std::size_t, const Reply& reply) {
    (void)after_marks(shard, 0, *reply);
  });
}

std::uint64_t ShardedModule::items() {
  std::vector<Order> orders;
  for (std::uint32_t shard = 0; shard < record_.shards; ++shard) {
    Order& order = orders.emplace_back(keys_[shard]);
    ask_for_marks(shard, 0, order.next());
    order.next().command({"BF.CARD", keys_[shard]});
  }
  std::uint64_t items = 0;
  cluster_.run_all(orders, [&](std::size_t order, std::size_t command, const Reply& reply) {
    const auto shard = static_cast<std::uint32_t>(order);
    if (command == 0) {
      (void)after_marks(shard, 0, *reply);
      return;
    }
    require(*reply, REDIS_REPLY_INTEGER, shard);
    const auto marks = static_cast<long long>(marks_[shard].size()) + 1;
    items += static_cast<std::uint64_t>(std::max(0LL, reply->integer - marks));
  });
  return items;
}

ModuleChunk ShardedModule::chunk(std::uint32_t shard, std::uint64_t after) {
  const std::string& key = keys_[shard];
  Moment moment{
      key, name_of(shard), {{"BF.MEXISTS", key}, {"BF.SCANDUMP", key, std::to_string(after)}}};
  moment.commands[0].insert(moment.commands[0].end(), marks_[shard].begin(), marks_[shard].end());
  ModuleChunk chunk;
  run_moments(cluster_, {&moment, 1}, [&](std::size_t, std::span<redisReply* const> replies) {
    (void)after_marks(shard, 0, *replies[0]);
    chunk = chunk_of(*replies[1], after, moment.name);
  });
  return chunk;
}

void make_module_shards(Cluster& cluster, const ModuleRecord& record, std::string_view name,
                        const std::vector<std::string>& keys) {
  using Words = ShardsToMake::Words;
  Words reserve = {text_of(record.plan.fpr), std::to_string(record.capacity_of_each())};
  if (record.plan.expansion == 0)
    reserve.emplace_back("NONSCALING");
  else
    reserve.insert(reserve.end(), {"EXPANSION", std::to_string(record.plan.expansion)});
  const std::string first = module_record_key(name);
  make_shards(cluster, {.first = first,
                        .claimed = first,
                        .identity = record.identity,
                        .keys = keys,
                        .committed = encode_module_record(record),
                        .make =
                            [&](std::size_t i) {
                              const std::string common = ModuleRecord::common_mark();
                              const Words marks = record.marks(static_cast<std::uint32_t>(i));
                              Words words = {"EVAL",
                                             std::string(kMake),
                                             "1",
                                             keys[i],
                                             std::to_string(marks.size() + 1),
                                             common,
                                             std::to_string(reserve.size())};
                              words.insert(words.end(), reserve.begin(), reserve.end());
                              words.insert(words.end(), marks.begin(), marks.end());
                              words.push_back(common);
                              return words;
                            },
                        .remove =
                            [&](std::size_t i) {
                              Words words = {"EVAL", std::string(kRemove), "1", keys[i]};
                              const Words marks = record.marks(static_cast<std::uint32_t>(i));
                              words.insert(words.end(), marks.begin(), marks.end());
                              return words;
                            },
                        .commit =
                            [&](const std::string& claim) {
                              return Words{"EVAL", std::string(kCommit),         "1",
                                           first,  encode_module_record(record), claim};
                            }});
}

}  // namespace bloomery::detail
