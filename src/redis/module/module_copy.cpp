// Copies filters of a module key by key, under staged names, and merges shards.
//
// A copy of shards has an identity of its own. The markers of its sources are among its items and cannot be removed,
// so the copy also gets the copy markers of each source: a client that has a source open finds them and knows that it
// looks at a copy. The same holds for the sources of the sources. So a copy may take any place, also that of a
// source.
#include <bloomery/error.hpp>
#include <bloomery/module_dump.hpp>
#include <bloomery/module_filter.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redis/module/module_keys.hpp"
#include "redis/module/module_record.hpp"
#include "redis/module/module_replies.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/shards/staged_keys.hpp"

namespace bloomery {
namespace detail {
namespace {

// If the target has expired, BF.MERGE would make a new filter; so the script returns -1.
constexpr std::string_view kMerge =
    "if redis.call('EXPIRE', KEYS[1], 600) == 0 then return -1 end "
    "return redis.call('BF.MERGE', KEYS[1], KEYS[2])";
// KEYS: a filter, and a name for an empty filter with the same parameters.
constexpr std::string_view kMakeEmpty =
    "if redis.call('COPY', KEYS[1], KEYS[2]) == 0 then return -1 end "
    "redis.call('EXPIRE', KEYS[2], 600) return redis.call('BF.CLEAR', KEYS[2])";
// KEYS: the claim, the record. ARGV: the new record, the claim, the record that is replaced.
constexpr std::string_view kCommitCopy =
    "if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end "
    "if KEYS[1] ~= KEYS[2] then "
    "if redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end "
    "redis.call('UNLINK', KEYS[1]) end "
    "redis.call('SET', KEYS[2], ARGV[1]) return 1";

class ShardsCopy {
 public:
  ShardsCopy(Cluster cluster, std::vector<ModuleKeys*> sources, std::string_view name, bool replace)
      : cluster_(std::move(cluster)),
        sources_(std::move(sources)),
        record_key_(module_record_key(name)),
        replaced_(find_replaced(replace)),
        copied_(find_copied()),
        record_(record_of_copy()),
        staged_(shard_keys(name, record_.shards), kModuleShards) {}
  ShardsCopy(const ShardsCopy&) = delete;
  ShardsCopy& operator=(const ShardsCopy&) = delete;
  ~ShardsCopy() {
    if (!published_) staged_.drop_staged(cluster_);
  }

  void make() {
    staged_.require_expiry(cluster_);
    unmoved_ = UnmovedSlots(cluster_, staged_.names());
    try {
      fill();
    } catch (const Error& error) {
      unmoved_.explain(error);
    }
    publish();
  }

 private:
  void fill() {
    for (std::uint32_t shard = 0; shard < record_.shards; ++shard) {
      const std::string& whole = staged_.names()[shard];
      const std::string& place = staged_.places()[shard];
      const std::string what = cluster_.name_of(place);
      copy(shard, *sources_[0], whole, shard, what);
      mark(shard, whole, what);
      for (std::size_t i = 1; i < sources_.size(); ++i)
        merge_beside(whole, place, what, [&](const std::string& beside) {
          copy(shard, *sources_[i], beside, shard + std::size_t{1}, what);
        });
      require_no_copy_markers(shard, whole, what);
    }
    count_foreign_markers();
  }

  void publish() {
    const std::string claimed = replaced_ ? claim_beside(record_key_) : record_key_;
    const std::string committed = encode_module_record(record_);
    using Words = ShardsToMake::Words;
    const auto arguments = [&](std::size_t i) {
      return module_shard_arguments(record_, static_cast<std::uint32_t>(i), replaced_.has_value());
    };
    make_shards(cluster_,
                {.first = record_key_,
                 .claimed = claimed,
                 .identity = record_.identity,
                 .keys = staged_.places(),
                 .committed = committed,
                 .after_claim =
                     [&] {
                       undo_noted(cluster_, record_key_, module_shards_of_note(record_key_));
                       require_replaced();
                     },
                 .note = encode_note(staged_.number(), committed),
                 .make = [&](std::size_t i) { return staged_.place(i, arguments(i)); },
                 .remove = [&](std::size_t i,
                               bool put_back) { return staged_.remove(i, arguments(i), put_back); },
                 .commit =
                     [&](const std::string& claim) {
                       return Words{
                           "EVAL", std::string(kCommitCopy), "2", claimed, record_key_, committed,
                           claim,  replaced_.value_or("")};
                     },
                 .unmoved = &unmoved_,
                 .after_commit = [&] { staged_.drop_replaced(cluster_); }});
    published_ = true;
  }

