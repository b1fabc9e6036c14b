// CF.ADD, CF.ADDNX, CF.INSERT, CF.INSERTNX, CF.EXISTS, CF.MEXISTS, CF.COUNT, CF.DEL.
//
// Replication carries what happened: a new filter goes out as the header of its dump, whatever the
// settings; the items that were taken follow as CF.ADD or CF.INSERT. A replica adds all of them: if its
// compaction went differently, an item may seem present in one and absent in the other.
#include <algorithm>
#include <array>
#include <vector>

#include "commands/settings.hpp"
#include "cuckoo/command_table.hpp"
#include "cuckoo/key.hpp"

namespace bloomery::server::cuckoo {

namespace {

// How many items are hashed at once, so that their buckets are on their way from memory together.
constexpr std::size_t kBatch = 64;

// Calls use(hash, number) for each item in order.
template <class Use>
void for_hashes(const Filter& filter, std::span<String* const> items, Use use) {
  std::array<std::uint64_t, kBatch> hashes;
  for (std::size_t done = 0; done < items.size(); done += kBatch) {
    const std::size_t count = std::min(kBatch, items.size() - done);
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = hash(text_of(items[done + i]));
      filter.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) use(hashes[i], done + i);
  }
}

// ---- adding -------------------------------------------------------------------------------------

struct Options {
  bool unique = false;
  bool many = false;
  bool may_make = true;
  std::uint64_t capacity = static_cast<std::uint64_t>(settings.cuckoo.capacity);
  std::size_t first_item = 2;
};

Header header_of_settings(std::uint64_t capacity) {
  const CuckooSettings& set = settings.cuckoo;
  if (capacity < 2 * static_cast<std::uint64_t>(set.bucket_size))
    throw ErrorReply{"ERR Could not create filter"};
  return plan(capacity, static_cast<std::uint16_t>(set.bucket_size),
              static_cast<std::uint16_t>(set.max_iterations),
              static_cast<std::uint16_t>(set.expansion));
}

// Replies booleans in RESP3, except for CF.INSERTNX, whose third answer is -1.
void reply_inserted(const Arguments& arguments, const Options& options, Inserted inserted) {
  const bool refused = inserted == Inserted::full || inserted == Inserted::no_memory;
  if (refused && !options.many)
    throw ErrorReply{inserted == Inserted::full ? "Filter is full" : "ERR Insufficient memory"};
  const bool as_number =
      (options.unique && options.many) ||
      (refused && (api.GetContextFlags(arguments.context) & kContextIsResp3) == 0);
  if (as_number)
    api.ReplyWithLongLong(arguments.context, refused ? -1 : inserted == Inserted::yes);
  else
    api.ReplyWithBool(arguments.context, inserted == Inserted::yes);
}

void replicate_items(const Arguments& arguments, const Options& options,
                     std::span<String* const> taken) noexcept {
  constexpr std::size_t kWithoutOptions = 3;  // the index of the first item then
  const bool all = taken.size() == arguments.words.size() - options.first_item;
  if (all && !options.unique && (!options.many || options.first_item == kWithoutOptions))
    api.ReplicateVerbatim(arguments.context);
  else
    api.Replicate(arguments.context, "CF.INSERT", "scv", arguments.key(), "ITEMS", taken.data(),
                  taken.size());
}

void add_items(const Arguments& arguments, const Options& options) {
  const std::span<String*> items = arguments.from(options.first_item);
  std::vector<String*> taken;
  taken.reserve(items.size());  // before anything changes: the last allocation that can fail
  Filter* filter = nullptr;
  {
    OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
    const bool is_new = options.may_make && key.value() == nullptr && key.is_missing();
    filter =
        is_new ? &make_filter(arguments, key, header_of_settings(options.capacity)) : &key.filter();
  }
  if (filter->header().sub_filters >= settings.cuckoo.max_expansions && !is_replayed(arguments))
    throw ErrorReply{"Maximum expansions reached"};
  const CountedChange counted(*filter);
  const GrowthLimit limit(arguments, nullptr);
  if (options.many) api.ReplyWithArray(arguments.context, static_cast<long>(items.size()));
  for_hashes(*filter, items, [&](std::uint64_t hash, std::size_t i) {
    const Inserted inserted = filter->insert(hash, options.unique, limit);
    if (inserted == Inserted::yes) taken.push_back(items[i]);
    reply_inserted(arguments, options, inserted);
  });
  if (taken.empty()) return;
  filter->set_loading(false);
  replicate_items(arguments, options, taken);
  announce(arguments, "cf.add");
}

Options parse_insert(const Arguments& arguments, bool unique) {
  Options options;
  options.unique = unique;
  options.many = true;
  // Words are known by their first letters, as RedisBloom knows them.
  for (std::size_t at = 2; at < arguments.words.size();) {
    const std::string_view word = text_of(arguments.words[at++]);
    switch (word.empty() ? '\0' : word[0]) {
      case 'c':
      case 'C': {
        if (at == arguments.words.size()) throw WrongArity{};
        const long long capacity = number_in(arguments.words[at++], "Bad capacity");
        if (capacity < 2 * settings.cuckoo.bucket_size || capacity > kMaxCuckooCapacity)
          throw ErrorReply{"Capacity must be in the range [cf-bucket-size * 2, 1073741824]"};
        options.capacity = static_cast<std::uint64_t>(capacity);
        break;
      }
      case 'n':
      case 'N':
        options.may_make = false;
        break;
      case 'i':
      case 'I':
        if (at == arguments.words.size()) throw WrongArity{};
        options.first_item = at;
        return options;
      default:
        throw ErrorReply{"Unknown argument received"};
    }
  }
  throw WrongArity{};
}

// ---- looking up ---------------------------------------------------------------------------------

void look_up(const Arguments& arguments) {
  const std::span<String*> items = arguments.from(2);
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Filter* const filter = key.value();
  if (filter == nullptr)
    for (std::size_t i = 0; i < items.size(); ++i) api.ReplyWithBool(arguments.context, 0);
  else
    for_hashes(*filter, items, [&](std::uint64_t hash, std::size_t) {
      api.ReplyWithBool(arguments.context, filter->may_contain(hash));
    });
}

}  // namespace

void add(const Arguments& arguments) { add_items(arguments, {}); }

void add_new(const Arguments& arguments) {
  Options options;
  options.unique = true;
  add_items(arguments, options);
}

void insert(const Arguments& arguments) { add_items(arguments, parse_insert(arguments, false)); }

void insert_new(const Arguments& arguments) { add_items(arguments, parse_insert(arguments, true)); }

void exists(const Arguments& arguments) { look_up(arguments); }

void exists_many(const Arguments& arguments) {
  api.ReplyWithArray(arguments.context, static_cast<long>(arguments.words.size() - 2));
  look_up(arguments);
}

void count(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Filter* const filter = key.value();
  const std::uint64_t found =
      filter == nullptr ? 0 : filter->count(hash(text_of(arguments.words[2])));
  api.ReplyWithLongLong(arguments.context, static_cast<long long>(found));
}

void remove(const Arguments& arguments) {
  bool removed = false;
  {
    const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
    Filter* const filter = key.value();
    if (filter == nullptr) throw ErrorReply{"Not found"};
    const CountedChange counted(*filter);
    removed = filter->remove(hash(text_of(arguments.words[2])));
    if (removed) filter->set_loading(false);
  }
  if (removed) changed(arguments, "cf.del");
  api.ReplyWithBool(arguments.context, removed);
}

}  // namespace bloomery::server::cuckoo
