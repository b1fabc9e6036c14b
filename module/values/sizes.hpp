// How many bytes a filter takes, and how many items it has room for, by its header alone.
//
// A file of its own because it computes with the filters themselves (scalable.hpp), which the commands that ask it do
// not include.
#pragma once

#include <cstdint>

#include "values/dump_header.hpp"

namespace bloomery::server {

// The bytes that a filter with this header takes, its parameters too (BF.INFO's Size). For windows it
// is approximate, since they also keep counts of their slices.
[[nodiscard]] std::uint64_t bytes_of(const Header& header) noexcept;

// The items that it has room for once it has grown as far as the limit lets it: its own capacity and
// that of every sub-filter to come. It needs some 100 plans at most: further sub-filters count as if they
// had the lowest rate, so the result may be too low, and is never too high.
[[nodiscard]] std::uint64_t max_scaled_capacity(const Header& header, std::uint64_t limit) noexcept;

}  // namespace bloomery::server
