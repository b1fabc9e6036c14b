// Each kind of filter as contents, and the operations that only some kinds have.
#include "format/contents.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "plan/fuse_geometry.hpp"

namespace bloomery::detail {

namespace {

// New sub-filters have memory of their own; sub-filters that were in the payload stay there.
class ScalableContents final : public ContentsOf<ScalableFilter> {
 public:
  using ContentsOf::ContentsOf;
  // Memory that no key reaches costs nothing, so all of the keys count as new, unless there is not enough for them.
  void prepare(std::span<const Hash128> hashes) override {
    try {
      filter_.reserve(hashes.size());
    } catch (const Error&) {
      filter_.reserve(count_new(hashes));
    }
  }
  [[nodiscard]] std::uint64_t inserted() const noexcept override { return filter_.inserted(); }

 private:
  // A new key that comes more than once needs room only once.
  [[nodiscard]] std::uint64_t count_new(std::span<const Hash128> hashes) const {
    std::vector<Hash128> fresh;
    std::array<bool, 1'024> found;
    for (std::size_t at = 0; at < hashes.size(); at += found.size()) {
      const auto part = hashes.subspan(at, std::min(found.size(), hashes.size() - at));
      (void)filter_.may_contain_hashes(part, found);
      for (std::size_t i = 0; i < part.size(); ++i)
        if (!found[i]) fresh.push_back(part[i]);
    }
    std::ranges::sort(fresh, {}, [](Hash128 hash) { return std::pair(hash.high, hash.low); });
    return static_cast<std::uint64_t>(std::unique(fresh.begin(), fresh.end()) - fresh.begin());
  }
};

class WindowContents final : public ContentsOf<WindowFilter> {
 public:
  using ContentsOf::ContentsOf;
  void advance(std::uint64_t now) override { filter_.advance(now); }
  void set_back(std::uint64_t now) override { filter_.set_back(now); }
  [[nodiscard]] std::uint64_t inserted() const noexcept override { return filter_.inserted(); }
};

FrozenFilter frozen_in(std::span<std::byte> bytes, const Header& header) {
  return FrozenFilter::over(std::get<FrozenPlan>(header.plan), header.inserted, header.hasher,
                            bytes);
}

// The bytes of the delta, and the bytes of the list, which follow it.
std::pair<std::span<std::byte>, std::span<std::byte>> divided(std::span<std::byte> bytes,
                                                              const FrozenPlan& plan) {
  const auto delta = static_cast<std::size_t>(plan.delta->bytes());
  return {bytes.first(delta), bytes.subspan(delta)};
}
// A list without keys has no cells, although its plan has a capacity of one key.
std::uint64_t keys_of(const FrozenPlan& list) noexcept {
  return list.bytes() == partition_table_bytes(list.partitions) ? 0 : list.array.capacity;
}

std::vector<SubFilterState> sub_filters_in(std::span<std::byte> bits, const Header& header) {
  std::vector<SubFilterState> sub_filters;
  for (const SubFilterEntry& entry : header.sub_filters) {
    const auto bytes = static_cast<std::size_t>(entry.plan.bytes());
    sub_filters.push_back({entry.plan, entry.inserted, bits.first(bytes)});
    bits = bits.subspan(bytes);
  }
  return sub_filters;
}

[[noreturn]] void refuse(Kind kind, const std::string& name, const std::string& why) {
  throw Error(ErrorCode::wrong_kind,
              name + ": is a " + std::string(to_string(kind)) + " filter; " + why);
}

// The reason why filters of a kind cannot do it, or null if they can.
const char* why_not(Kind kind, Ability ability) noexcept {
  switch (ability) {
    case Ability::remove:
      return kind == Kind::counting
                 ? nullptr
                 : "only counting filters can remove keys; rebuild it without them";
    case Ability::advance:
      return kind == Kind::window ? nullptr : "only window filters forget as time goes on";
    case Ability::merge:
      break;
  }
  switch (kind) {
    case Kind::plain:
    case Kind::counting:
      return nullptr;
    case Kind::scalable:
      return "its sub-filters depend on the order of its keys, and no filter stores its keys; "
             "insert the keys themselves";
    case Kind::frozen:
      return "no key can be added to it; build it again from the keys of both";
    case Kind::window:
      break;
  }
  return "another filter does not say when its keys came; insert the keys themselves";
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

std::unique_ptr<Contents> make_contents(const Header& header, Payload payload) {
  const std::span<std::byte> bits = payload.bytes();
  switch (header.kind()) {
    case Kind::plain:
      break;
    case Kind::counting:
      return std::make_unique<CountingContents>(header, std::move(payload));
    case Kind::scalable:
      return std::make_unique<ScalableContents>(
          std::move(payload), ScalableFilter::restore(std::get<ScalablePlan>(header.plan),
                                                      header.hasher, sub_filters_in(bits, header)));
    case Kind::window:
      return std::make_unique<WindowContents>(
          std::move(payload), WindowFilter::restore(std::get<WindowPlan>(header.plan),
                                                    header.hasher, header.window_state, bits));
    case Kind::frozen:
      if (has_delta(header.plan)) break;
      return std::make_unique<FrozenContents>(header, std::move(payload));
  }
  return make_bits(header, std::move(payload));
}

std::unique_ptr<BitContents> make_bits(const Header& header, Payload payload) {
  if (has_delta(header.plan)) return std::make_unique<DeltaContents>(header, std::move(payload));
  return std::make_unique<PlainContents>(header, std::move(payload));
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

DeltaContents::DeltaContents(const Header& header, Payload&& payload)
    : BitContents(std::move(payload),
                  FilterView(*std::get<FrozenPlan>(header.plan).delta, header.hasher,
                             divided(payload.bytes(), std::get<FrozenPlan>(header.plan)).first),
                  header.inserted),
      list_(FrozenFilter::over(
          std::get<FrozenPlan>(header.plan).list(),
          keys_of(std::get<FrozenPlan>(header.plan).list()), header.hasher,
          std::span<const std::byte>(
              divided(payload_.bytes(), std::get<FrozenPlan>(header.plan)).second))),
      plan_(std::get<FrozenPlan>(header.plan)) {
  set_list(list_);
  if (inserted_ < list_.keys())
    throw Error(ErrorCode::corrupt, "a frozen filter has fewer keys than its list");
}

DeltaContents::DeltaContents(Payload&& delta, FrozenFilter&& list, const FrozenPlan& whole)
    : BitContents(std::move(delta), FilterView(*whole.delta, list.hasher(), delta.bytes()),
                  list.keys()),
      list_(std::move(list)),
      plan_(list_.plan()) {
  set_list(list_);
  plan_.array.fpr = whole.array.fpr;
  plan_.delta = whole.delta;
}

std::size_t DeltaContents::may_contain(std::span<const Hash128> hashes,
                                       std::span<bool> found) const noexcept {
  // The delta is asked only for keys that the list does not have, as many at a time as the stack has room for.
  constexpr std::size_t kAtOnce = 1'024;
  std::array<bool, kAtOnce> in_list;
  std::array<Hash128, kAtOnce> others;
  std::array<bool, kAtOnce> in_delta;
  std::size_t count = 0;
  for (std::size_t at = 0; at < hashes.size(); at += kAtOnce) {
    const auto part = hashes.subspan(at, std::min(kAtOnce, hashes.size() - at));
    count += list_.may_contain_hashes(part, in_list);
    std::size_t left = 0;
    for (std::size_t i = 0; i < part.size(); ++i)
      if (!in_list[i]) others[left++] = part[i];
    count += filter_.may_contain_hashes(std::span(others).first(left), in_delta);
    if (found.empty()) continue;
    for (std::size_t i = 0, next = 0; i < part.size(); ++i)
      found[at + i] = in_list[i] || in_delta[next++];
  }
  return count;
}

void DeltaContents::describe(Header& header) const {
  detail::describe(list_, header);
  header.plan = plan_;
  header.inserted = inserted_;
}

Pieces DeltaContents::pieces() const {
  Pieces pieces = {filter_.bytes()};
  for (const auto piece : pieces_of(list_)) pieces.push_back(piece);
  return pieces;
}

Stats DeltaContents::stats(Precision precision) const noexcept {
  const Stats list = list_.stats(precision), delta = filter_.stats(precision);
  Stats both = delta;
  both.fill = list.fill;
  both.estimated_items = static_cast<double>(list_.keys()) + delta.estimated_items;
  both.current_fpr = list.current_fpr + (1 - list.current_fpr) * delta.current_fpr;
  return both;
}

FrozenContents::FrozenContents(const Header& header, Payload&& payload)
    : payload_(std::move(payload)), filter_(frozen_in(payload_.bytes(), header)) {}

void FrozenContents::prepare(std::span<const Hash128> /*hashes*/) {
  if (filter_.keys() != 0)
    throw Error(ErrorCode::wrong_kind,
                "a frozen filter without a delta takes no more keys; rebuild it from all of them");
}

std::size_t FrozenContents::insert(std::span<const Hash128> hashes, std::span<bool> fresh) {
  prepare(hashes);
  if (!builder_) builder_.emplace(filter_.plan().array.fpr, filter_.hasher());
  return builder_->insert_hashes(hashes, fresh);
}

std::size_t FrozenContents::may_contain(std::span<const Hash128> hashes,
                                        std::span<bool> found) const noexcept {
  if (!builder_) return filter_.may_contain_hashes(hashes, found);
  if (!found.empty()) std::fill_n(found.begin(), hashes.size(), true);
  return hashes.size();
}

std::unique_ptr<Contents> FrozenContents::complete() {
  const bool has_delta = whole_ && whole_->delta;
  // Allocate the delta before the builder gives up its keys.
  Payload delta = has_delta ? Payload(whole_->delta->bytes()) : Payload();
  // The list of a delta outlives this object, and a list without keys is over payload_. With keys it is its own: an
  // attempt before this one may have built it.
  if (has_delta && !builder_ && filter_.keys() == 0)
    builder_.emplace(filter_.plan().array.fpr, filter_.hasher());
  if (builder_) {
    filter_ = builder_->build(threads_);
    builder_.reset();
    payload_ = {};
  }
  if (!has_delta) return nullptr;
  return std::make_unique<DeltaContents>(std::move(delta), std::move(filter_), *whole_);
}

void FrozenContents::spool_to(std::unique_ptr<KeySpool> spool, std::uint64_t most_in_memory) {
  builder_.emplace(filter_.plan().array.fpr, filter_.hasher());
  builder_->spool_to(std::move(spool), most_in_memory);
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
