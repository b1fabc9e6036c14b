// Items in filters of a module, one or many: every command comes with a question that shows whether
// its filter is still there.
#pragma once

#include <bloomery/module_messages.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/module/module_record.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/key_batches.hpp"
#include "redis/shards/staged_keys.hpp"
#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

// ---- staged shards: the rules by which they take places, and the shards of a maker that was killed
// (staged_shards.cpp) -----------------------------------------------------------------------------

// ARGV: 1 if a shard with items may go, because its record may, the items of an empty shard, the
// common marker, the markers. An absent filter has none of them.
extern const StagedKeys::Rules kModuleShards;
[[nodiscard]] StagedKeys::Words module_shard_arguments(const ModuleRecord& record,
                                                       std::uint32_t shard, bool may_replace);

// The shards that stand, or stood, beside this record.
[[nodiscard]] KeysOfNote module_shards_of_note(const std::string& record_key);

enum class ItemOperation : std::uint8_t { insert, test, remove };

class ModuleKeys {
 public:
  using Items = std::span<const std::string_view>;

  // A filter under one key: BF.INFO asks for it.
  ModuleKeys(Cluster cluster, std::string key);
  // The shards of a record: their marker items are asked for.
  ModuleKeys(Cluster cluster, const ModuleRecord& record, std::vector<std::string> keys);

  // Returns how many answers are true.
  std::size_t run(ItemOperation operation, Items items, std::span<bool> answers);
  [[nodiscard]] std::size_t acknowledged() const noexcept { return batches_.acknowledged(); }

  // Also checks that every filter is there, and is what it has to be.
  ModuleInfo info();
  [[nodiscard]] std::optional<ModuleFill> fill();
  // What the filter was made with: of shards, what their record says. Nothing: RedisBloom does not say it.
  [[nodiscard]] std::optional<ModuleReserve> reserved();
  // The chunk of a shard's dump that follows the one with the iterator `after`. The filter is
  // checked at the same time.
  [[nodiscard]] ModuleChunk dump(std::uint32_t shard, std::uint64_t after);
  // That what is under another key is a shard of this filter, or was copied from it and is not marked
  // as a copy.
  void check_markers(std::uint32_t shard, Cluster& cluster, const std::string& key) const;

  // What a killed maker of shards has left half way is undone (interrupted.hpp). False: it was not.
  bool undo_interrupted() noexcept;

  // Null: one key.
  [[nodiscard]] const ModuleRecord* record() const noexcept {
    return record_ ? &*record_ : nullptr;
  }
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  [[nodiscard]] Cluster& cluster() noexcept { return cluster_; }

 private:
  class Part;
  // BF.MEXISTS of the markers; `items` more words must follow.
  Commands& ask_for_markers(std::uint32_t shard, std::string_view key, std::size_t items,
                            Request& to) const;
  // The answers that follow those to the markers. Error{missing}: a marker is not there. Error{mismatch}:
  // the markers of a copy are.
  std::span<redisReply* const> after_markers(std::uint32_t shard, std::size_t items,
                                             const redisReply& reply) const;
  // Checks what BF.INFO says, and returns it.
  ModuleInfo checked_info(std::uint32_t shard, const redisReply& reply);
  [[nodiscard]] std::string name_of(std::uint32_t shard) const;
  void require(const redisReply& reply, int type, std::uint32_t shard) const;

  Cluster cluster_;
  std::optional<ModuleRecord> record_;
  std::vector<std::string> keys_;
  std::vector<std::vector<std::string>> markers_;  // of each shard, and as many of a copy of it
  // What a filter under one key has had at least, as far as seen here.
  std::uint64_t least_capacity_ = 1;
  std::uint64_t least_items_ = 0;
  KeyBatches batches_;
};

}  // namespace bloomery::detail
