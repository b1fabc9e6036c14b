// A filter of each kind as what a file holds of it: header fields, and bits in their order.
#pragma once

#include <bloomery/counting_view.hpp>
#include <bloomery/filter_view.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/window_filter.hpp>

#include "format/header.hpp"
#include "format/sums.hpp"

namespace bloomery::detail {

// Sets kind, plan, hasher, what else the kind has, and of a scalable or window filter the count of
// inserts, which the others do not know. Error{invalid_argument}: a filter that was moved from.
void describe(const FilterView& filter, Header& header);
void describe(const CountingView& filter, Header& header);
void describe(const ScalableFilter& filter, Header& header);
void describe(const WindowFilter& filter, Header& header);

[[nodiscard]] Pieces pieces_of(const ScalableFilter& filter);
template <class F>
[[nodiscard]] Pieces pieces_of(const F& filter) {
  return {filter.bytes()};
}

}  // namespace bloomery::detail
