// The bits of a PHP class in memory.
#include "base/file.hpp"
#include "handle/places.hpp"

namespace bloomery::detail {

namespace {

class PhpMemory final : public AnyFilter::Impl {
 public:
  explicit PhpMemory(const PhpScheme& scheme)
      : Impl("the bits of a PHP class in memory"), filter_(scheme) {}

  std::size_t apply(AnyFilter::Operation operation, AnyFilter::Keys keys,
                    std::span<bool> answers) override {
    switch (operation) {
      case AnyFilter::Operation::insert:
        return filter_.insert_many(keys, answers);
      case AnyFilter::Operation::contain:
        return filter_.may_contain_many(keys, answers);
      case AnyFilter::Operation::remove:
        require_removal();
        break;
      case AnyFilter::Operation::insert_absent:
        break;
    }
    refuse_insert_absent();
  }
  [[nodiscard]] bool in_memory() const noexcept override { return true; }
  [[nodiscard]] FilterSpec spec() const override { return {}; }
  [[nodiscard]] FilterStats stats(Precision) override {
    Stats counted;
    counted.fill = filter_.fill();
    return stats_of(filter_.scheme(), counted);
  }
  [[nodiscard]] VerifyReport verify() override { return said(kPhpVerified); }
  void clear() override { filter_ = PhpFilter(filter_.scheme()); }

 private:
  PhpFilter filter_;
};

}  // namespace

AnyImpl memory_filter(const PhpScheme& scheme) {
  return at_edge("the bits of a PHP class",
                 [&]() -> AnyImpl { return std::make_unique<PhpMemory>(scheme); });
}

}  // namespace bloomery::detail
