// Plans, and the latest of them by what was asked for.
#include "values/plans.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

namespace bloomery::server {

namespace {

template <class Made, class... Request>
class Latest {
 public:
  template <class Make>
  Made get(const std::tuple<Request...>& request, Make make) {
    for (const One& one : latest_)
      if (one.made && one.request == request) return *one.made;
    One& oldest = latest_[next_ % latest_.size()];
    const Made made = std::apply(make, request);
    oldest = {request, made};
    ++next_;
    return made;
  }

 private:
  struct One {
    std::tuple<Request...> request;
    std::optional<Made> made;
  };
  std::array<One, 64> latest_;
  std::size_t next_ = 0;
};

}  // namespace

Plan plan_once(std::uint64_t capacity, double fpr, std::optional<Layout> layout) {
  static Latest<Plan, std::uint64_t, double, std::optional<Layout>> latest;
  return latest.get({capacity, fpr, layout}, [](auto... request) { return plan(request...); });
}

WindowPlan window_plan_once(WindowUnit unit, std::uint64_t window, std::uint64_t capacity,
                            double fpr, std::uint32_t slices) {
  static Latest<WindowPlan, WindowUnit, std::uint64_t, std::uint64_t, double, std::uint32_t> latest;
  return latest.get({unit, window, capacity, fpr, slices},
                    [](auto... request) { return window_plan(request...); });
}

// ---- plans as sub-filters -----------------------------------------------------------------------

legacy::redisbloom::SubFilter sizes_of(const Plan& plan) {
  legacy::redisbloom::SubFilter sizes;
  sizes.bytes = plan.bytes() * std::max(1U, counter_bits(plan.layout));
  sizes.bits = plan.bits;
  sizes.entries = plan.capacity;
  sizes.error = plan.fpr;
  sizes.bits_per_entry = plan.bits_per_key();
  sizes.hashes = plan.hashes;
  sizes.exponent = static_cast<std::uint8_t>(plan.layout);
  return sizes;
}

Plan plan_of(const legacy::redisbloom::SubFilter& sizes) {
  return {static_cast<Layout>(sizes.exponent), sizes.bits, sizes.hashes, sizes.entries,
          sizes.error};
}

legacy::redisbloom::SubFilter plan_native(std::uint64_t capacity, double fpr) {
  return sizes_of(plan_once(capacity, std::clamp(fpr, kMinFpr, kMaxFpr)));
}

}  // namespace bloomery::server
