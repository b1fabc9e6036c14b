// The words of BF.RESERVE and BF.INSERT, one option after the other.
#include "commands/request.hpp"

#include <cmath>
#include <string_view>
#include <vector>

#include "commands/settings.hpp"
#include "values/dump_header.hpp"
#include "values/sizes.hpp"

namespace bloomery::server {

namespace {

// The place of a word after the capacity, or nothing.
std::optional<std::size_t> place_of(const Arguments& arguments, std::string_view word) noexcept {
  for (std::size_t i = 4; i < arguments.words.size(); ++i)
    if (is_word(arguments.words[i], word)) return i;
  return std::nullopt;
}

std::uint64_t number_of(const String* word, long long least, long long most, const char* message) {
  const long long number = number_in(word, message, least);
  if (number > most) throw ErrorReply{message};
  return static_cast<std::uint64_t>(number);
}

// The word after an option, as a number within bounds.
std::uint64_t number_after(const Arguments& arguments, std::size_t place, long long least,
                           long long most, const char* message) {
  if (place + 1 >= arguments.words.size()) throw ErrorReply{message};
  return number_of(arguments.words[place + 1], least, most, message);
}

// ---- BF.RESERVE ---------------------------------------------------------------------------------

// COUNTING [COUNTERBITS 4|8], WINDOW n ITEMS|SECONDS [SLICES n]. Returns how many words they are.
std::size_t parse_kind(const Arguments& arguments, Request& request) {
  std::size_t words = 0;
  if (place_of(arguments, "COUNTING")) {
    request.kind = Kind::counting;
    words += 1;
    if (const auto counters = place_of(arguments, "COUNTERBITS")) {
      request.counter_bits = static_cast<std::uint32_t>(
          number_after(arguments, *counters, 4, 8, "ERR bad counter bits; they are 4 or 8"));
      if (request.counter_bits != 4 && request.counter_bits != 8)
        throw ErrorReply{"ERR bad counter bits; they are 4 or 8"};
      words += 2;
    }
  } else if (place_of(arguments, "COUNTERBITS")) {
    throw ErrorReply{"ERR COUNTERBITS needs COUNTING"};
  }
  if (const auto window = place_of(arguments, "WINDOW")) {
    if (request.kind == Kind::counting)
      throw ErrorReply{"ERR a filter counts or has a window, not both"};
    request.kind = Kind::window;
    static_assert(kMaxNativeCapacity == 274'877'906'944);
    request.window = number_after(arguments, *window, 1, kMaxNativeCapacity,
                                  "ERR bad window; its length is 1 to 274877906944");
    if (place_of(arguments, "SECONDS") == *window + 2)
      request.unit = WindowUnit::seconds;
    else if (place_of(arguments, "ITEMS") != *window + 2)
      throw ErrorReply{"ERR bad window; say ITEMS or SECONDS after its length"};
    words += 3;
    if (const auto slices = place_of(arguments, "SLICES")) {
      request.slices = static_cast<std::uint32_t>(
          number_after(arguments, *slices, 1, kMaxSlices, "ERR bad slices; there are 1 to 64"));
      words += 2;
    }
  } else if (place_of(arguments, "SLICES")) {
    throw ErrorReply{"ERR SLICES needs WINDOW"};
  }
  return words;
}

// RedisBloom's own options, which only filters that grow have.
void parse_growth(const Arguments& arguments, Request& request) {
  if (place_of(arguments, "NONSCALING")) request.scaling = false;
  const auto expansion = place_of(arguments, "EXPANSION");
  if (!expansion) return;
  if (*expansion + 1 == arguments.words.size()) throw ErrorReply{"ERR no expansion"};
  const long long factor = number_in(arguments.words[*expansion + 1], "ERR bad expansion");
  if (factor != 0 && !request.scaling) throw ErrorReply{"Nonscaling filters cannot expand"};
  if (factor < 0 || factor > kMaxExpansion)
    throw ErrorReply{"ERR expansion must be in the range [0, 32768]"};
  request.growth = static_cast<std::uint32_t>(factor);
  request.scaling = factor != 0;
}

void parse_layout(const Arguments& arguments, std::size_t place, Request& request) {
  if (place + 1 == arguments.words.size()) throw ErrorReply{"ERR no layout"};
  request.is_ours = true;
  const String* name = arguments.words[place + 1];
  if (is_word(name, "native"))
    request.family = Family::native;
  else if (is_word(name, "redisbloom"))
    request.family = Family::redisbloom;
  else
    throw ErrorReply{"ERR bad layout; it is native or redisbloom"};
}

// Call it after the layout is known.
void parse_keyed(Request& request) {
  if (request.family == Family::redisbloom)
    throw ErrorReply{"ERR KEYED needs LAYOUT native; LAYOUT redisbloom hashes as RedisBloom does"};
  request.keyed = true;
  request.is_ours = true;
}

void parse_fpr(const String* word, Request& request) {
  if (api.StringToDouble(word, &request.fpr) != kOk) throw ErrorReply{"ERR bad error rate"};
  if (!(request.fpr > 0 && request.fpr < 1))
    throw ErrorReply{"ERR error rate must be in the range (0.000000, 1.000000)"};
}

void parse_capacity(const String* word, Request& request) {
  const long long capacity = number_in(word, "ERR bad capacity");
  if (capacity < 1 || capacity > max_capacity(request.family))
    throw ErrorReply{request.family == Family::redisbloom
                         ? "ERR capacity must be in the range [1, 1073741824]"
                         : "ERR capacity must be in the range [1, 274877906944]"};
  request.capacity = static_cast<std::uint64_t>(capacity);
}
static_assert(kMaxRedisBloomCapacity == 1073741824 && kMaxNativeCapacity == 274877906944);

// ---- BF.INSERT ----------------------------------------------------------------------------------

// A letter of a word in lower case; 0 beyond its end.
char letter(std::string_view word, std::size_t i) noexcept {
  return i < word.size() ? static_cast<char>(word[i] | 0x20) : '\0';
}

const String* value_at(std::span<String* const> words, std::size_t place) {
  if (place >= words.size()) throw WrongArity{};
  return words[place];
}

// An option with a value: CAPACITY, ERROR, EXPANSION.
void parse_valued(std::string_view option, const String* value, Request& request) {
  if (letter(option, 0) == 'c') {
    request.capacity = number_of(value, 1, max_capacity(request.family), "Bad capacity");
  } else if (letter(option, 1) == 'r') {
    if (api.StringToDouble(value, &request.fpr) != kOk || !(request.fpr > 0 && request.fpr < 1))
      throw ErrorReply{"Bad error rate"};
  } else {
    request.growth =
        static_cast<std::uint32_t>(number_of(value, 0, kMaxExpansion, "Bad expansion"));
  }
}

// ---- valkey-bloom's options of BF.INSERT ---------------------------------------------------------

Tightening parse_tightening(const String* value, const Request& request) {
  double ratio = 0;
  if (api.StringToDouble(value, &ratio) != kOk) throw ErrorReply{"ERR bad tightening ratio"};
  const bool in_range = ratio > 0 && ratio < 1;
  const auto tightening = Tightening::of(
      in_range ? static_cast<std::uint32_t>(std::lround(ratio * Tightening::kUnits)) : 0);
  if (!tightening) throw ErrorReply{"ERR (0 < tightening ratio range < 1)"};
  if (request.family == Family::redisbloom && *tightening != Tightening())
    throw ErrorReply{
        "ERR TIGHTENING needs LAYOUT native; LAYOUT redisbloom halves the rate as RedisBloom does"};
  return *tightening;
}

// The key of a filter with this seed: different seeds give different keys, and the same seed gives
// the same key on every server.
Seed parse_seed(const String* value) {
  const std::string_view seed = text_of(value);
  if (seed.size() != 32) throw ErrorReply{"ERR invalid seed"};
  const Hash128 hash = detail::xxh3_bytes(seed.data(), seed.size(), 0);
  return {hash.low, hash.high};
}

// VALIDATESCALETO: refuses parameters with which a filter could not grow to so many items.
void check_scales_to(const Request& request, std::uint64_t items) {
  if (!request.scaling)
    throw ErrorReply{"ERR cannot use NONSCALING and VALIDATESCALETO options together"};
  if (settings.memory_limit == 0) return;
  const Header header = plan_header(request);
  if (max_scaled_capacity(header, static_cast<std::uint64_t>(settings.memory_limit)) < items)
    throw ErrorReply{"ERR provided VALIDATESCALETO causes bloom object to exceed memory limit"};
}

}  // namespace

Request default_request() noexcept {
  Request request;
  request.family = settings.family;
  request.fpr = settings.fpr;
  request.capacity = static_cast<std::uint64_t>(settings.capacity);
  request.growth = static_cast<std::uint32_t>(settings.expansion);
  request.scaling = settings.expansion != 0;
  request.keyed = settings.keyed;
  return request;
}

Reserve parse_reserve(const Arguments& arguments) {
  Reserve parsed{default_request(), false};
  Request& request = parsed.request;
  const auto layout = place_of(arguments, "LAYOUT");
  parsed.if_not_exists = place_of(arguments, "IFNOTEXISTS").has_value();
  const bool keyed = place_of(arguments, "KEYED").has_value();
  // RedisBloom takes up to three words of options, and ignores those of them that it does not know.
  constexpr std::size_t kBefore = 4, kOfRedisBloom = 3;
  const std::size_t ours = parse_kind(arguments, request) + (layout ? 2 : 0) +
                           (parsed.if_not_exists ? 1 : 0) + (keyed ? 1 : 0);
  if (arguments.words.size() > kBefore + ours + kOfRedisBloom) throw WrongArity{};
  if (request.kind != Kind::scalable) {
    if (layout || place_of(arguments, "EXPANSION") || place_of(arguments, "NONSCALING"))
      throw ErrorReply{
          "ERR EXPANSION, NONSCALING and LAYOUT are for filters that neither count nor "
          "have a window"};
    if (arguments.words.size() != kBefore + ours)
      throw ErrorReply{
          "ERR unknown option; COUNTING takes COUNTERBITS, WINDOW takes SLICES, and both take "
          "IFNOTEXISTS and KEYED"};
    request.family = Family::native;
    request.is_ours = true;
  }
  if (layout) parse_layout(arguments, *layout, request);
  if (keyed) parse_keyed(request);
  parse_fpr(arguments.words[2], request);
  parse_capacity(arguments.words[3], request);
  parse_growth(arguments, request);
  return parsed;
}

Insert parse_insert(const Arguments& arguments) {
  const std::span<String*> words = arguments.words;
  Insert parsed;
  Request request = default_request();
  bool make = true;
  std::uint64_t scale_to = 0;
  for (std::size_t at = 2; at < words.size() && parsed.first_item == 0;) {
    const String* const option = words[at++];
    const std::string_view text = text_of(option);
    const char first = letter(text, 0);
    if (first == 'i') {
      parsed.first_item = at;
    } else if (first == 'n') {
      if (letter(text, 2) == 'c')
        make = false;
      else
        request.scaling = false;
    } else if (first == 'e' || first == 'c') {
      parse_valued(text, value_at(words, at++), request);
    } else if (is_word(option, "KEYED")) {
      parse_keyed(request);
    } else if (is_word(option, "TIGHTENING")) {
      request.tightening = parse_tightening(value_at(words, at++), request);
      request.is_ours = true;
    } else if (is_word(option, "SEED")) {
      parse_keyed(request);
      request.key = parse_seed(value_at(words, at++));
    } else if (is_word(option, "VALIDATESCALETO")) {
      scale_to = number_of(value_at(words, at++), 1, kMaxNativeCapacity, "Bad capacity");
    } else {
      throw ErrorReply{"Unknown argument received"};
    }
  }
  if (request.growth == 0) request.scaling = false;
  // ITEMS without an item is refused; without ITEMS the command only makes the filter.
  if (parsed.first_item == words.size()) throw WrongArity{};
  if (parsed.first_item == 0) parsed.first_item = words.size();
  if (scale_to != 0 && !is_replayed(arguments)) check_scales_to(request, scale_to);
  if (make) parsed.request = request;
  return parsed;
}

Value& make_filter(const Arguments& arguments, OpenedKey& key, Request request) {
  if (!request.is_ours && is_replayed(arguments)) request.family = Family::redisbloom;
  const Header header = plan_header(request);
  check_filter_limit(arguments, bytes_of(header));
  check_fits(arguments, header.bit_bytes());
  const std::vector<std::byte> bytes = encode_header(header);
  Value& made = key.put(make_empty(header));
  replicate_header(arguments, bytes);
  return made;
}

}  // namespace bloomery::server
