// CF.RESERVE, CF.COMPACT, CF.INFO, CF.DEBUG, CF.SCANDUMP, CF.LOADCHUNK: commands on whole filters.
//
// The iterator of a dump is 1 plus the number of entries so far. The dump of a filter without items
// has no chunk at all. As for BF.*, a filter that is in use takes no chunk that changes it.
#include <bloomery/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "commands/settings.hpp"
#include "cuckoo/command_table.hpp"
#include "cuckoo/key.hpp"

namespace bloomery::server::cuckoo {

namespace {

struct Option {
  const char* word;
  long long least;
  long long most;
  const char* no_number;
  const char* out_of_range;
};
constexpr Option kIterations = {"MAXITERATIONS", 1, kMaxIterations, "Couldn't parse MAXITERATIONS",
                                "MAXITERATIONS: value must be in the range [1, 65535]"};
constexpr Option kBucketSize = {"BUCKETSIZE", 1, kMaxBucketSize, "Couldn't parse BUCKETSIZE",
                                "BUCKETSIZE: value must be in the range [1, 255]"};
constexpr Option kExpansion = {"EXPANSION", 0, kMaxExpansion, "Couldn't parse EXPANSION",
                               "EXPANSION: value must be in the range [0, 32768]"};

// The number after an option of CF.RESERVE, or the setting. Words that are not an option are ignored.
std::uint16_t number_of(const Arguments& arguments, const Option& option, long long set) {
  for (std::size_t i = 3; i < arguments.words.size(); ++i) {
    if (!is_word(arguments.words[i], option.word)) continue;
    if (i + 1 == arguments.words.size() ||
        api.StringToLongLong(arguments.words[i + 1], &set) != kOk)
      throw ErrorReply{option.no_number};
    if (set < option.least || set > option.most) throw ErrorReply{option.out_of_range};
    break;
  }
  return static_cast<std::uint16_t>(set);
}

void replicate_header(const Arguments& arguments, const Header& header) noexcept {
  const auto bytes = encode(header);
  api.Replicate(arguments.context, "CF.LOADCHUNK", "scb", arguments.key(), "1", bytes.data(),
                bytes.size());
}

// ---- CF.LOADCHUNK -------------------------------------------------------------------------------

void load_header(const Arguments& arguments, OpenedKey& key, std::span<const std::byte> bytes) {
  key.must_be_missing();
  if (bytes.size() != kHeaderBytes) throw ErrorReply{"Invalid header"};
  try {
    const Header header = decode(bytes);
    check_fits(arguments, header.all_entries());
    ClaimedArrays claimed(arguments);
    for (std::uint32_t i = 0; i < header.sub_filters; ++i) claimed.add(header.entries(i));
    Filter& filter = key.put(Filter::make(header));
    // A master sends the header of each new filter.
    filter.set_loading(!is_replayed(arguments) || header.items != 0);
  } catch (const Error&) {
    throw ErrorReply{"Couldn't create filter!"};
  }
  changed(arguments, "cf.reserve");
}

void load_entries(const Arguments& arguments, Filter& filter, long long iterator,
                  std::span<const std::byte> bytes) {
  // What would begin before the first entry is, modulo 2^64, beyond the last.
  const std::uint64_t end = static_cast<std::uint64_t>(iterator) - 1;
  const auto place = filter.part_from(end - bytes.size()).entries;
  if (bytes.empty() || place.size() < bytes.size()) throw ErrorReply{"Couldn't load chunk!"};
  const bool is_last = end == filter.header().all_entries();
  if (std::memcmp(place.data(), bytes.data(), bytes.size()) != 0) {
    // A replayed chunk comes where its master took it.
    if (!is_replayed(arguments) && (!filter.is_loading() || !only_adds(place.data(), bytes)))
      throw ErrorReply{
          "ERR the chunk would overwrite items; load a dump from its header on, into a key that "
          "does not exist"};
    filter.overwrite(place.data(), bytes);
  } else if (!filter.is_loading()) {
    return;  // it came before
  }
  if (is_last) {
    filter.set_loading(false);
    filter.has_come();
  }
  changed(arguments, "cf.loadchunk");
}

}  // namespace

Filter& make_filter(const Arguments& arguments, OpenedKey& key, const Header& header) {
  check_fits(arguments, header.all_entries());
  Filter& filter = key.put(Filter::make(header));
  replicate_header(arguments, header);
  announce(arguments, "cf.reserve");
  return filter;
}

void reserve(const Arguments& arguments) {
  if (arguments.words.size() % 2 == 0) throw WrongArity{};
  const long long capacity = number_in(arguments.words[2], "Bad capacity");
  const CuckooSettings& set = settings.cuckoo;
  const std::uint16_t iterations = number_of(arguments, kIterations, set.max_iterations);
  const std::uint16_t bucket_size = number_of(arguments, kBucketSize, set.bucket_size);
  const std::uint16_t expansion = number_of(arguments, kExpansion, set.expansion);
  if (capacity < 2LL * bucket_size || capacity > kMaxCuckooCapacity)
    throw ErrorReply{"Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"};
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  key.must_be_missing();
  make_filter(arguments, key,
              plan(static_cast<std::uint64_t>(capacity), bucket_size, iterations, expansion));
  api.ReplyWithSimpleString(arguments.context, "OK");
}

void compact(const Arguments& arguments) {
  {
    const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
    if (key.value() == nullptr) throw ErrorReply{"Cuckoo filter was not found"};
    const CountedChange counted(*key.value());
    key.value()->compact();
    key.value()->set_loading(false);
  }
  changed(arguments, "cf.compact");
  api.ReplyWithSimpleString(arguments.context, "OK");
}

void info(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Header& header = key.filter().header();
  api.ReplyWithMap(arguments.context, 8);
  const auto field = [&](const char* name, std::uint64_t number) {
    api.ReplyWithSimpleString(arguments.context, name);
    api.ReplyWithLongLong(arguments.context, static_cast<long long>(number));
  };
  field("Size", bytes_of(header));
  field("Number of buckets", header.buckets);
  field("Number of filters", header.sub_filters);
  field("Number of items inserted", header.items);
  field("Number of items deleted", header.deletes);
  field("Bucket size", header.bucket_size);
  field("Expansion rate", header.expansion);
  field("Max iterations", header.max_iterations);
}

void debug(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Header& header = key.filter().header();
  std::string text;
  const auto field = [&](const char* name, std::uint64_t number) {
    text += name + std::to_string(number);
  };
  field("bktsize:", header.bucket_size);
  field(" buckets:", header.buckets);
  field(" items:", header.items);
  field(" deletes:", header.deletes);
  field(" filters:", header.sub_filters);
  field(" max_iterations:", header.max_iterations);
  field(" expansion:", header.expansion);
  api.ReplyWithStringBuffer(arguments.context, text.data(), text.size());
}

void scan_dump(const Arguments& arguments) {
  const long long iterator = number_in(arguments.words[2], "Invalid position", 0);
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Filter& filter = key.filter();
  if (filter.header().items == 0) return reply_chunk(arguments, 0, std::nullopt);
  if (iterator == 0) return reply_chunk(arguments, 1, encode(filter.header()));
  auto [entries, before] = filter.part_from(static_cast<std::uint64_t>(iterator - 1));
  if (entries.empty()) return reply_chunk(arguments, 0, std::nullopt);
  // If an array is one chunk, the reply is the whole array, even for an iterator in the middle of it.
  if (before + entries.size() <= kMaxChunk)
    entries = {entries.data() - before, before + entries.size()};
  entries = entries.first(std::min(entries.size(), kMaxChunk));
  reply_chunk(arguments, static_cast<std::uint64_t>(iterator) + entries.size(), entries);
}

void load_chunk(const Arguments& arguments) {
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  const long long iterator = number_in(arguments.words[2], "Invalid position");
  if (iterator == 0) throw ErrorReply{"Invalid position"};
  const auto bytes = std::as_bytes(std::span(text_of(arguments.words[3])));
  if (iterator == 1)
    load_header(arguments, key, bytes);
  else
    load_entries(arguments, key.filter(), iterator, bytes);
  api.ReplyWithSimpleString(arguments.context, "OK");
}

}  // namespace bloomery::server::cuckoo
