// The kinds of filters, and the plan of each kind.
//
//   kind       plan           operations                 in memory
//   plain      Plan           insert                     Filter          filter.hpp
//   counting   CountingPlan   insert, remove             CountingFilter  counting_filter.hpp
//   scalable   ScalablePlan   insert; it grows           ScalableFilter  scalable_filter.hpp
//   window     WindowPlan     insert; it forgets         WindowFilter    window_filter.hpp
//   frozen     FrozenPlan     built once from all keys   FrozenFilter    frozen_filter.hpp
#pragma once

#include <bloomery/counting_plan.hpp>
#include <bloomery/frozen_plan.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/scalable_plan.hpp>
#include <bloomery/window_plan.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

namespace bloomery {

// The numbers are those of the format (docs/format.md).
enum class Kind : std::uint16_t { plain = 1, counting = 2, scalable = 3, window = 4, frozen = 5 };

constexpr std::array kKinds = {Kind::plain, Kind::counting, Kind::scalable, Kind::window,
                               Kind::frozen};

[[nodiscard]] constexpr std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::plain:
      return "plain";
    case Kind::counting:
      return "counting";
    case Kind::scalable:
      return "scalable";
    case Kind::window:
      return "window";
    case Kind::frozen:
      return "frozen";
  }
  return "unknown";
}

// The plan of a filter of any kind. The alternatives are in the order of Kind.
using FilterPlan = std::variant<Plan, CountingPlan, ScalablePlan, WindowPlan, FrozenPlan>;
static_assert(std::variant_size_v<FilterPlan> == kKinds.size());

[[nodiscard]] constexpr Kind kind_of(const FilterPlan& plan) noexcept {
  return kKinds[plan.index()];
}

}  // namespace bloomery
