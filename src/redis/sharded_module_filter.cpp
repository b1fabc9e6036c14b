// A filter in shards of a module: found by its record.
#include <bloomery/sharded_module_filter.hpp>

#include <bloomery/error.hpp>
#include <bloomery/plan.hpp>

#include <utility>

#include "redis/redis_header.hpp"
#include "redis/shard_keys.hpp"
#include "redis/shard_maker.hpp"
#include "redis/shard_plan.hpp"
#include "redis/sharded_module.hpp"

namespace bloomery {

using detail::ShardedModule;

ShardedModuleFilter::ShardedModuleFilter(std::unique_ptr<ShardedModule> shards)
    : shards_(std::move(shards)) {}
ShardedModuleFilter::ShardedModuleFilter(ShardedModuleFilter&&) noexcept = default;
ShardedModuleFilter& ShardedModuleFilter::operator=(ShardedModuleFilter&&) noexcept = default;
ShardedModuleFilter::~ShardedModuleFilter() = default;

ShardedModuleFilter ShardedModuleFilter::create(const RedisAddress& address, std::string_view name,
                                                const ModulePlan& plan, std::uint32_t shards) {
  // Whatever the module's layout: about so many bits. Refuses what no filter can be.
  const Plan about = bloomery::plan(plan.capacity, plan.fpr);
  detail::Cluster cluster(address);
  if (shards == 0) shards = detail::shards_for(about, cluster.nodes());
  std::vector<std::string> keys = detail::shard_keys(name, shards);
  const detail::ModuleRecord record{
      .plan = plan, .shards = shards, .identity = detail::new_identity()};
  detail::make_module_shards(cluster, record, name, keys);
  return ShardedModuleFilter(
      std::make_unique<ShardedModule>(std::move(cluster), record, std::move(keys)));
}

ShardedModuleFilter ShardedModuleFilter::open(const RedisAddress& address, std::string_view name) {
  detail::Cluster cluster(address);
  const std::string key = detail::module_record_key(name);
  const std::string what = detail::name_of(cluster.name(), key);
  const detail::Reply found = cluster.ask(key, {"GET", key});
  if (found->type == REDIS_REPLY_NIL)
    throw Error(ErrorCode::missing, what + " is not there, the record of '" + std::string(name) +
                                        "'; create the filter, or check the name");
  detail::require_type(found, REDIS_REPLY_STRING, what);
  const std::string_view bytes(found->str, found->len);
  if (detail::is_claim(bytes)) throw detail::being_made(what);
  const detail::ModuleRecord record = detail::decode_module_record(bytes, what);
  std::vector<std::string> keys = detail::shard_keys(name, record.shards);
  auto shards = std::make_unique<ShardedModule>(std::move(cluster), record, std::move(keys));
  shards->check();
  return ShardedModuleFilter(std::move(shards));
}

std::size_t ShardedModuleFilter::insert_many(std::span<const std::string_view> keys,
                                             std::span<bool> fresh) {
  return shards_->insert(keys, fresh);
}

std::size_t ShardedModuleFilter::may_contain_many(std::span<const std::string_view> keys,
                                                  std::span<bool> found) {
  return shards_->look_up(keys, found);
}

std::size_t ShardedModuleFilter::acknowledged() const noexcept { return shards_->acknowledged(); }
std::uint64_t ShardedModuleFilter::items() { return shards_->items(); }
const ModulePlan& ShardedModuleFilter::plan() const noexcept { return shards_->record().plan; }
const std::vector<std::string>& ShardedModuleFilter::keys() const noexcept {
  return shards_->keys();
}
std::size_t ShardedModuleFilter::nodes() { return shards_->cluster().nodes(); }

}  // namespace bloomery
