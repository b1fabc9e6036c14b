// The tables of the kernels that were found.
#include "kernels.hpp"

#include <array>

namespace bloomery::server {

namespace {

std::array<const detail::Kernel*, 3> plain_kernels = {detail::kernels_of(Layout::blocked).front(),
                                                      detail::kernels_of(Layout::blocked2).front(),
                                                      detail::kernels_of(Layout::standard).front()};
std::array<const detail::CountingKernel*, 4> counting_kernels = {
    detail::kernels_of<detail::CountingKernel>(Layout::blocked128).front(),
    detail::kernels_of<detail::CountingKernel>(Layout::blocked64).front(),
    detail::kernels_of<detail::CountingKernel>(Layout::blocked2x128).front(),
    detail::kernels_of<detail::CountingKernel>(Layout::blocked2x64).front()};
std::array<const detail::WindowKernel*, 2> window_kernels = {
    detail::kernels_of<detail::WindowKernel>(Layout::blocked).front(),
    detail::kernels_of<detail::WindowKernel>(Layout::blocked2).front()};

}  // namespace

void choose_kernels() {
  plain_kernels = {&detail::kernel_for(Layout::blocked), &detail::kernel_for(Layout::blocked2),
                   &detail::kernel_for(Layout::standard)};
  counting_kernels = {&detail::kernel_for<detail::CountingKernel>(Layout::blocked128),
                      &detail::kernel_for<detail::CountingKernel>(Layout::blocked64),
                      &detail::kernel_for<detail::CountingKernel>(Layout::blocked2x128),
                      &detail::kernel_for<detail::CountingKernel>(Layout::blocked2x64)};
  window_kernels = {&detail::kernel_for<detail::WindowKernel>(Layout::blocked),
                    &detail::kernel_for<detail::WindowKernel>(Layout::blocked2)};
}

const detail::Kernel& kernel_of(Layout layout) noexcept {
  return *plain_kernels[static_cast<std::size_t>(layout) - 1];
}

const detail::CountingKernel& counting_kernel_of(Layout layout) noexcept {
  return *counting_kernels[static_cast<std::size_t>(layout) -
                           static_cast<std::size_t>(Layout::blocked128)];
}

const detail::WindowKernel& window_kernel_of(Layout layout) noexcept {
  return *window_kernels[layout == Layout::blocked2];
}

}  // namespace bloomery::server
