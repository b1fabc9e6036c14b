// A shard in a place is recognized only by its marker items.
#include "redis/module/module_keys.hpp"

#include <string_view>
#include <vector>

#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"

namespace bloomery::detail {

const StagedKeys::Rules kModuleShards = {
    .functions =
        "local function has_markers(key) "
        "for _, found in ipairs(redis.call('BF.MEXISTS', key, unpack(ARGV, 4))) do "
        "if found ~= 1 and found ~= true then return false end end return true end ",
    .may_go =
        "(function() local kind = redis.call('TYPE', KEYS[1]).ok "
        "if kind ~= 'bloomery-' and kind ~= 'MBbloom--' then return false end "
        "if ARGV[1] == '1' then return true end "
        "local card = redis.pcall('BF.CARD', KEYS[1]) "
        "return type(card) == 'number' and card <= tonumber(ARGV[2]) and "
        "redis.call('BF.EXISTS', KEYS[1], ARGV[3]) ~= 0 end)()",
    .is_longer = "false",  // a module's filter has no end that a client could write beyond
    .is_whole = "has_markers(KEYS[2])",
    .is_ours = "has_markers(KEYS[1])"};

StagedKeys::Words module_shard_arguments(const ModuleRecord& record, std::uint32_t shard,
                                         bool may_replace) {
  StagedKeys::Words words = {may_replace ? "1" : "0", std::to_string(record.items_when_empty()),
                             ModuleRecord::common_marker()};
  const std::vector<std::string> markers = record.markers(shard);
  words.insert(words.end(), markers.begin(), markers.end());
  return words;
}

KeysOfNote module_shards_of_note(const std::string& record_key) {
  return [record_key](std::string_view number, std::string_view committed) -> NotedKeys {
    const ModuleRecord record = decode_module_record(committed, note_beside(record_key));
    return {
        StagedKeys(shard_keys(name_of_shards(record_key), record.shards), kModuleShards, number),
        record.identity, [record](std::size_t i) {
          return module_shard_arguments(record, static_cast<std::uint32_t>(i), true);
        }};
  };
}

}  // namespace bloomery::detail