  // Reads the record of a filter that may be replaced.
  std::optional<std::string> find_replaced(bool replace) {
    const std::string what = cluster_.name_of(record_key_);
    const Reply found = cluster_.ask(record_key_, {"GET", record_key_});
    if (found->type == REDIS_REPLY_NIL) return std::nullopt;
    require_type(found, REDIS_REPLY_STRING, what);
    const std::string_view bytes = text_of(*found);
    if (is_claim(bytes)) throw being_made(what);
    if (!replace)
      throw Error(ErrorCode::exists,
                  what + " exists already; open the filter, or choose another name");
    const std::uint32_t shards = decode_module_record(bytes, what).shards;
    if (shards != sources_[0]->record()->shards)
      throw Error(ErrorCode::mismatch,
                  what + " is the record of " + std::to_string(shards) + " shards, and these are " +
                      std::to_string(sources_[0]->record()->shards) + "; choose another name");
    return std::string(bytes);
  }

  // While the claim is held, no other maker can replace the filter. This checks that its record is still the one that
  // was found.
  void require_replaced() {
    if (!replaced_) return;
    const std::string what = cluster_.name_of(record_key_);
    const Reply found = cluster_.ask(record_key_, {"GET", record_key_});
    if (found->type != REDIS_REPLY_NIL) require_type(found, REDIS_REPLY_STRING, what);
    if (text_of(*found) != *replaced_)
      throw Error(ErrorCode::unavailable,
                  what + ": another filter was put there in the meantime; try again");
  }

  // The filters whose clients could take the new filter for theirs: the sources; and the filter that is replaced,
  // because a source may be a copy of it without its copy markers.
  std::vector<ModuleRecord> find_copied() const {
    std::vector<ModuleRecord> copied;
    const auto add = [&](const ModuleRecord& record) {
      const auto same = [&](const ModuleRecord& other) {
        return other.identity == record.identity;
      };
      if (std::ranges::none_of(copied, same)) copied.push_back(record);
    };
    for (ModuleKeys* source : sources_) add(*source->record());
    if (replaced_) add(decode_module_record(*replaced_, record_key_));
    return copied;
  }

  ModuleRecord record_of_copy() const {
    ModuleRecord record = *sources_[0]->record();
    record.identity = new_identity();
    record.foreign_markers = 0;
    return record;
  }

  // A shard counts the items of its sources and the items that were inserted into it, but not items that it seemed to
  // have already.
  void count_foreign_markers() {
    std::uint64_t markers = markers_inserted_;
    for (const ModuleKeys* source : sources_) markers += source->record()->marker_items();
    record_.foreign_markers = markers - record_.marker_items();
  }

  // If a shard is so full that it seems to have its own copy markers, a client would take it for a shard of a copy.
  void require_no_copy_markers(std::uint32_t shard, const std::string& whole,
                               const std::string& what) {
    const std::vector<std::string> markers = record_.copy_markers(shard);
    Request request(whole);
    Commands& to = request.next().begin(2 + markers.size());
    to.word("BF.MEXISTS").word(whole);
    for (const std::string& marker : markers) to.word(marker);
    const Reply reply = cluster_.reply_to(request);
    require_chunk_reply(*reply, REDIS_REPLY_ARRAY, what);
    const std::span<redisReply* const> answers(reply->element, reply->elements);
    if (std::ranges::all_of(answers, [](const redisReply* each) { return each->integer != 0; }))
      throw Error(ErrorCode::no_space,
                  what +
                      ": the shard would be too full to answer anything but \"maybe\"; make a "
                      "larger filter and add the keys");
  }

