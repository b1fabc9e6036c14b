// How full filters in Redis strings are: the same words and JSON for one string, two and many.
#pragma once

#include "key_filter.hpp"

#include <bloomery/stats.hpp>

namespace bloomery::cli {

// "12.3 %", or "12.3 % +- 0.02 %, from a sample" with two standard errors.
[[nodiscard]] std::string fill_text(const Stats& stats);
// "12 on 3 nodes"
[[nodiscard]] std::string shards_text(std::size_t shards, std::size_t nodes);
// Adds to JSON what the state of a filter does not have.
void add_fill(Json& json, const Stats& stats);

[[nodiscard]] FilterState state_of(const Plan& plan, const Hasher& hasher, const Stats& stats);
// Also warns past half: hashes that are far from even fill a filter before its keys do.
[[nodiscard]] Standing standing_of(const Plan& plan, const Hasher& hasher, const Stats& stats,
                                   const std::string& advice);
// The rows of a plain filter: `rows`, which say where it is, then its layout and so on.
[[nodiscard]] KeyFilter::Rows plain_rows(KeyFilter::Rows rows, const Plan& plan,
                                         const Hasher& hasher, const Stats& stats);

}  // namespace bloomery::cli
