// The window filter, written twice from the comments of its header: as a queue of naive filters, which
// gives its bits and answers, and as a list of insertions with their ages, which gives what must be
// found.
#pragma once

#include <bloomery/window_filter.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "support/naive_filter.hpp"

namespace bloomery::test {

// A queue of naive filters, the newest first.
class NaiveWindow {
 public:
  explicit NaiveWindow(const WindowPlan& plan) : plan_(plan) { clear(); }

  bool insert(Hash128 hash) {
    if (plan_.unit == WindowUnit::insertions && taken_ == plan_.window / plan_.slices) turn();
    ++taken_;
    const bool fresh = !may_contain(hash);
    ring_slices_.front().insert(hash);
    return fresh;
  }
  [[nodiscard]] bool may_contain(Hash128 hash) const {
    for (const NaiveFilter& slice : ring_slices_)
      if (slice.may_contain(hash)) return true;
    return false;
  }
  // Slices of time are counted from time 0; the first time given to a new filter ends no slice.
  void advance(std::uint64_t now) {
    if (now <= now_) return;
    const std::uint64_t length = plan_.window / plan_.slices;
    const std::uint64_t turns = now_ == 0 ? 0 : now / length - now_ / length;
    now_ = now;
    if (plan_.unit == WindowUnit::seconds)
      for (std::uint64_t i = 0; i < turns && i <= plan_.slices; ++i) turn();
  }
  void clear() {
    ring_slices_.assign(plan_.slices + 1, NaiveFilter(plan_.slice));
    taken_ = 0;
  }
  // The slices by age, the newest first.
  [[nodiscard]] const std::deque<NaiveFilter>& ring_slices() const noexcept { return ring_slices_; }

 private:
  void turn() {
    ring_slices_.pop_back();
    ring_slices_.emplace_front(plan_.slice);
    taken_ = 0;
  }
  WindowPlan plan_;
  std::deque<NaiveFilter> ring_slices_;
  std::uint64_t taken_ = 0;
  std::uint64_t now_ = 0;
};

// The bits of the slice of this age (0 is the newest) as an array of its own.
inline std::vector<std::byte> bits_of_age(const WindowFilter& filter, std::uint32_t age) {
  const std::uint32_t ring_slices = filter.plan().slices + 1;
  const std::uint32_t slice = (filter.state().newest + ring_slices - age) % ring_slices;
  std::vector<std::byte> out;
  for (std::uint64_t block = 0; block < filter.plan().slice.bits / 512; ++block) {
    const auto bytes = filter.bytes().subspan((block * ring_slices + slice) * 64, 64);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

inline bool same_bits(const WindowFilter& filter, const NaiveWindow& naive) {
  for (std::uint32_t age = 0; age <= filter.plan().slices; ++age)
    if (bits_of_age(filter, age) != naive.ring_slices()[age].bytes()) return false;
  return true;
}

// The last insertion of every key.
class WindowQueue {
 public:
  explicit WindowQueue(const WindowPlan& plan) : plan_(plan) {}

  void insert(Hash128 hash) {
    if (plan_.unit == WindowUnit::insertions) ++clock_;
    when_[{hash.high, hash.low}] = clock_;
  }
  void advance(std::uint64_t now) {
    if (plan_.unit == WindowUnit::insertions || now <= clock_) return;
    if (clock_ == 0)
      for (auto& [key, when] : when_) when = now;
    clock_ = now;
  }
  void clear() { when_.clear(); }
  // Inserted within the window: one of the last `window` insertions, or so many seconds ago.
  [[nodiscard]] bool must_contain(Hash128 hash) const {
    const auto found = when_.find({hash.high, hash.low});
    if (found == when_.end()) return false;
    const std::uint64_t age = clock_ - found->second;
    return plan_.unit == WindowUnit::insertions ? age < plan_.window : age <= plan_.window;
  }

 private:
  WindowPlan plan_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> when_;
  std::uint64_t clock_ = 0;
};

}  // namespace bloomery::test
