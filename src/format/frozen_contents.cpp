// The build of a frozen filter from its keys, and its list and its delta as one filter.
#include "format/frozen_contents.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "plan/fuse_geometry.hpp"

namespace bloomery::detail {

namespace {

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

}  // namespace

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

}  // namespace bloomery::detail
