// Items in the module filters of many shards, whose marks are asked for in every command.
#pragma once

#include <bloomery/module_dump.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/batches.hpp"
#include "redis/cluster.hpp"
#include "redis/module_record.hpp"

namespace bloomery::detail {

class ShardedModule {
 public:
  using Items = std::span<const std::string_view>;

  ShardedModule(Cluster cluster, const ModuleRecord& record, std::vector<std::string> keys);

  // Return how many answers are true.
  std::size_t insert(Items items, std::span<bool> answers);
  std::size_t look_up(Items items, std::span<bool> answers);
  // The items of the last call before the first that is not done.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // That every shard is there, and is what it has to be.
  void check();
  // That what another name has is a shard of this filter, or a copy.
  void check_marks(std::uint32_t shard, Cluster& cluster, const std::string& key) const;
  std::uint64_t items();
  // The chunk of a shard's dump behind the one that has the iterator `after`, and the marks in the same
  // moment.
  [[nodiscard]] ModuleChunk chunk(std::uint32_t shard, std::uint64_t after);

  [[nodiscard]] const ModuleRecord& record() const noexcept { return record_; }
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  [[nodiscard]] Cluster& cluster() noexcept { return cluster_; }

 private:
  Batch batch(bool inserting, Items items, std::size_t first, std::size_t count) const;
  void ask_for_marks(std::uint32_t shard, std::size_t items, Commands& to) const;
  void ask_for_marks(std::uint32_t shard, std::string_view key, std::size_t items,
                     Commands& to) const;
  // The answers after those to the marks, which are all there or Error{missing}.
  std::span<redisReply* const> after_marks(std::uint32_t shard, std::size_t items,
                                           const redisReply& reply) const;
  [[nodiscard]] std::string name_of(std::uint32_t shard) const;
  void require(const redisReply& reply, int type, std::uint32_t shard) const;

  Cluster cluster_;
  ModuleRecord record_;
  std::vector<std::string> keys_;
  std::vector<std::vector<std::string>> marks_;
  std::vector<bool> done_;
};

// The record's key, in the slot of shard 0.
[[nodiscard]] std::string module_record_key(std::string_view name);

// What makes them all, and the record that stands for them.
void make_module_shards(Cluster& cluster, const ModuleRecord& record, std::string_view name,
                        const std::vector<std::string>& keys);

}  // namespace bloomery::detail
