// Selects the kernel that runs: the best that the CPU has, or the one that BLOOMERY_KERNEL names.
#include <bloomery/error.hpp>

#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>

#include "filter/kernels/instruction_sets.hpp"

namespace bloomery::detail {

namespace {

// Calls visit with the kernels of each instruction set and with whether this CPU has that set.
template <class Visit>
void each_set(Visit visit) {
#define BLOOMERY_HAS(feature) __builtin_cpu_supports(feature)
#define BLOOMERY_VISIT(name, available) visit(name##_kernels, available);
  BLOOMERY_INSTRUCTION_SETS(BLOOMERY_VISIT, BLOOMERY_HAS)
#undef BLOOMERY_VISIT
#undef BLOOMERY_HAS
}
constexpr std::size_t kSets = 0
#define BLOOMERY_COUNT(name, available) +1  // NOLINT(bugprone-macro-parentheses)
    BLOOMERY_INSTRUCTION_SETS(BLOOMERY_COUNT, );
#undef BLOOMERY_COUNT

std::string_view forced_name() noexcept {
  const char* name = std::getenv("BLOOMERY_KERNEL");
  return name == nullptr ? std::string_view() : std::string_view(name);
}

template <class K>
const K* kernel_in(const KernelSet& set, std::size_t layout) noexcept {
  if constexpr (std::is_same_v<K, Kernel>)
    return set.plain[layout];
  else if constexpr (std::is_same_v<K, CountingKernel>)
    return set.counting[layout];
  else if constexpr (std::is_same_v<K, WindowKernel>)
    return set.window[layout];
  else
    return &set.frozen;
}

std::size_t index_of(Layout layout) noexcept { return static_cast<std::size_t>(layout) - 1; }

// The kernels that this CPU can run, by layout, in a fixed array, because the caller may be out of memory.
template <class K>
struct Kernels {
  struct List {
    std::array<const K*, kSets> of{};
    std::size_t count = 0;
  };
  std::array<List, kAllLayouts.size()> lists;

  Kernels() noexcept {
    each_set([&](const KernelSet& set, bool available) {
      for (std::size_t i = 0; i < lists.size() && available; ++i)
        if (const K* kernel = kernel_in<K>(set, i)) lists[i].of[lists[i].count++] = kernel;
    });
  }
};

}  // namespace

template <class K>
std::span<const K* const> kernels_of(Layout layout) noexcept {
  static const Kernels<K> kernels;
  const auto& list = kernels.lists[index_of(layout)];
  return std::span(list.of).first(list.count);
}

// A name is that of an instruction set. If a set that the CPU has lacks a kernel for the layout, the
// best kernel below it is used, so that one setting works for every layout.
template <class K>
const K& kernel_for(Layout layout) {
  const std::span<const K* const> kernels = kernels_of<K>(layout);
  const std::string_view wanted = forced_name();
  if (wanted.empty()) return *kernels.back();
  const K* best = nullptr;
  bool known = false;
  std::string names;
  each_set([&](const KernelSet& set, bool available) {
    if (!available) return;
    names += (names.empty() ? "" : ", ") + std::string(set.name);
    if (known) return;
    if (const K* kernel = kernel_in<K>(set, index_of(layout))) best = kernel;
    known = wanted == set.name;
  });
  if (known) return *best;
  throw Error(ErrorCode::invalid_argument, "BLOOMERY_KERNEL=" + std::string(wanted) +
                                               " is not a kernel of this machine; it has " + names);
}

template const Kernel& kernel_for<Kernel>(Layout);
template const CountingKernel& kernel_for<CountingKernel>(Layout);
template const WindowKernel& kernel_for<WindowKernel>(Layout);
template const FrozenKernel& kernel_for<FrozenKernel>(Layout);
template std::span<const Kernel* const> kernels_of<Kernel>(Layout) noexcept;
template std::span<const CountingKernel* const> kernels_of<CountingKernel>(Layout) noexcept;
template std::span<const WindowKernel* const> kernels_of<WindowKernel>(Layout) noexcept;
template std::span<const FrozenKernel* const> kernels_of<FrozenKernel>(Layout) noexcept;

std::uint64_t count_ones(const std::uint32_t* words, std::uint64_t bits) noexcept {
  return kernels_of<Kernel>(Layout::blocked).back()->count_ones(words, bits);
}

InlinePath inline_path_of(Layout layout) noexcept {
  if (layout != Layout::blocked || !forced_name().empty()) return InlinePath::none;
  const bool avx512 = std::string_view(kernels_of<Kernel>(layout).back()->name) == "avx512";
  return avx512 ? InlinePath::avx512 : InlinePath::compiled;
}

}  // namespace bloomery::detail
