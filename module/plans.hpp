// Plans that were worked out lately: that takes up to 10 ms each, and filters of one kind come in
// crowds, one a user. Only the server's main thread plans.
#pragma once

#include <bloomery/plan.hpp>
#include <bloomery/window_plan.hpp>

#include <cstdint>
#include <optional>

namespace bloomery::server {

// As bloomery::plan and bloomery::window_plan, errors too.
[[nodiscard]] Plan plan_once(std::uint64_t capacity, double fpr,
                             std::optional<Layout> layout = std::nullopt);
[[nodiscard]] WindowPlan window_plan_once(WindowUnit unit, std::uint64_t window,
                                          std::uint64_t capacity, double fpr, std::uint32_t slices);

}  // namespace bloomery::server
