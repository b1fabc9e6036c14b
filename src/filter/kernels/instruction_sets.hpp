// The list of the instruction sets that kernels are compiled for. A new one needs only an entry here and a file.
//
// For each entry there is kernels/<name>.cpp. An entry lists the features that the CPU must have; the
// simplest set is first. src/filter/CMakeLists.txt reads this list too, and compiles each file with
// -m<feature> for each of its features; so one line holds one entry, and nothing else holds "SET(".
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <array>

// clang-format off
#if defined(__x86_64__)
#define BLOOMERY_INSTRUCTION_SETS(SET, HAS)                                                                    \
  SET(scalar, true)                                                                                            \
  SET(avx2, HAS("avx2") && HAS("bmi") && HAS("bmi2") && HAS("popcnt"))                                         \
  SET(avx512, HAS("avx2") && HAS("bmi") && HAS("bmi2") && HAS("popcnt") && HAS("avx512f") && HAS("avx512bw") && HAS("avx512dq") && HAS("avx512vl"))
#elif defined(__aarch64__)
#define BLOOMERY_INSTRUCTION_SETS(SET, HAS) \
  SET(scalar, true)                         \
  SET(neon, true)
#else
#define BLOOMERY_INSTRUCTION_SETS(SET, HAS) SET(scalar, true)
#endif
// clang-format on

namespace bloomery::detail {

// Every kernel of one instruction set, by layout: entry i is for kAllLayouts[i]. If an entry is null, the
// kernel of the set before it is used.
struct KernelSet {
  template <class K>
  using Table = std::array<const K*, kAllLayouts.size()>;
  const char* name;
  Table<Kernel> plain;
  Table<CountingKernel> counting;
  Table<WindowKernel> window;
  FrozenKernel frozen;
};

#define BLOOMERY_DECLARE_KERNELS(name, available) extern const KernelSet name##_kernels;
BLOOMERY_INSTRUCTION_SETS(BLOOMERY_DECLARE_KERNELS, )
#undef BLOOMERY_DECLARE_KERNELS

}  // namespace bloomery::detail
