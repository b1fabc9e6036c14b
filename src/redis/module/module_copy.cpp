// Copies filters of a module key by key, beside what has their name, and merges shards.
//
// A copy of shards has the identity of the first source: its markers are among the items, and prove
// each shard of the copy to be the shard that it was. It has the markers of the other sources too,
// and of whatever they were made of. So none of these is replaced: a client that has it open would
// take the copy for it, and ask the copy for keys that were inserted after the dump.
#include <bloomery/error.hpp>
#include <bloomery/module_dump.hpp>
#include <bloomery/module_filter.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redis/module/module_keys.hpp"
#include "redis/module/module_record.hpp"
#include "redis/module/module_replies.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/shards/staged_keys.hpp"

namespace bloomery {
namespace detail {
namespace {

// ARGV: 1 if a shard with items may go, because its record may, the items of an empty shard, the
// common marker, the markers. An absent filter has none of them.
constexpr StagedKeys::Rules kShards = {
    .functions =
        "local function has_markers(key) "
        "for _, found in ipairs(redis.call('BF.MEXISTS', key, unpack(ARGV, 4))) do "
        "if found ~= 1 and found ~= true then return false end end return true end ",
    .may_go =
        "(function() local kind = redis.call('TYPE', KEYS[1]).ok "
        "if kind ~= 'bloomery-' and kind ~= 'MBbloom--' then return false end "
        "if ARGV[1] == '1' then return true end "
        "local card = redis.pcall('BF.CARD', KEYS[1]) "
        "return type(card) == 'number' and card <= tonumber(ARGV[2]) and "
        "redis.call('BF.EXISTS', KEYS[1], ARGV[3]) ~= 0 end)()",
    .is_longer = "false",  // a module's filter has no end to write beyond
    .is_whole = "has_markers(KEYS[2])",
    .is_ours = "has_markers(KEYS[1])"};
// If the filter that is merged into has expired, the module would make a new one: -1.
constexpr std::string_view kMerge =
    "if redis.call('EXPIRE', KEYS[1], 600) == 0 then return -1 end "
    "return redis.call('BF.MERGE', KEYS[1], KEYS[2])";
// KEYS: the claim, the record's. ARGV: the record, the claim, the record that is replaced.
constexpr std::string_view kCommitCopy =
    "if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end "
    "if KEYS[1] ~= KEYS[2] then "
    "if redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end "
    "redis.call('UNLINK', KEYS[1]) end "
    "redis.call('SET', KEYS[2], ARGV[1]) return 1";

class ShardsCopy {
 public:
  ShardsCopy(Cluster cluster, const ModuleRecord& record, std::string_view name, bool replace)
      : cluster_(std::move(cluster)),
        record_(record),
        record_key_(module_record_key(name)),
        replaced_(find_replaced(replace)),
        staged_(shard_keys(name, record.shards), kShards) {}
  ShardsCopy(const ShardsCopy&) = delete;
  ShardsCopy& operator=(const ShardsCopy&) = delete;
  ~ShardsCopy() {
    if (!published_) staged_.drop_staged(cluster_);
  }

  // Takes a shard of the first source, then of the others.
  void take(std::uint32_t shard, ModuleKeys& source, bool first) {
    const std::string& whole = staged_.names()[shard];
    const std::string& place = staged_.places()[shard];
    const std::string what = name_of(cluster_.name(), place);
    const std::size_t made = first ? shard : shard + std::size_t{1};
    if (first) return copy(shard, source, whole, made, what);
    const std::string beside = scratch_name(place);
    try {
      copy(shard, source, beside, made, what);
      merge(whole, beside, what);
    } catch (...) {
      unlink(beside);
      throw;
    }
    unlink(beside);
  }

