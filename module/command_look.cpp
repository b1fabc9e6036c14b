// BF.EXISTS, BF.MEXISTS, BF.CARD, BF.INFO, BF.DEBUG: nothing here changes what a filter answers.
#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

#include "chain.hpp"
#include "command.hpp"
#include "counting.hpp"
#include "dump.hpp"
#include "statistics.hpp"
#include "window.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kChunk = 1024;

void count_checks(std::size_t hits, std::size_t all) noexcept {
  statistics.checks_hit += hits;
  statistics.checks_miss += all - hits;
}

// A command that needs a filter: runs `use` on it, or replies why there is none.
template <class Use>
void with_value(const Arguments& arguments, Use use) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  if (key.value() == nullptr)
    api.ReplyWithError(arguments.context, key.complaint());
  else
    use(*key.value());
}

bool arity_is(const Arguments& arguments, std::size_t least, std::size_t most) noexcept {
  if (arguments.words.size() >= least && arguments.words.size() <= most) return true;
  api.WrongArity(arguments.context);
  return false;
}

// ---- BF.INFO ----------------------------------------------------------------------------------------

struct Field {
  const char* word;
  const char* title;
  void (*reply)(Context*, const Value&);
};

const Chain* chain_of(const Value& value) noexcept {
  return value.kind() == Kind::chain ? static_cast<const Chain*>(&value) : nullptr;
}

// The plain filters that a look-up asks.
std::uint64_t parts_of(const Value& value) noexcept {
  if (const Chain* chain = chain_of(value)) return chain->sub_filters().size();
  return value.kind() == Kind::window ? static_cast<const Window&>(value).ring_slices() : 1;
}

void reply_number(Context* context, std::uint64_t number) noexcept {
  api.ReplyWithLongLong(context, static_cast<long long>(number));
}

constexpr std::array<Field, 5> kFields = {{
    {"capacity", "Capacity",
     [](Context* context, const Value& value) { reply_number(context, value.capacity()); }},
    {"size", "Size",
     [](Context* context, const Value& value) { reply_number(context, value.footprint()); }},
    {"filters", "Number of filters",
     [](Context* context, const Value& value) { reply_number(context, parts_of(value)); }},
    {"items", "Number of items inserted",
     [](Context* context, const Value& value) { reply_number(context, value.size()); }},
    {"expansion", "Expansion rate",
     [](Context* context, const Value& value) {
       if (const Chain* chain = chain_of(value); chain != nullptr && chain->scaling())
         reply_number(context, chain->growth());
       else
         api.ReplyWithNull(context);
     }},
}};

// ---- BF.DEBUG ---------------------------------------------------------------------------------------

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  std::array<char, 256> made;
  va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(made.data(), made.size(), format, values);
  va_end(values);
  return {made.data(), static_cast<std::size_t>(length)};
}

std::string describe(const Chain& chain, const SubFilter& sub_filter) {
  const auto& sizes = sub_filter.sizes;
  const std::string width = chain.family() == Family::bloomery
                                ? " layout:" + std::string(to_string(sub_filter.layout())) +
                                      std::string(chain.key() ? " keyed:1" : "")
                            : (chain.options() & legacy::redisbloom::kForce64) != 0
                                ? " hashwidth:64"
                                : " hashwidth:32";
  return text("bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%u%s capacity:%" PRIu64 " size:%" PRIu64
              " ratio:%g",
              sizes.bytes, sizes.bits, sizes.hashes, width.c_str(), sizes.entries, sizes.size,
              sizes.error);
}

std::vector<std::string> describe(const Value& value) {
  if (const Chain* chain = chain_of(value)) {
    std::vector<std::string> lines;
    for (const SubFilter& sub_filter : chain->sub_filters())
      lines.push_back(describe(*chain, sub_filter));
    return lines;
  }
  if (value.kind() == Kind::counting) {
    const auto& counting = static_cast<const Counting&>(value);
    return {text("bytes:%" PRIu64 " counters:%" PRIu64 " counterbits:%u hashes:%u capacity:%" PRIu64
                 " ratio:%g%s",
                 counting.bit_bytes(), counting.plan().bits, counting.counter_bits(),
                 counting.plan().hashes, counting.capacity(), counting.plan().fpr,
                 counting.key() ? " keyed:1" : "")};
  }
  const auto& window = static_cast<const Window&>(value);
  const WindowPlan plan = window.plan();
  return {text("bytes:%" PRIu64 " window:%" PRIu64 " unit:%s slices:%u live:%u now:%" PRIu64
               " hashes:%u capacity:%" PRIu64 " ratio:%g%s",
               plan.bytes(), plan.window, plan.unit == WindowUnit::seconds ? "seconds" : "items",
               plan.slices, window.live_slices(), window.now(), plan.slice.hashes, plan.capacity,
               plan.fpr, window.key() ? " keyed:1" : "")};
}

