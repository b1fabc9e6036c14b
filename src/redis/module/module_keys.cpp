// A look-up asks for markers and items by one BF.MEXISTS. An insert cannot include the markers, because it would
// insert them into another filter. So the same transaction asks for the markers, and nothing is acknowledged until
// they are found. (A separate command after it would be too late: another filter may have been in the place for a
// moment.) A node cannot redirect a transaction that has begun, so after a redirection a script does the same.
#include "redis/module/module_keys.hpp"

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/counts.hpp"
#include "redis/cluster/transaction.hpp"
#include "redis/module/module_replies.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/shard_keys.hpp"

namespace bloomery::detail {
namespace {

// KEYS: the filter. ARGV: the number of markers, the markers, the items. Lua can unpack some thousands of words.
constexpr std::string_view kInsert =
    "local markers, answers = tonumber(ARGV[1]), {} "
    "for at = 2 + markers, #ARGV, 1000 do "
    "for _, answer in ipairs(redis.call('BF.INSERT', KEYS[1], 'NOCREATE', 'ITEMS', "
    "unpack(ARGV, at, math.min(at + 999, #ARGV)))) do "
    "answers[#answers + 1] = answer if type(answer) == 'table' then break end end end "
    "return {answers, redis.call('BF.MEXISTS', KEYS[1], unpack(ARGV, 2, 1 + markers))}";

// A batch of at most n keys has at most n times this number of bytes.
constexpr std::size_t kBytesOfKey = 1024;

}  // namespace

// The items of a batch that belong to one filter.
class ModuleKeys::Part : public BatchPart {
 public:
  // The way in which an insert into a shard and the check of its markers are executed together.
  enum class Together : std::uint8_t { in_transaction, by_script };
  Part(ModuleKeys& owner, std::uint32_t shard, ItemOperation operation,
       std::vector<std::uint32_t> keys, std::vector<std::string_view> items,
       Together together = Together::in_transaction)
      : BatchPart(std::move(keys)),
        owner_(owner),
        shard_(shard),
        operation_(operation),
        items_(std::move(items)),
        together_(together) {}

  [[nodiscard]] Request request() override {
    const std::string& key = owner_.keys_[shard_];
    Request request(key);
    if (is_insert_of_shard()) {
      if (together_ == Together::by_script) return with_script(key);
      request.next().command({"MULTI"});
      add_items(command_for_items(request, key));
      owner_.ask_for_markers(shard_, key, 0, request);
      request.next().command({"EXEC"});
      return request;
    }
    if (!owner_.record_) request.next().command({"BF.INFO", key});
    add_items(command_for_items(request, key));
    if (!owner_.record_) request.next().command({"BF.INFO", key});
    return request;
  }

  void take(std::size_t command, const redisReply& reply) override {
    if (is_insert_of_shard()) {
      take_together(command, reply);
    } else if (owner_.record_) {
      take_after_markers(reply);
    } else {
      if (command == 1) return take_answers(reply);
      (void)owner_.checked_info(shard_, reply);
      if (command == 2) confirm_all();
    }
  }

  // A node cannot redirect a transaction that has begun.
  [[nodiscard]] std::unique_ptr<BatchPart> instead() override {
    if (!is_insert_of_shard()) return nullptr;
    return std::make_unique<Part>(owner_, shard_, operation_, std::move(keys_), std::move(items_),
                                  Together::by_script);
  }

 private:
  [[nodiscard]] bool is_insert_of_shard() const {
    return owner_.record_ && operation_ == ItemOperation::insert;
  }

  // Begins the command to which the items are appended.
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

  void add_items(Commands& to) const {
    for (const std::string_view item : items_) to.word(item);
  }

  [[nodiscard]] Request with_script(const std::string& key) const {
    const std::vector<std::string>& markers = owner_.markers_[shard_];
    Request request(key);
    Commands& to = request.next().begin(5 + markers.size() + size());
    to.word("EVAL").word(kInsert).word("1").word(key).number(markers.size());
    for (const std::string& marker : markers) to.word(marker);
    add_items(to);
    return request;
  }

  void take_together(std::size_t command, const redisReply& reply) {
    if (together_ == Together::in_transaction) {
      // Before EXEC a reply says only whether the command was accepted, or why not.
      constexpr std::size_t kExec = 3;
      if (command < kExec) return owner_.require(reply, REDIS_REPLY_STATUS, shard_);
      if (is_aborted(reply, owner_.name_of(shard_))) return;
    }
    owner_.require(reply, REDIS_REPLY_ARRAY, shard_);
    require_elements(reply, 2, owner_.name_of(shard_));
    take_answers(*reply.element[0]);
    (void)owner_.after_markers(shard_, 0, *reply.element[1]);
    confirm_all();
  }

