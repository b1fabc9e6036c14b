// The textbook's counting filter: one integer per counter, at the positions of the plain filter with
// the same plan, where a position may come twice. Slow, and simple enough to be obviously right.
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
      : plan_(plan),
        full_(plan.layout == Layout::blocked128 || plan.layout == Layout::blocked2x128 ? 15 : 255),
        counters_(plan.bits) {}

  bool insert(Hash128 hash) {
    const bool fresh = !may_contain(hash);
    for (const std::uint64_t position : positions(plan_, hash))
      counters_[position] = std::min(counters_[position] + 1, full_);
    return fresh;
  }
  bool remove(Hash128 hash) {
    const std::vector<std::uint64_t> all = positions(plan_, hash);
    for (const std::uint64_t position : all) {
      const auto inserts = std::count(all.begin(), all.end(), position);
      if (counters_[position] < full_ && counters_[position] < inserts) return false;
    }
    for (const std::uint64_t position : all)
      if (counters_[position] < full_) --counters_[position];
    return true;
  }
  [[nodiscard]] bool may_contain(Hash128 hash) const { return minimum(hash) > 0; }
  [[nodiscard]] std::uint64_t count_at_most(Hash128 hash) const {
    return minimum(hash) == full_ ? kUncounted : static_cast<std::uint64_t>(minimum(hash));
  }
  void merge(const NaiveCounting& other) {
    for (std::size_t i = 0; i < counters_.size(); ++i)
      counters_[i] = std::min(counters_[i] + other.counters_[i], full_);
  }
  // Counter i is byte i, or one half of byte i / 2, the lower half first.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    const bool four = full_ == 15;
    std::vector<std::byte> out(four ? counters_.size() / 2 : counters_.size());
    for (std::size_t i = 0; i < counters_.size(); ++i)
      out[four ? i / 2 : i] |= static_cast<std::byte>(counters_[i] << (four && i % 2 == 1 ? 4 : 0));
    return out;
  }
  [[nodiscard]] int full() const noexcept { return full_; }
  [[nodiscard]] const std::vector<int>& counters() const noexcept { return counters_; }

 private:
  [[nodiscard]] int minimum(Hash128 hash) const {
    int found = full_;
    for (const std::uint64_t position : positions(plan_, hash))
      found = std::min(found, counters_[position]);
    return found;
  }

  Plan plan_;
  int full_;
  std::vector<int> counters_;
};

}  // namespace bloomery::test
