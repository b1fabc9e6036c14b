// BF.SCANDUMP and BF.LOADCHUNK: a filter as a header and chunks, and back.
//
// The iterator is 1 plus the number of bytes of the arrays so far. SCANDUMP replies the iterator of
// the end of its chunk, and LOADCHUNK takes the same.
//
// A chunk never takes away what is there. LOADCHUNK of a header makes a filter that is being loaded, until the
// chunk at the end of its bits has come, or until any other change (value.hpp). Only a filter that is being
// loaded takes a chunk that changes it, and a chunk changes nothing that was loaded before. A chunk may come
// twice: a client sends it again when it did not get the reply. The chunks of a frozen filter come in order, and
// it can be dumped when all of them are there.
#include <algorithm>
#include <cstring>
#include <vector>

#include "commands/command.hpp"
#include "commands/time.hpp"
#include "server/pages.hpp"
#include "values/dump_header.hpp"
#include "values/make.hpp"
#include "values/sizes.hpp"

namespace bloomery::server {

namespace {

constexpr const char* kBadData = "ERR received bad data";

// RedisBloom has one reply for every header that is wrong or has too little memory. Our header of a
// later version and our header with too little memory have replies of their own.
Header header_in(const Arguments& arguments, std::span<const std::byte> bytes) {
  Header header;
  try {
    header = decode_header(bytes);
    check_filter_limit(arguments, bytes_of(header));
    check_fits(arguments, header.bit_bytes());
    ClaimedArrays claimed(arguments);
    for (const auto& sub_filter : header.sub_filters) claimed.add(sub_filter.bytes);
    return header;
  } catch (const Error& error) {
    const bool too_large = error.code() == ErrorCode::no_memory;
    if (error.code() == ErrorCode::corrupt || (too_large && header.family == Family::redisbloom))
      throw ErrorReply{kBadData};
    throw;
  }
}

// A window from a machine whose clock is ahead is set to this machine's clock. True: its time has changed.
bool set_to_clock(const Arguments& arguments, Header& header) noexcept {
  if (header.kind != Kind::window || header.window.unit != WindowUnit::seconds ||
      !is_too_far_ahead(arguments, header.window.slice_length(), header.state.now))
    return false;
  header.state.now = clock_seconds();
  return true;
}

// The first chunk of a dump makes the filter.
void load_header(const Arguments& arguments, OpenedKey& key, std::span<const std::byte> bytes) {
  Header header = header_in(arguments, bytes);
  // A master sends the header of each new filter; the items follow in other commands.
  header.loading = !is_replayed(arguments) || header.size != 0;
  header.come = 0;
  std::vector<std::byte> replaced;
  if (set_to_clock(arguments, header)) bytes = replaced = encode_header(header);
  key.put(make_empty(header));
  replicate_header(arguments, bytes);
  announce(arguments, "bf.reserve");
}

// The place of a chunk that ends at this iterator.
std::byte* place_of_chunk(const Value& value, long long iterator, std::size_t bytes) {
  if (iterator <= 0 || static_cast<std::uint64_t>(iterator) < bytes) throw ErrorReply{kBadData};
  const std::uint64_t end = static_cast<std::uint64_t>(iterator);
  std::span<std::byte> place;
  if (end != bytes) place = value.part_at(end - bytes - 1, std::max<std::size_t>(bytes, 1));
  if (place.empty()) throw ErrorReply{"ERR invalid offset - no link found"};
  if (bytes > place.size()) throw ErrorReply{"ERR invalid chunk - Too big for current filter"};
  return place.data();
}

// Equal bytes are not written, so that zeros take no pages.
void write_changes(std::byte* place, std::span<const std::byte> bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += kSmallPage) {
    const auto some = bytes.subspan(at, std::min(kSmallPage, bytes.size() - at));
    if (std::memcmp(place + at, some.data(), some.size()) != 0)
      std::memcpy(place + at, some.data(), some.size());
  }
}

void load_bits(const Arguments& arguments, Value& value, long long iterator,
               std::span<const std::byte> bytes) {
  std::byte* const place = place_of_chunk(value, iterator, bytes.size());
  const bool was_loading = value.is_loading();
  const std::uint64_t end = static_cast<std::uint64_t>(iterator) - 1;
  if (was_loading && !value.takes_chunk_at(end - bytes.size()))
    throw ErrorReply{"ERR a chunk before this one has not come; send the chunks in order"};
  if (!bytes.empty() && std::memcmp(place, bytes.data(), bytes.size()) != 0) {
    // A replayed chunk comes where its master took it.
    if (!is_replayed(arguments)) {
      if (!was_loading)
        throw ErrorReply{
            "ERR the filter is not being loaded, and a chunk would overwrite it; load a dump "
            "from its header on, into a key that does not exist"};
      if (!only_adds(place, bytes))
        throw ErrorReply{
            "ERR the chunk differs from what was loaded before; DEL the key and load the "
            "dump again from its header on"};
    }
    write_changes(place, bytes);
  } else if (!was_loading) {
    return;  // it came before
  }
  if (value.has_come(end)) {
    value.check_loaded();
    value.end_loading();
    for (std::size_t i = 0; !value.array(i).empty(); ++i)
      make_pages_huge(value.array(i).data(), value.array(i).size());
  }
  changed(arguments, "bf.loadchunk");
}

}  // namespace

void reply_chunk(const Arguments& arguments, std::uint64_t iterator,
                 std::optional<std::span<const std::byte>> bytes) {
  api.ReplyWithArray(arguments.context, 2);
  api.ReplyWithLongLong(arguments.context, static_cast<long long>(iterator));
  if (!bytes) {
    api.ReplyWithNull(arguments.context);
    return;
  }
  api.ReplyWithStringBuffer(arguments.context, reinterpret_cast<const char*>(bytes->data()),
                            bytes->size());
}

bool only_adds(const std::byte* place, std::span<const std::byte> bytes) noexcept {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (place[i] != bytes[i] && place[i] != std::byte{0}) return false;
  return true;
}

void scan_dump(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Value& value = key.filter();
  const long long iterator = number_in(arguments.words[2], "Second argument must be numeric");
  if (value.kind() == Kind::frozen && value.is_loading())
    throw ErrorReply{"ERR the frozen filter is being loaded; dump it when its last chunk has come"};
  if (iterator == 0) return reply_chunk(arguments, 1, encode_header(value.header()));
  std::span<const std::byte> part;
  if (iterator > 0) part = value.part_at(static_cast<std::uint64_t>(iterator - 1), kMaxChunk);
  reply_chunk(arguments, part.empty() ? 0 : static_cast<std::uint64_t>(iterator) + part.size(),
              part);
}

void load_chunk(const Arguments& arguments) {
  const long long iterator = number_in(arguments.words[2], "ERR Second argument must be numeric");
  const auto bytes = std::as_bytes(std::span(text_of(arguments.words[3])));
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (iterator == 1 && key.is_missing())
    load_header(arguments, key, bytes);
  else
    load_bits(arguments, key.filter(), iterator, bytes);
  api.ReplyWithSimpleString(arguments.context, "OK");
}

}  // namespace bloomery::server
