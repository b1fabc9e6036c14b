// The combinations to test: layouts, hash counts, kernels.
#pragma once

#include <bloomery/filter.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bloomery::test {

inline constexpr auto kLayouts = detail::kAllLayouts;
// Those that a filter is planned with for its own sake.
inline constexpr Layout kPlainLayouts[] = {Layout::blocked, Layout::blocked2, Layout::standard};
// The layouts of counting filters and of their equivalent plain filters.
inline constexpr Layout kNarrowLayouts[] = {Layout::blocked128, Layout::blocked64,
                                            Layout::blocked2x128, Layout::blocked2x64};

// Whether half of a key's bits are in each of two blocks.
inline bool has_two_blocks(Layout layout) noexcept {
  return layout == Layout::blocked2 || layout == Layout::blocked2x128 ||
         layout == Layout::blocked2x64;
}

inline std::vector<std::uint32_t> hash_counts(Layout layout) {
  std::vector<std::uint32_t> out;
  const std::uint32_t step = has_two_blocks(layout) ? 2 : 1;
  for (std::uint32_t k = step; k <= max_hashes(layout); k += step) out.push_back(k);
  return out;
}

// A plan of this size; its capacity and rate are valid but mean nothing.
inline Plan plan_of(Layout layout, std::uint64_t blocks, std::uint32_t hashes) {
  return {layout, blocks * kBlockBits, hashes, 1, 0.5};
}

inline Filter with_kernel(const Plan& plan, const detail::Kernel& kernel,
                          const Hasher& hasher = Hasher()) {
  Filter filter(plan, hasher);
  filter.use_kernel(kernel);
  return filter;
}

inline bool same_bits(const FilterView& a, const FilterView& b) {
  return a.bytes().size() == b.bytes().size() &&
         std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin());
}

inline std::string describe(const FilterView& filter) {
  return std::string(to_string(filter.plan().layout)) + ", k " +
         std::to_string(filter.plan().hashes) + ", " + std::to_string(filter.plan().blocks()) +
         " blocks, kernel " + filter.kernel_name();
}

}  // namespace bloomery::test
