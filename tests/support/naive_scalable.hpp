// The scalable filter, written only from the comments of its header: a list of naive filters.
#pragma once

#include <bloomery/scalable_filter.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/layouts.hpp"
#include "support/naive_filter.hpp"

namespace bloomery::test {

class NaiveScalable {
 public:
  explicit NaiveScalable(const ScalablePlan& plan) : plan_(plan) { add_sub_filter(); }

  bool insert(Hash128 hash) {
    if (may_contain(hash)) return false;
    if (inserted_.back() == plans_.back().capacity) add_sub_filter();
    sub_filters_.back().insert(hash);
    ++inserted_.back();
    return true;
  }
  [[nodiscard]] bool may_contain(Hash128 hash) const {
    return std::any_of(sub_filters_.begin(), sub_filters_.end(),
                       [&](const NaiveFilter& sub_filter) { return sub_filter.may_contain(hash); });
  }
  [[nodiscard]] const std::vector<NaiveFilter>& sub_filters() const noexcept {
    return sub_filters_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& inserted() const noexcept { return inserted_; }

 private:
  void add_sub_filter() {
    plans_.push_back(sub_filter_plan(plan_, static_cast<std::uint32_t>(plans_.size())));
    sub_filters_.emplace_back(plans_.back());
    inserted_.push_back(0);
  }

  ScalablePlan plan_;
  std::vector<Plan> plans_;
  std::vector<NaiveFilter> sub_filters_;
  std::vector<std::uint64_t> inserted_;
};

[[nodiscard]] inline bool same_filters(const ScalableFilter& a, const ScalableFilter& b) {
  return a.sub_filters().size() == b.sub_filters().size() && a.inserted() == b.inserted() &&
         std::equal(a.sub_filters().begin(), a.sub_filters().end(), b.sub_filters().begin(),
                    [](const FilterView* one, const FilterView* two) {
                      return one->plan() == two->plan() && same_bits(*one, *two);
                    });
}

}  // namespace bloomery::test
