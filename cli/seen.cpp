// The growth of a filter whose input is longer than it looked.
#include "seen.hpp"

#include <algorithm>
#include <cmath>

namespace bloomery::cli {

Plan dedup_plan(const Options& options, std::uint64_t items) {
  return solve({.capacity = options.items.value_or(items),
                .rate = options.rate.value_or(kDedupRate),
                .bits = std::nullopt,
                .hashes = std::nullopt,
                .layout = options.layout});
}

SeenGrowing::SeenGrowing(const Options& options, const Hasher& hasher, std::uint64_t lines)
    : options_(options), rate_(options.rate.value_or(kDedupRate)) {
  filters_.emplace_back(plan_of(lines), hasher);
  room_ = lines;
}

Plan SeenGrowing::plan_of(std::uint64_t lines) const {
  // The layout is that of the rate asked for, however small the parts become.
  const Layout layout = options_.layout.value_or(plan(1, rate_).layout);
  const double part = std::ldexp(rate_, -1 - static_cast<int>(filters_.size()));
  return plan(lines, std::max(part, kMinRate), layout);
}

void SeenGrowing::grow() {
  constexpr std::uint64_t kFactor = 8;
  const std::uint64_t lines =
      std::max(filters_.back().capacity(), kUnknownLines / kFactor) * kFactor;
  filters_.emplace_back(plan_of(lines), hasher());
  room_ = lines;
}

void SeenGrowing::decide(std::span<const Hash128> hashes, std::span<bool> answers) {
  while (!hashes.empty()) {
    if (room_ == 0) grow();
    const std::size_t step = std::min<std::uint64_t>(room_, hashes.size());
    room_ -= decide_step(hashes.first(step), answers.first(step));
    hashes = hashes.subspan(step);
    answers = answers.subspan(step);
  }
}

// How many were new.
std::size_t SeenGrowing::decide_step(std::span<const Hash128> hashes, std::span<bool> answers) {
  if (filters_.size() == 1) return filters_.front().insert_hashes(hashes, answers);
  if (hashes.size() > answers_room_) {
    answers_room_ = hashes.size();
    answers_ = std::make_unique<bool[]>(answers_room_);
  }
  const std::span<bool> part(answers_.get(), hashes.size());
  std::fill(answers.begin(), answers.end(), true);
  for (std::size_t older = 0; older + 1 < filters_.size(); ++older) {
    filters_[older].may_contain_hashes(hashes, part);
    for (std::size_t i = 0; i < hashes.size(); ++i) answers[i] = answers[i] && !part[i];
  }
  unseen_.clear();
  for (std::size_t i = 0; i < hashes.size(); ++i)
    if (answers[i]) unseen_.push_back(hashes[i]);
  const std::size_t fresh = filters_.back().insert_hashes(unseen_, part.first(unseen_.size()));
  for (std::size_t i = 0, next = 0; i < hashes.size(); ++i)
    if (answers[i]) answers[i] = part[next++];
  return fresh;
}

FilterState SeenGrowing::state() const {
  FilterState all(filters_.front());
  double ones = all.fill * static_cast<double>(all.plan.bits);
  double absent = 1 - all.rate_now;
  for (auto next = filters_.begin() + 1; next != filters_.end(); ++next) {
    const FilterState one(*next);
    ones += one.fill * static_cast<double>(one.plan.bits);
    absent *= 1 - one.rate_now;
    all.plan.bits += one.plan.bits;
    all.plan.capacity += one.plan.capacity;
    all.plan.hashes = one.plan.hashes;
    all.estimated_items += one.estimated_items;
    all.overfull = all.overfull || one.overfull;
  }
  all.plan.rate = rate_;
  all.fill = ones / static_cast<double>(all.plan.bits);
  if (filters_.size() > 1) all.rate_now = 1 - absent;
  return all;
}

}  // namespace bloomery::cli
