// BF.RESERVE, BF.ADD, BF.MADD, BF.INSERT.
//
// Replication carries what happened, not what was asked: a filter that was made goes out as the
// header of its dump, with all its parameters, so that a replica or an AOF makes the same one
// whatever its own settings; items go out as far as they were taken; a command that changed
// nothing does not go out.
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "command.hpp"
#include "dump.hpp"
#include "settings.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kChunk = 1024;

void fail(const Arguments& arguments, const char* message) {
  api.ReplyWithError(arguments.context, message);
}

Chain::Request default_request() noexcept {
  Chain::Request request;
  request.family = settings.family;
  request.rate = settings.rate;
  request.capacity = static_cast<std::uint64_t>(settings.capacity);
  request.growth = static_cast<std::uint32_t>(settings.expansion);
  request.scaling = settings.expansion != 0;
  return request;
}

// Makes a filter in an opened, empty key and replicates its making.
Chain& make(const Arguments& arguments, OpenedKey& key, Chain::Request request) {
  if (request.family == Family::redisbloom)
    request.rate = std::min(request.rate, kHighestRateTheirs);
  else if (request.rate < kMinRate)
    throw Error(ErrorCode::invalid_argument, "error rate must be at least 1e-15");
  ValuePointer<Chain> chain = Chain::make(request);
  check_fits(arguments, chain->bit_bytes());
  const std::vector<std::byte> header = encode_header(*chain);
  Chain& made = key.put(std::move(chain));
  api.Replicate(arguments.context, "BF.LOADCHUNK", "scb", arguments.key(), "1", header.data(),
                header.size());
  return made;
}

enum class Reply : std::uint8_t { one, array };
// Whether the command itself may go to replicas: it has no more in it than key and items.
enum class Form : std::uint8_t { plain, with_options };

void reply_to(const Arguments& arguments, std::span<const bool> fresh, Chain::Added added,
              Reply reply) {
  const bool stopped = added.stop != Chain::Stop::none;
  if (reply == Reply::array)
    api.ReplyWithArray(arguments.context, static_cast<long>(added.answered + stopped));
  for (std::size_t i = 0; i < added.answered; ++i) api.ReplyWithBool(arguments.context, fresh[i]);
  if (added.stop == Chain::Stop::full) fail(arguments, "ERR non scaling filter is full");
  if (added.stop == Chain::Stop::no_room) fail(arguments, "ERR problem inserting into filter");
}

// Adds items, a chunk of hashes at a time.
Chain::Added add_all(const Arguments& arguments, Chain& chain, std::span<String*> items,
                     std::span<bool> fresh) noexcept {
  const std::uint64_t most =
      chain.next_capacity(items.size()) < kAskAbove / 2 ? UINT64_MAX : memory_limit(arguments);
  const Share before(chain);
  Chain::Added total;
  std::array<Hash128, kChunk> hashes;
  while (total.answered < items.size() && total.stop == Chain::Stop::none) {
    const std::size_t count = std::min(kChunk, items.size() - total.answered);
    for (std::size_t i = 0; i < count; ++i)
      hashes[i] = chain.hash(text_of(items[total.answered + i]));
    const auto added =
        chain.insert(std::span(hashes).first(count), fresh.subspan(total.answered, count), most);
    total.answered += added.answered;
    total.stop = added.stop;
  }
  total.fresh = chain.size() - before.items;
  count_change(before, chain);
  statistics.adds_new += total.fresh;
  statistics.adds_seen += total.answered - total.fresh;
  return total;
}

void replicate(const Arguments& arguments, std::span<String*> items, Chain::Added added,
               Form form) noexcept {
  if (added.fresh == 0) return;
  if (form == Form::plain && added.answered == items.size())
    api.ReplicateVerbatim(arguments.context);
  else
    api.Replicate(arguments.context, "BF.MADD", "sv", arguments.key(), items.data(),
                  added.answered);
}

// `request`: what to make where there is no filter; without one its absence is an error.
void add_items(const Arguments& arguments, std::span<String*> items,
               const std::optional<Chain::Request>& request, Reply reply, Form form) {
  // Before anything changes: the last allocation that can fail.
  std::array<bool, kChunk> few;
  std::unique_ptr<bool[]> many;
  if (items.size() > few.size()) many.reset(new bool[items.size()]);
  const std::span<bool> fresh(many != nullptr ? many.get() : few.data(), items.size());

  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  Chain* chain = key.chain();
  const bool make_it = chain == nullptr && request.has_value() && key.is_missing();
  if (chain == nullptr && !make_it) return fail(arguments, key.complaint());
  if (make_it) chain = &make(arguments, key, *request);

  const Chain::Added added = add_all(arguments, *chain, items, fresh);
  replicate(arguments, items, added, form);
  if (make_it) announce(arguments, "bf.reserve");
  if (added.fresh != 0) announce(arguments, "bf.add");
  reply_to(arguments, fresh, added, reply);
}

// One item into a filter that is there and has room in its newest link; nothing: it has not.
std::optional<bool> add_one(const Arguments& arguments) noexcept {
  Chain* chain = nullptr;
  Hash128 hash;
  {
    // The bits are on their way from memory while the key is closed; the filter stays.
    const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
    chain = key.chain();
    if (chain == nullptr) return std::nullopt;
    hash = chain->hash(text_of(arguments.words[2]));
    chain->prefetch(hash);
  }
  const auto added = chain->insert_into_newest(hash);
  if (added.value_or(false)) count_item(*chain);
  return added;
}

// ---- options ------------------------------------------------------------------------------------------

