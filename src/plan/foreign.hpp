// The numbers of a request that belong to another kind of filter.
#pragma once

#include <bloomery/kind.hpp>

namespace bloomery {
struct FilterSpec;
}

namespace bloomery::detail {

// A number that a kind does not use is an error, because it must not be ignored silently: a filter without its window
// would never forget. It is in spec.cpp.
void refuse_foreign(const FilterSpec& spec, Kind kind);

}  // namespace bloomery::detail
