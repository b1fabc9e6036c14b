// BF.MEXISTS of markers and items is one command. An insert must not carry the markers, which it
// would insert into another filter: they are asked for after it, and nothing is acknowledged until
// they are seen. The items are asked for by the same command: another filter may have been in the place
// when they came, and gone since, if the program that put it there failed or was killed.
#include "redis/module/module_keys.hpp"

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "redis/module/module_replies.hpp"
#include "redis/module/staged_shards.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/wire/transaction.hpp"

namespace bloomery::detail {
namespace {

// A batch has at most so many bytes for each key that it may have.
constexpr std::size_t kBytesOfKey = 1024;

}  // namespace

// The items of a batch in one filter.
class ModuleKeys::Part : public BatchPart {
 public:
  Part(ModuleKeys& owner, std::uint32_t shard, ItemOperation operation,
       std::vector<std::uint32_t> keys, Items batch)
      : BatchPart(std::move(keys)), owner_(owner), shard_(shard), operation_(operation) {
    items_.reserve(size());
    for (const std::uint32_t key : keys_) items_.push_back(batch[key]);
  }

  [[nodiscard]] Request request() override {
    const std::string& key = owner_.keys_[shard_];
    Request request(key);
    if (!owner_.record_) request.next().command({"BF.INFO", key});
    Commands& to = command_for_items(request, key);
    for (const std::string_view item : items_) to.word(item);
    if (!owner_.record_)
      request.next().command({"BF.INFO", key});
    else if (operation_ == ItemOperation::insert)
      for (Commands& seen = owner_.ask_for_markers(shard_, key, size(), request);
           const std::string_view item : items_)
        seen.word(item);
    else if (operation_ == ItemOperation::remove)
      owner_.ask_for_markers(shard_, key, 0, request);
    return request;
  }

  void take(std::size_t command, const redisReply& reply) override {
    if (owner_.record_) return take_with_markers(command, reply);
    if (command == 1) return take_answers(reply);
    (void)owner_.checked_info(shard_, reply);
    if (command == 2) confirm_all();
  }

 private:
  // Begins the command that the items follow.
  Commands& command_for_items(Request& to, const std::string& key) const {
    switch (operation_) {
      case ItemOperation::insert:
        return to.next()
            .begin(4 + size())
            .word("BF.INSERT")
            .word(key)
            .word("NOCREATE")
            .word("ITEMS");
      case ItemOperation::test:
        return owner_.ask_for_markers(shard_, key, size(), to);
      case ItemOperation::remove:
        break;
    }
    return to.next().begin(2 + size()).word("BF.MDEL").word(key);
  }

  void take_with_markers(std::size_t command, const redisReply& reply) {
    if (operation_ == ItemOperation::test) {
      const auto answers = owner_.after_markers(shard_, size(), reply);
      for (std::size_t i = 0; i < size(); ++i) answer(i, answers[i]->integer != 0);
      confirm_all();
    } else if (command == 0) {
      take_answers(reply);
    } else {
      const bool seen = operation_ == ItemOperation::insert;
      const auto answers = owner_.after_markers(shard_, seen ? size() : 0, reply);
      if (std::ranges::any_of(answers, [](const redisReply* each) { return each->integer == 0; }))
        throw Error(ErrorCode::mismatch,
                    owner_.name_of(shard_) +
                        " was another filter while keys were inserted, and is itself again; "
                        "insert them again");
      confirm_all();
    }
  }

  void take_answers(const redisReply& reply) {
    owner_.require(reply, REDIS_REPLY_ARRAY, shard_);
    for (std::size_t i = 0; i < reply.elements && i < size(); ++i) {
      const redisReply& each = *reply.element[i];
      // An item that is refused has an error in its place, and ends the reply. Under one key those
      // before it are done.
      if (each.type == REDIS_REPLY_ERROR && !owner_.record_)
        for (std::size_t before = 0; before < i; ++before) confirm(before);
      owner_.require(each, REDIS_REPLY_INTEGER, shard_);
      answer(i, each.integer != 0);
    }
    require_elements(reply, size(), owner_.name_of(shard_));
  }

