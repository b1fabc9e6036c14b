// BF.SCANDUMP and BF.LOADCHUNK: a filter as a header and chunks, and back.
//
// The iterator is 1 plus the number of bytes of the arrays that went before: SCANDUMP answers it
// for the end of its chunk, LOADCHUNK takes the same.
#include <cstring>

#include "command.hpp"
#include "dump.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kMostOfAChunk = std::size_t{16} << 20;

bool arity_is(const Arguments& arguments, std::size_t words) noexcept {
  if (arguments.words.size() == words) return true;
  api.WrongArity(arguments.context);
  return false;
}

void done(const Arguments& arguments, bool new_key) noexcept {
  api.ReplicateVerbatim(arguments.context);
  announce(arguments, new_key ? "bf.reserve" : "bf.loadchunk");
  api.ReplyWithSimpleString(arguments.context, "OK");
}

// RedisBloom answers one sentence to every wrong header; a dump of a later version of ours, and
// one that memory is missing for, get their own.
void load_header(const Arguments& arguments, OpenedKey& key, std::span<const std::byte> bytes) {
  AnyValue value;
  try {
    const Header header = decode_header(bytes);
    check_fits(arguments, header.bit_bytes());
    value = make_empty(header);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    api.ReplyWithError(arguments.context, "ERR received bad data");
    return;
  }
  key.put(std::move(value));
  done(arguments, true);
}

}  // namespace

void scan_dump(const Arguments& arguments) {
  if (!arity_is(arguments, 3)) return;
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Value* value = key.value();
  long long iterator = 0;
  if (value == nullptr) {
    api.ReplyWithError(arguments.context, key.complaint());
    return;
  }
  if (api.StringToLongLong(arguments.words[2], &iterator) != kOk) {
    api.ReplyWithError(arguments.context, "Second argument must be numeric");
    return;
  }
  const auto reply = [&](long long next, std::span<const std::byte> bytes) {
    api.ReplyWithArray(arguments.context, 2);
    api.ReplyWithLongLong(arguments.context, next);
    api.ReplyWithStringBuffer(arguments.context, reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  };
  if (iterator == 0) return reply(1, value->header());
  std::span<const std::byte> part;
  if (iterator > 0) part = value->part_at(static_cast<std::uint64_t>(iterator - 1), kMostOfAChunk);
  if (part.empty()) return reply(0, {});
  reply(iterator + static_cast<long long>(part.size()), part);
}

void load_chunk(const Arguments& arguments) {
  if (!arity_is(arguments, 4)) return;
  const auto fail = [&](const char* message) { api.ReplyWithError(arguments.context, message); };
  long long iterator = 0;
  if (api.StringToLongLong(arguments.words[2], &iterator) != kOk)
    return fail("ERR Second argument must be numeric");
  const std::string_view text = text_of(arguments.words[3]);
  const auto bytes = std::as_bytes(std::span(text));
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  Value* value = key.value();
  if (value == nullptr) {
    if (iterator == 1 && key.is_missing()) return load_header(arguments, key, bytes);
    return fail(key.complaint());
  }
  if (iterator <= 0 || static_cast<std::uint64_t>(iterator) < bytes.size())
    return fail("ERR received bad data");
  const std::uint64_t end = static_cast<std::uint64_t>(iterator);
  if (end == bytes.size()) return fail("ERR invalid offset - no link found");
  const auto place = value->part_at(end - bytes.size() - 1, std::max<std::size_t>(bytes.size(), 1));
  if (place.empty()) return fail("ERR invalid offset - no link found");
  if (bytes.size() > place.size()) return fail("ERR invalid chunk - Too big for current filter");
  if (!bytes.empty()) std::memcpy(place.data(), bytes.data(), bytes.size());
  done(arguments, false);
}

}  // namespace bloomery::server