// BF.RESERVE key rate capacity, and what may follow. Our own words come on top of RedisBloom's,
// which takes four words more at most and overlooks those that it does not know.
struct Reserve {
  Chain::Request request;
  bool if_not_exists = false;
};

// The place of a word after the capacity, or nothing.
std::optional<std::size_t> place_of(const Arguments& arguments, std::string_view word) noexcept {
  for (std::size_t i = 4; i < arguments.words.size(); ++i)
    if (is_word(arguments.words[i], word)) return i;
  return std::nullopt;
}

void fail_range(const Arguments& arguments, const char* what, long long least, long long most) {
  std::array<char, 96> text;
  std::snprintf(text.data(), text.size(), "ERR %s must be in the range [%lld, %lld]", what, least,
                most);
  fail(arguments, text.data());
}

// Nothing: the complaint has been made.
std::optional<Reserve> parse_reserve(const Arguments& arguments) {
  const auto refuse = [&](const char* message) {
    fail(arguments, message);
    return std::nullopt;
  };
  Reserve parsed{default_request(), false};
  std::size_t most_words = 7;
  const auto layout = place_of(arguments, "LAYOUT");
  const auto if_not_exists = place_of(arguments, "IFNOTEXISTS");
  if (layout) most_words += 2;
  if (if_not_exists) most_words += 1;
  if (arguments.words.size() < 4 || arguments.words.size() > most_words) {
    api.WrongArity(arguments.context);
    return std::nullopt;
  }
  Chain::Request& request = parsed.request;
  parsed.if_not_exists = if_not_exists.has_value();
  if (layout) {
    if (*layout + 1 == arguments.words.size()) return refuse("ERR no layout");
    const String* name = arguments.words[*layout + 1];
    if (is_word(name, "line"))
      request.family = Family::bloomery;
    else if (is_word(name, "classic"))
      request.family = Family::redisbloom;
    else
      return refuse("ERR bad layout; it is line or classic");
  }
  if (api.StringToDouble(arguments.words[2], &request.rate) != kOk)
    return refuse("ERR bad error rate");
  if (!(request.rate > 0 && request.rate < 1))
    return refuse("ERR error rate must be in the range (0.000000, 1.000000)");
  long long capacity = 0;
  if (api.StringToLongLong(arguments.words[3], &capacity) != kOk) return refuse("ERR bad capacity");
  if (capacity < 1 || capacity > max_capacity(request.family)) {
    fail_range(arguments, "capacity", 1, max_capacity(request.family));
    return std::nullopt;
  }
  request.capacity = static_cast<std::uint64_t>(capacity);
  if (place_of(arguments, "NONSCALING")) request.scaling = false;
  if (const auto expansion = place_of(arguments, "EXPANSION")) {
    if (*expansion + 1 == arguments.words.size()) return refuse("ERR no expansion");
    long long factor = 0;
    if (api.StringToLongLong(arguments.words[*expansion + 1], &factor) != kOk)
      return refuse("ERR bad expansion");
    if (factor != 0 && !request.scaling) return refuse("Nonscaling filters cannot expand");
    if (factor < 0 || factor > kMaxExpansion) {
      fail_range(arguments, "expansion", 0, kMaxExpansion);
      return std::nullopt;
    }
    request.growth = static_cast<std::uint32_t>(factor);
    request.scaling = factor != 0;
  }
  return parsed;
}

// BF.INSERT's options are known by their first letters, as RedisBloom knows them.
struct Insert {
  std::optional<Chain::Request> request = default_request();
  std::size_t first_item = 0;
};

std::optional<Insert> parse_insert(const Arguments& arguments) {
  const std::span<String*> words = arguments.words;
  const auto wrong_arity = [&] {
    api.WrongArity(arguments.context);
    return std::nullopt;
  };
  const auto refuse = [&](const char* message) {
    fail(arguments, message);
    return std::nullopt;
  };
  if (words.size() < 4) return wrong_arity();
  Insert parsed;
  Chain::Request request = default_request();
  bool make = true;
  const auto letter = [](std::string_view word, std::size_t i) {
    return i < word.size() ? static_cast<char>(word[i] | 0x20) : '\0';
  };
  for (std::size_t at = 2; at < words.size() && parsed.first_item == 0;) {
    const std::string_view word = text_of(words[at++]);
    const char first = letter(word, 0);
    if (first == 'i') {
      parsed.first_item = at;
    } else if (first == 'n') {
      if (letter(word, 2) == 'c')
        make = false;
      else
        request.scaling = false;
    } else if (first == 'e' || first == 'c') {
      if (at == words.size()) return wrong_arity();
      const String* value = words[at++];
      long long number = 0;
      if (first == 'c') {
        if (api.StringToLongLong(value, &number) != kOk || number < 1 ||
            number > max_capacity(request.family))
          return refuse("Bad capacity");
        request.capacity = static_cast<std::uint64_t>(number);
      } else if (letter(word, 1) == 'r') {
        if (api.StringToDouble(value, &request.rate) != kOk ||
            !(request.rate > 0 && request.rate < 1))
          return refuse("Bad error rate");
      } else {
        if (api.StringToLongLong(value, &number) != kOk || number < 0 || number > kMaxExpansion)
          return refuse("Bad expansion");
        request.growth = static_cast<std::uint32_t>(number);
      }
    } else {
      return refuse("Unknown argument received");
    }
  }
  if (request.growth == 0) request.scaling = false;
  if (parsed.first_item == 0 || parsed.first_item == words.size()) return wrong_arity();
  parsed.request = make ? std::optional(request) : std::nullopt;
  return parsed;
}

}  // namespace

void reserve(const Arguments& arguments) {
  const auto parsed = parse_reserve(arguments);
  if (!parsed) return;
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (key.chain() != nullptr) {
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
