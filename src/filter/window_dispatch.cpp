// Which window kernel runs: that of the instruction set whose block kernel would.
#include <bloomery/error.hpp>

#include "filter/window_kernels.hpp"

#include <array>
#include <string_view>

namespace bloomery::detail {

namespace {

#if defined(__x86_64__)
constexpr std::array kBlockedKernels = {&kScalarWindowBlocked, &kAvx2WindowBlocked,
                                        &kAvx512WindowBlocked};
constexpr std::array kBlocked2Kernels = {&kScalarWindowBlocked2, &kAvx2WindowBlocked2,
                                         &kAvx512WindowBlocked2};
#elif defined(__aarch64__)
constexpr std::array kBlockedKernels = {&kScalarWindowBlocked, &kNeonWindowBlocked};
constexpr std::array kBlocked2Kernels = {&kScalarWindowBlocked2, &kNeonWindowBlocked2};
#else
constexpr std::array kBlockedKernels = {&kScalarWindowBlocked};
constexpr std::array kBlocked2Kernels = {&kScalarWindowBlocked2};
#endif

}  // namespace

std::span<const WindowKernel* const> window_kernels_of(Layout layout) noexcept {
  // What this CPU runs of the block kernels it runs of these: both lists are in the same order,
  // and a CPU has all below the best that it has.
  const std::size_t count = kernels_of(Layout::blocked).size();
  return std::span<const WindowKernel* const>(layout == Layout::blocked ? kBlockedKernels
                                                                        : kBlocked2Kernels)
      .first(count);
}

const WindowKernel& window_kernel_for(Layout layout) {
  const std::string_view name = kernel_for(Layout::blocked).name;
  const auto kernels = window_kernels_of(layout);
  const WindowKernel* best = kernels.front();
  for (const WindowKernel* kernel : kernels)
    if (kernel->name == name) best = kernel;
  return *best;
}

}  // namespace bloomery::detail
