// BF commands in batches, each between two questions whether the filter is there.
#include <bloomery/module_filter.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>

#include "redis/connection.hpp"
#include "redis/module_replies.hpp"

namespace bloomery {
namespace {

using detail::Commands;
using detail::Reply;
using detail::require_module_reply;
using detail::text_of;

constexpr std::size_t kMostKeys = 1024;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::vector<std::string> words_of(std::string_view key, const ModuleReserve& reserve) {
  std::vector<std::string> words{"BF.RESERVE", std::string(key), text_of(reserve.fpr),
                                 std::to_string(reserve.capacity)};
  const auto add = [&](auto... more) { (words.emplace_back(more), ...); };
  switch (reserve.kind) {
    case ModuleReserve::Kind::chain:
      if (reserve.expansion == 0)
        add("NONSCALING");
      else
        add("EXPANSION", std::to_string(reserve.expansion));
      if (!reserve.layout.empty()) add("LAYOUT", reserve.layout);
      break;
    case ModuleReserve::Kind::counting:
      add("COUNTING", "COUNTERBITS", std::to_string(reserve.counter_bits));
      break;
    case ModuleReserve::Kind::window:
      add("WINDOW", std::to_string(reserve.window), reserve.seconds ? "SECONDS" : "ITEMS", "SLICES",
          std::to_string(reserve.slices));
      break;
  }
  return words;
}

}  // namespace

ModuleFilter::ModuleFilter(const RedisAddress& address, std::string_view key)
    : connection_(std::make_unique<detail::Connection>(address)),
      key_(key),
      name_(detail::name_of(connection_->name(), key_)) {}
ModuleFilter::ModuleFilter(ModuleFilter&&) noexcept = default;
ModuleFilter& ModuleFilter::operator=(ModuleFilter&&) noexcept = default;
ModuleFilter::~ModuleFilter() = default;

ModuleFilter ModuleFilter::create(const RedisAddress& address, std::string_view key,
                                  const ModuleReserve& reserve) {
  ModuleFilter filter(address, key);
  if (reserve.kind != ModuleReserve::Kind::chain) filter.require_kinds();
  Commands commands;
  const std::vector<std::string> words = words_of(key, reserve);
  commands.begin(words.size());
  for (const std::string& word : words) commands.word(word);
  filter.connection_->send(commands);
  require_module_reply(*filter.connection_->receive(), REDIS_REPLY_STATUS, filter.name_);
  (void)filter.info();
  return filter;
}

// RedisBloom overlooks the words of BF.RESERVE that it does not know, and would make a filter that
// does not count, and does not forget. BF.MDEL came with those that do.
void ModuleFilter::require_kinds() {
  const Reply reply = connection_->ask({"COMMAND", "INFO", "BF.MDEL"});
  require_module_reply(*reply, REDIS_REPLY_ARRAY, name_);
  if (reply->elements != 1 || reply->element[0]->type != REDIS_REPLY_ARRAY)
    throw Error(
        ErrorCode::wrong_kind,
        name_ +
            ": the server has no module whose filters count or forget; load bloomery.so, or "
            "create one that grows");
}

ModuleFilter ModuleFilter::open(const RedisAddress& address, std::string_view key) {
  ModuleFilter filter(address, key);
  (void)filter.info();
  return filter;
}

ModuleInfo ModuleFilter::info() {
  Commands commands;
  connection_->send(commands.command({"BF.INFO", key_}));
  return take_info();
}

// Names and values in turn.
ModuleInfo ModuleFilter::take_info() {
  const Reply reply = connection_->receive();
  require_module_reply(*reply, REDIS_REPLY_ARRAY, name_);
  ModuleInfo info;
  for (std::size_t i = 0; i + 1 < reply->elements; i += 2) {
    const redisReply& title = *reply->element[i];
    const redisReply& value = *reply->element[i + 1];
    if (title.str == nullptr) require_module_reply(title, REDIS_REPLY_STATUS, name_);
    const std::string_view name(title.str, title.len);
    const auto number = static_cast<std::uint64_t>(value.integer);
    if (name == "Capacity") info.capacity = number;
    if (name == "Size") info.bytes = number;
    if (name == "Number of filters") info.filters = number;
    if (name == "Number of items inserted") info.items = number;
    if (name == "Expansion rate" && value.type == REDIS_REPLY_INTEGER && number != 0)
      info.expansion = number;
  }
  if (info.capacity < std::max<std::uint64_t>(least_capacity_, 1))
    throw Error(ErrorCode::mismatch,
                name_ + " was replaced by a smaller filter; open it again if that is yours");
  least_capacity_ = info.capacity;
  // What grows counts insertions, and forgets none.
  if (info.expansion && info.items < least_items_)
    throw Error(ErrorCode::mismatch,
                name_ +
                    " has fewer keys than it had: it was replaced, or has lost some; open it "
                    "again if that is yours");
  if (info.expansion) least_items_ = info.items;
  return info;
}

std::size_t ModuleFilter::insert_many(Keys keys, std::span<bool> fresh) {
  return run(Ask::insert, keys, fresh);
}
std::size_t ModuleFilter::may_contain_many(Keys keys, std::span<bool> found) {
  return run(Ask::look, keys, found);
}
std::size_t ModuleFilter::remove_many(Keys keys, std::span<bool> removed) {
  return run(Ask::remove, keys, removed);
}

// Sends a command of as many of the keys as one takes, between two questions for the filter.
std::size_t ModuleFilter::send(Ask ask, Keys keys) {
  std::size_t count = 0, bytes = 0;
  while (count < std::min(keys.size(), kMostKeys) && (count == 0 || bytes < kMostBytes))
    bytes += keys[count++].size();
  Commands commands;
  commands.command({"BF.INFO", key_});
  if (ask == Ask::insert)
    commands.begin(4 + count).word("BF.INSERT").word(key_).word("NOCREATE").word("ITEMS");
  else
    commands.begin(2 + count).word(ask == Ask::look ? "BF.MEXISTS" : "BF.MDEL").word(key_);
  for (std::size_t i = 0; i < count; ++i) commands.word(keys[i]);
  commands.command({"BF.INFO", key_});
  connection_->send(commands);
  return count;
}

std::size_t ModuleFilter::take(Ask ask, std::size_t keys, std::span<bool> answers) {
  (void)take_info();
  const Reply reply = connection_->receive();
  require_module_reply(*reply, REDIS_REPLY_ARRAY, name_);
  std::size_t count = 0, done = 0;
  for (; done < reply->elements; ++done) {
    const redisReply& each = *reply->element[done];
    // What comes before the first that was refused is done.
    if (each.type == REDIS_REPLY_ERROR && ask == Ask::insert) acknowledged_ += done;
    require_module_reply(each, REDIS_REPLY_INTEGER, name_);
    if (done >= keys) break;
    if (!answers.empty()) answers[done] = each.integer == 1;
    count += each.integer == 1 ? 1 : 0;
  }
  if (done != keys || reply->elements != keys)
    throw Error(ErrorCode::io, name_ + ": an answer of another length; check the address");
  (void)take_info();
  acknowledged_ += keys;
  return count;
}

std::size_t ModuleFilter::run(Ask ask, Keys keys, std::span<bool> answers) {
  acknowledged_ = 0;
  std::size_t count = 0, sent = 0, taken = 0;
  std::array<std::size_t, 2> on_the_way{};
  std::size_t waiting = 0;
  detail::Exchange exchange(*connection_);
  while (taken < keys.size()) {
    while (sent < keys.size() && waiting < on_the_way.size())
      sent += on_the_way[waiting++] = send(ask, keys.subspan(sent));
    const std::size_t now = on_the_way[0];
    on_the_way[0] = on_the_way[1];
    --waiting;
    count += take(ask, now, answers.empty() ? answers : answers.subspan(taken, now));
    taken += now;
  }
  exchange.done();
  return count;
}

}  // namespace bloomery
