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
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "filter/frozen_keys.hpp"
#include "format/kinds.hpp"
#include "format/sums.hpp"

namespace bloomery::detail {

// The bits of all sub-filters, or the counters, one after the other.
class Payload {
 public:
  Payload() = default;
  // Zeros in memory. Error{no_memory}.
  explicit Payload(std::uint64_t bytes)
      : memory_(static_cast<std::size_t>(bytes)), bytes_(memory_.bytes()) {}
  // As they are in a mapped file.
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

// The kind of filter that a type is.
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

// What only some kinds can do.
enum class Ability : std::uint8_t { remove, advance, merge };

class Contents {
 public:
  Contents() = default;
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  virtual ~Contents() = default;

  [[nodiscard]] virtual Kind kind() const noexcept = 0;
  // The filter itself; null where it is of another kind.
  template <class Filter>
  [[nodiscard]] const Filter* as() const noexcept;

  // ---- keys: as insert_hashes and its like of the kind -----------------------------------------

  // Allocates what inserting these keys next may need, so that the insert cannot fail.
  // Error{too_large | no_memory}: nothing has changed.
  virtual void prepare(std::span<const Hash128> /*hashes*/) {}
  virtual std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) = 0;
  [[nodiscard]] virtual std::size_t may_contain(std::span<const Hash128> hashes,
                                                std::span<bool> found) const noexcept = 0;
  // One key, without what it costs to begin with many.
  virtual bool insert(Hash128 hash) = 0;
  [[nodiscard]] virtual bool may_contain(Hash128 hash) const noexcept = 0;

  // Of a kind that is built from all of its keys: builds it. Until then the keys are only collected, and every look-up
  // answers true. Returns what takes its place, a list with a delta; null: it stays, and takes no more keys.
  // Error{no_memory | too_large}.
  [[nodiscard]] virtual std::unique_ptr<Contents> complete() { return nullptr; }
  // The same before its first key: what is built has that plan's delta; and, with a spool, at most so many keys stay
  // in memory until then.
  virtual void build_as(const FrozenPlan& /*plan*/) {}
  virtual void spool_to(std::unique_ptr<KeySpool> /*spool*/, std::uint64_t /*most_in_memory*/) {}
  // So many threads build it; 0, the default: one for each core that the process may use.
  virtual void use_threads(unsigned /*threads*/) noexcept {}

  // ---- what only some kinds can do: the caller has required it first -------------------

  [[nodiscard]] bool can(Ability ability) const noexcept;
  // Error{wrong_kind} unless it can; `name` names the filter in it.
  void require(Ability ability, const std::string& name) const;
  // Error{wrong_kind | mismatch} unless the keys of `other` can be added.
  void require_mergeable(const Contents& other, const std::string& name) const;

  virtual std::size_t remove(std::span<const Hash128> /*hashes*/, std::span<bool> /*removed*/) {
    return 0;
  }
  virtual void advance(std::uint64_t /*now*/) {}
  virtual void set_back(std::uint64_t /*now*/) {}
  // Counts as inserted what it adds by estimate.
  virtual void merge(const Contents& /*other*/) {}
  // Forgets every key.
  virtual void clear() noexcept = 0;

  // ---- the whole --------------------------------------------------------------------------------

  // The list of a frozen filter, and its delta; null where there is none.
  [[nodiscard]] virtual const FrozenFilter* frozen() const noexcept { return nullptr; }
  [[nodiscard]] virtual const FilterView* delta() const noexcept { return nullptr; }

  // Writes what this is into a header, except for the sums. Error{invalid_argument}: a filter that
  // was moved from.
  virtual void describe(Header& header) const = 0;
  // The bits, as they follow each other in a file.
  [[nodiscard]] virtual Pieces pieces() const = 0;

