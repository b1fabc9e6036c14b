// The data type of cuckoo filters, RedisBloom's `MBbloomCF`, and keys that hold one.
#pragma once

#include "cuckoo/filter.hpp"
#include "statistics.hpp"
#include "type.hpp"

namespace bloomery::server::cuckoo {

// False: another module (RedisBloom) has registered it already.
[[nodiscard]] bool register_type(Context* context) noexcept;

// Counts what a command changes in a filter, when the change is over (statistics.hpp).
class CountedChange {
 public:
  explicit CountedChange(const Filter& filter) noexcept;
  ~CountedChange();
  CountedChange(const CountedChange&) = delete;
  CountedChange& operator=(const CountedChange&) = delete;

 private:
  const Filter& filter_;
  CuckooTotals before_;
};

struct FilterType {
  [[nodiscard]] static bool is_type(const Type* type) noexcept;
  [[nodiscard]] static Type* type_of(const Filter& filter) noexcept;
  [[nodiscard]] static Filter* counted_in(Filter::Pointer filter) noexcept;
};
using OpenedKey = KeyHolding<Filter, Filter::Pointer, FilterType>;

}  // namespace bloomery::server::cuckoo
