// The textbook's counting filter: one integer a cell, at the positions of the plain filter with
// the same plan. Slow and plain, so that it can be believed at a glance.
#pragma once

#include <bloomery/counting_view.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/naive_filter.hpp"

namespace bloomery::test {

class NaiveCounting {
 public:
  explicit NaiveCounting(const Plan& plan)
      : plan_(plan), full_(plan.layout == Layout::line128 ? 15 : 255), cells_(plan.bits) {}

  bool insert(Hash128 hash) {
    const bool fresh = !may_contain(hash);
    for (const std::uint64_t position : positions(plan_, hash))
      cells_[position] = std::min(cells_[position] + 1, full_);
    return fresh;
  }
  bool remove(Hash128 hash) {
    if (!may_contain(hash)) return false;
    for (const std::uint64_t position : positions(plan_, hash))
      if (cells_[position] < full_) --cells_[position];
    return true;
  }
  [[nodiscard]] bool may_contain(Hash128 hash) const { return least(hash) > 0; }
  [[nodiscard]] std::uint64_t count_at_most(Hash128 hash) const {
    return least(hash) == full_ ? kUncounted : static_cast<std::uint64_t>(least(hash));
  }
  void merge(const NaiveCounting& other) {
    for (std::size_t i = 0; i < cells_.size(); ++i)
      cells_[i] = std::min(cells_[i] + other.cells_[i], full_);
  }
  // Cell i is byte i, or one half of byte i / 2, the lower half first.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    const bool four = full_ == 15;
    std::vector<std::byte> out(four ? cells_.size() / 2 : cells_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i)
      out[four ? i / 2 : i] |= static_cast<std::byte>(cells_[i] << (four && i % 2 == 1 ? 4 : 0));
    return out;
  }
  [[nodiscard]] int full() const noexcept { return full_; }
  [[nodiscard]] const std::vector<int>& cells() const noexcept { return cells_; }

 private:
  [[nodiscard]] int least(Hash128 hash) const {
    int found = full_;
    for (const std::uint64_t position : positions(plan_, hash))
      found = std::min(found, cells_[position]);
    return found;
  }

  Plan plan_;
  int full_;
  std::vector<int> cells_;
};

}  // namespace bloomery::test
