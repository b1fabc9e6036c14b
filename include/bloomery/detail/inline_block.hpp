// A look-up and an insert in a block by AVX-512, inlined into programs compiled for any x86-64.
//
// Compilers inline intrinsics only into code for a CPU that has them, but assembly anywhere; it runs
// only on CPUs that were found to have AVX-512 (InlinePath in kernel.hpp). Measured (docs/benchmarks.md):
// two thirds of the time of a look-up through the table in memory, 0.71 in cache; three quarters of
// that of an insert whose answer is not looked at, the same where it is.
//
// Law: the bits and answers of ScalarBlock (block.hpp); tests/filter/inline_block_test.cpp holds them
// together.
//
// It has no mask registers, which GCC would not let it declare as used, and leaves the upper halves
// of the vector registers clean, as code that knows SSE alone expects them. Nor does it write
// memory, for then compilers would load the filter's own fields again for each key: `set` hands the
// block over in four registers that every x86-64 has, and plain code stores them. Whether a bit was
// off is a piece of its own, which vanishes where nobody asks.
//
// There is none of it where a sanitizer wants to see what is read, or where BLOOMERY_NO_ASSEMBLY
// is defined, as it must be with -masm=intel.
#pragma once

#include <bloomery/detail/block.hpp>

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
#define BLOOMERY_INLINE_BLOCK

namespace bloomery::detail {

// All registers whose upper halves vzeroupper clears.
#define BLOOMERY_FIRST_REGISTERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define BLOOMERY_LAST_REGISTERS "xmm12", "xmm13", "xmm14", "xmm15"
// The key's bits, one in each of its words, into the register `bits`.
#define BLOOMERY_WANTED_BITS(bits, ones)                                                          \
  "vpbroadcastq %[low], " bits "\n\tvpmovzxbd %[ones], " ones "\n\tvpmulld %[multipliers], " bits \
  ", " bits "\n\tvpsrld $27, " bits ", " bits "\n\tvpsllvd " bits ", " ones ", " bits "\n\t"

struct InlineBlock {
  using Words [[gnu::vector_size(64)]] = std::uint32_t;
  using Quarter [[gnu::vector_size(16)]] = std::uint32_t;

  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    bool found;
    asm(BLOOMERY_WANTED_BITS("%%zmm0", "%%zmm1")          //
        "vpternlogd $0x50, %[block], %%zmm0, %%zmm0\n\t"  // those that are missing
        "vextracti64x4 $1, %%zmm0, %%ymm1\n\t"
        "vpor %%ymm1, %%ymm0, %%ymm0\n\t"
        "vptest %%ymm0, %%ymm0\n\t"
        "vzeroupper"
        : "=@ccz"(found)
        : [low] "r"(low), [ones] "m"(masks.ones[low >> 58]), [multipliers] "m"(kLaneMultipliers),
          [block] "m"(*reinterpret_cast<const Words*>(block))
        : BLOOMERY_FIRST_REGISTERS, BLOOMERY_LAST_REGISTERS);
    return found;
  }

  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    auto* quarters = reinterpret_cast<Quarter*>(block);
    // Of the block as it will be. They take the four registers that the list leaves over.
    Quarter first, second, third, fourth;
    asm(BLOOMERY_WANTED_BITS("%g[first]", "%g[second]")  //
        "vpord %[block], %g[first], %g[first]\n\t"
        "vextracti32x4 $3, %g[first], %[fourth]\n\t"
        "vextracti32x4 $2, %g[first], %[third]\n\t"
        "vextracti128 $1, %t[first], %[second]\n\t"
        "vzeroupper"
        : [first] "=&x"(first), [second] "=&x"(second), [third] "=&x"(third), [fourth] "=&x"(fourth)
        : [low] "r"(low), [ones] "m"(masks.ones[low >> 58]), [multipliers] "m"(kLaneMultipliers),
          [block] "m"(*reinterpret_cast<const Words*>(block))
        : BLOOMERY_FIRST_REGISTERS);
    bool had_all;
    Quarter turned;
    asm("vpxor %[old_first], %[first], %[turned]\n\t"
        "vpternlogd $0xf6, %[old_second], %[second], %[turned]\n\t"  // turned | (old ^ new)
        "vpternlogd $0xf6, %[old_third], %[third], %[turned]\n\t"
        "vpternlogd $0xf6, %[old_fourth], %[fourth], %[turned]\n\t"
        "vptest %[turned], %[turned]"
        : "=@ccz"(had_all), [turned] "=&x"(turned)
        : [first] "x"(first), [second] "x"(second), [third] "x"(third), [fourth] "x"(fourth),
          [old_first] "m"(quarters[0]), [old_second] "m"(quarters[1]), [old_third] "m"(quarters[2]),
          [old_fourth] "m"(quarters[3]));
    quarters[0] = first;
    quarters[1] = second;
    quarters[2] = third;
    quarters[3] = fourth;
    return !had_all;
  }
};

#undef BLOOMERY_WANTED_BITS
#undef BLOOMERY_LAST_REGISTERS
#undef BLOOMERY_FIRST_REGISTERS

// In programs that are compiled for AVX-512 compilers inline it themselves. This look-up takes 0.93
// of the time of theirs in cache, since its mask goes from memory to its register and from there to
// the flags without a detour. Not for loops that hash eight keys at once: there it takes 1.08.
#if defined(__AVX512F__) && defined(__AVX512BW__)
struct Avx512SingleBlock : VectorBlock<Avx512> {
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    using Words = Avx512::Words;
    const Words wanted = (Words{} + 1U) << Avx512::shifts(low);
    __mmask16 words;
    bool found;
    asm("kmovw %[chosen], %[words]\n\t"
        "vptestnmd %[block], %[wanted], %[words]%{%[words]%}\n\t"
        "kortestw %[words], %[words]"
        : "=@ccz"(found), [words] "=&Yk"(words)
        : [chosen] "m"(masks.of[low >> 58]), [wanted] "v"(wanted),
          [block] "m"(*reinterpret_cast<const Words*>(block)));
    return found;
  }
};
#endif

}  // namespace bloomery::detail
#endif
#undef BLOOMERY_SANITIZED
