// The places of filters: what opens and creates an AnyFilter::Impl in each of them.
#pragma once

#include <bloomery/module_messages.hpp>
#include <bloomery/redis_url.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "handle/impl.hpp"

namespace bloomery::detail {

// ---- memory and files (contents_filter.cpp) -----------------------------------------------------

[[nodiscard]] AnyImpl memory_filter(const FilterPlan& plan, const Hasher& hasher);
[[nodiscard]] AnyImpl memory_filter(std::span<const std::byte> bytes);  // encoded
[[nodiscard]] AnyImpl memory_filter(const PhpScheme& scheme);           // php_file.cpp
[[nodiscard]] AnyImpl file_filter(const std::string& path, FilterFile file, Access access);

// ---- the bits of a PHP class in a file, as GET returned them (php_file.cpp) -----------------------

// The whole of it is held in memory. What is written are the pages that changed, in place and synced:
// bits only turn on, so that a file that a crash has met has all keys of before, and no other writer may
// have it open. Error{missing, locked, exists, mismatch, io}.
[[nodiscard]] AnyImpl php_file_filter(const std::string& path, const PhpScheme& scheme,
                                      Opening how);
// All of it, for reading.
[[nodiscard]] PhpFilter load_php_file(const std::string& path, const PhpScheme& scheme);
// How full such bits are, and what can be said of their wholeness.
[[nodiscard]] FilterStats stats_of(const PhpScheme& scheme, const Stats& counted);
inline constexpr const char* kPhpVerified =
    "a bitmap no longer than its scheme's; it carries no parameters and no checksums";

// ---- servers (redis_filters.cpp; no_redis.cpp if the library has no Redis client) ----------------

// The parts of an address, with the password wherever it comes from.
[[nodiscard]] RedisUrl redis_url(const std::string& location);
[[nodiscard]] AnyImpl redis_filter(const RedisUrl& url, Opening how, const FilterSpec& spec,
                                   const AnyOptions& options);
[[nodiscard]] AnyImpl redis_rebuild(const RedisUrl& url, const Plan& plan, const Hasher& hasher);
[[nodiscard]] AnyFilter::Rotation redis_rotate(const RedisUrl& url, const AnyOptions& options);
[[nodiscard]] PhpFilter load_php_bucket(const RedisUrl& url, const PhpScheme& scheme);
void store_php_bucket(const RedisUrl& url, const PhpFilter& filter);
// The parts of an address with a pattern, and the filters of a module that match it (redis_module.cpp).
[[nodiscard]] RedisUrl redis_pattern(const std::string& location);
using UseStats = std::function<void(const std::string& address, const FilterStats& stats)>;
void for_each_of_module(const RedisUrl& pattern, const UseStats& use);
// The chunks of a filter of a module, one after the other (redis_module.cpp).
using NextChunk = std::function<ModuleChunk()>;
[[nodiscard]] NextChunk module_dump(const RedisUrl& url);
void load_into_module(const RedisUrl& url, bool replace, const NextChunk& next);
// What DUMP gave.
void restore_into_module(const RedisUrl& url, bool replace, std::string_view payload);
// Into a module's shards, from shards of as many (redis_plain.cpp).
void merge_module_shards(const RedisUrl& out, std::span<const RedisUrl> sources, bool replace);
[[noreturn]] void refuse_module_shards(const RedisUrl& url);

// ---- whether a filter that is there is the one that was asked for (agreement.cpp) ----------------

// Error{mismatch}, naming the first difference between what spec and options give and what the filter
// was created from. What they leave open, or the place does not tell, is not compared.
void require_agreement(const AnyFilter::Impl& filter, const FilterSpec& spec,
                       const AnyOptions& options);

}  // namespace bloomery::detail
