// BF.RESERVE, BF.ADD, BF.MADD, BF.INSERT.
//
// Replication carries what happened, not what was asked: a filter that was made goes out as the
// header of its dump, with all its parameters, so that a replica or an AOF makes the same one
// whatever its own settings; items go out as far as they were taken; a command that changed
// nothing does not go out.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "chain.hpp"
#include "command.hpp"
#include "request.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kChunk = 1024;

void fail(const Arguments& arguments, const char* message) {
  api.ReplyWithError(arguments.context, message);
}

// Makes a filter in an opened, empty key and replicates its making.
Value& make(const Arguments& arguments, OpenedKey& key, const Request& request) {
  AnyValue value = make_value(request);
  check_fits(arguments, value->bit_bytes());
  const std::vector<std::byte> header = value->header();
  Value& made = key.put(std::move(value));
  api.Replicate(arguments.context, "BF.LOADCHUNK", "scb", arguments.key(), "1", header.data(),
                header.size());
  return made;
}

enum class Reply : std::uint8_t { one, array };
// Whether the command itself may go to replicas: it has no more in it than key and items.
enum class Form : std::uint8_t { plain, with_options };

void reply_to(const Arguments& arguments, std::span<const bool> fresh, Added added, Reply reply) {
  const bool stopped = added.stop != Stop::none;
  if (reply == Reply::array)
    api.ReplyWithArray(arguments.context, static_cast<long>(added.answered + stopped));
  for (std::size_t i = 0; i < added.answered; ++i) api.ReplyWithBool(arguments.context, fresh[i]);
  if (added.stop == Stop::full) fail(arguments, "ERR non scaling filter is full");
  if (added.stop == Stop::no_room) fail(arguments, "ERR problem inserting into filter");
}

// New memory for items is asked about only where much of it may be needed.
std::uint64_t most_bytes(const Arguments& arguments, const Value& value,
                         std::size_t items) noexcept {
  if (value.kind() != Kind::chain) return UINT64_MAX;
  const auto& chain = static_cast<const Chain&>(value);
  return chain.next_capacity(items) < kAskAbove / 2 ? UINT64_MAX : memory_limit(arguments);
}

// Adds items, a chunk of hashes at a time.
Added add_all(const Arguments& arguments, Value& value, std::span<String*> items,
              std::span<bool> fresh) noexcept {
  const Share before(value);
  const std::uint64_t most = most_bytes(arguments, value, items.size());
  Added total;
  std::array<Hash128, kChunk> hashes;
  while (total.answered < items.size() && total.stop == Stop::none) {
    const std::size_t count = std::min(kChunk, items.size() - total.answered);
    for (std::size_t i = 0; i < count; ++i)
      hashes[i] = value.hash(text_of(items[total.answered + i]));
    const Added added =
        value.insert(std::span(hashes).first(count), fresh.subspan(total.answered, count), most);
    total.answered += added.answered;
    total.fresh += added.fresh;
    total.changed |= added.changed;
    total.stop = added.stop;
  }
  count_change(before, value);
  statistics.adds_new += total.fresh;
  statistics.adds_seen += total.answered - total.fresh;
  return total;
}

void replicate(const Arguments& arguments, std::span<String*> items, Added added,
               Form form) noexcept {
  if (!added.changed) return;
  if (form == Form::plain && added.answered == items.size())
    api.ReplicateVerbatim(arguments.context);
  else
    api.Replicate(arguments.context, "BF.MADD", "sv", arguments.key(), items.data(),
                  added.answered);
}

// `request`: what to make where there is no filter; without one its absence is an error.
void add_items(const Arguments& arguments, std::span<String*> items,
               const std::optional<Request>& request, Reply reply, Form form) {
  // Before anything changes: the last allocation that can fail.
  std::array<bool, kChunk> few;
  std::unique_ptr<bool[]> many;
  if (items.size() > few.size()) many.reset(new bool[items.size()]);
  const std::span<bool> fresh(many != nullptr ? many.get() : few.data(), items.size());

  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  Value* value = key.value();
  const bool make_it = value == nullptr && request.has_value() && key.is_missing();
  if (value == nullptr && !make_it) return fail(arguments, key.complaint());
  if (make_it) value = &make(arguments, key, *request);

  bring_up_to_date(arguments, *value);
  const Added added = add_all(arguments, *value, items, fresh);
  replicate(arguments, items, added, form);
  if (make_it) announce(arguments, "bf.reserve");
  if (added.changed) announce(arguments, "bf.add");
  reply_to(arguments, fresh, added, reply);
}

// One item into a chain that is there and has room in its newest sub-filter; nothing: it has not.
std::optional<bool> add_one(const Arguments& arguments) noexcept {
  Chain* chain = nullptr;
  Hash128 hash;
  {
    // The bits are on their way from memory while the key is closed; the filter stays.
    const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
    if (key.value() == nullptr || key.value()->kind() != Kind::chain) return std::nullopt;
    chain = static_cast<Chain*>(key.value());
    hash = chain->hash(text_of(arguments.words[2]));
    chain->prefetch(hash);
  }
  const auto added = chain->insert_into_newest(hash);
  if (added.value_or(false)) count_item(*chain);
  return added;
}

}  // namespace

void reserve(const Arguments& arguments) {
  const auto parsed = parse_reserve(arguments);
  if (!parsed) return;
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (key.value() != nullptr) {
    if (parsed->if_not_exists)
      api.ReplyWithNull(arguments.context);
    else
      fail(arguments, "ERR item exists");
    return;
  }
  if (!key.is_missing()) return fail(arguments, kWrongType);
  make(arguments, key, parsed->request);
  announce(arguments, "bf.reserve");
  api.ReplyWithSimpleString(arguments.context, "OK");
}

void add(const Arguments& arguments) {
  if (arguments.words.size() != 3) {
    api.WrongArity(arguments.context);
    return;
  }
  // The usual case, without what only many items or a new filter need.
  if (const auto added = add_one(arguments)) {
    statistics.adds_new += *added;
    statistics.adds_seen += !*added;
    if (*added) {
      api.ReplicateVerbatim(arguments.context);
      announce(arguments, "bf.add");
    }
    api.ReplyWithBool(arguments.context, *added);
    return;
  }
  add_items(arguments, arguments.from(2), default_request(), Reply::one, Form::plain);
}

void add_many(const Arguments& arguments) {
  if (arguments.words.size() < 3) {
    api.WrongArity(arguments.context);
    return;
  }
  add_items(arguments, arguments.from(2), default_request(), Reply::array, Form::plain);
}

void insert(const Arguments& arguments) {
  if (const auto parsed = parse_insert(arguments))
    add_items(arguments, arguments.from(parsed->first_item), parsed->request, Reply::array,
              Form::with_options);
}

}  // namespace bloomery::server
