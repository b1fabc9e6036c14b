// The header fields of each kind, from the filter.
#include "format/describe.hpp"

#include <bloomery/error.hpp>

namespace bloomery::detail {

void describe(const FilterView& filter, Header& header) {
  validate(filter.plan());
  header.kind = Kind::plain;
  header.plan = filter.plan();
  header.hasher = filter.hasher();
}

void describe(const CountingView& filter, Header& header) {
  validate(filter.plan());
  header.kind = Kind::counting;
  header.plan = filter.plan();
  header.hasher = filter.hasher();
}

void describe(const ScalableFilter& filter, Header& header) {
  if (filter.sub_filters().empty())
    throw Error(ErrorCode::invalid_argument,
                "a filter that was moved from has no sub-filters; use the one it was moved to");
  header.kind = Kind::scalable;
  header.plan = filter.plan().first;
  header.hasher = filter.hasher();
  header.inserted = filter.inserted();
  header.scalable = filter.plan();
  header.sub_filters.clear();
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i)
    header.sub_filters.push_back({filter.sub_filters()[i]->plan(), filter.inserted(i)});
}

void describe(const WindowFilter& filter, Header& header) {
  validate(filter.plan());
  header.kind = Kind::window;
  header.plan = filter.plan().slice;
  header.hasher = filter.hasher();
  header.inserted = filter.inserted();
  header.window = filter.plan();
  header.window_state = filter.state();
}

Pieces pieces_of(const ScalableFilter& filter) {
  Pieces pieces;
  for (const FilterView* sub_filter : filter.sub_filters()) pieces.push_back(sub_filter->bytes());
  return pieces;
}

}  // namespace bloomery::detail
