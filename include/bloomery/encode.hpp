// A filter as bytes in memory, the same bytes that a clean filter file holds.
//
//   std::vector<std::byte> bytes = bloomery::encode(filter);   // send it, store it
//   bloomery::Filter again = bloomery::decode(bytes);
//
// The bytes are the same on every machine, and equal filters give equal bytes. If you write them to a file,
// it is a filter file (filter_file.hpp); its count of inserts is 0 for a plain or counting filter.
#pragma once

#include <bloomery/counting_filter.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/frozen_filter.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/window_filter.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace bloomery {

// Error{no_memory}; Error{invalid_argument} for a filter that was moved from.
[[nodiscard]] std::vector<std::byte> encode(const FilterView& filter);
[[nodiscard]] std::vector<std::byte> encode(const CountingView& filter);
[[nodiscard]] std::vector<std::byte> encode(const ScalableFilter& filter);
[[nodiscard]] std::vector<std::byte> encode(const WindowFilter& filter);
[[nodiscard]] std::vector<std::byte> encode(const FrozenFilter& filter);

// Checks every field and the checksum of the bits before it allocates memory for them.
// Error{not_a_filter | newer_format | wrong_kind | corrupt | unclean | no_memory}.
[[nodiscard]] Filter decode(std::span<const std::byte> bytes);
[[nodiscard]] CountingFilter decode_counting(std::span<const std::byte> bytes);
[[nodiscard]] ScalableFilter decode_scalable(std::span<const std::byte> bytes);
[[nodiscard]] WindowFilter decode_window(std::span<const std::byte> bytes);
[[nodiscard]] FrozenFilter decode_frozen(std::span<const std::byte> bytes);
// The kind of the encoded filter. Checks only the header.
// Error{not_a_filter | newer_format | wrong_kind | corrupt | no_memory}.
[[nodiscard]] Kind kind_of(std::span<const std::byte> bytes);

}  // namespace bloomery