  ModuleKeys& owner_;
  std::uint32_t shard_;
  ItemOperation operation_;
  std::vector<std::string_view> items_;
};

ModuleKeys::ModuleKeys(Cluster cluster, std::string key)
    : cluster_(std::move(cluster)), keys_({std::move(key)}), markers_(1) {}

ModuleKeys::ModuleKeys(Cluster cluster, const ModuleRecord& record, std::vector<std::string> keys)
    : cluster_(std::move(cluster)), record_(record), keys_(std::move(keys)) {
  for (std::uint32_t shard = 0; shard < record.shards; ++shard) {
    std::vector<std::string>& markers = markers_.emplace_back(record.markers(shard));
    const std::vector<std::string> of_copies = record.copy_markers(shard);
    markers.insert(markers.end(), of_copies.begin(), of_copies.end());
  }
}

std::string ModuleKeys::name_of(std::uint32_t shard) const {
  return detail::name_of(cluster_.name(), keys_[shard]);
}

void ModuleKeys::require(const redisReply& reply, int type, std::uint32_t shard) const {
  if (record_ && reply.type == REDIS_REPLY_ERROR && says(reply, "not found"))
    throw Error(ErrorCode::missing, name_of(shard) +
                                        " is not there any more: deleted, expired or evicted; "
                                        "build the filter anew");
  require_module_reply(reply, type, name_of(shard));
}

Commands& ModuleKeys::ask_for_markers(std::uint32_t shard, std::string_view key, std::size_t items,
                                      Request& to) const {
  Commands& command = to.next().begin(2 + markers_[shard].size() + items);
  command.word("BF.MEXISTS").word(key);
  for (const std::string& marker : markers_[shard]) command.word(marker);
  return command;
}

std::span<redisReply* const> ModuleKeys::after_markers(std::uint32_t shard, std::size_t items,
                                                       const redisReply& reply) const {
  require(reply, REDIS_REPLY_ARRAY, shard);
  const std::size_t markers = markers_[shard].size();
  const std::span<redisReply* const> all(reply.element, reply.elements);
  for (const redisReply* each : all) require(*each, REDIS_REPLY_INTEGER, shard);
  require_elements(reply, markers + items, name_of(shard));
  const auto has_all = [](std::span<redisReply* const> answers) {
    return std::ranges::all_of(answers, [](const redisReply* each) { return each->integer == 1; });
  };
  if (!has_all(all.first(markers / 2)))
    throw Error(ErrorCode::missing, name_of(shard) +
                                        " is not there any more, or is another filter: deleted, "
                                        "expired, evicted or replaced; build the filter anew");
  if (markers != 0 && has_all(all.subspan(markers / 2, markers / 2)))
    throw Error(ErrorCode::mismatch,
                name_of(shard) + " was replaced by a copy of the filter; open it again");
  return all.subspan(markers);
}

std::size_t ModuleKeys::run(ItemOperation operation, Items items, std::span<bool> answers) {
  require_room(answers, items.size());
  const Hasher hasher = shard_hasher();
  const auto shards = static_cast<std::uint32_t>(keys_.size());
  const auto next = [&](std::size_t most, KeyBatches::Parts& parts) {
    std::size_t count = 0, bytes = 0;
    while (count < std::min(most, items.size()) && (count == 0 || bytes < most * kBytesOfKey))
      bytes += items[count++].size();
    std::vector<std::vector<std::uint32_t>> keys(shards);
    for (std::uint32_t i = 0; i < count; ++i)
      keys[shards == 1 ? 0 : in_shard(hasher(items[i]), shards).shard].push_back(i);
    for (std::uint32_t shard = 0; shard < shards; ++shard)
      if (!keys[shard].empty())
        parts.push_back(
            std::make_unique<Part>(*this, shard, operation, std::move(keys[shard]), items));
    items = items.subspan(count);
    return count;
  };
  batches_.begin();
  try {
    return batches_.run(cluster_, shards, next, answers);
  } catch (const Error& error) {
    if ((error.code() == ErrorCode::missing || error.code() == ErrorCode::mismatch) &&
        undo_interrupted())
      throw was_undone(name_of(0));
    throw;
  }
}

bool ModuleKeys::undo_interrupted() noexcept {
  if (!record_) return false;
  const std::string record_key = keys_[0] + ":shards";
  return detail::undo_interrupted(cluster_, record_key, module_shards_of_note(record_key));
}

ModuleInfo ModuleKeys::checked_info(std::uint32_t shard, const redisReply& reply) {
  const std::string name = name_of(shard);
  ModuleInfo info = info_in(reply, name);
  if (record_) {
    if (info.capacity < record_->capacity_of_each() ||
        info.expansion.value_or(0) != record_->plan.expansion)
      throw Error(
          ErrorCode::mismatch,
          name + " was made with other parameters than its record has; build the filter anew");
    info.items -= std::min<std::uint64_t>(info.items, record_->items_when_empty());
    return info;
  }
  if (info.capacity < least_capacity_)
    throw Error(ErrorCode::mismatch,
                name + " was replaced by a smaller filter; open it again if that is yours");
  // A filter that grows counts insertions and forgets none.
  if (info.expansion && info.items < least_items_)
    throw Error(ErrorCode::mismatch,
                name +
                    " has fewer keys than it had: it was replaced, or has lost some; open it "
                    "again if that is yours");
  least_capacity_ = info.capacity;
  if (info.expansion) least_items_ = info.items;
  return info;
}

ModuleInfo ModuleKeys::info() {
  std::vector<Request> requests;
  for (std::uint32_t shard = 0; shard < keys_.size(); ++shard) {
    Request& request = requests.emplace_back(keys_[shard]);
    if (record_) ask_for_markers(shard, keys_[shard], 0, request);
    request.next().command({"BF.INFO", keys_[shard]});
  }
  ModuleInfo sum;
  cluster_.run_all(requests, [&](std::size_t i, std::size_t command, const Reply& reply) {
    const auto shard = static_cast<std::uint32_t>(i);
    if (record_ && command == 0) {
      (void)after_markers(shard, 0, *reply);
      return;
    }
    const ModuleInfo info = checked_info(shard, *reply);
    sum = {.capacity = sum.capacity + info.capacity,
           .bytes = sum.bytes + info.bytes,
           .filters = sum.filters + info.filters,
           .items = sum.items + info.items,
           .expansion = info.expansion};
  });
  if (record_) sum.capacity = record_->plan.capacity;
  return sum;
}

std::optional<ModuleReserve> ModuleKeys::reserved() {
  if (!record_) {
    Request request(keys_[0]);
    request.next().command({"BF.INFO", keys_[0], "RESERVE"});
    std::optional<ModuleReserve> reserved;
    cluster_.run_all({&request, 1}, [&](std::size_t, std::size_t, const Reply& reply) {
      reserved = reserve_in(*reply, name_of(0));
    });
    return reserved;
  }
  const ModulePlan& plan = record_->plan;
  return ModuleReserve{.kind = plan.expansion == 0 ? Kind::plain : Kind::scalable,
                       .capacity = plan.capacity,
                       .fpr = plan.fpr,
                       .expansion = plan.expansion};
}

ModuleChunk ModuleKeys::dump(std::uint32_t shard, std::uint64_t after) {
  const std::string& key = keys_[shard];
  const std::string name = name_of(shard);
  ModuleChunk chunk;
  if (!record_) {
    // The question for the next chunk follows this one; the last chunk has no bits.
    Request request(key);
    request.next().command({"BF.INFO", key});
    request.next().command({"BF.SCANDUMP", key, std::to_string(after)});
    cluster_.run_all({&request, 1}, [&](std::size_t, std::size_t command, const Reply& reply) {
      if (command == 0)
        (void)checked_info(shard, *reply);
      else
        chunk = chunk_in(*reply, after, name);
    });
    return chunk;
  }
  std::vector<std::string> question = {"BF.MEXISTS", key};
  question.insert(question.end(), markers_[shard].begin(), markers_[shard].end());
  const Transaction both{key, name, {question, {"BF.SCANDUMP", key, std::to_string(after)}}};
  run_transactions(cluster_, {&both, 1}, [&](std::size_t, std::span<redisReply* const> replies) {
    (void)after_markers(shard, 0, *replies[0]);
    chunk = chunk_in(*replies[1], after, name);
  });
  return chunk;
}

void ModuleKeys::check_markers(std::uint32_t shard, Cluster& cluster,
                               const std::string& key) const {
  Request request(key);
  ask_for_markers(shard, key, 0, request);
  cluster.run_all({&request, 1}, [&](std::size_t, std::size_t, const Reply& reply) {
    (void)after_markers(shard, 0, *reply);
  });
}

}  // namespace bloomery::detail
