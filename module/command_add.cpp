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

#include "chain.hpp"
#include "command.hpp"
#include "counting.hpp"
#include "dump.hpp"
#include "settings.hpp"
#include "statistics.hpp"
#include "window.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kChunk = 1024;

void fail(const Arguments& arguments, const char* message) {
  api.ReplyWithError(arguments.context, message);
}

// A filter to be made, of any kind.
struct Request {
  Kind kind = Kind::chain;
  Chain::Request chain;         // its rate, its capacity and whether it is keyed are every kind's
  std::uint32_t cell_bits = 4;  // counting filters
  WindowUnit unit = WindowUnit::insertions;
  std::uint64_t window = 0;
  std::uint32_t slices = kDefaultSlices;
};

Request default_request() noexcept {
  Request request;
  request.chain.family = settings.family;
  request.chain.rate = settings.rate;
  request.chain.capacity = static_cast<std::uint64_t>(settings.capacity);
  request.chain.growth = static_cast<std::uint32_t>(settings.expansion);
  request.chain.scaling = settings.expansion != 0;
  request.chain.keyed = settings.keyed;
  return request;
}

// One that counts or has a window.
AnyValue make_other(const Request& request) {
  const Chain::Request& chain = request.chain;
  const auto key = chain.keyed ? std::optional(random_seed(HashFamily::siphash)) : std::nullopt;
  const Hasher hasher = hasher_of(key);
  if (request.kind == Kind::counting)
    return AnyValue(
        Counting::make(chain.capacity, chain.rate, request.cell_bits, hasher).release());
  const WindowPlan plan =
      window_plan(request.unit, request.window, chain.capacity, chain.rate, request.slices);
  return AnyValue(Window::make(plan, hasher).release());
}

AnyValue make_value(Request& request) {
  Chain::Request& chain = request.chain;
  if (request.kind != Kind::chain) return make_other(request);
  if (chain.family == Family::redisbloom)
    chain.rate = std::min(chain.rate, kHighestRateTheirs);
  else if (chain.rate < kMinRate)
    throw Error(ErrorCode::invalid_argument, "error rate must be at least 1e-15");
  return AnyValue(Chain::make(chain).release());
}

