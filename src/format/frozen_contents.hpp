// A frozen filter as contents: while it is built from its keys, and with a delta that takes further keys.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "format/contents.hpp"

namespace bloomery::detail {

// A frozen filter without keys. It can be given keys once.
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
  [[nodiscard]] bool is_collecting() const noexcept override { return builder_.has_value(); }
  void build_as(const FrozenPlan& plan) override { whole_ = plan; }
  [[nodiscard]] const FrozenPlan* built_as() const noexcept override {
    return whole_ && whole_->delta ? &*whole_ : nullptr;
  }
  void use_threads(unsigned threads) noexcept override { threads_ = threads; }
  void spool_to(std::unique_ptr<KeySpool> spool, std::uint64_t most_in_memory) override;

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
  std::optional<FrozenPlan> whole_;       // the plan of the filter that is built
  std::optional<FrozenBuilder> builder_;  // set while it has keys that are not in the filter
  unsigned threads_ = 0;
};

// A frozen filter with a delta. The payload begins with the bits of the delta, which is filter(), and inserts go into
// the delta. Look-ups, inserted(), describe(), pieces() and stats() cover the list and the delta.
class DeltaContents final : public BitContents {
 public:
  DeltaContents(const Header& header, Payload&& payload);
  // Begins with an empty delta, whose bits are the whole payload.
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

}  // namespace bloomery::detail
