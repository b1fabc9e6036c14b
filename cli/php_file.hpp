// A PHP class's bits in a file: what GET returned of its key.
#pragma once

#include "redis_places.hpp"

namespace bloomery::cli {

// Of the scheme that the options name; the whole of it is held in memory. What is written are the
// pages that changed, in place and synced: bits only turn on, so that a file that a crash has met
// has all keys of before, and no other writer may have it open.
// Error{missing, locked, exists, mismatch, io}.
[[nodiscard]] std::unique_ptr<KeyFilter> php_file_filter(const Options& options,
                                                         const std::string& path, Mode mode);

// All of it, for reading.
[[nodiscard]] PhpFilter load_php_file(const std::string& path, const PhpScheme& scheme);

}  // namespace bloomery::cli
