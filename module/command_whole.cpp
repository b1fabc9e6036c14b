// BF.CLEAR and BF.MERGE: what RedisBloom has not, on filters as a whole.
#include <vector>

#include "command.hpp"
#include "statistics.hpp"

namespace bloomery::server {

namespace {

// The sources of a merge, all there and all alike; or the complaint has been made.
bool find_sources(const Arguments& arguments, const Chain* target,
                  std::vector<const Chain*>& sources) {
  for (String* name : arguments.from(2)) {
    // A filter stays where it is when its key is closed; nothing else runs meanwhile.
    const OpenedKey key(arguments.context, name, kRead);
    if (key.chain() == nullptr) {
      api.ReplyWithError(arguments.context, key.complaint());
      return false;
    }
    if (key.chain() != target) sources.push_back(key.chain());
  }
  const Chain* longest = target;
  for (const Chain* source : sources) {
    if (longest == nullptr) longest = source;
    if (!longest->has_links_of(*source)) {
      api.ReplyWithError(arguments.context,
                         "ERR the filters differ in their parameters; reserve all of them with "
                         "the same");
      return false;
    }
    if (source->links().size() > longest->links().size()) longest = source;
  }
  return true;
}

}  // namespace

void clear(const Arguments& arguments) {
  if (arguments.words.size() != 2) {
    api.WrongArity(arguments.context);
    return;
  }
  const OpenedKey key(arguments.context, arguments.key(), kRead | kWrite);
  if (key.chain() == nullptr) {
    api.ReplyWithError(arguments.context, key.complaint());
    return;
  }
  const Share before(*key.chain());
  key.chain()->clear();
  count_change(before, *key.chain());
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
  if (target.chain() == nullptr && !target.is_missing()) {
    api.ReplyWithError(arguments.context, kWrongType);
    return;
  }
  std::vector<const Chain*> sources;
  if (!find_sources(arguments, target.chain(), sources)) return;
  if (target.chain() == nullptr) {
    auto merged = sources.front()->copy();
    for (std::size_t i = 1; i < sources.size(); ++i) merged->make_room_for(*sources[i]);
    for (std::size_t i = 1; i < sources.size(); ++i) merged->merge(*sources[i]);
    target.put(std::move(merged));
  } else {
    Chain& chain = *target.chain();
    const Share before(chain);
    for (const Chain* source : sources) chain.make_room_for(*source);
    for (const Chain* source : sources) chain.merge(*source);
    count_change(before, chain);
  }
  api.ReplicateVerbatim(arguments.context);
  announce(arguments, "bf.merge");
  api.ReplyWithSimpleString(arguments.context, "OK");
}

}  // namespace bloomery::server
