// A filter as bytes: what a clean filter file holds, in memory.
//
//   std::vector<std::byte> bytes = bloomery::encode(filter);   // send it, store it
//   bloomery::Filter again = bloomery::decode(bytes);
//
// The bytes are the same on every machine, equal filters give equal bytes, and written to a
// file they are a filter file (filter_file.hpp) that has counted no inserts.
#pragma once

#include <bloomery/filter.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace bloomery {

// Error{no_memory}; Error{invalid_argument} of a filter that was moved from.
[[nodiscard]] std::vector<std::byte> encode(const FilterView& filter);

// Believes nothing: every field and the sum of the bits are checked before anything is
// allocated. Error{not_a_filter, newer_format, wrong_kind, corrupt, unclean, no_memory}.
[[nodiscard]] Filter decode(std::span<const std::byte> bytes);

}  // namespace bloomery
