// A look-up in a line by AVX-512, inlined into programs that are compiled for any x86-64.
//
// Compilers inline intrinsics only into code for a CPU that has them, but assembly anywhere; it runs
// only on CPUs that were found to have AVX-512 (Bypass in kernel.hpp). Measured (docs/benchmarks.md):
// two thirds of the time of a look-up through the table in memory, 0.71 in cache.
//
// Law: the answers of ScalarLine (line.hpp); tests/filter/inline_line_test.cpp holds them together.
//
// It has no mask registers, which GCC would not let it declare as used, and leaves the upper halves
// of the vector registers clean, as code that knows SSE alone expects them. There is no `set`:
// assembly that writes memory makes compilers load the filter's own fields again for each key, and
// then it takes as long as the call. Nor is there any of it where a sanitizer wants to see what is
// read, or where BLOOMERY_NO_ASSEMBLY is defined, as it must be with -masm=intel.
#pragma once

#include <bloomery/detail/line.hpp>

#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define BLOOMERY_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BLOOMERY_SANITIZED
#endif

#if defined(__x86_64__) && defined(__GNUC__) && !defined(BLOOMERY_SANITIZED) && \
    !defined(BLOOMERY_NO_ASSEMBLY)
#define BLOOMERY_INLINE_LINE

namespace bloomery::detail {

#define BLOOMERY_VECTOR_REGISTERS                                                          \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

struct InlineLine {
  using Words [[gnu::vector_size(64)]] = std::uint32_t;

  [[gnu::always_inline]] static bool test(const std::uint32_t* line, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    bool found;
    asm("vpbroadcastq %[low], %%zmm0\n\t"
        "vpmovzxbd %[ones], %%zmm1\n\t"
        "vpmulld %[multipliers], %%zmm0, %%zmm0\n\t"
        "vpsrld $27, %%zmm0, %%zmm0\n\t"
        "vpsllvd %%zmm0, %%zmm1, %%zmm0\n\t"             // the wanted bits
        "vpternlogd $0x50, %[line], %%zmm0, %%zmm0\n\t"  // those that are missing
        "vextracti64x4 $1, %%zmm0, %%ymm1\n\t"
        "vpor %%ymm1, %%ymm0, %%ymm0\n\t"
        "vptest %%ymm0, %%ymm0\n\t"
        "vzeroupper"
        : "=@ccz"(found)
        : [low] "r"(low), [ones] "m"(masks.ones[low >> 58]), [multipliers] "m"(kLaneMultipliers),
          [line] "m"(*reinterpret_cast<const Words*>(line))
        : BLOOMERY_VECTOR_REGISTERS);
    return found;
  }
};

#undef BLOOMERY_VECTOR_REGISTERS

}  // namespace bloomery::detail
#endif
#undef BLOOMERY_SANITIZED
