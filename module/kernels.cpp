// The tables of the kernels that were found.
#include "kernels.hpp"

#include <array>

namespace bloomery::server {

namespace {

std::array<const detail::Kernel*, 3> plain = {detail::kernels_of(Layout::blocked).front(),
                                              detail::kernels_of(Layout::blocked2).front(),
                                              detail::kernels_of(Layout::standard).front()};
std::array<const detail::CountingKernel*, 4> counting = {
    detail::kernels_of<detail::CountingKernel>(Layout::blocked128).front(),
    detail::kernels_of<detail::CountingKernel>(Layout::blocked64).front(),
    detail::kernels_of<detail::CountingKernel>(Layout::blocked2x128).front(),
    detail::kernels_of<detail::CountingKernel>(Layout::blocked2x64).front()};
std::array<const detail::WindowKernel*, 2> window = {
    detail::kernels_of<detail::WindowKernel>(Layout::blocked).front(),
    detail::kernels_of<detail::WindowKernel>(Layout::blocked2).front()};

}  // namespace

void choose_kernels() {
  plain = {&detail::kernel_for(Layout::blocked), &detail::kernel_for(Layout::blocked2),
           &detail::kernel_for(Layout::standard)};
  counting = {&detail::kernel_for<detail::CountingKernel>(Layout::blocked128),
              &detail::kernel_for<detail::CountingKernel>(Layout::blocked64),
              &detail::kernel_for<detail::CountingKernel>(Layout::blocked2x128),
              &detail::kernel_for<detail::CountingKernel>(Layout::blocked2x64)};
  window = {&detail::kernel_for<detail::WindowKernel>(Layout::blocked),
            &detail::kernel_for<detail::WindowKernel>(Layout::blocked2)};
}

const detail::Kernel& kernel_of(Layout layout) noexcept {
  return *plain[static_cast<std::size_t>(layout) - 1];
}

const detail::CountingKernel& counting_kernel_of(Layout layout) noexcept {
  return *counting[static_cast<std::size_t>(layout) - static_cast<std::size_t>(Layout::blocked128)];
}

const detail::WindowKernel& window_kernel_of(Layout layout) noexcept {
  return *window[layout == Layout::blocked2];
}

}  // namespace bloomery::server
