// BF.CARD, BF.INFO, BF.DEBUG: what a filter is.
#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/settings.hpp"
#include "values/dump_header.hpp"
#include "values/sizes.hpp"

namespace bloomery::server {

namespace {

namespace redisbloom = legacy::redisbloom;

void reply_number(Context* context, std::uint64_t number) noexcept {
  api.ReplyWithLongLong(context,
                        static_cast<long long>(std::min<std::uint64_t>(number, LLONG_MAX)));
}

constexpr const char* kNoField = "Invalid information value";

// ---- BF.INFO ------------------------------------------------------------------------------------

struct Field {
  const char* word;
  const char* title;
  void (*reply)(Context*, const Header&, const Totals&);
};

constexpr std::array<Field, 5> kFields = {{
    {"capacity", "Capacity",
     [](Context* context, const Header&, const Totals& totals) {
       reply_number(context, totals.capacity);
     }},
    {"size", "Size",
     [](Context* context, const Header&, const Totals& totals) {
       reply_number(context, totals.bytes);
     }},
    {"filters", "Number of filters",
     [](Context* context, const Header& header, const Totals&) {
       reply_number(context, header.kind == Kind::window ? header.window.ring_slices()
                                                         : header.sub_filters.size());
     }},
    {"items", "Number of items inserted",
     [](Context* context, const Header&, const Totals& totals) {
       reply_number(context, totals.items);
     }},
    {"expansion", "Expansion rate",
     [](Context* context, const Header& header, const Totals&) {
       if (header.grows())
         reply_number(context, header.growth);
       else
         api.ReplyWithNull(context);
     }},
}};

// The fewest digits that are parsed as the same number.
std::string shortest(double number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.begin(), text.end(), number).ptr};
}

// ---- BF.INFO key RESERVE ------------------------------------------------------------------------

// The words of BF.RESERVE after the key that make a filter like this one, without IFNOTEXISTS and
// KEYED: a client compares them with the words that it would have sent. TIGHTENING, which only
// BF.INSERT takes, is there if it is not 0.5.
std::vector<std::string> reserve_words(const Header& header) {
  const auto& first = header.sub_filters[0];
  if (header.kind == Kind::window) {
    const WindowPlan& plan = header.window;
    return {shortest(plan.fpr),
            std::to_string(plan.capacity),
            "WINDOW",
            std::to_string(plan.window),
            plan.unit == WindowUnit::seconds ? "SECONDS" : "ITEMS",
            "SLICES",
            std::to_string(plan.slices)};
  }
  if (header.kind == Kind::frozen)
    return {shortest(first.error), std::to_string(first.entries), "FROZEN"};
  if (header.kind == Kind::counting) {
    const Plan plan = plan_of(first);
    return {shortest(plan.fpr), std::to_string(plan.capacity), "COUNTING", "COUNTERBITS",
            std::to_string(counter_bits(plan.layout))};
  }
  const bool grows = header.grows();
  std::vector<std::string> words = {shortest(header.asked_fpr()), std::to_string(first.entries),
                                    grows ? "EXPANSION" : "NONSCALING"};
  if (grows) words.push_back(std::to_string(header.growth));
  words.emplace_back("LAYOUT");
  words.emplace_back(header.family == Family::native ? "native" : "redisbloom");
  if (header.tightening != Tightening()) {
    words.emplace_back("TIGHTENING");
    words.push_back(shortest(header.tightening.ratio()));
  }
  return words;
}

void reply_reserve(Context* context, const Header& header, const Totals&) {
  const std::vector<std::string> words = reserve_words(header);
  api.ReplyWithArray(context, static_cast<long>(words.size()));
  for (const std::string& word : words)
    api.ReplyWithStringBuffer(context, word.data(), word.size());
}

// Replied only if it is asked for by name: without a name, the reply is RedisBloom's.
constexpr Field kReserve = {"reserve", "Reserve", reply_reserve};

// ---- fields of valkey-bloom ----------------------------------------------------------------------

// These are replied only by name, and bare: without an array or a map around them. The last two are
// for filters that grow.
constexpr std::array<Field, 3> kOfValkey = {{
    {"error", "Error rate",
     [](Context* context, const Header& header, const Totals&) {
       api.ReplyWithDouble(context, header.asked_fpr());
     }},
    {"tightening", "Tightening ratio",
     [](Context* context, const Header& header, const Totals&) {
       if (!header.grows()) throw ErrorReply{kNoField};
       api.ReplyWithDouble(context, header.tightening.ratio());
     }},
    {"maxscaledcapacity", "Max scaled capacity",
     [](Context* context, const Header& header, const Totals&) {
       if (!header.grows()) throw ErrorReply{kNoField};
       if (settings.memory_limit == 0) return void(api.ReplyWithNull(context));
       const auto limit = static_cast<std::uint64_t>(settings.memory_limit);
       reply_number(context,
                    std::min<std::uint64_t>(max_scaled_capacity(header, limit), INT64_MAX));
     }},
}};

