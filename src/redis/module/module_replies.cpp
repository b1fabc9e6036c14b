// The errors of RedisBloom and of bloomery.so have no codes, so they are recognized by their texts.
#include "redis/module/module_replies.hpp"

#include <bloomery/plan.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "redis/shards/staged_keys.hpp"

namespace bloomery::detail {
namespace {

// Formats a number so that reading it gives the same number.
std::string shortest(double fpr) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), fpr).ptr};
}

Error unexpected(const std::string& name) {
  return {ErrorCode::io,
          name + ": this is not how a module with BF commands answers; check the address"};
}

// The fields in a line of BF.DEBUG.
struct SubFilter {
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  double items = -1;
  std::optional<Layout> layout;  // nullopt: RedisBloom's layout
};

// nullopt: the line describes a filter of another kind.
std::optional<SubFilter> sub_filter_in(std::string_view line) {
  SubFilter found;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    const std::size_t colon = std::min(word.find(':'), word.size());
    const std::string_view name = word.substr(0, colon),
                           value = word.substr(std::min(colon + 1, word.size()));
    const auto number = [&](auto& to) {
      (void)std::from_chars(value.data(), value.data() + value.size(), to);
    };
    if (name == "bits") number(found.bits);
    if (name == "hashes") number(found.hashes);
    if (name == "size") number(found.items);
    if (name == "layout") {
      for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
        if (to_string(layout) == value) found.layout = layout;
      if (!found.layout) return std::nullopt;
    }
  }
  if (found.bits == 0 || found.hashes == 0 || !(found.items >= 0)) return std::nullopt;
  return found;
}

double fpr_of(const SubFilter& of) {
  if (of.items == 0) return 0;
  return of.layout ? predicted_fpr(*of.layout, of.bits, of.hashes, of.items)
                   : textbook_fpr(static_cast<double>(of.bits) / of.items, of.hashes);
}

}  // namespace

std::vector<std::string> reserve_words(const ModuleReserve& reserve, std::uint64_t capacity) {
  std::vector<std::string> words{shortest(reserve.fpr), std::to_string(capacity)};
  const auto add = [&](auto... more) { (words.emplace_back(more), ...); };
  switch (reserve.kind) {
    case Kind::plain:
      add("NONSCALING");
      break;
    case Kind::scalable:
      if (reserve.expansion == 0)
        throw Error(ErrorCode::invalid_argument,
                    "a scalable filter grows by a factor of 1 or more");
      add("EXPANSION", std::to_string(reserve.expansion));
      break;
    case Kind::counting:
      add("COUNTING", "COUNTERBITS", std::to_string(reserve.counter_bits));
      break;
    case Kind::window:
      add("WINDOW", std::to_string(reserve.window), reserve.seconds ? "SECONDS" : "ITEMS", "SLICES",
          std::to_string(reserve.slices));
      break;
    case Kind::frozen:
      throw Error(
          ErrorCode::wrong_kind,
          "a frozen filter is built in a file, and bloomery convert loads it into a module; "
          "or reserve a plain one");
  }
  if (!reserve.layout.empty()) add("LAYOUT", reserve.layout);
  return words;
}

bool is_unknown_command(const redisReply& reply) noexcept {
  return says(reply, "unknown command") || says(reply, "Unknown command") ||
         says(reply, "Unknown Redis command");
}

Error module_meaning(const redisReply& reply, const std::string& name) {
  const std::string said = name + ": " + std::string(text_of(reply));
  if (says(reply, "unknown command") && says(reply, "BF.MDEL"))
    return {ErrorCode::wrong_kind,
            name + ": the server's module cannot remove keys; load bloomery.so"};
  if (says(reply, "unknown command"))
    return {ErrorCode::io,
            name +
                ": the server has no module with BF commands; load bloomery.so, or use a filter "
                "in a plain string"};
  if (says(reply, "not found"))
    return {ErrorCode::missing, name + " is not there; create it, or check the key"};
  if (says(reply, "item exists"))
    return {ErrorCode::exists, name + " exists already; choose another key"};
  if (says(reply, "is full"))
    return {ErrorCode::no_space, said + "; make a larger filter, or one that grows"};
  if (says(reply, "does not count")) return {ErrorCode::wrong_kind, said};
  return meaning(reply, name);
}

void require_module_reply(const redisReply& reply, int type, const std::string& name) {
  if (reply.type == REDIS_REPLY_ERROR) throw module_meaning(reply, name);
  if (reply.type != type) throw unexpected(name);
}

ModuleInfo info_in(const redisReply& reply, const std::string& name) {
  require_module_reply(reply, REDIS_REPLY_ARRAY, name);
  ModuleInfo info;
  bool has_capacity = false;
  // The elements are names and values in turn.
  for (std::size_t i = 0; i + 1 < reply.elements; i += 2) {
    const redisReply& title = *reply.element[i];
    const redisReply& value = *reply.element[i + 1];
    if (title.str == nullptr) throw unexpected(name);
    if (value.type != REDIS_REPLY_INTEGER) continue;
    const std::string_view what = text_of(title);
    const auto number = static_cast<std::uint64_t>(value.integer);
    if (what == "Capacity") {
      has_capacity = true;
      info.capacity = number;
    }
    if (what == "Size") info.bytes = number;
    if (what == "Number of filters") info.filters = number;
    if (what == "Number of items inserted") info.items = number;
    if (what == "Expansion rate" && number != 0) info.expansion = number;
  }
  if (!has_capacity) throw unexpected(name);
  return info;
}

