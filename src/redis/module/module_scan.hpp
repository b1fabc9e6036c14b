// All filters of a module on one server whose keys match a pattern: found by SCAN, asked in pipelines.
#pragma once

#include <bloomery/module_messages.hpp>
#include <bloomery/redis_url.hpp>

#include <functional>
#include <optional>
#include <string>

namespace bloomery::detail {

// A scan remembers the keys that it has met, for SCAN may name one twice.
constexpr std::size_t kMaxScannedFilters = 100'000;

struct ScannedFilter {
  std::string key;
  ModuleInfo info;
  std::optional<ModuleReserve> reserve;  // nothing: RedisBloom does not say
  std::optional<ModuleFill> fill;
};

// Each filter once, in no order; the key of the place is the pattern, as KEYS takes it. Filters that come
// or go meanwhile may be in it or not. Error{too_large}: more than kMaxScannedFilters match.
void scan_module_filters(const RedisPlace& place,
                         const std::function<void(const ScannedFilter&)>& use);

}  // namespace bloomery::detail
