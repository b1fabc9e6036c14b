// A filter of a module. BF.RESERVE makes it, or scripts make its shards and also insert their markers.
#include <bloomery/module_filter.hpp>

#include <bloomery/error.hpp>
#include <bloomery/plan.hpp>

#include <utility>

#include "redis/module/module_keys.hpp"
#include "redis/module/module_record.hpp"
#include "redis/module/module_replies.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/shards/shard_plan.hpp"

namespace bloomery {

using detail::Cluster;
using detail::ItemOperation;
using detail::ModuleKeys;
using detail::ModuleRecord;
using detail::Reply;

namespace {

// ARGV: the number of items of an empty shard, the common marker, the number of words of BF.RESERVE, these words, the
// markers. An existing shard is replaced only if nothing was ever inserted into it. A shard without markers could
// belong to any filter, so if the user has no right to insert them, the script removes the shard. Markers that the
// shard seems to have already are not counted as items; the script adds others instead, so that the count of items
// shows whether a key was inserted.
constexpr std::string_view kMakeShard =
    "if redis.call('EXISTS', KEYS[1]) == 1 then "
    "local card = redis.pcall('BF.CARD', KEYS[1]) "
    "if type(card) ~= 'number' or card > tonumber(ARGV[1]) or "
    "redis.call('BF.EXISTS', KEYS[1], ARGV[2]) == 0 then return 0 end end "
    "redis.call('UNLINK', KEYS[1]) "
    "local words = tonumber(ARGV[3]) "
    "redis.call('BF.RESERVE', KEYS[1], unpack(ARGV, 4, 3 + words)) "
    "local added = redis.pcall('BF.MADD', KEYS[1], unpack(ARGV, 4 + words)) "
    "if added.err then redis.call('UNLINK', KEYS[1]) return added end "
    "local more = 0 while redis.call('BF.CARD', KEYS[1]) < tonumber(ARGV[1]) do "
    "redis.call('BF.MADD', KEYS[1], ARGV[2] .. more) more = more + 1 end return 1";
// ARGV: the markers of a shard. A shard that another maker has made since then is not removed.
constexpr std::string_view kRemoveShard =
    "for _, found in ipairs(redis.call('BF.MEXISTS', KEYS[1], unpack(ARGV))) do "
    "if found ~= 1 and found ~= true then return 0 end end return redis.call('UNLINK', KEYS[1])";
constexpr std::string_view kCommit =
    "if redis.call('GET', KEYS[1]) ~= ARGV[2] then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1]) return 1";

// RedisBloom ignores words of BF.RESERVE that it does not know, so it would make a filter that does not count and
// does not forget. A module that has BF.MDEL also has these kinds.
void require_kinds(Cluster& cluster, const std::string& key) {
  const std::string name = cluster.name_of(key);
  const Reply reply = cluster.ask(key, {"COMMAND", "INFO", "BF.MDEL"});
  detail::require_module_reply(*reply, REDIS_REPLY_ARRAY, name);
  if (reply->elements != 1 || reply->element[0]->type != REDIS_REPLY_ARRAY)
    throw Error(
        ErrorCode::wrong_kind,
        name +
            ": the server has no module whose filters count or forget; load bloomery.so, or "
            "create one that grows");
}

void create_key(Cluster& cluster, const std::string& key, const ModuleReserve& reserve) {
  if (reserve.kind == Kind::counting || reserve.kind == Kind::window) require_kinds(cluster, key);
  const auto reserve_words = detail::reserve_words(reserve, reserve.capacity);
  std::vector<std::string> words = {"BF.RESERVE", key};
  words.insert(words.end(), reserve_words.begin(), reserve_words.end());
  detail::Request request(key, words);
  detail::require_module_reply(*cluster.reply_to(request), REDIS_REPLY_STATUS,
                               cluster.name_of(key));
}

void create_shards(Cluster& cluster, const ModuleRecord& record, const ModuleReserve& reserve,
                   const std::vector<std::string>& keys) {
  using Words = detail::ShardsToMake::Words;
  const Words reserve_words = detail::reserve_words(reserve, record.reserved_of_each());
  const std::string first = keys.front() + ":shards";
  const std::string committed = detail::encode_module_record(record);
  detail::make_shards(
      cluster,
      {.first = first,
       .claimed = first,
       .identity = record.identity,
       .keys = keys,
       .committed = committed,
       .after_claim =
           [&] { detail::undo_noted(cluster, first, detail::module_shards_of_note(first)); },
       .make =
           [&](std::size_t i) {
             const std::string common = ModuleRecord::common_marker();
             const Words markers = record.markers(static_cast<std::uint32_t>(i));
             Words words = {"EVAL",
                            std::string(kMakeShard),
                            "1",
                            keys[i],
                            std::to_string(record.items_when_empty()),
                            common,
                            std::to_string(reserve_words.size())};
             words.insert(words.end(), reserve_words.begin(), reserve_words.end());
             words.insert(words.end(), markers.begin(), markers.end());
             words.push_back(common);
             return words;
           },
       .remove =
           [&](std::size_t i, bool) {
             Words words = {"EVAL", std::string(kRemoveShard), "1", keys[i]};
             const Words markers = record.markers(static_cast<std::uint32_t>(i));
             words.insert(words.end(), markers.begin(), markers.end());
             return words;
           },
       .commit =
           [&](const std::string& claim) {
             return Words{"EVAL", std::string(kCommit), "1", first, committed, claim};
           }});
}

ModuleRecord find_record(Cluster& cluster, const RedisPlace& place) {
  const std::string key = detail::module_record_key(place.key);
  const std::string name = cluster.name_of(key);
  const Reply found = cluster.ask(key, {"GET", key});
  if (found->type == REDIS_REPLY_NIL)
    throw Error(ErrorCode::missing, name + " is not there, the record of " +
                                        detail::quoted_key(place.key) +
                                        "; create the filter, or check the name");
  detail::require_type(found, REDIS_REPLY_STRING, name);
  const std::string_view bytes = detail::text_of(*found);
  if (detail::is_claim(bytes)) throw detail::being_made(name);
  const ModuleRecord record = detail::decode_module_record(bytes, name);
  if (*place.shards != 0 && *place.shards != record.shards)
    throw Error(ErrorCode::mismatch, name + ": it has " + std::to_string(record.shards) +
                                         " shards; leave their number out, or choose another name");
  return record;
}

}  // namespace

ModuleFilter::ModuleFilter(std::unique_ptr<ModuleKeys> keys) : keys_(std::move(keys)) {}
ModuleFilter::ModuleFilter(ModuleFilter&&) noexcept = default;
ModuleFilter& ModuleFilter::operator=(ModuleFilter&&) noexcept = default;
ModuleFilter::~ModuleFilter() = default;

ModuleFilter ModuleFilter::create(const RedisPlace& place, const ModuleReserve& reserve) {
  Cluster cluster(place);
  if (!place.shards) {
    create_key(cluster, place.key, reserve);
    auto keys = std::make_unique<ModuleKeys>(std::move(cluster), place.key);
    (void)keys->info();
    return ModuleFilter(std::move(keys));
  }
  if (reserve.kind != Kind::plain && reserve.kind != Kind::scalable)
    throw Error(ErrorCode::wrong_kind, detail::quoted_key(place.key) +
                                           ": filters of a module in shards are plain or scalable");
  if (!reserve.layout.empty())
    throw Error(
        ErrorCode::invalid_argument,
        detail::quoted_key(place.key) + ": the servers choose the layout of filters in shards");
  // Whatever layout the module chooses, the filter has about this number of bits. This refuses parameters that no
  // filter can have.
  const Plan about = plan(reserve.capacity, reserve.fpr);
  const std::uint32_t shards =
      *place.shards != 0 ? *place.shards : detail::shards_for(about, cluster.nodes());
  std::vector<std::string> keys = detail::shard_keys(place.key, shards);
  const ModuleRecord record{
      .plan = {.capacity = reserve.capacity,
               .fpr = reserve.fpr,
               .expansion = reserve.kind == Kind::plain ? 0 : reserve.expansion},
      .shards = shards,
      .identity = detail::new_identity()};
  create_shards(cluster, record, reserve, keys);
  return ModuleFilter(std::make_unique<ModuleKeys>(std::move(cluster), record, std::move(keys)));
}

ModuleFilter ModuleFilter::open(const RedisPlace& place) {
  Cluster cluster(place);
  std::unique_ptr<ModuleKeys> keys;
  if (place.shards) {
    const ModuleRecord record = find_record(cluster, place);
    keys = std::make_unique<ModuleKeys>(std::move(cluster), record,
                                        detail::shard_keys(place.key, record.shards));
  } else {
    keys = std::make_unique<ModuleKeys>(std::move(cluster), place.key);
  }
  try {
    (void)keys->info();
  } catch (const Error&) {
    if (!keys->undo_interrupted()) throw;
    (void)keys->info();
  }
  return ModuleFilter(std::move(keys));
}

std::size_t ModuleFilter::do_insert(Texts keys, std::span<bool> fresh) {
  return keys_->run(ItemOperation::insert, keys, fresh);
}
std::size_t ModuleFilter::do_contain(Texts keys, std::span<bool> found) const {
  return keys_->run(ItemOperation::test, keys, found);
}
std::size_t ModuleFilter::do_remove(Texts keys, std::span<bool> removed) {
  return keys_->run(ItemOperation::remove, keys, removed);
}
void ModuleFilter::begin_call() const noexcept { keys_->begin(); }
std::size_t ModuleFilter::acknowledged() const noexcept { return keys_->acknowledged(); }
ModuleInfo ModuleFilter::info() { return keys_->info(); }
std::optional<ModuleFill> ModuleFilter::fill() { return keys_->fill(); }
std::optional<ModuleReserve> ModuleFilter::reserved() { return keys_->reserved(); }
ModuleChunk ModuleFilter::dump(std::uint64_t after, std::uint32_t shard) {
  if (shard >= keys().size())
    throw Error(ErrorCode::invalid_argument, "the filter has " + std::to_string(keys().size()) +
                                                 " shards, and none with the number " +
                                                 std::to_string(shard));
  return keys_->dump(shard, after);
}
std::optional<std::uint32_t> ModuleFilter::shards() const noexcept {
  return keys_->record() != nullptr ? std::optional(keys_->record()->shards) : std::nullopt;
}
const std::vector<std::string>& ModuleFilter::keys() const noexcept { return keys_->keys(); }
std::size_t ModuleFilter::nodes() { return keys_->cluster().nodes(); }

}  // namespace bloomery