std::optional<ModuleFill> fill_in(const redisReply& reply) try {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements < 2) return std::nullopt;
  double ones = 0, bits = 0, absent = 1;
  for (std::size_t i = 1; i < reply.elements; ++i) {  // the first is about all sub-filters
    const auto sub_filter = sub_filter_in(text_of(*reply.element[i]));
    if (!sub_filter) return std::nullopt;
    const auto m = static_cast<double>(sub_filter->bits);
    bits += m;
    ones -= m * std::expm1(-sub_filter->items * sub_filter->hashes / m);
    absent *= 1 - fpr_of(*sub_filter);
  }
  return ModuleFill{ones / bits, 1 - absent};
} catch (const Error&) {
  return std::nullopt;  // no filter has such parameters
}

std::optional<ModuleReserve> reserve_in(const redisReply& reply, const std::string& name) {
  if (reply.type == REDIS_REPLY_ERROR && says(reply, "Invalid information value"))
    return std::nullopt;
  require_module_reply(reply, REDIS_REPLY_ARRAY, name);
  require_elements(reply, 1, name);
  const redisReply& list = *reply.element[0];
  require_module_reply(list, REDIS_REPLY_ARRAY, name);
  std::size_t next = 0;
  const auto word = [&]() -> std::string_view {
    if (next == list.elements || list.element[next]->type != REDIS_REPLY_STRING)
      throw unexpected(name);
    return text_of(*list.element[next++]);
  };
  const auto number = [&](auto& to) {
    const std::string_view text = word();
    const char* const end = text.data() + text.size();
    if (const auto read = std::from_chars(text.data(), end, to);
        read.ec != std::errc{} || read.ptr != end)
      throw unexpected(name);
  };
  ModuleReserve reserve;
  number(reserve.fpr);
  number(reserve.capacity);
  while (next < list.elements) {
    const std::string_view option = word();
    if (option == "NONSCALING") {
      reserve.kind = Kind::plain;
    } else if (option == "EXPANSION") {
      number(reserve.expansion);
    } else if (option == "FROZEN") {
      reserve.kind = Kind::frozen;
    } else if (option == "COUNTING") {
      reserve.kind = Kind::counting;
    } else if (option == "COUNTERBITS") {
      number(reserve.counter_bits);
    } else if (option == "WINDOW") {
      reserve.kind = Kind::window;
      number(reserve.window);
      reserve.seconds = word() == "SECONDS";
    } else if (option == "SLICES") {
      number(reserve.slices);
    } else if (option == "TIGHTENING") {
      (void)word();  // only BF.INSERT uses this word; nothing here asks for it
    } else if (option == "LAYOUT") {
      reserve.layout = word();
    } else {
      throw unexpected(name);
    }
  }
  return reserve;
}

void require_chunk_reply(const redisReply& reply, int type, const std::string& name) {
  // The bytes have no place in what was begun: they are of another filter than the header.
  const bool no_place = says(reply, "invalid offset") || says(reply, "invalid chunk");
  // The reply to an unknown command repeats the words of the command.
  if (reply.type == REDIS_REPLY_ERROR && !says(reply, "unknown command"))
    for (const std::string_view text : {"received bad data", "invalid", "Bad data", "DUMP payload"})
      if (says(reply, text))
        throw Error(ErrorCode::corrupt,
                    name + ": " + std::string(text_of(reply)) +
                        (no_place ? "; the filter that was read has grown or was replaced "
                                    "meanwhile (do it again), or what was sent is damaged"
                                  : "; what was sent is damaged, or of a module or a server "
                                    "version that this one does not read"));
  require_module_reply(reply, type, name);
}

ModuleChunk chunk_in(const redisReply& reply, std::uint64_t after, const std::string& name) {
  static_assert(kMostChunkBytes < kMostReplyBytes);
  require_chunk_reply(reply, REDIS_REPLY_ARRAY, name);
  require_elements(reply, 2, name);
  require_chunk_reply(*reply.element[0], REDIS_REPLY_INTEGER, name);
  require_chunk_reply(*reply.element[1], REDIS_REPLY_STRING, name);
  const auto iterator = static_cast<std::uint64_t>(reply.element[0]->integer);
  const std::string_view bytes = text_of(*reply.element[1]);
  // If the iterator did not increase, the dump would never end.
  if ((iterator != 0 && iterator <= after) || bytes.size() > kMostChunkBytes)
    throw unexpected(name);
  return {iterator, std::string(bytes)};
}

void load_chunk(Cluster& cluster, const std::string& to, const ModuleChunk& chunk,
                const std::string& name) {
  Request request(to);
  request.next().command({"BF.LOADCHUNK", to, std::to_string(chunk.iterator), chunk.bytes});
  request.next().command({"EXPIRE", to, kScratchSeconds});
  cluster.run_all({&request, 1}, [&](std::size_t, std::size_t command, const Reply& reply) {
    require_chunk_reply(*reply, command == 0 ? REDIS_REPLY_STATUS : REDIS_REPLY_INTEGER, name);
  });
}

}  // namespace bloomery::detail
