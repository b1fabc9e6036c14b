// Which kernel runs: the best that the CPU has, or the one that BLOOMERY_KERNEL names.
#include <bloomery/error.hpp>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "filter/kernels.hpp"

namespace bloomery::detail {

namespace {

#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
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

namespace {

// The kernels of one layout, worked out once; what asks for them may have no memory to spare.
struct Kernels {
  std::array<const Kernel*, 3> of{};
  std::size_t count = 0;
  void add(const Kernel& kernel) noexcept { of[count++] = &kernel; }

  explicit Kernels(Layout layout) noexcept {
    if (layout == Layout::classic) {
      add(kClassic);
#if defined(__x86_64__)
      if (has_avx2()) add(kAvx2Classic);
#endif
      return;
    }
    const bool line = layout == Layout::line;
    add(line ? kScalarLine : kScalarPair);
#if defined(__x86_64__)
    if (has_avx2()) add(line ? kAvx2Line : kAvx2Pair);
    if (has_avx512()) add(line ? kAvx512Line : kAvx512Pair);
#elif defined(__aarch64__)
    add(line ? kNeonLine : kNeonPair);
#endif
  }
};

}  // namespace

std::span<const Kernel* const> kernels_of(Layout layout) noexcept {
  static const Kernels line(Layout::line), pair(Layout::pair), classic(Layout::classic);
  const Kernels& found = layout == Layout::line ? line : layout == Layout::pair ? pair : classic;
  return std::span(found.of).first(found.count);
}

const Kernel& kernel_for(Layout layout) {
  const auto kernels = kernels_of(layout);
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
