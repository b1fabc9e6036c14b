// How far a filter that grows can go below a limit of its memory.
#pragma once

#include <cstdint>

#include "dump.hpp"

namespace bloomery::server {

// The bytes that a filter with this header takes, its parameters too (BF.INFO's Size). Of windows only
// about that: they keep counts of their slices beside.
[[nodiscard]] std::uint64_t bytes_of(const Header& header) noexcept;

// The items that it has room for once it has grown as far as the limit lets it: its own capacity and
// that of every sub-filter to come. Takes a few plans (plans.hpp), so a few milliseconds at most.
[[nodiscard]] std::uint64_t max_scaled_capacity(const Header& header, std::uint64_t limit) noexcept;

}  // namespace bloomery::server
