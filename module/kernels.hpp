// The kernels that filters of the module run, found once: the environment is not asked again for every
// command.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/plan.hpp>

#include <cstdint>

namespace bloomery::server {

// Takes the fastest kernels, or those that BLOOMERY_KERNEL names, instead of the scalar ones.
// Error{invalid_argument}: it names none of this machine's.
void choose_kernels();

[[nodiscard]] const detail::Kernel& kernel_of(Layout layout) noexcept;  // plain
[[nodiscard]] const detail::CountingKernel& counting_kernel_of(std::uint32_t counter_bits) noexcept;
[[nodiscard]] const detail::WindowKernel& window_kernel_of(
    Layout layout) noexcept;  // blocked, blocked2

}  // namespace bloomery::server
