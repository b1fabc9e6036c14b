// Shards of a module's filter copied and merged one by one, beside what has the name.
//
// The copy has the identity of the first source: its marks are among the items, and prove each shard
// of the copy to be the shard that it was. It has the marks of the other sources too, and of whatever
// they were made of. So none of these is replaced: whoever has it open would take the copy for it, and
// ask the copy for keys that were inserted after the dump.
#include <bloomery/sharded_module_filter.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redis/module_chunks.hpp"
#include "redis/module_replies.hpp"
#include "redis/shard_keys.hpp"
#include "redis/shard_maker.hpp"
#include "redis/sharded_module.hpp"
#include "redis/staged_shards.hpp"
#include "redis/whole_string.hpp"

namespace bloomery {
namespace detail {
namespace {

// ARGV: 1 where a shard with items may go, as what its record stands for may, the most items that an
// empty one has, the common mark, the marks. An absent filter has none of them.
constexpr StagedShards::Kind kFilters = {
    .functions =
        "local function has_marks(key) "
        "for _, found in ipairs(redis.call('BF.MEXISTS', key, unpack(ARGV, 4))) do "
        "if found ~= 1 and found ~= true then return false end end return true end ",
    .may_go =
        "(function() local kind = redis.call('TYPE', KEYS[1]).ok "
        "if kind ~= 'bloomery-' and kind ~= 'MBbloom--' then return false end "
        "if ARGV[1] == '1' then return true end "
        "local card = redis.pcall('BF.CARD', KEYS[1]) "
        "return type(card) == 'number' and card <= tonumber(ARGV[2]) and "
        "redis.call('BF.EXISTS', KEYS[1], ARGV[3]) ~= 0 end)()",
    .is_longer = "false",  // an end that nobody writes behind
    .is_whole = "has_marks(KEYS[2])",
    .is_ours = "has_marks(KEYS[1])"};
// A module makes a new filter where the one that is merged into has expired: -1.
constexpr std::string_view kMerge =
    "if redis.call('EXPIRE', KEYS[1], 600) == 0 then return -1 end "
    "return redis.call('BF.MERGE', KEYS[1], KEYS[2])";
// KEYS: the claim, the record's. ARGV: the record, the claim, the record that is replaced.
constexpr std::string_view kCommit =
    "if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end "
    "if KEYS[1] ~= KEYS[2] then "
    "if redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end "
    "redis.call('UNLINK', KEYS[1]) end "
    "redis.call('SET', KEYS[2], ARGV[1]) return 1";

class ModuleShardsCopy {
 public:
  ModuleShardsCopy(Cluster cluster, const ModuleRecord& record, std::string_view name, bool replace)
      : cluster_(std::move(cluster)),
        record_(record),
        record_key_(module_record_key(name)),
        replaced_(find_replaced(replace)),
        staged_(shard_keys(name, record.shards), kFilters) {}
  ModuleShardsCopy(const ModuleShardsCopy&) = delete;
  ModuleShardsCopy& operator=(const ModuleShardsCopy&) = delete;
  ~ModuleShardsCopy() {
    if (!published_) staged_.drop_staged(cluster_);
  }

  // A shard of the first source, and then of the others.
  void take(std::uint32_t shard, ShardedModule& source, bool first) {
    const std::string& whole = staged_.names()[shard];
    const std::string& place = staged_.places()[shard];
    const std::string what = name_of(cluster_.name(), place);
    const std::size_t made = first ? shard : shard + std::size_t{1};
    if (first) return copy(shard, source, whole, made, what);
    const std::string beside = name_beside(place, "new-" + random_name());
    try {
      copy(shard, source, beside, made, what);
      merge(whole, beside, what);
    } catch (...) {
      unlink(beside);
      throw;
    }
    unlink(beside);
  }

  // For a shard that has all sources: nobody takes it for the one that it replaces.
  void require_other_than_replaced(std::uint32_t shard) {
    if (!replaced_) return;
    const std::string what = name_of(cluster_.name(), record_key_);
    const std::string& whole = staged_.names()[shard];
    const auto marks = decode_module_record(*replaced_, what).marks(shard);
    std::vector<Order> orders(1, Order(whole));
    Commands& to = orders[0].next().begin(2 + marks.size()).word("BF.MEXISTS").word(whole);
    for (const std::string& mark : marks) to.word(mark);
    cluster_.run_all(orders, [&](std::size_t, std::size_t, const Reply& found) {
      require_module_reply(*found, REDIS_REPLY_ARRAY, what);
      const std::span<redisReply* const> each(found->element, found->elements);
      for (const redisReply* one : each) require_module_reply(*one, REDIS_REPLY_INTEGER, what);
      if (std::ranges::all_of(each, [](const redisReply* one) { return one->integer == 1; }))
        throw Error(ErrorCode::exists,
                    what +
                        " is the record of one of the filters that the new one would be made of; "
                        "choose another name");
    });
  }

  void publish() {
    const std::string claimed = replaced_ ? claim_beside(record_key_) : record_key_;
    const std::string committed = encode_module_record(record_);
    using Words = ShardsToMake::Words;
    const auto arguments = [&](std::size_t i) {
      const auto marks = record_.marks(static_cast<std::uint32_t>(i));
      Words words = {replaced_ ? "1" : "0", std::to_string(marks.size() + 1),
                     ModuleRecord::common_mark()};
      words.insert(words.end(), marks.begin(), marks.end());
      return words;
    };
    make_shards(cluster_,
                {.first = record_key_,
                 .claimed = claimed,
                 .identity = record_.identity,
                 .keys = staged_.places(),
                 .committed = committed,
                 .claimed_now = [&] { require_replaced(); },
                 .make = [&](std::size_t i) { return staged_.place(i, arguments(i)); },
                 .remove = [&](std::size_t i) { return staged_.put_back(i, arguments(i)); },
                 .commit =
                     [&](const std::string& claim) {
                       return Words{"EVAL",  std::string(kCommit),  "2",
                                    claimed, record_key_,           committed,
                                    claim,   replaced_.value_or("")};
                     }});
    published_ = true;
    staged_.drop_replaced(cluster_);
  }

