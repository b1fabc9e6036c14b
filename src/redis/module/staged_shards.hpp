// Staged shards that are filters of a module: the rules by which they take places, and the shards of a
// maker that was killed.
#pragma once

#include <cstdint>
#include <string>

#include "redis/module/module_record.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/staged_keys.hpp"

namespace bloomery::detail {

// ARGV: 1 if a shard with items may go, because its record may, the items of an empty shard, the
// common marker, the markers. An absent filter has none of them.
extern const StagedKeys::Rules kModuleShards;
[[nodiscard]] StagedKeys::Words module_shard_arguments(const ModuleRecord& record,
                                                       std::uint32_t shard, bool may_replace);

// The shards that stand, or stood, beside this record.
[[nodiscard]] KeysOfNote module_shards_of_note(const std::string& record_key);

}  // namespace bloomery::detail
