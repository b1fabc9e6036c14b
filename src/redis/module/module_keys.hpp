// The items of a module's filter in one or many keys: every command is sent with a question that shows whether its
// filter is still there.
#pragma once

#include <bloomery/module_messages.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/cluster/cluster.hpp"
#include "redis/module/module_record.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/key_batches.hpp"
#include "redis/shards/staged_keys.hpp"

namespace bloomery::detail {

// ---- staged shards: the rules for replacing shards, and the shards of a maker that was killed
// (staged_shards.cpp) -----------------------------------------------------------------------------

// ARGV: 1 if a shard with items may be replaced because its record may, the number of items of an empty shard, the
// common marker, the markers. An absent key has none of the markers.
extern const StagedKeys::Rules kModuleShards;
[[nodiscard]] StagedKeys::Words module_shard_arguments(const ModuleRecord& record,
                                                       std::uint32_t shard, bool may_replace);

// The shards that belong, or belonged, to this record.
[[nodiscard]] KeysOfNote module_shards_of_note(const std::string& record_key);

enum class ItemOperation : std::uint8_t { insert, test, remove };

class ModuleKeys {
 public:
  using Items = std::span<const std::string_view>;

  // A filter under one key; BF.INFO checks that it is still there.
  ModuleKeys(Cluster cluster, std::string key);
  // The shards of a record; their marker items show that they are still there.
  ModuleKeys(Cluster cluster, const ModuleRecord& record, std::vector<std::string> keys);

  void begin() noexcept { batches_.begin(); }  // of what acknowledged() counts
  // Returns the number of true answers.
  std::size_t run(ItemOperation operation, Items items, std::span<bool> answers);
  [[nodiscard]] std::size_t acknowledged() const noexcept { return batches_.acknowledged(); }

  // Also checks that every filter is there and has the right parameters.
  ModuleInfo info();
  [[nodiscard]] std::optional<ModuleFill> fill();
  // The parameters that the filter was made with; for shards, those of their record. nullopt: RedisBloom does not
  // tell them.
  [[nodiscard]] std::optional<ModuleReserve> reserved();
  // The chunk of a shard's dump that follows the chunk with the iterator `after`. The same request checks the filter.
  // Error{mismatch}: a filter under one key has grown since its header was read, so the chunks are more than it says.
  [[nodiscard]] ModuleChunk dump(std::uint32_t shard, std::uint64_t after);
  // Checks that the filter under another key is a shard of this filter, or a copy of such a shard that is not marked
  // as a copy.
  void check_markers(std::uint32_t shard, Cluster& cluster, const std::string& key) const;

  // Undoes what a killed maker of shards has left unfinished (interrupted.hpp). False: nothing was undone.
  bool undo_interrupted() noexcept;

  // Null: the filter has one key.
  [[nodiscard]] const ModuleRecord* record() const noexcept {
    return record_ ? &*record_ : nullptr;
  }
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  [[nodiscard]] Cluster& cluster() noexcept { return cluster_; }

 private:
  class Part;
  // Begins BF.MEXISTS of the markers; `items` more words must follow.
  Commands& ask_for_markers(std::uint32_t shard, std::string_view key, std::size_t items,
                            Request& to) const;
  // The answers that follow the answers for the markers. Error{missing}: a marker is missing. Error{mismatch}: the
  // copy markers are there.
  std::span<redisReply* const> after_markers(std::uint32_t shard, std::size_t items,
                                             const redisReply& reply) const;
  // Checks the reply to BF.INFO and returns it.
  ModuleInfo checked_info(std::uint32_t shard, const redisReply& reply);
  [[nodiscard]] std::string name_of(std::uint32_t shard) const;
  void require(const redisReply& reply, int type, std::uint32_t shard) const;

  Cluster cluster_;
  std::optional<ModuleRecord> record_;
  std::vector<std::string> keys_;
  std::vector<std::vector<std::string>> markers_;  // of each shard, followed by its copy markers
  // The least capacity and item count of a filter under one key, as far as this client has seen.
  std::uint64_t least_capacity_ = 1;
  std::uint64_t least_items_ = 0;
  std::optional<std::uint64_t> dumped_capacity_;  // when the header of the dump was read
  KeyBatches batches_;
};

}  // namespace bloomery::detail
