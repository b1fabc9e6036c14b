// The places of filters: what a location names (places.cpp), and the functions that open and create an
// AnyFilter::Impl in each place.
#pragma once

#include <bloomery/module_dump.hpp>
#include <bloomery/module_messages.hpp>
#include <bloomery/redis_url.hpp>

#include <functional>
#include <string>
#include <string_view>

#include "handle/impl.hpp"

namespace bloomery::detail {

// What a location can name. A switch over it has no default, so the compiler finds each function that does not know a
// new place.
enum class Place : std::uint8_t { file, server };

// Error{invalid_argument}: an address with a word that names no place.
[[nodiscard]] Place place_of(std::string_view location);
// What only files can do, and what only servers can, asks these: here, in merge.cpp, convert.cpp and handle.cpp.
[[nodiscard]] bool is_file(Place place) noexcept;
[[nodiscard]] bool is_on_server(Place place) noexcept;
[[nodiscard]] inline bool is_file(std::string_view location) { return is_file(place_of(location)); }

[[nodiscard]] AnyImpl filter_at(const std::string& location, Opening how, const FilterSpec& spec,
                                const AnyOptions& options);

// The bits of a PHP class, from one place to another.
void copy_php_bits(const std::string& source, const std::string& out, const PhpScheme& scheme);

// ---- memory and files (contents_filter.cpp) -----------------------------------------------------

[[nodiscard]] AnyImpl memory_filter(const FilterPlan& plan, const Hasher& hasher);
[[nodiscard]] AnyImpl memory_filter(std::span<const std::byte> bytes);  // encoded
// The plain or frozen filter whose bits load() writes. Error{corrupt}.
[[nodiscard]] AnyImpl memory_filter(const ModuleContents& contents,
                                    const std::function<void(std::span<std::byte> bits)>& load);
[[nodiscard]] AnyImpl memory_filter(const PhpScheme& scheme);  // php_file.cpp
[[nodiscard]] AnyImpl file_filter(const std::string& path, FilterFile file, Access access);

// ---- dumps in files (dump_filter.cpp) -----------------------------------------------------------

// Loads the dump of a plain or frozen filter for reading. Error{wrong_kind}: it holds something else; {corrupt}.
[[nodiscard]] AnyImpl dump_filter(const std::string& path);
// Reads the whole dump of any filter. Error{corrupt}.
[[nodiscard]] VerifyReport verify_dump(const std::string& path);

// ---- the bits of a PHP class in a file, as GET returned them (php_file.cpp) -----------------------

// The whole file but its holes is held in memory. Only changed pages are written, in place and synced. Bits only turn
// on, so after a crash the file has all keys of before; no other writer may have it open. Error{missing, locked,
// exists, mismatch, io}. `sources` as in AnyOptions.
[[nodiscard]] AnyImpl php_file_filter(const std::string& path, const PhpScheme& scheme, Opening how,
                                      std::span<const std::string> sources = {});
// Loads the whole file for reading.
[[nodiscard]] PhpFilter load_php_file(const std::string& path, const PhpScheme& scheme);
// The statistics of such bits, and the sentence that verify says about them.
[[nodiscard]] FilterStats stats_of(const PhpScheme& scheme, const Stats& counted);
inline constexpr const char* kPhpVerified =
    "bits of a PHP class, not more than its scheme has; they carry no parameters and no checksums";

// ---- servers after close() (closed_filter.cpp) --------------------------------------------------

[[nodiscard]] AnyImpl closed_filter(const AnyFilter::Impl& was);

// ---- servers (redis_filters.cpp; no_redis.cpp if the library has no Redis client) ----------------

// The parts of an address, and the password from any of its sources.
[[nodiscard]] RedisUrl redis_url(const std::string& location);
[[nodiscard]] AnyImpl redis_filter(const RedisUrl& url, Opening how, const FilterSpec& spec,
                                   const AnyOptions& options);
[[nodiscard]] AnyImpl redis_rebuild(const RedisUrl& url, const FilterPlan& plan,
                                    const Hasher& hasher);
[[nodiscard]] AnyFilter::Rotation redis_rotate(const RedisUrl& url, const AnyOptions& options);
[[nodiscard]] PhpFilter load_php_bucket(const RedisUrl& url, const PhpScheme& scheme);
void store_php_bucket(const RedisUrl& url, const PhpFilter& filter);
// The parts of an address with a pattern, and the filters of a module that match it (redis_module.cpp).
[[nodiscard]] RedisUrl redis_pattern(const std::string& location);
using UseStats = std::function<void(const std::string& address, const FilterStats& stats)>;
using UseRefusal = std::function<void(const std::string& address, const Error& error)>;
void for_each_of_module(const RedisUrl& pattern, const UseStats& use, const UseRefusal& refused);
// The chunks of the dump of a module's filter, in order (redis_module.cpp).
using NextChunk = std::function<ModuleChunk()>;
[[nodiscard]] NextChunk module_dump(const RedisUrl& url);
void load_into_module(const RedisUrl& url, bool replace, const NextChunk& next);
// `payload`: the reply to DUMP.
void restore_into_module(const RedisUrl& url, bool replace, std::string_view payload);
// Merges module shards into new ones; each source has the same number of shards (redis_plain.cpp).
void merge_module_shards(const RedisUrl& out, std::span<const RedisUrl> sources, bool replace);
[[noreturn]] void refuse_module_shards(const RedisUrl& url);

// ---- whether an existing filter is the one that was requested (request_check.cpp) --------------------

// Error{mismatch}, with the first difference between spec and options and what the filter was created from. Fields
// that the request leaves open, or that the place does not tell, are not compared.
void require_agreement(const AnyFilter::Impl& filter, const FilterSpec& spec,
                       const AnyOptions& options);

}  // namespace bloomery::detail