// ---- BF.DEBUG -----------------------------------------------------------------------------------

[[gnu::format(printf, 2, 3)]] void reply_text(Context* context, const char* format, ...) {
  std::array<char, 256> text;
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  api.ReplyWithStringBuffer(context, text.data(), static_cast<std::size_t>(length));
}

void reply_sub_filter(Context* context, const Header& header, const redisbloom::SubFilter& sizes) {
  const std::string bits = header.family == Family::native
                               ? "layout:" + std::string(to_string(plan_of(sizes).layout)) +
                                     (header.key ? " keyed:1" : "")
                           : (header.options & redisbloom::kForce64) != 0 ? "hashwidth:64"
                                                                          : "hashwidth:32";
  reply_text(context,
             "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%u %s capacity:%" PRIu64 " size:%" PRIu64
             " ratio:%g",
             sizes.bytes, sizes.bits, sizes.hashes, bits.c_str(), sizes.entries, sizes.size,
             sizes.error);
}

void reply_counting(Context* context, const Header& header) {
  const Plan plan = plan_of(header.sub_filters[0]);
  reply_text(context,
             "bytes:%" PRIu64 " counters:%" PRIu64 " counterbits:%u hashes:%u capacity:%" PRIu64
             " ratio:%g%s",
             header.bit_bytes(), plan.bits, counter_bits(plan.layout), plan.hashes, plan.capacity,
             plan.fpr, header.key ? " keyed:1" : "");
}

void reply_frozen(Context* context, const Header& header) {
  const FrozenPlan& plan = header.frozen;
  reply_text(context,
             "bytes:%" PRIu64 " fingerprintbits:%u partitions:%u narrow:%u capacity:%" PRIu64
             " ratio:%g%s",
             plan.bytes(), plan.fingerprint_bits, plan.partitions, plan.narrow_partitions,
             plan.array.capacity, plan.array.fpr, header.key ? " keyed:1" : "");
}

void reply_window(Context* context, const Header& header) {
  const WindowPlan& plan = header.window;
  const auto& counts = header.state.inserted_in_slices;
  const auto live = counts.size() - static_cast<std::size_t>(std::ranges::count(counts, 0U));
  reply_text(context,
             "bytes:%" PRIu64 " window:%" PRIu64 " unit:%s slices:%u live:%zu now:%" PRIu64
             " hashes:%u capacity:%" PRIu64 " ratio:%g%s",
             plan.bytes(), plan.window, plan.unit == WindowUnit::seconds ? "seconds" : "items",
             plan.slices, live, header.state.now, plan.slice.hashes, plan.capacity, plan.fpr,
             header.key ? " keyed:1" : "");
}

}  // namespace

void card(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  reply_number(arguments.context, key.is_missing() ? 0 : key.filter().totals().items);
}

void info(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Header header = key.filter().header();
  const Totals totals = key.filter().totals();
  const auto reply = [&](const Field& field, bool with_title) {
    if (with_title) api.ReplyWithSimpleString(arguments.context, field.title);
    field.reply(arguments.context, header, totals);
  };
  if (arguments.words.size() == 2) {
    api.ReplyWithMap(arguments.context, kFields.size());
    for (const Field& field : kFields) reply(field, true);
    return;
  }
  const auto is_asked = [&](const Field& field) { return is_word(arguments.words[2], field.word); };
  const auto* const of_valkey = std::ranges::find_if(kOfValkey, is_asked);
  if (of_valkey != kOfValkey.end()) return reply(*of_valkey, false);
  const auto* const found = std::ranges::find_if(kFields, is_asked);
  if (found == kFields.end() && !is_asked(kReserve)) throw ErrorReply{kNoField};
  // The reply is a map of one entry in RESP3, and an array of the value alone in RESP2.
  const bool is_map = (api.GetContextFlags(arguments.context) & kContextIsResp3) != 0;
  is_map ? api.ReplyWithMap(arguments.context, 1) : api.ReplyWithArray(arguments.context, 1);
  reply(found == kFields.end() ? kReserve : *found, is_map);
}

void debug(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Header header = key.filter().header();
  api.ReplyWithArray(arguments.context, static_cast<long>(1 + header.sub_filters.size()));
  reply_text(arguments.context, "size:%" PRIu64, header.size);
  if (header.kind == Kind::counting) return reply_counting(arguments.context, header);
  if (header.kind == Kind::window) return reply_window(arguments.context, header);
  if (header.kind == Kind::frozen) return reply_frozen(arguments.context, header);
  for (const auto& sizes : header.sub_filters) reply_sub_filter(arguments.context, header, sizes);
}

}  // namespace bloomery::server