// Makes a filter in an opened, empty key and replicates its making.
Value& make(const Arguments& arguments, OpenedKey& key, Request request) {
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

// One item into a chain that is there and has room in its newest link; nothing: it has not.
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

// ---- options ------------------------------------------------------------------------------------------

// BF.RESERVE key rate capacity, and what may follow. Our own words come on top of RedisBloom's,
// which takes four words more at most and overlooks those that it does not know.
struct Reserve {
  Request request;
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

// A complaint, as it is replied.
struct Complaint {
  const char* message;
};

// The word after an option, as a number within bounds.
std::uint64_t number_after(const Arguments& arguments, std::size_t place, long long least,
                           long long most, const char* complaint) {
  long long number = 0;
  if (place + 1 >= arguments.words.size() ||
      api.StringToLongLong(arguments.words[place + 1], &number) != kOk || number < least ||
      number > most)
    throw Complaint{complaint};
  return static_cast<std::uint64_t>(number);
}

// COUNTING [CELLS 4|8], WINDOW n ITEMS|SECONDS [SLICES n]. Returns how many words they are.
std::size_t parse_kind(const Arguments& arguments, Request& request) {
  std::size_t words = 0;
  if (place_of(arguments, "COUNTING")) {
    request.kind = Kind::counting;
    words += 1;
    if (const auto cells = place_of(arguments, "CELLS")) {
      request.cell_bits = static_cast<std::uint32_t>(
          number_after(arguments, *cells, 4, 8, "ERR bad cells; they have 4 or 8 bits"));
      if (request.cell_bits != 4 && request.cell_bits != 8)
        throw Complaint{"ERR bad cells; they have 4 or 8 bits"};
      words += 2;
    }
  }
  if (const auto window = place_of(arguments, "WINDOW")) {
    if (request.kind == Kind::counting)
      throw Complaint{"ERR a filter counts or has a window, not both"};
    request.kind = Kind::window;
    request.window = number_after(arguments, *window, 1, kMaxCapacityOurs, "ERR bad window");
    if (place_of(arguments, "SECONDS") == *window + 2)
      request.unit = WindowUnit::seconds;
    else if (place_of(arguments, "ITEMS") != *window + 2)
      throw Complaint{"ERR bad window; say ITEMS or SECONDS after its length"};
    words += 3;
    if (const auto slices = place_of(arguments, "SLICES")) {
      request.slices = static_cast<std::uint32_t>(
          number_after(arguments, *slices, 1, kMaxSlices, "ERR bad slices; there are 1 to 64"));
      words += 2;
    }
  }
  return words;
}

// RedisBloom's own words after the capacity, and LAYOUT, which are of filters that grow.
void parse_growth(const Arguments& arguments, Chain::Request& request) {
  if (place_of(arguments, "NONSCALING")) request.scaling = false;
  const auto expansion = place_of(arguments, "EXPANSION");
  if (!expansion) return;
  if (*expansion + 1 == arguments.words.size()) throw Complaint{"ERR no expansion"};
  long long factor = 0;
  if (api.StringToLongLong(arguments.words[*expansion + 1], &factor) != kOk)
    throw Complaint{"ERR bad expansion"};
  if (factor != 0 && !request.scaling) throw Complaint{"Nonscaling filters cannot expand"};
  if (factor < 0 || factor > kMaxExpansion)
    throw Complaint{"ERR expansion must be in the range [0, 32768]"};
  request.growth = static_cast<std::uint32_t>(factor);
  request.scaling = factor != 0;
}

void parse_layout(const Arguments& arguments, std::size_t place, Chain::Request& request) {
  if (place + 1 == arguments.words.size()) throw Complaint{"ERR no layout"};
  const String* name = arguments.words[place + 1];
  if (is_word(name, "line"))
    request.family = Family::bloomery;
  else if (is_word(name, "classic"))
    request.family = Family::redisbloom;
  else
    throw Complaint{"ERR bad layout; it is line or classic"};
}

// Nothing: the complaint has been made.
std::optional<Reserve> parse_reserve(const Arguments& arguments) {
  Reserve parsed{default_request(), false};
  Request& request = parsed.request;
  const auto layout = place_of(arguments, "LAYOUT");
  parsed.if_not_exists = place_of(arguments, "IFNOTEXISTS").has_value();
  const bool keyed = place_of(arguments, "KEYED").has_value();
  const std::size_t most_words = 7 + parse_kind(arguments, request) + (layout ? 2 : 0) +
                                 (parsed.if_not_exists ? 1 : 0) + (keyed ? 1 : 0);
  if (arguments.words.size() < 4 || arguments.words.size() > most_words) {
    api.WrongArity(arguments.context);
    return std::nullopt;
  }
  if (request.kind != Kind::chain) {
    if (layout || place_of(arguments, "EXPANSION") || place_of(arguments, "NONSCALING"))
      throw Complaint{
          "ERR EXPANSION, NONSCALING and LAYOUT are of filters that neither count nor "
          "have a window"};
    request.chain.family = Family::bloomery;
  }
  if (layout) parse_layout(arguments, *layout, request.chain);
  if (keyed && request.chain.family == Family::redisbloom)
    throw Complaint{
        "ERR KEYED is of the layout line; the layout classic hashes as RedisBloom does"};
  request.chain.keyed |= keyed;
  if (api.StringToDouble(arguments.words[2], &request.chain.rate) != kOk)
    throw Complaint{"ERR bad error rate"};
  if (!(request.chain.rate > 0 && request.chain.rate < 1))
    throw Complaint{"ERR error rate must be in the range (0.000000, 1.000000)"};
  long long capacity = 0;
  if (api.StringToLongLong(arguments.words[3], &capacity) != kOk)
    throw Complaint{"ERR bad capacity"};
  if (capacity < 1 || capacity > max_capacity(request.chain.family)) {
    fail_range(arguments, "capacity", 1, max_capacity(request.chain.family));
    return std::nullopt;
  }
  request.chain.capacity = static_cast<std::uint64_t>(capacity);
  parse_growth(arguments, request.chain);
  return parsed;
}

// BF.INSERT's options are known by their first letters, as RedisBloom knows them.
struct Insert {
  std::optional<Request> request = default_request();
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
  Request whole = default_request();
  Chain::Request& request = whole.chain;
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
  parsed.request = make ? std::optional(whole) : std::nullopt;
  return parsed;
}

}  // namespace

void reserve(const Arguments& arguments) {
  std::optional<Reserve> parsed;
  try {
    parsed = parse_reserve(arguments);
  } catch (const Complaint& complaint) {
    return fail(arguments, complaint.message);
  }
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
