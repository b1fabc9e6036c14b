// A filter of any kind over its bytes, which are in memory or mapped from a file.
//
// One interface for all kinds, so that files, journals, snapshots and encoded bytes are written once.
// Its calls take many keys at a time: a virtual call per key would cost more than the key.
#pragma once

#include <bloomery/counting_view.hpp>
#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/filter_view.hpp>
#include <bloomery/frozen_filter.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/window_filter.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "filter/frozen_keys.hpp"
#include "format/kinds.hpp"
#include "format/sums.hpp"

namespace bloomery::detail {

// The bits of a filter: all sub-filters, or all counters, one after the other.
class Payload {
 public:
  Payload() = default;
  // Allocates memory and fills it with zeros. Error{no_memory}.
  explicit Payload(std::uint64_t bytes)
      : memory_(static_cast<std::size_t>(bytes)), bytes_(memory_.bytes()) {}
  // Uses the bytes of a mapped file.
  Payload(Mapping mapping, std::uint64_t bytes) noexcept
      : mapping_(std::move(mapping)),
        bytes_(mapping_.bytes().subspan(kBitsAt, static_cast<std::size_t>(bytes))) {}
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] const Mapping& mapping() const noexcept { return mapping_; }

 private:
  BitMemory memory_;
  Mapping mapping_;
  std::span<std::byte> bytes_;
};

// The kind of filter that a C++ type implements.
template <class Filter>
constexpr Kind kKindOf{};
template <>
inline constexpr Kind kKindOf<FilterView> = Kind::plain;
template <>
inline constexpr Kind kKindOf<CountingView> = Kind::counting;
template <>
inline constexpr Kind kKindOf<ScalableFilter> = Kind::scalable;
template <>
inline constexpr Kind kKindOf<WindowFilter> = Kind::window;
template <>
inline constexpr Kind kKindOf<FrozenFilter> = Kind::frozen;

class Contents {
 public:
  Contents() = default;
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  virtual ~Contents() = default;

  [[nodiscard]] virtual Kind kind() const noexcept = 0;
  // The filter itself, or null if it is of another kind.
  template <class Filter>
  [[nodiscard]] const Filter* as() const noexcept;

  // ---- keys: like insert_hashes and the other functions of the kind ------------------------------

  // Allocates what inserting these keys next may need, so that the insert cannot fail.
  // Error{too_large | no_memory}: nothing has changed.
  virtual void prepare(std::span<const Hash128> /*hashes*/) {}
  virtual std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) = 0;
  [[nodiscard]] virtual std::size_t may_contain(std::span<const Hash128> hashes,
                                                std::span<bool> found) const noexcept = 0;
  // Handles one key without the fixed cost of a call with many keys.
  virtual bool insert(Hash128 hash) = 0;
  [[nodiscard]] virtual bool may_contain(Hash128 hash) const noexcept = 0;

  // Builds the filter, if its kind is built from all of its keys. Before that call the filter only collects keys, and
  // every look-up answers true. Returns the contents that replace this one (a list with a delta), or null: then this
  // one stays and takes no more keys. Error{no_memory | too_large}.
  [[nodiscard]] virtual std::unique_ptr<Contents> complete() { return nullptr; }
  // Whether it has keys that only complete() puts into the filter.
  [[nodiscard]] virtual bool is_collecting() const noexcept { return false; }
  // The plan of the filter that complete() makes, if that is not this one.
  [[nodiscard]] virtual const FrozenPlan* built_as() const noexcept { return nullptr; }
  // These two are called before the first key: the built filter gets the delta of that plan; and, with a spool, at
  // most so many keys are in memory before the build.
  virtual void build_as(const FrozenPlan& /*plan*/) {}
  virtual void spool_to(std::unique_ptr<KeySpool> /*spool*/, std::uint64_t /*most_in_memory*/) {}
  // Sets the number of threads that build the filter. By default (0) it is one per core that the process may use.
  virtual void use_threads(unsigned /*threads*/) noexcept {}

  // ---- what only some kinds can do: the caller has called require() first --------------

  [[nodiscard]] bool can(Ability ability) const noexcept;
  // Error{wrong_kind} if the filter cannot do it; the message calls the filter `name`.
  void require(Ability ability, const std::string& name) const;
  // Error{wrong_kind | mismatch} if the keys of `other` cannot be added.
  void require_mergeable(const Contents& other, const std::string& name) const;

  virtual std::size_t remove(std::span<const Hash128> /*hashes*/, std::span<bool> /*removed*/) {
    return 0;
  }
  virtual void advance(std::uint64_t /*now*/) {}
  virtual void set_back(std::uint64_t /*now*/) {}
  // Adds the keys of another filter. inserted() grows by an estimate.
  virtual void merge(const Contents& /*other*/) {}
  // Adds a part of another filter of the same scheme: its bytes from `at` on. inserted() stays.
  virtual void merge_bytes(std::uint64_t /*at*/, std::span<const std::byte> /*bytes*/) noexcept {}
  // Forgets every key. Not for frozen filters: make a new one instead.
  virtual void clear() noexcept {}

  // ---- the whole --------------------------------------------------------------------------------

  // The list of a frozen filter, and its delta; each is null if there is none.
  [[nodiscard]] virtual const FrozenFilter* frozen() const noexcept { return nullptr; }
  [[nodiscard]] virtual const FilterView* delta() const noexcept { return nullptr; }

  // Writes the fields of this filter into a header, except for the sums. Error{invalid_argument}: the filter was
  // moved from.
  virtual void describe(Header& header) const = 0;
  // The bits, in the order in which they are in a file.
  [[nodiscard]] virtual Pieces pieces() const = 0;

  // The number of inserts of keys that were certainly new; for a window filter, the number of all inserts.
  [[nodiscard]] virtual std::uint64_t inserted() const noexcept = 0;
  // Sets the count after something else has changed the bits. Scalable and window filters count by themselves.
  virtual void set_inserted(std::uint64_t /*inserted*/) noexcept {}
  [[nodiscard]] virtual Stats stats(Precision precision) const noexcept = 0;
};

