// Which window kernel runs: that of the instruction set whose line kernel would.
#include <bloomery/error.hpp>

#include "filter/window_kernels.hpp"

#include <array>
#include <string_view>

namespace bloomery::detail {

namespace {

#if defined(__x86_64__)
constexpr std::array kLineKernels = {&kScalarWindowLine, &kAvx2WindowLine, &kAvx512WindowLine};
constexpr std::array kPairKernels = {&kScalarWindowPair, &kAvx2WindowPair, &kAvx512WindowPair};
#elif defined(__aarch64__)
constexpr std::array kLineKernels = {&kScalarWindowLine, &kNeonWindowLine};
constexpr std::array kPairKernels = {&kScalarWindowPair, &kNeonWindowPair};
#else
constexpr std::array kLineKernels = {&kScalarWindowLine};
constexpr std::array kPairKernels = {&kScalarWindowPair};
#endif

}  // namespace

std::span<const WindowKernel* const> window_kernels_of(Layout layout) noexcept {
  // What this CPU runs of the line kernels it runs of these: both lists are in the same order,
  // and a CPU has all below the best that it has.
  const std::size_t count = kernels_of(Layout::line).size();
  return std::span<const WindowKernel* const>(layout == Layout::line ? kLineKernels : kPairKernels)
      .first(count);
}

const WindowKernel& window_kernel_for(Layout layout) {
  const std::string_view name = kernel_for(Layout::line).name;
  const auto kernels = window_kernels_of(layout);
  const WindowKernel* best = kernels.front();
  for (const WindowKernel* kernel : kernels)
    if (kernel->name == name) best = kernel;
  return *best;
}

}  // namespace bloomery::detail
