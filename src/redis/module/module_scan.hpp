// All filters of a module on one server whose keys match a pattern. SCAN finds them, and pipelines ask for them.
#pragma once

#include <bloomery/module_messages.hpp>
#include <bloomery/redis_url.hpp>

#include <functional>
#include <optional>
#include <string>

namespace bloomery::detail {

// A scan remembers the keys that it has found, because SCAN may return a key twice.
constexpr std::size_t kMaxScannedFilters = 100'000;

struct ScannedFilter {
  std::string key;
  ModuleInfo info;
  std::optional<ModuleReserve> reserve;  // nullopt: RedisBloom does not tell it
  std::optional<ModuleFill> fill;
};

// Calls use() once for each filter, in no order. The key of the place is the pattern, as in KEYS. Filters that are
// made or deleted during the scan may be left out. Calls refused() instead if the server refuses to tell about a
// filter; the scan continues. Error{too_large}: more than kMaxScannedFilters match.
void scan_module_filters(
    const RedisPlace& place, const std::function<void(const ScannedFilter&)>& use,
    const std::function<void(const std::string& key, const Error& error)>& refused);

}  // namespace bloomery::detail