 private:
  // The record that is there, of a filter that may go.
  std::optional<std::string> find_replaced(bool replace) {
    const std::string what = name_of(cluster_.name(), record_key_);
    const Reply found = cluster_.ask(record_key_, {"GET", record_key_});
    if (found->type == REDIS_REPLY_NIL) return std::nullopt;
    require_type(found, REDIS_REPLY_STRING, what);
    const std::string_view bytes(found->str, found->len);
    if (is_claim(bytes)) throw being_made(what);
    if (!replace)
      throw Error(ErrorCode::exists,
                  what + " exists already; open the filter, or choose another name");
    const ModuleRecord record = decode_module_record(bytes, what);
    // The marks of one could not be told from those of the other.
    if (record.identity == record_.identity)
      throw Error(ErrorCode::exists,
                  what + " is the record of the same filter, or of a copy; choose another name");
    if (record.shards != record_.shards)
      throw Error(ErrorCode::mismatch, what + " is the record of " + std::to_string(record.shards) +
                                           " shards, and these are " +
                                           std::to_string(record_.shards) +
                                           "; choose another name");
    return std::string(bytes);
  }

  // Under the claim nobody else replaces it: the shards are those of the record that was found.
  void require_replaced() {
    if (!replaced_) return;
    const std::string what = name_of(cluster_.name(), record_key_);
    const Reply found = cluster_.ask(record_key_, {"GET", record_key_});
    if (found->type != REDIS_REPLY_NIL) require_type(found, REDIS_REPLY_STRING, what);
    if (found->type == REDIS_REPLY_NIL || std::string_view(found->str, found->len) != *replaced_)
      throw Error(ErrorCode::unavailable,
                  what + ": another filter was put there in the meantime; try again");
  }

  // Chunk by chunk, beside `made` staged shards, and then asks the copy for the marks.
  void copy(std::uint32_t shard, ShardedModule& source, const std::string& to, std::size_t made,
            const std::string& what) {
    for (ModuleChunk chunk = source.chunk(shard, 0); chunk.iterator != 0;
         chunk = source.chunk(shard, chunk.iterator)) {
      staged_.keep_alive(cluster_, made);
      std::vector<Order> orders(1, Order(to));
      orders[0].next().command({"BF.LOADCHUNK", to, std::to_string(chunk.iterator), chunk.bytes});
      orders[0].next().command({"EXPIRE", to, kScratchSeconds});
      cluster_.run_all(orders, [&](std::size_t, std::size_t command, const Reply& reply) {
        require_chunk_reply(*reply, command == 0 ? REDIS_REPLY_STATUS : REDIS_REPLY_INTEGER, what);
      });
    }
    source.check_marks(shard, cluster_, to);
  }

  void merge(const std::string& into, const std::string& from, const std::string& what) {
    std::vector<Order> orders(1, Order(into));
    orders[0].next().command({"EVAL", kMerge, "2", into, from});
    cluster_.run_all(orders, [&](std::size_t, std::size_t, const Reply& merged) {
      if (merged->type == REDIS_REPLY_INTEGER ||
          (merged->type == REDIS_REPLY_ERROR && says(*merged, "not found")))
        throw dropped_shard(what);
      if (merged->type == REDIS_REPLY_ERROR && is_unknown_command(*merged))
        throw Error(ErrorCode::wrong_kind,
                    what + ": the server's module cannot merge filters; load bloomery.so");
      if (merged->type == REDIS_REPLY_ERROR && says(*merged, "differ in their parameters"))
        throw Error(ErrorCode::mismatch,
                    what +
                        ": the servers have made the shards of the filters in different ways, or "
                        "with different keys; build one of them anew");
      require_chunk_reply(*merged, REDIS_REPLY_STATUS, what);
    });
  }

  void unlink(const std::string& key) noexcept {
    try {
      (void)cluster_.ask(key, {"UNLINK", key});
    } catch (...) {
      // The server drops it in time.
    }
  }

  Cluster cluster_;
  ModuleRecord record_;
  std::string record_key_;
  // The record that is there, which stands for its filter, and speaks for its shards, until the new
  // one does.
  std::optional<std::string> replaced_;
  StagedShards staged_;
  bool published_ = false;
};

}  // namespace
}  // namespace detail

void ShardedModuleFilter::store(const RedisAddress& address, std::string_view name,
                                std::span<ShardedModuleFilter* const> sources, bool replace) {
  if (sources.empty())
    throw Error(ErrorCode::invalid_argument, "a filter is made of one source at least");
  const detail::ModuleRecord& record = sources[0]->shards_->record();
  for (const ShardedModuleFilter* source : sources) {
    const detail::ModuleRecord& other = source->shards_->record();
    if (other.shards != record.shards || !(other.plan == record.plan))
      throw Error(ErrorCode::mismatch,
                  "the filters differ in shards, capacity, rate or growth; build one of them anew");
  }
  detail::ModuleShardsCopy copy(detail::Cluster(address), record, name, replace);
  for (std::uint32_t shard = 0; shard < record.shards; ++shard) {
    for (std::size_t i = 0; i < sources.size(); ++i) copy.take(shard, *sources[i]->shards_, i == 0);
    copy.require_other_than_replaced(shard);
  }
  copy.publish();
}

}  // namespace bloomery
