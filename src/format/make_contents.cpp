// The class of each kind: contents that a header describes.
#include "format/make_contents.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "format/frozen_contents.hpp"

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

std::vector<SubFilterState> sub_filters_in(std::span<std::byte> bits, const Header& header) {
  std::vector<SubFilterState> sub_filters;
  for (const SubFilterEntry& entry : header.sub_filters) {
    const auto bytes = static_cast<std::size_t>(entry.plan.bytes());
    sub_filters.push_back({entry.plan, entry.inserted, bits.first(bytes)});
    bits = bits.subspan(bytes);
  }
  return sub_filters;
}

}  // namespace

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

}  // namespace bloomery::detail