  // Inserts that were certainly new; of a window, all.
  [[nodiscard]] virtual std::uint64_t inserted() const noexcept = 0;
  // For bits that something else has changed. Scalable and window filters know by themselves.
  virtual void set_inserted(std::uint64_t /*inserted*/) noexcept {}
  [[nodiscard]] virtual Stats stats(Precision precision) const noexcept = 0;
};

// The filter that a header describes, over its payload.
[[nodiscard]] std::unique_ptr<Contents> make_contents(const Header& header, Payload payload);

// ---- the kinds ------------------------------------------------------------------------------------

// The header of a filter, without sums. Sets kind, plan, hasher and what else the kind has; of a
// scalable or window filter also the count of inserts, which the others do not know.
// Error{invalid_argument}: a filter that was moved from.
void describe(const FilterView& filter, Header& header);
void describe(const CountingView& filter, Header& header);
void describe(const ScalableFilter& filter, Header& header);
void describe(const WindowFilter& filter, Header& header);
void describe(const FrozenFilter& filter, Header& header);
// Of a clean file of its own: the total, and an identity that is made from the bits, so that equal filters are equal
// bytes. `encoded`: encode_sums(sums).
void seal(Header& header, const Sums& sums, std::span<const std::byte> encoded) noexcept;

[[nodiscard]] Pieces pieces_of(const ScalableFilter& filter);
[[nodiscard]] inline Pieces pieces_of(const FrozenFilter& filter) { return filter.pieces(); }
template <class Filter>
[[nodiscard]] Pieces pieces_of(const Filter& filter) {
  return {filter.bytes()};
}

// What all kinds do alike.
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

// How many keys an estimate stands for.
[[nodiscard]] std::uint64_t count_of(double estimated_items) noexcept;

// A view does not count its inserts, so this does.
template <class View>
class CountedContents : public ContentsOf<View> {
 public:
  CountedContents(const Header& header, Payload&& payload)
      : ContentsOf<View>(std::move(payload),
                         View(bits_plan(header.plan), header.hasher, payload.bytes())),
        inserted_(header.inserted) {}
  // Bits that somebody else owns, to merge or to encode.
  explicit CountedContents(const View& borrowed) : ContentsOf<View>({}, borrowed) {}
  // The first bits of a payload, with that count of inserts.
  CountedContents(Payload&& payload, const View& view, std::uint64_t inserted)
      : ContentsOf<View>(std::move(payload), view), inserted_(inserted) {}

  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) final {
    const std::size_t count = this->filter_.insert_hashes(hashes, fresh);
    inserted_ += count;
    return count;
  }
  bool insert(Hash128 hash) final {
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

// Contents whose keys turn on bits, the first ones of the payload. Writers and their journals work on these bits.
class BitContents : public CountedContents<FilterView> {
 public:
  using CountedContents::CountedContents;
  // What inserted() would be by the bits.
  [[nodiscard]] virtual std::uint64_t estimated_count() const noexcept {
    return count_of(filter_.stats().estimated_items);
  }
};

class PlainContents final : public BitContents {
 public:
  using BitContents::BitContents;
  // For calls with one key, which are inlined.
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
};

// A frozen filter with a delta: in the payload, and in what it counts, come first those of the delta. It is described
// and encoded as a whole, and whatever is not about the delta is that of the list.
class DeltaContents final : public BitContents {
 public:
  DeltaContents(const Header& header, Payload&& payload);
  // An empty delta, all of whose bits are the payload.
  DeltaContents(Payload&& delta, FrozenFilter&& list, const FrozenPlan& whole);

  [[nodiscard]] Kind kind() const noexcept override { return Kind::frozen; }
  [[nodiscard]] const FrozenFilter* frozen() const noexcept override { return &list_; }
  [[nodiscard]] const FilterView* delta() const noexcept override { return &filter_; }
  [[nodiscard]] std::size_t may_contain(std::span<const Hash128> hashes,
                                        std::span<bool> found) const noexcept override;
  [[nodiscard]] bool may_contain(Hash128 hash) const noexcept override {
    return list_.may_contain_hash(hash) || filter_.may_contain_hash(hash);
  }
  void describe(Header& header) const override;
  [[nodiscard]] Pieces pieces() const override;
  [[nodiscard]] Stats stats(Precision precision) const noexcept override;
  [[nodiscard]] std::uint64_t estimated_count() const noexcept override {
    return list_.keys() + BitContents::estimated_count();
  }

 private:
  FrozenFilter list_;
  FrozenPlan plan_;
};

// Of a file or bytes that are stored in place: that of a plain filter, or of a frozen one with a delta.
[[nodiscard]] std::unique_ptr<BitContents> make_bits(const Header& header, Payload payload);

// A frozen filter that has no keys can be given some, once.
class FrozenContents final : public Contents {
 public:
  FrozenContents(const Header& header, Payload&& payload);

  [[nodiscard]] Kind kind() const noexcept override { return Kind::frozen; }
  [[nodiscard]] const FrozenFilter* frozen() const noexcept override { return &filter_; }

  void prepare(std::span<const Hash128> hashes) override;  // Error{wrong_kind}: it has keys
  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) override;
  bool insert(Hash128 hash) override { return insert({&hash, 1}, {}) == 1; }
  [[nodiscard]] std::size_t may_contain(std::span<const Hash128> hashes,
                                        std::span<bool> found) const noexcept override;
  [[nodiscard]] bool may_contain(Hash128 hash) const noexcept override {
    return builder_ ? true : filter_.may_contain_hash(hash);
  }
  [[nodiscard]] std::unique_ptr<Contents> complete() override;
  void build_as(const FrozenPlan& plan) override { whole_ = plan; }
  void use_threads(unsigned threads) noexcept override { threads_ = threads; }
  void spool_to(std::unique_ptr<KeySpool> spool, std::uint64_t most_in_memory) override;
  void clear() noexcept override;

  void describe(Header& header) const override { detail::describe(filter_, header); }
  [[nodiscard]] Pieces pieces() const override { return pieces_of(filter_); }
  [[nodiscard]] std::uint64_t inserted() const noexcept override {
    return builder_ ? builder_->inserted() : filter_.keys();
  }
  [[nodiscard]] Stats stats(Precision precision) const noexcept override {
    return filter_.stats(precision);
  }

 private:
  Payload payload_;
  FrozenFilter filter_;
  std::optional<FrozenPlan> whole_;       // of what is built
  std::optional<FrozenBuilder> builder_;  // while it has keys that the filter does not have
  unsigned threads_ = 0;
};
template <>
inline const FrozenFilter* Contents::as<FrozenFilter>() const noexcept {
  return frozen();
}

// Calls use with the filter itself, of whatever type.
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

// ---- as bytes (encode.hpp) --------------------------------------------------------------------

[[nodiscard]] std::vector<std::byte> encode_contents(const Contents& contents);
// In memory of its own. Errors as of decode.
[[nodiscard]] std::unique_ptr<Contents> decode_contents(std::span<const std::byte> bytes);

}  // namespace bloomery::detail