  // Turns a shard with all items of the first source into a shard of the new filter.
  void mark(std::uint32_t shard, const std::string& whole, const std::string& what) {
    std::vector<std::string> markers = record_.markers(shard);
    for (const ModuleRecord& copied : copied_)
      for (std::string& marker : copied.copy_markers(shard)) markers.push_back(std::move(marker));
    if (insert(markers, whole, what)) return;
    // The shard is full: no item can be inserted, but another filter can be merged into it.
    merge_beside(whole, staged_.places()[shard], what, [&](const std::string& beside) {
      Request request(whole, {"EVAL", kMakeEmpty, "2", whole, beside});
      const Reply made = cluster_.reply_to(request);
      if (made->type == REDIS_REPLY_INTEGER) throw dropped_key(what);
      if (made->type == REDIS_REPLY_ERROR && is_unknown_command(*made))
        throw Error(ErrorCode::no_space,
                    what +
                        ": the shard is full, and a copy needs room for its marker items; make a "
                        "larger filter, or load bloomery.so into the server");
      require_chunk_reply(*made, REDIS_REPLY_STATUS, what);
      if (!insert(markers, beside, what))
        throw Error(ErrorCode::no_space,
                    what +
                        ": the shard has no room for the marker items of a copy; make a larger "
                        "filter");
    });
  }

  // False: the filter is full.
  bool insert(const std::vector<std::string>& items, const std::string& into,
              const std::string& what) {
    Request request(into);
    Commands& to = request.next().begin(4 + items.size());
    to.word("BF.INSERT").word(into).word("NOCREATE").word("ITEMS");
    for (const std::string& item : items) to.word(item);
    const Reply reply = cluster_.reply_to(request);
    if (reply->type == REDIS_REPLY_ERROR && says(*reply, "not found")) throw dropped_key(what);
    require_chunk_reply(*reply, REDIS_REPLY_ARRAY, what);
    for (const redisReply* each : std::span(reply->element, reply->elements)) {
      if (each->type == REDIS_REPLY_ERROR && says(*each, "is full")) return false;
      require_module_reply(*each, REDIS_REPLY_INTEGER, what);
      markers_inserted_ += each->integer != 0 ? 1 : 0;
    }
    return true;
  }

  // Merges a filter that `make` puts under a scratch name.
  void merge_beside(const std::string& whole, const std::string& place, const std::string& what,
                    const std::function<void(const std::string&)>& make) {
    const std::string beside = scratch_name(place);
    try {
      make(beside);
      merge(whole, beside, what);
    } catch (...) {
      unlink(beside);
      throw;
    }
    unlink(beside);
  }

  // Copies chunk by chunk, while it keeps `made` staged shards alive, and then asks the copy for the markers.
  void copy(std::uint32_t shard, ModuleKeys& source, const std::string& to, std::size_t made,
            const std::string& what) {
    for (ModuleChunk chunk = source.dump(shard, 0); chunk.iterator != 0;
         chunk = source.dump(shard, chunk.iterator)) {
      unmoved_.require();
      staged_.keep_alive(cluster_, made);
      load_chunk(cluster_, to, chunk, what);
    }
    source.check_markers(shard, cluster_, to);
  }

  void merge(const std::string& into, const std::string& from, const std::string& what) {
    Request request(into, {"EVAL", kMerge, "2", into, from});
    const Reply merged = cluster_.reply_to(request);
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
                      "with different keys; build one of them again");
    require_chunk_reply(*merged, REDIS_REPLY_STATUS, what);
  }

  void unlink(const std::string& key) noexcept {
    try {
      (void)cluster_.ask(key, {"UNLINK", key});
    } catch (...) {
      // The server drops the key when it expires.
    }
  }

  Cluster cluster_;
  std::vector<ModuleKeys*> sources_;
  std::string record_key_;
  // The record of the filter that is replaced. It is valid until the new record takes its place.
  std::optional<std::string> replaced_;
  std::vector<ModuleRecord> copied_;
  ModuleRecord record_;
  StagedKeys staged_;
  UnmovedSlots unmoved_{cluster_};
  std::uint64_t markers_inserted_ = 0;  // markers that no shard seemed to have
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
      throw Error(
          ErrorCode::mismatch,
          "the filters differ in shards, capacity, rate or growth; build one of them again");
  }
  if (*place.shards != 0 && *place.shards != record.shards)
    throw Error(ErrorCode::mismatch,
                "a module's filter keeps its " + std::to_string(record.shards) +
                    " shards, since their number decides where a key is; create one of " +
                    std::to_string(*place.shards) + " and add the keys");
  std::vector<detail::ModuleKeys*> keys;
  for (const ModuleFilter* source : sources) keys.push_back(source->keys_.get());
  detail::ShardsCopy(detail::Cluster(place), std::move(keys), place.key, replace).make();
}

}  // namespace bloomery