  // For a shard that has all sources: it must not look like the one that it replaces.
  void require_other_than_replaced(std::uint32_t shard) {
    if (!replaced_) return;
    const std::string what = name_of(cluster_.name(), record_key_);
    const std::string& whole = staged_.names()[shard];
    const auto markers = decode_module_record(*replaced_, what).markers(shard);
    Request request(whole);
    Commands& to = request.next().begin(2 + markers.size()).word("BF.MEXISTS").word(whole);
    for (const std::string& marker : markers) to.word(marker);
    cluster_.run_all({&request, 1}, [&](std::size_t, std::size_t, const Reply& found) {
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
      const auto markers = record_.markers(static_cast<std::uint32_t>(i));
      Words words = {replaced_ ? "1" : "0", std::to_string(record_.items_when_empty()),
                     ModuleRecord::common_marker()};
      words.insert(words.end(), markers.begin(), markers.end());
      return words;
    };
    make_shards(cluster_,
                {.first = record_key_,
                 .claimed = claimed,
                 .identity = record_.identity,
                 .keys = staged_.places(),
                 .committed = committed,
                 .after_claim = [&] { require_replaced(); },
                 .make = [&](std::size_t i) { return staged_.place(i, arguments(i)); },
                 .remove = [&](std::size_t i) { return staged_.put_back(i, arguments(i)); },
                 .commit =
                     [&](const std::string& claim) {
                       return Words{
                           "EVAL", std::string(kCommitCopy), "2", claimed, record_key_, committed,
                           claim,  replaced_.value_or("")};
                     }});
    published_ = true;
    staged_.drop_replaced(cluster_);
  }

 private:
  // The record that is there, of a filter that may be replaced.
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
    // The markers of one could not be told from those of the other.
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

  // Under the claim no other maker replaces it: the shards still belong to the record that was found.
  void require_replaced() {
    if (!replaced_) return;
    const std::string what = name_of(cluster_.name(), record_key_);
    const Reply found = cluster_.ask(record_key_, {"GET", record_key_});
    if (found->type != REDIS_REPLY_NIL) require_type(found, REDIS_REPLY_STRING, what);
    if (found->type == REDIS_REPLY_NIL || std::string_view(found->str, found->len) != *replaced_)
      throw Error(ErrorCode::unavailable,
                  what + ": another filter was put there in the meantime; try again");
  }

  // Copies chunk by chunk, beside `made` staged shards, and then asks the copy for the markers.
  void copy(std::uint32_t shard, ModuleKeys& source, const std::string& to, std::size_t made,
            const std::string& what) {
    for (ModuleChunk chunk = source.dump(shard, 0); chunk.iterator != 0;
         chunk = source.dump(shard, chunk.iterator)) {
      staged_.keep_alive(cluster_, made);
      load_chunk(cluster_, to, chunk, what);
    }
    source.check_markers(shard, cluster_, to);
  }

  void merge(const std::string& into, const std::string& from, const std::string& what) {
    Request request(into);
    request.next().command({"EVAL", kMerge, "2", into, from});
    cluster_.run_all({&request, 1}, [&](std::size_t, std::size_t, const Reply& merged) {
      if (merged->type == REDIS_REPLY_INTEGER ||
          (merged->type == REDIS_REPLY_ERROR && says(*merged, "not found")))
        throw dropped_key(what);
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
  // The record that is there: it stands for its filter until the new one does.
  std::optional<std::string> replaced_;
  StagedKeys staged_;
  bool published_ = false;
};

}  // namespace
}  // namespace detail

void ModuleFilter::store(const RedisPlace& place, std::span<ModuleFilter* const> sources,
                         bool replace) {
  if (sources.empty())
    throw Error(ErrorCode::invalid_argument, "a filter is made of at least one source");
  if (!place.shards) {
    if (sources.size() != 1 || sources[0]->shards())
      throw Error(
          ErrorCode::wrong_kind,
          "a filter of the module under one key is copied from one such filter; several are "
          "merged by BF.MERGE on their server");
    ModuleLoader loader(place, replace);
    for (ModuleChunk chunk = sources[0]->dump(); chunk.iterator != 0;
         chunk = sources[0]->dump(chunk.iterator))
      loader.load(chunk);
    return loader.publish();
  }
  for (const ModuleFilter* source : sources)
    if (!source->shards())
      throw Error(
          ErrorCode::wrong_kind,
          "a filter of the module in shards is only made of such filters; create one and add "
          "the keys");
  const detail::ModuleRecord& record = *sources[0]->keys_->record();
  for (const ModuleFilter* source : sources) {
    const detail::ModuleRecord& other = *source->keys_->record();
    if (other.shards != record.shards || !(other.plan == record.plan))
      throw Error(ErrorCode::mismatch,
                  "the filters differ in shards, capacity, rate or growth; build one of them anew");
  }
  if (*place.shards != 0 && *place.shards != record.shards)
    throw Error(ErrorCode::mismatch,
                "a module's filter keeps its " + std::to_string(record.shards) +
                    " shards, since their number decides where a key is; create one of " +
                    std::to_string(*place.shards) + " and add the keys");
  detail::ShardsCopy copy(detail::Cluster(place), record, place.key, replace);
  for (std::uint32_t shard = 0; shard < record.shards; ++shard) {
    for (std::size_t i = 0; i < sources.size(); ++i) copy.take(shard, *sources[i]->keys_, i == 0);
    copy.require_other_than_replaced(shard);
  }
  copy.publish();
}

}  // namespace bloomery
