// BF.EXISTS, BF.MEXISTS, BF.CARD, BF.INFO, BF.DEBUG: nothing here changes a filter.
#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "command.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kChunk = 1024;

void count_checks(std::size_t hits, std::size_t all) noexcept {
  statistics.checks_hit += hits;
  statistics.checks_miss += all - hits;
}

// A command that needs a filter: runs `use` on it, or replies why there is none.
template <class Use>
void with_chain(const Arguments& arguments, Use use) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  if (key.chain() == nullptr)
    api.ReplyWithError(arguments.context, key.complaint());
  else
    use(*key.chain());
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
  void (*reply)(Context*, const Chain&);
};

void reply_number(Context* context, std::uint64_t number) noexcept {
  api.ReplyWithLongLong(context, static_cast<long long>(number));
}

constexpr std::array<Field, 5> kFields = {{
    {"capacity", "Capacity",
     [](Context* context, const Chain& chain) { reply_number(context, chain.capacity()); }},
    {"size", "Size",
     [](Context* context, const Chain& chain) { reply_number(context, Share(chain).bytes); }},
    {"filters", "Number of filters",
     [](Context* context, const Chain& chain) { reply_number(context, chain.links().size()); }},
    {"items", "Number of items inserted",
     [](Context* context, const Chain& chain) { reply_number(context, chain.size()); }},
    {"expansion", "Expansion rate",
     [](Context* context, const Chain& chain) {
       if (chain.scaling())
         reply_number(context, chain.growth());
       else
         api.ReplyWithNull(context);
     }},
}};

void reply_field(const Arguments& arguments, const Chain& chain, const Field& field) {
  // One value: in RESP3 a map of one, in RESP2 an array of the value alone.
  if ((api.GetContextFlags(arguments.context) & kContextIsResp3) != 0) {
    api.ReplyWithMap(arguments.context, 1);
    api.ReplyWithSimpleString(arguments.context, field.title);
  } else {
    api.ReplyWithArray(arguments.context, 1);
  }
  field.reply(arguments.context, chain);
}

}  // namespace

void exists(const Arguments& arguments) {
  if (!arity_is(arguments, 3, 3)) return;
  const Chain* chain = nullptr;
  Hash128 hash;
  {
    // The bits are on their way from memory while the key is closed; the filter stays.
    const OpenedKey key(arguments.context, arguments.key(), kRead);
    chain = key.chain();
    if (chain != nullptr) {
      hash = chain->hash(text_of(arguments.words[2]));
      chain->prefetch(hash);
    }
  }
  const bool found = chain != nullptr && chain->may_contain(hash);
  count_checks(found, 1);
  api.ReplyWithBool(arguments.context, found);
}

void exists_many(const Arguments& arguments) {
  if (!arity_is(arguments, 3, SIZE_MAX)) return;
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Chain* chain = key.chain();
  const std::span<String*> items = arguments.from(2);
  api.ReplyWithArray(arguments.context, static_cast<long>(items.size()));
  std::array<Hash128, kChunk> hashes;
  std::array<bool, kChunk> found;
  std::size_t hits = 0;
  for (std::size_t done = 0; done < items.size(); done += kChunk) {
    const std::size_t count = std::min(kChunk, items.size() - done);
    if (chain != nullptr) {
      for (std::size_t i = 0; i < count; ++i) hashes[i] = chain->hash(text_of(items[done + i]));
      chain->may_contain(std::span(hashes).first(count), found);
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
  if (key.chain() != nullptr)
    reply_number(arguments.context, key.chain()->size());
  else if (key.is_missing())
    reply_number(arguments.context, 0);
  else
    api.ReplyWithError(arguments.context, kWrongType);
}

void info(const Arguments& arguments) {
  if (!arity_is(arguments, 2, 3)) return;
  with_chain(arguments, [&](const Chain& chain) {
    if (arguments.words.size() == 3) {
      for (const Field& field : kFields)
        if (is_word(arguments.words[2], field.word)) return reply_field(arguments, chain, field);
      api.ReplyWithError(arguments.context, "Invalid information value");
      return;
    }
    api.ReplyWithMap(arguments.context, kFields.size());
    for (const Field& field : kFields) {
      api.ReplyWithSimpleString(arguments.context, field.title);
      field.reply(arguments.context, chain);
    }
  });
}

void debug(const Arguments& arguments) {
  if (!arity_is(arguments, 2, 2)) return;
  with_chain(arguments, [&](const Chain& chain) {
    std::array<char, 256> text;
    const auto reply = [&](int length) {
      api.ReplyWithStringBuffer(arguments.context, text.data(), static_cast<std::size_t>(length));
    };
    api.ReplyWithArray(arguments.context, static_cast<long>(1 + chain.links().size()));
    reply(std::snprintf(text.data(), text.size(), "size:%" PRIu64, chain.size()));
    for (const Link& link : chain.links()) {
      const auto& sizes = link.sizes;
      if (chain.family() == Family::redisbloom) {
        const bool wide = (chain.options() & legacy::redisbloom::kForce64) != 0;
        reply(std::snprintf(text.data(), text.size(),
                            "bytes:%" PRIu64 " bits:%" PRIu64
                            " hashes:%u hashwidth:%u capacity:%" PRIu64 " size:%" PRIu64
                            " ratio:%g",
                            sizes.bytes, sizes.bits, sizes.hashes, wide ? 64U : 32U, sizes.entries,
                            sizes.size, sizes.error));
      } else {
        const std::string_view layout = to_string(link.layout());
        reply(std::snprintf(text.data(), text.size(),
                            "bytes:%" PRIu64 " bits:%" PRIu64
                            " hashes:%u layout:%.*s capacity:%" PRIu64 " size:%" PRIu64 " ratio:%g",
                            sizes.bytes, sizes.bits, sizes.hashes, static_cast<int>(layout.size()),
                            layout.data(), sizes.entries, sizes.size, sizes.error));
      }
    }
  });
}

}  // namespace bloomery::server
