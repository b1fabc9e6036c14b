// BF.DEL, BF.MDEL and BF.COUNT of filters that count, BF.ADVANCE of windows of time.
#include <algorithm>
#include <array>

#include "command.hpp"
#include "counting.hpp"
#include "statistics.hpp"
#include "window.hpp"

namespace bloomery::server {

namespace {

constexpr std::size_t kChunk = 1024;
constexpr const char* kDoesNotCount =
    "ERR the filter does not count; reserve one with COUNTING to remove items from";

// The counting filter of a key; or null, and the complaint has been made.
Counting* counting_in(const Arguments& arguments, const OpenedKey& key) noexcept {
  if (key.value() == nullptr) {
    api.ReplyWithError(arguments.context, key.complaint());
    return nullptr;
  }
  if (key.value()->kind() != Kind::counting) {
    api.ReplyWithError(arguments.context, kDoesNotCount);
    return nullptr;
  }
  return static_cast<Counting*>(key.value());
}

void remove_items(const Arguments& arguments, bool many) {
  const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  Counting* counting = counting_in(arguments, key);
  if (counting == nullptr) return;
  const std::span<String*> items = arguments.from(2);
  if (many) api.ReplyWithArray(arguments.context, static_cast<long>(items.size()));
  const Share before(*counting);
  std::array<Hash128, kChunk> hashes;
  std::array<bool, kChunk> removed;
  std::size_t total = 0;
  for (std::size_t done = 0; done < items.size(); done += kChunk) {
    const std::size_t count = std::min(kChunk, items.size() - done);
    for (std::size_t i = 0; i < count; ++i) hashes[i] = counting->hash(text_of(items[done + i]));
    total += counting->remove(std::span(hashes).first(count), std::span(removed).first(count));
    for (std::size_t i = 0; i < count; ++i) api.ReplyWithBool(arguments.context, removed[i]);
  }
  if (total == 0) return;
  count_change(before, *counting);
  api.ReplicateVerbatim(arguments.context);
  announce(arguments, "bf.del");
}

}  // namespace

void remove(const Arguments& arguments) {
  if (arguments.words.size() != 3)
    api.WrongArity(arguments.context);
  else
    remove_items(arguments, false);
}

void remove_many(const Arguments& arguments) {
  if (arguments.words.size() < 3)
    api.WrongArity(arguments.context);
  else
    remove_items(arguments, true);
}

// At most how often an item is there; nil where all its counters have lost count.
void count(const Arguments& arguments) {
  if (arguments.words.size() != 3) {
    api.WrongArity(arguments.context);
    return;
  }
  const OpenedKey key(arguments.context, arguments.key(), kRead);
  const Counting* counting = counting_in(arguments, key);
  if (counting == nullptr) return;
  const std::uint64_t most = counting->count_at_most(counting->hash(text_of(arguments.words[2])));
  if (most == kUncounted)
    api.ReplyWithNull(arguments.context);
  else
    api.ReplyWithLongLong(arguments.context, static_cast<long long>(most));
}

// BF.ADVANCE key seconds: what a master sends its replicas before items, and who wants to forget
// ahead of time. A time before the filter's own changes nothing.
void advance(const Arguments& arguments) {
  if (arguments.words.size() != 3) {
    api.WrongArity(arguments.context);
    return;
  }
  long long now = 0;
  if (api.StringToLongLong(arguments.words[2], &now) != kOk || now < 1) {
    api.ReplyWithError(arguments.context, "ERR bad time; give seconds since 1970");
    return;
  }
  const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (key.value() == nullptr) {
    api.ReplyWithError(arguments.context, key.complaint());
    return;
  }
  if (key.value()->kind() != Kind::window || !static_cast<Window*>(key.value())->is_of_time()) {
    api.ReplyWithError(arguments.context,
                       "ERR the filter has no window of time; reserve one with WINDOW n SECONDS");
    return;
  }
  if (static_cast<Window*>(key.value())->advance(static_cast<std::uint64_t>(now))) {
    api.ReplicateVerbatim(arguments.context);
    announce(arguments, "bf.advance");
  }
  api.ReplyWithSimpleString(arguments.context, "OK");
}

}  // namespace bloomery::server
