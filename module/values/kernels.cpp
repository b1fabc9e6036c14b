// The tables of the chosen kernels.
#include "values/kernels.hpp"

#include <bloomery/detail/layout.hpp>

#include <array>

namespace bloomery::server {

namespace {

// Indexed by the number of the layout; null: filters of that kind cannot have it.
template <class Kernel>
struct Chosen {
  std::array<const Kernel*, detail::kAllLayouts.size()> kernels{};

  Chosen() noexcept {
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (const auto known = detail::kernels_of<Kernel>(detail::kAllLayouts[i]); !known.empty())
        kernels[i] = known.front();
  }
  void choose() {
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i] != nullptr) kernels[i] = &detail::kernel_for<Kernel>(detail::kAllLayouts[i]);
  }
  [[nodiscard]] const Kernel& of(Layout layout) const noexcept {
    return *kernels[static_cast<std::size_t>(layout) - 1];
  }
};

Chosen<detail::Kernel> plain;
Chosen<detail::CountingKernel> counting;
Chosen<detail::WindowKernel> window;

}  // namespace

void choose_kernels() {
  plain.choose();
  counting.choose();
  window.choose();
}

const detail::Kernel& kernel_of(Layout layout) noexcept { return plain.of(layout); }
const detail::CountingKernel& counting_kernel_of(Layout layout) noexcept {
  return counting.of(layout);
}
const detail::WindowKernel& window_kernel_of(Layout layout) noexcept { return window.of(layout); }

}  // namespace bloomery::server
