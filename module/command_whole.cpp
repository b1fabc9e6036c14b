// BF.CLEAR and BF.MERGE: what RedisBloom has not, on filters as a whole.
#include <vector>

#include "chain.hpp"
#include "command.hpp"
#include "counting.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

constexpr const char* kDiffer =
    "ERR the filters differ in their parameters; reserve all of them with the same";

Chain& chain_of(Value& value) noexcept { return static_cast<Chain&>(value); }
Counting& counting_of(Value& value) noexcept { return static_cast<Counting&>(value); }

// Whether items of one can be added to the other. A chain may have more sub-filters than the other.
bool are_alike(const Value& a, const Value& b) noexcept {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == Kind::chain)
    return static_cast<const Chain&>(a).has_sub_filters_of(static_cast<const Chain&>(b));
  return a.kind() == Kind::counting &&
         static_cast<const Counting&>(a).has_plan_of(static_cast<const Counting&>(b));
}

// The one that more can be compared with: of chains, the longer.
const Value* longer(const Value* a, const Value* b) noexcept {
  if (a == nullptr) return b;
  return b->bit_bytes() > a->bit_bytes() ? b : a;
}

// The sources of a merge, all there and all alike; or what to complain of.
const char* find_sources(const Arguments& arguments, const Value* target,
                         std::vector<Value*>& sources) {
  for (String* name : arguments.from(2)) {
    // A filter stays where it is when its key is closed; nothing else runs meanwhile.
    const OpenedKey key(arguments.context, name, kRead);
    if (key.value() == nullptr) return key.complaint();
    if (key.value()->kind() == Kind::window) return "ERR a filter with a window cannot be merged";
    if (key.value() != target) sources.push_back(key.value());
  }
  const Value* longest = target;
  for (const Value* source : sources) {
    if (longest != nullptr && !are_alike(*longest, *source)) return kDiffer;
    longest = longer(longest, source);
  }
  return nullptr;
}

// Room first, so that nothing has changed where there is none.
void merge_all(Value& target, std::span<Value* const> sources) {
  if (target.kind() == Kind::counting) {
    for (Value* source : sources) counting_of(target).merge(counting_of(*source));
    return;
  }
  for (Value* source : sources) chain_of(target).make_room_for(chain_of(*source));
  for (Value* source : sources) chain_of(target).merge(chain_of(*source));
}

}  // namespace

void clear(const Arguments& arguments) {
  if (arguments.words.size() != 2) {
    api.WrongArity(arguments.context);
    return;
  }
  const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (key.value() == nullptr) {
    api.ReplyWithError(arguments.context, key.complaint());
    return;
  }
  const Share before(*key.value());
  key.value()->clear();
  count_change(before, *key.value());
  api.ReplicateVerbatim(arguments.context);
  announce(arguments, "bf.clear");
  api.ReplyWithSimpleString(arguments.context, "OK");
}

// BF.MERGE destination source [source ...]
void merge(const Arguments& arguments) {
  if (arguments.words.size() < 3) {
    api.WrongArity(arguments.context);
    return;
  }
  OpenedKey target(arguments.context, arguments.key(), kRead | kWrite);
  if (target.value() == nullptr && !target.is_missing()) {
    api.ReplyWithError(arguments.context, kWrongType);
    return;
  }
  std::vector<Value*> sources;
  if (const char* complaint = find_sources(arguments, target.value(), sources)) {
    api.ReplyWithError(arguments.context, complaint);
    return;
  }
  if (target.value() == nullptr) {
    AnyValue merged = sources.front()->copy();
    merge_all(*merged, std::span(sources).subspan(1));
    target.put(std::move(merged));
  } else {
    const Share before(*target.value());
    merge_all(*target.value(), sources);
    count_change(before, *target.value());
  }
  api.ReplicateVerbatim(arguments.context);
  announce(arguments, "bf.merge");
  api.ReplyWithSimpleString(arguments.context, "OK");
}

}  // namespace bloomery::server
