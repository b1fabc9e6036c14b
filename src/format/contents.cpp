// What the contents of each kind write into a header, and what only some kinds can do.
#include "format/contents.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace bloomery::detail {

namespace {

[[noreturn]] void refuse(Kind kind, const std::string& name, const std::string& why) {
  throw Error(ErrorCode::wrong_kind,
              name + ": is a " + std::string(to_string(kind)) + " filter; " + why);
}

// Whether both are filters of this kind. Error{mismatch}: they are, but their parameters differ.
template <class View>
bool are_same_scheme(const Contents& one, const Contents& other) {
  const View* mine = one.as<View>();
  const View* theirs = other.as<View>();
  if (mine == nullptr || theirs == nullptr) return false;
  require_same_scheme(mine->plan(), mine->hasher(), theirs->plan(), theirs->hasher());
  return true;
}

}  // namespace

bool Contents::can(Ability ability) const noexcept { return why_not(kind(), ability) == nullptr; }

void Contents::require(Ability ability, const std::string& name) const {
  if (const char* why = why_not(kind(), ability)) refuse(kind(), name, why);
}

void Contents::require_mergeable(const Contents& other, const std::string& name) const {
  require(Ability::merge, name);
  if (are_same_scheme<FilterView>(*this, other) || are_same_scheme<CountingView>(*this, other))
    return;
  if (kind() == Kind::counting)
    refuse(kind(), name, "bits without counts cannot be added to it; merge a counting filter");
  refuse(kind(), name,
         "no " + std::string(to_string(other.kind())) + " filter can be merged into it" +
             (other.kind() == Kind::counting ? "; in C++ merge its to_plain()" : ""));
}

void describe(const FilterView& filter, Header& header) {
  validate(filter.plan());
  header.plan = filter.plan();
  header.hasher = filter.hasher();
}

void describe(const CountingView& filter, Header& header) {
  validate(filter.plan());
  header.plan = CountingPlan{filter.plan()};
  header.hasher = filter.hasher();
}

void describe(const ScalableFilter& filter, Header& header) {
  if (filter.sub_filters().empty())
    throw Error(ErrorCode::invalid_argument,
                "a filter that was moved from has no sub-filters; use the one it was moved to");
  header.plan = filter.plan();
  header.hasher = filter.hasher();
  header.inserted = filter.inserted();
  header.sub_filters.clear();
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i)
    header.sub_filters.push_back({filter.sub_filters()[i]->plan(), filter.inserted(i)});
}

void describe(const WindowFilter& filter, Header& header) {
  validate(filter.plan());
  header.plan = filter.plan();
  header.hasher = filter.hasher();
  header.inserted = filter.inserted();
  header.window_state = filter.state();
}

void describe(const FrozenFilter& filter, Header& header) {
  if (filter.pieces().empty())
    throw Error(ErrorCode::invalid_argument,
                "a frozen filter that was moved from has no cells; use the one it was moved to");
  validate(filter.plan());
  header.plan = filter.plan();
  header.hasher = filter.hasher();
  header.inserted = filter.keys();
}

std::size_t BitContents::insert_beside_list(std::span<const Hash128> hashes,
                                            std::span<bool> fresh) {
  std::array<bool, 1'024> in_list, in_bits;
  std::size_t count = 0;
  for (std::size_t at = 0; at < hashes.size(); at += in_list.size()) {
    const auto part = hashes.subspan(at, std::min(in_list.size(), hashes.size() - at));
    const auto answers =
        fresh.empty() ? std::span(in_bits).first(part.size()) : fresh.subspan(at, part.size());
    (void)CountedContents::insert(part, answers);
    (void)listed_->may_contain_hashes(part, in_list);
    for (std::size_t i = 0; i < part.size(); ++i) {
      answers[i] = answers[i] && !in_list[i];
      count += static_cast<std::size_t>(answers[i]);
    }
  }
  return count;
}

Pieces pieces_of(const ScalableFilter& filter) {
  Pieces pieces;
  for (const FilterView* sub_filter : filter.sub_filters()) pieces.push_back(sub_filter->bytes());
  return pieces;
}

std::uint64_t count_of(double estimate) noexcept {
  // If all bits are ones, the estimate is infinite; the result is then the largest capacity of any filter.
  if (!(estimate < static_cast<double>(kMaxCapacity))) return kMaxCapacity;
  return static_cast<std::uint64_t>(std::llround(estimate));
}

}  // namespace bloomery::detail