// ---- the kinds ------------------------------------------------------------------------------------

// Writes the fields of a filter into a header, without sums: kind, plan, hasher and the section of the kind. For
// scalable, window and frozen filters it also sets the count of inserts, which the others do not know.
// Error{invalid_argument}: the filter was moved from.
void describe(const FilterView& filter, Header& header);
void describe(const CountingView& filter, Header& header);
void describe(const ScalableFilter& filter, Header& header);
void describe(const WindowFilter& filter, Header& header);
void describe(const FrozenFilter& filter, Header& header);
// Completes the header of a clean file with the total and with an identity that is made from the bits, so that equal
// filters have equal bytes. `encoded`: encode_sums(sums).
void seal(Header& header, const Sums& sums, std::span<const std::byte> encoded) noexcept;

[[nodiscard]] Pieces pieces_of(const ScalableFilter& filter);
[[nodiscard]] inline Pieces pieces_of(const FrozenFilter& filter) { return filter.pieces(); }
template <class Filter>
[[nodiscard]] Pieces pieces_of(const Filter& filter) {
  return {filter.bytes()};
}

// The common part of all kinds.
template <class Filter>
class ContentsOf : public Contents {
 public:
  ContentsOf(Payload&& payload, Filter filter)
      : payload_(std::move(payload)), filter_(std::move(filter)) {}

  [[nodiscard]] Kind kind() const noexcept override { return kKindOf<Filter>; }
  [[nodiscard]] const Filter& filter() const noexcept { return filter_; }
  [[nodiscard]] const Payload& payload() const noexcept { return payload_; }

  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    return filter_.insert_hashes(hashes, fresh);
  }
  [[nodiscard]] std::size_t may_contain(std::span<const Hash128> hashes,
                                        std::span<bool> found) const noexcept override {
    return filter_.may_contain_hashes(hashes, found);
  }
  bool insert(Hash128 hash) override { return filter_.insert_hash(hash); }
  void clear() noexcept override { filter_.clear(); }
  [[nodiscard]] bool may_contain(Hash128 hash) const noexcept override {
    return filter_.may_contain_hash(hash);
  }

  void describe(Header& header) const override { detail::describe(filter_, header); }
  [[nodiscard]] Pieces pieces() const override { return pieces_of(filter_); }

  [[nodiscard]] Stats stats(Precision precision) const noexcept override {
    return filter_.stats(precision);
  }

 protected:
  Payload payload_;
  Filter filter_;
};

template <class Filter>
const Filter* Contents::as() const noexcept {
  return kind() == kKindOf<Filter> ? &static_cast<const ContentsOf<Filter>*>(this)->filter()
                                   : nullptr;
}

// The number of keys that an estimate stands for.
[[nodiscard]] std::uint64_t count_of(double estimated_items) noexcept;