// ---- BF.INFO, one field -----------------------------------------------------------------------------

void reply_field(const Arguments& arguments, const Value& value, const Field& field) {
  // One value: in RESP3 a map of one, in RESP2 an array of the value alone.
  if ((api.GetContextFlags(arguments.context) & kContextIsResp3) != 0) {
    api.ReplyWithMap(arguments.context, 1);
    api.ReplyWithSimpleString(arguments.context, field.title);
  } else {
    api.ReplyWithArray(arguments.context, 1);
  }
  field.reply(arguments.context, value);
}

}  // namespace

void exists(const Arguments& arguments) {
  if (!arity_is(arguments, 3, 3)) return;
  const Value* value = nullptr;
  Hash128 hash;
  {
    // The bits are on their way from memory while the key is closed; the filter stays.
    const OpenedKey key(arguments.context, arguments.key(), kRead);
    value = key.value();
    if (value != nullptr) {
      hash = value->hash(text_of(arguments.words[2]));
      value->prefetch(hash);
    }
  }
  const bool found = value != nullptr && value->may_contain(hash, time_for(*value));
  count_checks(found, 1);
  api.ReplyWithBool(arguments.context, found);
}

void exists_many(const Arguments& arguments) {
  if (!arity_is(arguments, 3, SIZE_MAX)) return;
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Value* value = key.value();
  const std::uint64_t now = value != nullptr ? time_for(*value) : 0;
  const std::span<String*> items = arguments.from(2);
  api.ReplyWithArray(arguments.context, static_cast<long>(items.size()));
  std::array<Hash128, kChunk> hashes;
  std::array<bool, kChunk> found;
  std::size_t hits = 0;
  for (std::size_t done = 0; done < items.size(); done += kChunk) {
    const std::size_t count = std::min(kChunk, items.size() - done);
    if (value != nullptr) {
      for (std::size_t i = 0; i < count; ++i) hashes[i] = value->hash(text_of(items[done + i]));
      value->may_contain(std::span(hashes).first(count), std::span(found).first(count), now);
    } else {
      std::fill_n(found.begin(), count, false);
    }
    for (std::size_t i = 0; i < count; ++i) {
      hits += found[i];
      api.ReplyWithBool(arguments.context, found[i]);
    }
  }
  count_checks(hits, items.size());
}

void card(const Arguments& arguments) {
  if (!arity_is(arguments, 2, 2)) return;
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  if (key.value() != nullptr)
    reply_number(arguments.context, key.value()->size());
  else if (key.is_missing())
    reply_number(arguments.context, 0);
  else
    api.ReplyWithError(arguments.context, kWrongType);
}

void info(const Arguments& arguments) {
  if (!arity_is(arguments, 2, 3)) return;
  with_value(arguments, [&](const Value& value) {
    if (arguments.words.size() == 3) {
      for (const Field& field : kFields)
        if (is_word(arguments.words[2], field.word)) return reply_field(arguments, value, field);
      api.ReplyWithError(arguments.context, "Invalid information value");
      return;
    }
    api.ReplyWithMap(arguments.context, kFields.size());
    for (const Field& field : kFields) {
      api.ReplyWithSimpleString(arguments.context, field.title);
      field.reply(arguments.context, value);
    }
  });
}

void debug(const Arguments& arguments) {
  if (!arity_is(arguments, 2, 2)) return;
  with_value(arguments, [&](const Value& value) {
    const std::vector<std::string> lines = describe(value);
    api.ReplyWithArray(arguments.context, static_cast<long>(1 + lines.size()));
    const auto reply = [&](const std::string& line) {
      api.ReplyWithStringBuffer(arguments.context, line.data(), line.size());
    };
    reply("size:" + std::to_string(value.size()));
    for (const std::string& line : lines) reply(line);
  });
}

}  // namespace bloomery::server
