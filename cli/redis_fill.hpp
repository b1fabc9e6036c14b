// How filters in Redis strings stand: the same words and JSON for one string, two and many.
#pragma once

#include "key_filter.hpp"

#include <bloomery/redis_filter.hpp>

namespace bloomery::cli {

// "12.3 %", or "12.3 % +- 0.02 %, from a sample" with two standard errors.
[[nodiscard]] std::string fill_text(const RedisFill& fill);
// What JSON has of a fill besides the state.
void add_fill(Json& json, const RedisFill& fill);

[[nodiscard]] FilterState state_of(const Plan& plan, const Hasher& hasher, const RedisFill& fill);
// A warning past half, too: hashes that are far from even fill a filter before its keys do.
[[nodiscard]] Standing standing_of(const Plan& plan, const Hasher& hasher, const RedisFill& fill,
                                   const std::string& mend);
// The rows of a plain filter: `rows`, which say where it is, and from its layout on.
[[nodiscard]] KeyFilter::Rows plain_rows(KeyFilter::Rows rows, const Plan& plan,
                                         const Hasher& hasher, const RedisFill& fill);

}  // namespace bloomery::cli
