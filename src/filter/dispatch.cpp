// Which kernel runs: the best that the CPU has, or the one that BLOOMERY_KERNEL names.
#include <bloomery/error.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

#include "filter/kernels.hpp"

namespace bloomery::detail {

namespace {

#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}
bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

std::string_view forced_name() noexcept {
  const char* name = std::getenv("BLOOMERY_KERNEL");
  return name == nullptr ? std::string_view() : std::string_view(name);
}

}  // namespace

bool kernel_is_forced() noexcept { return !forced_name().empty(); }

std::vector<const Kernel*> kernels_of(Layout layout) {
  if (layout == Layout::classic) {
    std::vector<const Kernel*> kernels = {&kClassic};
#if defined(__x86_64__)
    if (has_avx2()) kernels.push_back(&kAvx2Classic);
#endif
    return kernels;
  }
  const bool line = layout == Layout::line;
  std::vector<const Kernel*> kernels = {line ? &kScalarLine : &kScalarPair};
#if defined(__x86_64__)
  if (has_avx2()) kernels.push_back(line ? &kAvx2Line : &kAvx2Pair);
  if (has_avx512()) kernels.push_back(line ? &kAvx512Line : &kAvx512Pair);
#elif defined(__aarch64__)
  kernels.push_back(line ? &kNeonLine : &kNeonPair);
#endif
  return kernels;
}

const Kernel& kernel_for(Layout layout) {
  const std::vector<const Kernel*> kernels = kernels_of(layout);
  const std::string_view wanted = forced_name();
  if (wanted.empty()) return *kernels.back();
  // Names are of instruction sets. A layout without a kernel of its own for one that the CPU
  // has takes its best below it, so that one setting serves every layout.
  const Kernel* best = nullptr;
  std::string known;
  for (const Kernel* line : kernels_of(Layout::line)) {
    known += (known.empty() ? "" : ", ") + std::string(line->name);
    for (const Kernel* kernel : kernels)
      if (std::string_view(kernel->name) == line->name) best = kernel;
    if (wanted == line->name) return *best;
  }
  throw Error(ErrorCode::invalid_argument, "BLOOMERY_KERNEL=" + std::string(wanted) +
                                               " is not a kernel of this machine; it has " + known);
}

}  // namespace bloomery::detail
