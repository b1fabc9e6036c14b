// The kernels that the module's filters run: they are chosen once, so that no command asks the
// environment.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <span>

namespace bloomery::server {

// Chooses the fastest kernels of this CPU, or those that BLOOMERY_KERNEL names; before that the
// scalar ones are used. Error{invalid_argument}: this CPU or build has no kernels of that name.
void choose_kernels();

[[nodiscard]] const detail::Kernel& kernel_of(Layout layout) noexcept;  // plain
[[nodiscard]] const detail::CountingKernel& counting_kernel_of(
    Layout layout) noexcept;  // of narrow blocks
[[nodiscard]] const detail::WindowKernel& window_kernel_of(
    Layout layout) noexcept;  // blocked, blocked2

// Runs a kernel's function for many hashes, or for a batch of one its function for one, which does
// not set up a pipeline. `where`: what both take before the hashes.
template <class One, class Many, class... Where>
std::size_t run_batch(One one, Many many, std::span<const Hash128> hashes, bool* answers,
                      const Where&... where) noexcept {
  if (hashes.size() != 1) return many(where..., hashes.data(), hashes.size(), answers);
  *answers = one(where..., hashes[0]);
  return *answers ? 1 : 0;
}

}  // namespace bloomery::server
