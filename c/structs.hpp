// Structs that begin with their size: reading those of the caller, and filling in results.
//
// A caller that was compiled against a later header has larger structs. Fields that this version does not know must
// be 0 in structs that it reads, and it sets them to 0 in structs that it fills in.
#pragma once

#include <bloomery.h>
#include <bloomery/any_filter.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace bloomery::c {

[[noreturn]] void refuse_null(const char* name);
[[noreturn]] void refuse_size(const char* name, std::size_t size);
[[noreturn]] void refuse_rest(const char* name);

// No version has larger structs: if a size is larger, the caller did not set it.
constexpr std::size_t kLargest = 1024;

// The size that a struct says it has. Error{invalid_argument}: the pointer is null, or the size is smaller than in
// any version, or too large.
template <class Struct>
[[nodiscard]] std::size_t size_of(const Struct* given, const char* name) {
  if (given == nullptr) refuse_null(name);
  if (given->size < sizeof(Struct) || given->size > kLargest) refuse_size(name, given->size);
  return given->size;
}

// Error{invalid_argument}: as for size_of, or a field that this version does not know is not 0.
template <class Struct>
[[nodiscard]] const Struct& taken(const Struct* given, const char* name) {
  const std::size_t size = size_of(given, name);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  const auto is_zero = [](auto part) { return part == 0; };
  if (!std::all_of(bytes + sizeof(Struct), bytes + size, is_zero) ||
      !std::ranges::all_of(given->reserved, is_zero))
    refuse_rest(name);
  return *given;
}

template <class Struct>
void give(Struct from, Struct* to, std::size_t size) noexcept {
  from.size = to->size;
  std::memset(to, 0, size);
  std::memcpy(to, &from, sizeof from);
}

// A location. Error{invalid_argument}: it is null or empty.
[[nodiscard]] std::string text_of(const char* location);
[[nodiscard]] FilterSpec spec_of(const bloomery_spec* given);
// Null gives the defaults.
[[nodiscard]] AnyOptions options_of(const bloomery_options* given);
// Of AnyFilter::spec(), which names no bits and hashes.
[[nodiscard]] bloomery_spec spec_of(const FilterSpec& spec);
[[nodiscard]] bloomery_plan plan_of(const FilterPlan& plan);
[[nodiscard]] bloomery_stats stats_of(const FilterStats& stats);

}  // namespace bloomery::c
