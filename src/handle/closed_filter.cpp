// What is left of a filter on a server after close(): its name and its hasher. The connections are gone, so every
// call that would need them says that the filter is closed.
#include "handle/places.hpp"

#include <optional>

namespace bloomery::detail {

namespace {

class ClosedFilter final : public AnyFilter::Impl {
 public:
  explicit ClosedFilter(const Impl& was) : Impl(was.name()) {
    if (was.hasher() != nullptr) hasher_ = *was.hasher();
  }
  [[nodiscard]] const Hasher* hasher() const noexcept override {
    return hasher_ ? &*hasher_ : nullptr;
  }
  std::size_t apply(AnyFilter::Operation, std::span<const Hash128>, std::span<bool>) override {
    refuse_closed();
  }
  std::size_t apply(AnyFilter::Operation, AnyFilter::Keys, std::span<bool>) override {
    refuse_closed();
  }
  std::size_t insert_bits(std::string_view, std::span<bool>) override { refuse_closed(); }
  [[nodiscard]] FilterSpec spec() const override { refuse_closed(); }
  [[nodiscard]] std::optional<FilterPlan> plan() const override { refuse_closed(); }
  void require_removal() const override { refuse_closed(); }
  [[nodiscard]] FilterStats stats(Precision) override { refuse_closed(); }
  [[nodiscard]] VerifyReport verify() override { refuse_closed(); }
  void sync() override { refuse_closed(); }
  void keep_alive() override { refuse_closed(); }

 private:
  [[noreturn]] void refuse_closed() const {
    refuse(ErrorCode::read_only, "is closed; open it again");
  }

  std::optional<Hasher> hasher_;
};

}  // namespace

AnyImpl closed_filter(const AnyFilter::Impl& was) { return std::make_unique<ClosedFilter>(was); }

}  // namespace bloomery::detail
