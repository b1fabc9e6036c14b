// BF.RESERVE, BF.CLEAR, BF.MERGE, BF.ADVANCE: commands on a filter as a whole.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/request.hpp"
#include "commands/time.hpp"
#include "types/statistics.hpp"
#include "values/counting.hpp"
#include "values/make.hpp"
#include "values/scalable.hpp"

namespace bloomery::server {

namespace {

void reply_ok(const Arguments& arguments) noexcept {
  api.ReplyWithSimpleString(arguments.context, "OK");
}

// Whether the items of one filter can be added to the other. A scalable filter may have more sub-filters.
bool are_alike(Value* a, Value* b) noexcept {
  if (a->kind() != b->kind()) return false;
  if (auto* const scalable = as<Scalable>(a))
    return scalable->has_sub_filters_of(static_cast<Scalable&>(*b));
  auto* const counting = as<Counting>(a);
  return counting != nullptr && counting->has_plan_of(static_cast<Counting&>(*b));
}

void refuse_frozen(const Value& value) {
  if (value.kind() == Kind::frozen)
    throw ErrorReply{
        "ERR a frozen filter cannot be merged; build one from the items of both and load it"};
}

// The sources of a merge. All of them exist and fit together.
std::vector<Value*> find_sources(const Arguments& arguments, Value* target) {
  std::vector<Value*> sources;
  for (String* name : arguments.from(2)) {
    // A filter stays where it is when its key is closed; nothing else runs meanwhile.
    const OpenedKey key(arguments.context, name, kRead);
    if (key.filter().kind() == Kind::window)
      throw ErrorReply{"ERR a filter with a window cannot be merged"};
    refuse_frozen(key.filter());
    if (key.value() != target) sources.push_back(key.value());
  }
  // Each source is compared with the one that has the most sub-filters.
  Value* longest = target;
  for (Value* source : sources) {
    if (longest != nullptr && !are_alike(longest, source))
      throw ErrorReply{
          "ERR the filters differ in their parameters; reserve all of them with the same"};
    if (longest == nullptr || source->bit_bytes() > longest->bit_bytes()) longest = source;
  }
  return sources;
}

// How many bytes of bits a merge takes in addition to those of the target.
std::uint64_t growth_of(const Value* target, std::span<Value* const> sources) noexcept {
  const std::uint64_t held = target == nullptr ? 0 : target->bit_bytes();
  std::uint64_t most = held;
  for (const Value* source : sources) most = std::max(most, source->bit_bytes());
  return most - held;
}

// The bytes of the largest source. A merge makes the target as large, not larger.
std::uint64_t most_bytes(const Value* target, std::span<Value* const> sources) noexcept {
  std::uint64_t most = target == nullptr ? 0 : target->totals().bytes;
  for (const Value* source : sources) most = std::max(most, source->totals().bytes);
  return most;
}

void merge_all(Value& target, std::span<Value* const> sources) {
  if (auto* const counting = as<Counting>(&target)) {
    for (Value* source : sources) counting->merge(static_cast<Counting&>(*source));
    return;
  }
  auto& scalable = static_cast<Scalable&>(target);
  const auto longest = std::ranges::max_element(sources, {}, &Value::bit_bytes);
  if (longest == sources.end()) return;
  scalable.make_room_for(static_cast<Scalable&>(**longest));
  for (Value* source : sources) scalable.merge(static_cast<Scalable&>(*source));
}

void require_near(const Arguments& arguments, const Window& window, std::uint64_t time) {
  if (!is_too_far_ahead(arguments, window.slice_length(), time)) return;
  throw Error(ErrorCode::invalid_argument,
              "the time is ahead of the server's clock by more than a slice of the window (" +
                  std::to_string(window.slice_length()) +
                  " s): until then it would forget nothing; give a time nearer to the clock, use "
                  "BF.CLEAR to forget all, or CONFIG SET bf.client-time yes to simulate");
}

}  // namespace

void reserve(const Arguments& arguments) {
  const Reserve parsed = parse_reserve(arguments);
  OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (key.value() != nullptr && parsed.if_not_exists) {
    api.ReplyWithNull(arguments.context);
    return;
  }
  key.must_be_missing();
  make_filter(arguments, key, parsed.request);
  announce(arguments, "bf.reserve");
  reply_ok(arguments);
}

void clear(const Arguments& arguments) {
  const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  Value& value = key.filter();
  if (value.kind() == Kind::frozen)
    throw ErrorReply{"ERR the filter is frozen, and would take no items; DEL it"};
  const Totals before = value.totals();
  value.clear();
  value.end_loading();
  count_change(before, value.totals());
  changed(arguments, "bf.clear");
  reply_ok(arguments);
}

// BF.MERGE destination source [source ...]
void merge(const Arguments& arguments) {
  OpenedKey target(arguments.context, arguments.key(), kRead | kWrite);
  if (target.value() == nullptr && !target.is_missing()) throw ErrorReply{kWrongType};
  if (target.value() != nullptr) refuse_frozen(*target.value());
  const std::vector<Value*> sources = find_sources(arguments, target.value());
  const std::uint64_t growth = growth_of(target.value(), sources);
  if (growth != 0) check_filter_limit(arguments, most_bytes(target.value(), sources));
  check_fits(arguments, growth);
  if (target.value() == nullptr) {
    AnyValue merged = copy(*sources.front());
    merge_all(*merged, std::span(sources).subspan(1));
    target.put(std::move(merged));
  } else {
    const Totals before = target.value()->totals();
    merge_all(*target.value(), sources);
    target.value()->end_loading();
    count_change(before, target.value()->totals());
  }
  changed(arguments, "bf.merge");
  reply_ok(arguments);
}

// BF.ADVANCE key seconds: a master sends it to its replicas before items, and a client that wants to
// forget a little ahead of time sends it too. A time before the filter's own changes nothing; but a
// master sends one only to set the window back.
void advance(const Arguments& arguments) {
  const long long now = number_in(arguments.words[2], "ERR bad time; give seconds since 1970", 1);
  const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (!key.filter().needs_time())
    throw ErrorReply{"ERR the filter has no window of time; reserve one with WINDOW n SECONDS"};
  auto& window = static_cast<Window&>(*key.value());
  const auto time = static_cast<std::uint64_t>(now);
  require_near(arguments, window, time);
  const bool goes_back = is_replayed(arguments) && time < window.now();
  if (goes_back ? window.set_back(time) : window.advance(time)) {
    window.end_loading();
    changed(arguments, "bf.advance");
  }
  reply_ok(arguments);
}

}  // namespace bloomery::server
