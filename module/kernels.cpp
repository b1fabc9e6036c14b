// The tables of the kernels that were found.
#include "kernels.hpp"

#include <array>

namespace bloomery::server {

namespace {

std::array<const detail::Kernel*, 3> plain = {detail::kernels_of(Layout::blocked).front(),
                                              detail::kernels_of(Layout::blocked2).front(),
                                              detail::kernels_of(Layout::standard).front()};
std::array<const detail::CountingKernel*, 2> counting = {detail::counting_kernels_of(4).front(),
                                                         detail::counting_kernels_of(8).front()};
std::array<const detail::WindowKernel*, 2> window = {
    detail::window_kernels_of(Layout::blocked).front(),
    detail::window_kernels_of(Layout::blocked2).front()};

}  // namespace

void choose_kernels() {
  plain = {&detail::kernel_for(Layout::blocked), &detail::kernel_for(Layout::blocked2),
           &detail::kernel_for(Layout::standard)};
  counting = {&detail::counting_kernel_for(4), &detail::counting_kernel_for(8)};
  window = {&detail::window_kernel_for(Layout::blocked),
            &detail::window_kernel_for(Layout::blocked2)};
}

const detail::Kernel& kernel_of(Layout layout) noexcept {
  return *plain[static_cast<std::size_t>(layout) - 1];
}

const detail::CountingKernel& counting_kernel_of(std::uint32_t counter_bits) noexcept {
  return *counting[counter_bits == 8];
}

const detail::WindowKernel& window_kernel_of(Layout layout) noexcept {
  return *window[layout == Layout::blocked2];
}

}  // namespace bloomery::server