  void take_after_markers(const redisReply& reply) {
    const auto answers = owner_.after_markers(shard_, size(), reply);
    for (std::size_t i = 0; i < size(); ++i) answer(i, answers[i]->integer != 0);
    confirm_all();
  }

  void take_answers(const redisReply& reply) {
    owner_.require(reply, REDIS_REPLY_ARRAY, shard_);
    for (std::size_t i = 0; i < reply.elements && i < size(); ++i) {
      const redisReply& each = *reply.element[i];
      // A refused item has an error in its place, which ends the reply. If the filter has one key, the items before
      // it are done.
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
  Together together_;
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
  return cluster_.name_of(keys_[shard]);
}

void ModuleKeys::require(const redisReply& reply, int type, std::uint32_t shard) const {
  if (record_ && reply.type == REDIS_REPLY_ERROR && says(reply, "not found"))
    throw Error(ErrorCode::missing, name_of(shard) +
                                        " is no longer there: deleted, expired or evicted; "
                                        "build the filter again");
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
                                        " is no longer there, or is another filter: deleted, "
                                        "expired, evicted or replaced; build the filter again");
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
    while (count < std::min(most, items.size()) && bytes < most * kBytesOfKey)
      bytes += items[count++].size();
    std::vector<std::vector<std::uint32_t>> keys(shards);
    for (std::uint32_t i = 0; i < count; ++i)
      keys[shards == 1 ? 0 : in_shard(hasher(items[i]), shards).shard].push_back(i);
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      if (keys[shard].empty()) continue;
      std::vector<std::string_view> of_shard;
      of_shard.reserve(keys[shard].size());
      for (const std::uint32_t key : keys[shard]) of_shard.push_back(items[key]);
      parts.push_back(std::make_unique<Part>(*this, shard, operation, std::move(keys[shard]),
                                             std::move(of_shard)));
    }
    items = items.subspan(count);
    return count;
  };
  if (record_ && operation == ItemOperation::remove && !items.empty())
    throw Error(ErrorCode::wrong_kind,
                name_of(0) +
                    ": a filter in shards does not count, so that no key can be removed; "
                    "make a counting one under one key");
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
          name + " was made with other parameters than its record has; build the filter again");
    info.items -= std::min<std::uint64_t>(info.items, record_->items_when_empty());
    return info;
  }
  if (info.capacity < least_capacity_)
    throw Error(ErrorCode::mismatch,
                name + " was replaced by a smaller filter; open it again if that is yours");
  // A filter that grows counts its inserts and forgets none.
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
           .items = sum_of_counts(sum.items, info.items),
           .expansion = info.expansion};
  });
  if (record_) {
    sum.capacity = record_->plan.capacity;
    sum.items -= std::min(sum.items, record_->foreign_markers);
  }
  return sum;
}

std::optional<ModuleFill> ModuleKeys::fill() {
  std::vector<Request> requests;
  for (const std::string& key : keys_) requests.push_back({key, {"BF.DEBUG", key}});
  std::optional<ModuleFill> mean = ModuleFill{};
  cluster_.run_all(requests, [&](std::size_t, std::size_t, const Reply& reply) {
    const auto of_shard = fill_in(*reply);
    if (!of_shard) return mean.reset();
    if (!mean) return;
    mean->fill += of_shard->fill / static_cast<double>(keys_.size());
    mean->current_fpr += of_shard->current_fpr / static_cast<double>(keys_.size());
  });
  return mean;
}

std::optional<ModuleReserve> ModuleKeys::reserved() {
  if (!record_) {
    Request request(keys_[0], {"BF.INFO", keys_[0], "RESERVE"});
    return reserve_in(*cluster_.reply_to(request), name_of(0));
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
    // The request for the next chunk also checks this one; the last chunk has no bits.
    Request request(key);
    request.next().command({"BF.INFO", key});
    request.next().command({"BF.SCANDUMP", key, std::to_string(after)});
    cluster_.run_all({&request, 1}, [&](std::size_t, std::size_t command, const Reply& reply) {
      if (command == 0)
        (void)checked_info(shard, *reply);
      else
        chunk = chunk_in(*reply, after, name);
    });
    if (after == 0) dumped_capacity_ = least_capacity_;
    if (chunk.iterator == 0 && dumped_capacity_.value_or(least_capacity_) != least_capacity_)
      throw Error(ErrorCode::mismatch, name +
                                           " has grown or was replaced while it was read, and no "
                                           "module loads such a dump; do it again");
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
  (void)after_markers(shard, 0, *cluster.reply_to(request));
}

}  // namespace bloomery::detail
