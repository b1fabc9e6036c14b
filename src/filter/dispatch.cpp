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

// The kernels of one layout, worked out once; what asks for them may have no memory to spare.
template <class K>
struct Kernels {
  std::array<const K*, 3> of{};
  std::size_t count = 0;
  void add(const K& kernel) noexcept { of[count++] = &kernel; }
  [[nodiscard]] std::span<const K* const> all() const noexcept {
    return std::span(of).first(count);
  }
};

Kernels<Kernel> find_kernels(Layout layout) noexcept {
  Kernels<Kernel> found;
  if (counter_bits(layout) != 0) {
    found.add(kNarrow);
    return found;
  }
  if (layout == Layout::standard) {
    found.add(kStandard);
#if defined(__x86_64__)
    if (has_avx2()) found.add(kAvx2Standard);
#endif
    return found;
  }
  const bool block = layout == Layout::blocked;
  found.add(block ? kScalarBlocked : kScalarBlocked2);
#if defined(__x86_64__)
  if (has_avx2()) found.add(block ? kAvx2Blocked : kAvx2Blocked2);
  if (has_avx512()) found.add(block ? kAvx512Blocked : kAvx512Blocked2);
#elif defined(__aarch64__)
  found.add(block ? kNeonBlocked : kNeonBlocked2);
#endif
  return found;
}

Kernels<CountingKernel> find_counting_kernels(bool four) noexcept {
  Kernels<CountingKernel> found;
  found.add(four ? kScalarCounters4 : kScalarCounters8);
#if defined(__x86_64__)
  if (has_avx2()) found.add(four ? kAvx2Counters4 : kAvx2Counters8);
  if (has_avx512()) found.add(four ? kAvx512Counters4 : kAvx512Counters8);
#elif defined(__aarch64__)
  found.add(four ? kNeonCounters4 : kNeonCounters8);
#endif
  return found;
}

// The best of them, or the one that BLOOMERY_KERNEL names. Names are of instruction sets: where
// there is no kernel for one that the CPU has, the best below it is taken, so that one setting
// serves every layout.
template <class K>
const K& choose(std::span<const K* const> kernels) {
  const std::string_view wanted = forced_name();
  if (wanted.empty()) return *kernels.back();
  const K* best = nullptr;
  std::string known;
  for (const Kernel* block : kernels_of(Layout::blocked)) {
    known += (known.empty() ? "" : ", ") + std::string(block->name);
    for (const K* kernel : kernels)
      if (std::string_view(kernel->name) == block->name) best = kernel;
    if (wanted == block->name) return *best;
  }
  throw Error(ErrorCode::invalid_argument, "BLOOMERY_KERNEL=" + std::string(wanted) +
                                               " is not a kernel of this machine; it has " + known);
}

}  // namespace

std::span<const Kernel* const> kernels_of(Layout layout) noexcept {
  static const auto block = find_kernels(Layout::blocked),
                    blocked2 = find_kernels(Layout::blocked2),
                    standard = find_kernels(Layout::standard),
                    narrow = find_kernels(Layout::blocked128);
  if (counter_bits(layout) != 0) return narrow.all();
  return (layout == Layout::blocked    ? block
          : layout == Layout::blocked2 ? blocked2
                                       : standard)
      .all();
}

std::span<const CountingKernel* const> counting_kernels_of(std::uint32_t counter_bits) noexcept {
  static const auto four = find_counting_kernels(true), eight = find_counting_kernels(false);
  return (counter_bits == 4 ? four : eight).all();
}

InlinePath inline_path_of(Layout layout) noexcept {
  if (layout != Layout::blocked || !forced_name().empty()) return InlinePath::none;
#if defined(__x86_64__)
  if (has_avx512()) return InlinePath::avx512;
#endif
  return InlinePath::compiled;
}

const Kernel& kernel_for(Layout layout) { return choose(kernels_of(layout)); }

const CountingKernel& counting_kernel_for(std::uint32_t counter_bits) {
  return choose(counting_kernels_of(counter_bits));
}

}  // namespace bloomery::detail
