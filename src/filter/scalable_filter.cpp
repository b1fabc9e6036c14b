// The growth of a scalable filter: which sub-filter a key goes into, and when a new one is added.
//
// Invariant: every sub-filter but the newest has taken exactly as many new keys as its plan's capacity,
// the newest at most as many. The stated rate depends on this.
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "filter/statistics.hpp"
#include "filter/sub_filters.hpp"

namespace bloomery {

namespace {

constexpr std::size_t kPart = 1024;  // keys of a bulk insert that are looked up, then inserted

SubFilterState empty_sub_filter(const Plan& plan) {
  detail::BitMemory memory(plan.bytes());
  const std::span<std::byte> bits = memory.bytes();
  return {plan, 0, bits, std::move(memory)};
}

const ScalablePlan& validated(const ScalablePlan& plan) {
  validate(plan);
  return plan;
}

// The answers of a filter that was moved from.
std::size_t all_maybe(std::size_t keys, bool* found) noexcept {
  if (found != nullptr) std::fill_n(found, keys, true);
  return keys;
}

}  // namespace

void detail::check_sub_filters(const ScalablePlan& plan,
                               std::span<const SubFilterState> sub_filters) {
  const auto refuse = [](std::size_t sub_filter, const std::string& why) {
    throw Error(ErrorCode::mismatch, "sub-filter " + std::to_string(sub_filter + 1) + " " + why +
                                         "; give the sub-filters of a filter of this plan");
  };
  if (sub_filters.empty())
    throw Error(ErrorCode::invalid_argument, "no sub-filters; give at least one");
  for (std::size_t i = 0; i < sub_filters.size(); ++i) {
    const SubFilterState& sub_filter = sub_filters[i];
    const auto index = static_cast<std::uint32_t>(std::min<std::size_t>(i, kMaxSubFilters));
    const std::uint64_t capacity = sub_filter_capacity(plan, index);
    validate(sub_filter.plan);
    if (sub_filter.plan.layout != plan.first.layout) refuse(i, "has another layout");
    if (sub_filter.plan.capacity != capacity)
      refuse(i, "is for " + std::to_string(sub_filter.plan.capacity) + " keys and not " +
                    std::to_string(capacity));
    if (sub_filter.plan.fpr > sub_filter_fpr(plan, index))
      refuse(i, "has more than its share of the rate");
    const bool newest = i + 1 == sub_filters.size();
    if (newest ? sub_filter.inserted > capacity : sub_filter.inserted != capacity)
      refuse(i, "has taken " + std::to_string(sub_filter.inserted) + " keys, of " +
                    std::to_string(capacity) + " that it is for");
  }
}

ScalableFilter::ScalableFilter(const ScalablePlan& plan, const Hasher& hasher)
    : ScalableFilter(validated(plan), hasher, {}) {
  add_sub_filter(empty_sub_filter(plan.first));
}

ScalableFilter::ScalableFilter(const ScalablePlan& plan, const Hasher& hasher,
                               std::vector<SubFilterState> sub_filters)
    : plan_(plan), hasher_(hasher), kernel_(&detail::kernel_for(plan.first.layout)) {
  for (SubFilterState& sub_filter : sub_filters) add_sub_filter(std::move(sub_filter));
}

ScalableFilter ScalableFilter::restore(const ScalablePlan& plan, const Hasher& hasher,
                                       std::vector<SubFilterState> sub_filters) {
  detail::check_sub_filters(validated(plan), sub_filters);
  return ScalableFilter(plan, hasher, std::move(sub_filters));
}

// The lists of the default operator would be empty after a move to itself.
ScalableFilter& ScalableFilter::operator=(ScalableFilter&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

ScalableFilter ScalableFilter::copy() const {
  ScalableFilter result(plan_, hasher_, {});
  for (std::size_t i = 0; i < sub_filters_.size(); ++i) {
    SubFilterState sub_filter = empty_sub_filter(sub_filters_[i]->view.plan());
    sub_filter.inserted = inserted(i);
    std::memcpy(sub_filter.bits.data(), sub_filters_[i]->view.bytes().data(),
                sub_filter.bits.size());
    result.add_sub_filter(std::move(sub_filter));
  }
  if (kernel_is_chosen_) result.use_kernel(*kernel_);
  return result;
}

std::unique_ptr<ScalableFilter::SubFilter> ScalableFilter::make_sub_filter(
    SubFilterState state) const {
  auto sub_filter = std::make_unique<SubFilter>(std::move(state), hasher_);
  if (kernel_is_chosen_) sub_filter->view.use_kernel(*kernel_);
  return sub_filter;
}

void ScalableFilter::make_places(std::size_t sub_filters) {
  sub_filters_.reserve(sub_filters);
  views_.reserve(sub_filters);
  bit_arrays_.reserve(sub_filters);
}

void ScalableFilter::add_sub_filter(SubFilterState state) {
  const std::uint64_t taken = state.inserted;
  try {
    auto sub_filter = make_sub_filter(std::move(state));
    make_places(sub_filters_.size() + 1);
    add_sub_filter(std::move(sub_filter));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory, "no memory for another sub-filter; free some");
  }
  newest_inserted_ = taken;
}

// make_places() has made room for it.
void ScalableFilter::add_sub_filter(std::unique_ptr<SubFilter> sub_filter) noexcept {
  views_.push_back(&sub_filter->view);
  bit_arrays_.push_back(&sub_filter->view.bit_array());
  sub_filters_.push_back(std::move(sub_filter));
  newest_inserted_ = 0;
}

void ScalableFilter::grow() {
  if (reserved_.empty()) {
    add_sub_filter(
        empty_sub_filter(sub_filter_plan(plan_, static_cast<std::uint32_t>(sub_filters_.size()))));
    return;
  }
  add_sub_filter(std::move(reserved_.front()));
  reserved_.erase(reserved_.begin());
}

void ScalableFilter::reserve(std::uint64_t new_keys) {
  if (views_.empty()) return;
  std::uint64_t ready = room();
  for (const auto& sub_filter : reserved_) ready += sub_filter->view.capacity();
  std::vector<std::unique_ptr<SubFilter>> more;
  std::size_t next = sub_filters_.size() + reserved_.size();
  try {
    for (; ready < new_keys; ++next) {
      const Plan plan = sub_filter_plan(plan_, static_cast<std::uint32_t>(next));
      more.push_back(make_sub_filter(empty_sub_filter(plan)));
      ready += plan.capacity;
    }
    make_places(next);
    reserved_.insert(reserved_.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory, "no memory for another sub-filter; free some");
  }
}

// ---- keys ----------------------------------------------------------------------------------

bool ScalableFilter::insert_among_sub_filters(Hash128 hash) {
  if (is_in_any_sub_filter(hash)) return false;
  if (room() == 0) grow();
  newest().insert_hash(hash);
  ++newest_inserted_;
  return true;
}

bool ScalableFilter::is_in_any_sub_filter(Hash128 hash) const noexcept {
  return views_.empty() || detail::may_contain_in_any_one({kernel_, bit_arrays_}, hash);
}

std::size_t ScalableFilter::do_insert(std::span<const Hash128> hashes, bool* fresh) {
  if (views_.empty()) {
    if (fresh != nullptr) std::fill_n(fresh, hashes.size(), false);
    return 0;
  }
  std::size_t count = 0;
  while (!hashes.empty()) {
    const Part part = insert_part(hashes, fresh);
    count += part.fresh;
    hashes = hashes.subspan(part.taken);
    if (fresh != nullptr) fresh += part.taken;
  }
  return count;
}

// Applies keys from the front: at least one, or else it grows the filter.
ScalableFilter::Part ScalableFilter::insert_part(std::span<const Hash128> hashes, bool* fresh) {
  const std::uint64_t left = room();
  const std::size_t part = std::min(kPart, hashes.size());
  const bool fits = part <= left;
  if (fits && !grown()) {
    const std::size_t taken = std::min<std::uint64_t>(left, hashes.size());
    const std::size_t count =
        kernel_->insert_hashes(newest().bit_array(), hashes.data(), taken, fresh);
    newest_inserted_ += count;
    return {taken, count};
  }
  hashes = hashes.first(part);
  // Older sub-filters do not change. If the newest may become full in this part, it is asked too, so
  // that keys that it already has do not count against the room that is left.
  std::array<bool, kPart> found;
  std::array<bool, kPart> answers;
  std::array<Hash128, kPart> unseen;
  const std::span<const detail::BitArray* const> asked(bit_arrays_);
  detail::may_contain_in_any({kernel_, fits ? asked.first(asked.size() - 1) : asked}, hashes,
                             found.data());
  std::size_t taken = 0, kept = 0;
  for (; taken < hashes.size(); ++taken) {
    if (found[taken]) continue;
    if (kept == left) break;
    unseen[kept++] = hashes[taken];
  }
  // Fewer than `kept` keys may be new, because a key may come twice.
  const std::size_t count =
      kernel_->insert_hashes(newest().bit_array(), unseen.data(), kept, answers.data());
  newest_inserted_ += count;
  if (fresh != nullptr)
    for (std::size_t i = 0, next = 0; i < taken; ++i) fresh[i] = !found[i] && answers[next++];
  if (left == 0 && taken < hashes.size()) grow();
  return {taken, count};
}

std::size_t ScalableFilter::do_contain(std::span<const Hash128> hashes,
                                       bool* found) const noexcept {
  if (views_.empty()) return all_maybe(hashes.size(), found);
  return detail::may_contain_in_any({kernel_, bit_arrays_}, hashes, found);
}

std::size_t ScalableFilter::do_contain(std::span<const std::uint64_t> keys,
                                       bool* found) const noexcept {
  if (views_.empty()) return all_maybe(keys.size(), found);
  return detail::may_contain_in_any({kernel_, bit_arrays_}, hasher_.seed_multiplier(), keys, found);
}

// ---- the whole -----------------------------------------------------------------------------

void ScalableFilter::clear() noexcept {
  if (views_.empty()) return;
  sub_filters_.resize(1);
  views_.resize(1);
  bit_arrays_.resize(1);
  reserved_.clear();
  newest().clear();
  newest_inserted_ = 0;
}

std::uint64_t ScalableFilter::inserted(std::size_t sub_filter) const noexcept {
  return sub_filter + 1 == views_.size() ? newest_inserted_ : views_[sub_filter]->capacity();
}

std::uint64_t ScalableFilter::inserted() const noexcept { return capacity() - room(); }

std::uint64_t ScalableFilter::capacity() const noexcept {
  std::uint64_t sum = 0;
  for (const FilterView* sub_filter : views_) sum += sub_filter->capacity();
  return sum;
}

std::uint64_t ScalableFilter::bits() const noexcept {
  std::uint64_t sum = 0;
  for (const FilterView* sub_filter : views_) sum += sub_filter->plan().bits;
  return sum;
}

Stats ScalableFilter::stats(Precision precision) const noexcept {
  if (views_.empty()) return detail::kStatsOfNothing;
  Stats all;
  detail::FprOfSubFilters fpr;
  double variance = 0;
  for (const FilterView* sub_filter : views_) {
    const Stats one = sub_filter->stats(precision);
    const double share = static_cast<double>(sub_filter->plan().bits) / static_cast<double>(bits());
    all.fill += one.fill * share;
    variance += one.fill_error * share * one.fill_error * share;
    all.sampled |= one.sampled;
    all.estimated_items += one.estimated_items;
    all.over_capacity |=
        one.over_capacity &&
        detail::sub_filter_over_capacity(sub_filter->plan(), one.estimated_items,
                                         detail::sample_of(sub_filter->plan(), precision).share());
    fpr.add(sub_filter->plan().hashes, one.current_fpr);
  }
  all.fill_error = std::sqrt(variance);
  all.current_fpr = fpr.of_all();
  return all;
}

double ScalableFilter::fill() const noexcept {
  if (views_.empty()) return 1;
  double ones = 0;
  for (const FilterView* sub_filter : views_)
    ones += sub_filter->fill() * static_cast<double>(sub_filter->plan().bits);
  return ones / static_cast<double>(bits());
}

double ScalableFilter::current_fpr() const noexcept {
  if (views_.empty()) return 1;
  detail::FprOfSubFilters fpr;
  for (const FilterView* sub_filter : views_)
    fpr.add(sub_filter->plan().hashes, sub_filter->current_fpr());
  return fpr.of_all();
}

double ScalableFilter::estimated_items() const noexcept {
  if (views_.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const FilterView* sub_filter : views_) sum += sub_filter->estimated_items();
  return sum;
}

bool ScalableFilter::over_capacity() const noexcept {
  return views_.empty() ||
         std::any_of(views_.begin(), views_.end(), [](const FilterView* sub_filter) {
           return detail::sub_filter_over_capacity(sub_filter->plan(),
                                                   sub_filter->estimated_items(), 1);
         });
}

void ScalableFilter::use_kernel(const detail::Kernel& kernel) noexcept {
  kernel_ = &kernel;
  kernel_is_chosen_ = true;
  for (const auto& sub_filter : sub_filters_) sub_filter->view.use_kernel(kernel);
  for (const auto& sub_filter : reserved_) sub_filter->view.use_kernel(kernel);
}

}  // namespace bloomery