// A view does not count its inserts, so this class counts them.
template <class View>
class CountedContents : public ContentsOf<View> {
 public:
  CountedContents(const Header& header, Payload&& payload)
      : ContentsOf<View>(std::move(payload),
                         View(bits_plan(header.plan), header.hasher, payload.bytes())),
        inserted_(header.inserted) {}
  // Borrows bits of another owner, to merge or to encode them.
  explicit CountedContents(const View& borrowed) : ContentsOf<View>({}, borrowed) {}
  // The view is of the first bits of the payload; `inserted` is its count of inserts.
  CountedContents(Payload&& payload, const View& view, std::uint64_t inserted)
      : ContentsOf<View>(std::move(payload), view), inserted_(inserted) {}

  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    const std::size_t count = this->filter_.insert_hashes(hashes, fresh);
    inserted_ += count;
    return count;
  }
  bool insert(Hash128 hash) override {
    const bool fresh = this->filter_.insert_hash(hash);
    inserted_ += fresh ? 1 : 0;
    return fresh;
  }
  void merge(const Contents& other) final {
    const std::uint64_t before = count_of(this->filter_.estimated_items());
    this->filter_.merge(*other.as<View>());
    inserted_ += count_of(this->filter_.estimated_items()) - before;
  }
  void clear() noexcept final {
    this->filter_.clear();
    inserted_ = 0;
  }
  void describe(Header& header) const override {
    ContentsOf<View>::describe(header);
    header.inserted = inserted_;
  }
  [[nodiscard]] std::uint64_t inserted() const noexcept final { return inserted_; }
  void set_inserted(std::uint64_t inserted) noexcept final { inserted_ = inserted; }

 protected:
  std::uint64_t inserted_ = 0;
};

// Contents whose keys turn on bits: the first bits of the payload. Writers and their journals work on these bits.
class BitContents : public CountedContents<FilterView> {
 public:
  using CountedContents::CountedContents;
  // A key of the list is not new, although the bits may not have it yet.
  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) final {
    return listed_ == nullptr ? CountedContents::insert(hashes, fresh)
                              : insert_beside_list(hashes, fresh);
  }
  bool insert(Hash128 hash) final { return CountedContents::insert(hash) && !is_listed(hash); }
  // Whether the key is in the list beside the bits, if there is one.
  [[nodiscard]] bool is_listed(Hash128 hash) const noexcept {
    return listed_ != nullptr && listed_->may_contain_hash(hash);
  }
  // The value of inserted() as estimated from the bits.
  [[nodiscard]] virtual std::uint64_t estimated_count() const noexcept {
    return count_of(filter_.stats().estimated_items);
  }

 protected:
  void set_list(const FrozenFilter& list) noexcept { listed_ = &list; }

 private:
  std::size_t insert_beside_list(std::span<const Hash128> hashes, std::span<bool> fresh);

  const FrozenFilter* listed_ = nullptr;
};

class PlainContents final : public BitContents {
 public:
  using BitContents::BitContents;
  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes) noexcept override {
    std::byte* mine = payload_.bytes().data() + at;
    for (std::size_t i = 0; i < bytes.size(); ++i) mine[i] |= bytes[i];
  }
  // These give access to the filter for calls with one key, which are inlined.
  [[nodiscard]] FilterView& mutable_filter() noexcept { return filter_; }
  [[nodiscard]] std::uint64_t& mutable_inserted() noexcept { return inserted_; }
  // Error{mismatch}.
  void intersect(const FilterView& other) {
    filter_.intersect(other);
    set_inserted(estimated_count());
  }
};
class CountingContents final : public CountedContents<CountingView> {
 public:
  using CountedContents::CountedContents;
  std::size_t remove(std::span<const Hash128> hashes, std::span<bool> removed) override {
    return filter_.remove_hashes(hashes, removed);
  }
  void merge_bytes(std::uint64_t at, std::span<const std::byte> bytes) noexcept override {
    filter_.add_counters(at, bytes);
  }
};

template <>
inline const FrozenFilter* Contents::as<FrozenFilter>() const noexcept {
  return frozen();
}

// Calls use() with the filter itself, whatever its type is.
template <class Use>
auto visit(const Contents& contents, Use use) -> decltype(use(*contents.as<FilterView>())) {
  switch (contents.kind()) {
    case Kind::plain:
      break;
    case Kind::counting:
      return use(*contents.as<CountingView>());
    case Kind::scalable:
      return use(*contents.as<ScalableFilter>());
    case Kind::window:
      return use(*contents.as<WindowFilter>());
    case Kind::frozen:
      return use(*contents.frozen());
  }
  return use(*contents.as<FilterView>());
}

}  // namespace bloomery::detail
