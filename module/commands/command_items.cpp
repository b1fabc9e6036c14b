// BF.ADD, BF.MADD, BF.INSERT, BF.EXISTS, BF.MEXISTS, BF.DEL, BF.MDEL, BF.COUNT: commands on items.
//
// Commands of one item and of many are the same functions, with batches of another size. The first
// batch is hashed while the key is still open, so its bits are on their way from memory while the
// server closes the key.
//
// Replication carries what happened, not what was asked: a new filter goes out as the header of its
// dump, with all its parameters, so that a replica or an AOF makes the same one whatever its
// settings; items go out as far as they were taken; a command that changed nothing does not go out.
#include <algorithm>
#include <array>
#include <memory>

#include "commands/command.hpp"
#include "commands/guess.hpp"
#include "commands/request.hpp"
#include "commands/time.hpp"
#include "types/statistics.hpp"
#include "values/counting.hpp"

namespace bloomery::server {

namespace {

// How many items are hashed at once.
constexpr std::size_t kOne = 1;
constexpr std::size_t kMany = 1024;

// Room for the hashes of a batch. It is not an array of Hash128, which would be zeroed for every command.
template <std::size_t kMost>
struct HashRoom {
  alignas(Hash128) std::array<std::byte, kMost * sizeof(Hash128)> bytes;
};

// Hashes the first kMost items, or as many as there are, and prefetches the bits of the first one.
template <std::size_t kMost>
std::span<const Hash128> hash_batch(const Value& value, std::span<String*> items,
                                    HashRoom<kMost>& room) noexcept {
  const std::size_t count = kMost == kOne ? kOne : std::min(kMost, items.size());
  for (std::size_t i = 0; i < count; ++i)
    new (room.bytes.data() + i * sizeof(Hash128)) Hash128(value.hash(text_of(items[i])));
  const auto* const hashes = reinterpret_cast<const Hash128*>(room.bytes.data());
  value.prefetch(hashes[0]);
  return {hashes, count};
}

// Calls use(hashes, done) for batch after batch until it returns false or no item is left. `hashes`
// is the first batch.
template <std::size_t kMost, class Use>
void for_batches(const Value& value, std::span<String*> items, HashRoom<kMost>& room,
                 std::span<const Hash128> hashes, Use use) {
  std::size_t done = 0;
  while (use(hashes, done) && kMost != kOne && (done += hashes.size()) < items.size())
    hashes = hash_batch(value, items.subspan(done), room);
}

// ---- adding -------------------------------------------------------------------------------------

void replicate_items(const Arguments& arguments, std::span<String*> items, std::size_t answered,
                     bool with_options) noexcept {
  if (with_options || answered != items.size())
    api.Replicate(arguments.context, "BF.MADD", "sv", arguments.key(), items.data(), answered);
  else
    api.ReplicateVerbatim(arguments.context);
}

// `options`: the options of BF.INSERT; null for the other commands.
template <std::size_t kMost>
void add_items(const Arguments& arguments, std::span<String*> items, const Insert* options) {
  // This is the last allocation that can fail, before anything changes.
  std::array<bool, kMost> few;
  std::unique_ptr<bool[]> many;
  if (kMost != kOne && items.size() > kMost) many.reset(new bool[items.size()]);
  const std::span<bool> fresh(many != nullptr ? many.get() : few.data(), items.size());

  Value* value = nullptr;
  bool is_new = false;
  HashRoom<kMost> room;
  std::span<const Hash128> hashes;
  {
    OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
    const bool may_make = options == nullptr || options->request.has_value();
    is_new = key.value() == nullptr && may_make && key.is_missing();
    value = is_new ? &make_filter(arguments, key, options ? *options->request : default_request())
                   : &key.filter();
    if (value->kind() == Kind::frozen)
      throw ErrorReply{
          "ERR the filter is frozen and takes no items; build it again from all of them and load "
          "it, or add new "
          "items to another filter and ask both"};
    hashes = hash_batch(*value, items, room);
    if (kMost == kOne) learn(arguments.key(), *value);
  }
  if (value->needs_time()) bring_up_to_date(arguments, static_cast<Window&>(*value));
  const GrowthLimit limit(arguments, value);
  std::size_t answered = 0;
  bool has_changed = false;
  Stop stop = Stop::none;
  for_batches(*value, items, room, hashes, [&](auto batch, std::size_t done) {
    const Added added = value->insert(batch, fresh.subspan(done), limit);
    count_added(added);
    answered += added.answered;
    has_changed |= added.counted != 0;
    stop = added.stop;
    return stop == Stop::none;
  });

  if (has_changed) value->end_loading();
  if (has_changed) replicate_items(arguments, items, answered, options != nullptr);
  if (is_new) announce(arguments, "bf.reserve");
  if (has_changed) announce(arguments, "bf.add");
  if (kMost != kOne)
    api.ReplyWithArray(arguments.context, static_cast<long>(answered + (stop != Stop::none)));
  for (const bool one : fresh.first(answered)) api.ReplyWithBool(arguments.context, one);
  if (stop == Stop::full) api.ReplyWithError(arguments.context, "ERR non scaling filter is full");
  if (stop == Stop::no_room) api.ReplyWithError(arguments.context, limit.reason());
}

// BF.INSERT without ITEMS, as valkey-bloom has it: makes the filter if there is none.
void make_without_items(const Arguments& arguments, const Insert& options) {
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (options.request && key.is_missing()) {
    make_filter(arguments, key, *options.request);
    announce(arguments, "bf.reserve");
  } else {
    (void)key.filter();  // or its error
  }
  api.ReplyWithArray(arguments.context, 0);
}

// ---- looking up ---------------------------------------------------------------------------------

template <std::size_t kMost>
void look_up(const Arguments& arguments) {
  const std::span<String*> items = arguments.from(2);
  const Value* value = nullptr;
  HashRoom<kMost> room;
  std::span<const Hash128> hashes;
  {
    const OpenedKey key(arguments.context, arguments.key(), kRead);
    value = key.value();
    if (value != nullptr) hashes = hash_batch(*value, items, room);
    if (kMost == kOne && value != nullptr) learn(arguments.key(), *value);
  }
  if (kMost != kOne) api.ReplyWithArray(arguments.context, static_cast<long>(items.size()));
  std::size_t hits = 0;
  if (value == nullptr) {
    for (std::size_t i = 0; i < items.size(); ++i) api.ReplyWithBool(arguments.context, 0);
  } else {
    const std::uint64_t now = time_for(*value);
    std::array<bool, kMost> found;
    for_batches(*value, items, room, hashes, [&](auto batch, std::size_t) {
      value->may_contain(batch, found, now);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        hits += found[i];
        api.ReplyWithBool(arguments.context, found[i]);
      }
      return true;
    });
  }
  statistics.checks_hit += hits;
  statistics.checks_miss += items.size() - hits;
}

// ---- filters that count -------------------------------------------------------------------------

Counting& counting_in(const OpenedKey& key) {
  if (Counting* const counting = as<Counting>(&key.filter())) return *counting;
  throw ErrorReply{"ERR the filter does not count; reserve one with COUNTING to remove items from"};
}

template <std::size_t kMost>
void remove_items(const Arguments& arguments) {
  const std::span<String*> items = arguments.from(2);
  Counting* counting = nullptr;
  HashRoom<kMost> room;
  std::span<const Hash128> hashes;
  {
    const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
    counting = &counting_in(key);
    hashes = hash_batch(*counting, items, room);
  }
  if (kMost != kOne) api.ReplyWithArray(arguments.context, static_cast<long>(items.size()));
  const Totals before = counting->totals();
  std::array<bool, kMost> removed;
  std::size_t total = 0;
  for_batches(*counting, items, room, hashes, [&](auto batch, std::size_t) {
    total += counting->remove(batch, removed);
    for (std::size_t i = 0; i < batch.size(); ++i) api.ReplyWithBool(arguments.context, removed[i]);
    return true;
  });
  count_change(before, counting->totals());
  if (total == 0) return;
  counting->end_loading();
  changed(arguments, "bf.del");
}

}  // namespace

void add(const Arguments& arguments) { add_items<kOne>(arguments, arguments.from(2), nullptr); }

void add_many(const Arguments& arguments) {
  add_items<kMany>(arguments, arguments.from(2), nullptr);
}

void insert(const Arguments& arguments) {
  const Insert options = parse_insert(arguments);
  if (options.first_item == arguments.words.size()) return make_without_items(arguments, options);
  add_items<kMany>(arguments, arguments.from(options.first_item), &options);
}

void exists(const Arguments& arguments) { look_up<kOne>(arguments); }

void exists_many(const Arguments& arguments) { look_up<kMany>(arguments); }

void remove(const Arguments& arguments) { remove_items<kOne>(arguments); }

void remove_many(const Arguments& arguments) { remove_items<kMany>(arguments); }

// Replies at most how often an item is there; nil if all its counters are saturated.
void count(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Counting& counting = counting_in(key);
  const std::uint64_t most = counting.count_at_most(counting.hash(text_of(arguments.words[2])));
  if (most == kUncounted)
    api.ReplyWithNull(arguments.context);
  else
    api.ReplyWithLongLong(arguments.context, static_cast<long long>(most));
}

}  // namespace bloomery::server
