// A look-up and an insert in a block by AVX-512, inlined into programs compiled for any x86-64.
//
// Compilers inline intrinsics only into code for a CPU that has them, but they inline assembly anywhere.
// This assembly runs only on CPUs with AVX-512 (InlinePath in kernel.hpp). Compared with a call through
// the table, a look-up takes two thirds of the time in memory and 0.71 in cache; an insert takes three
// quarters if its answer is not used, and the same if it is.
//
// Law: the bits and answers are those of ScalarBlock (block.hpp); tests/filter/inline_block_test.cpp
// compares them.
//
// The assembly uses no mask registers, because GCC does not let it declare them as used, and it leaves
// the upper halves of the vector registers zero, as SSE code expects. It does not write memory, because
// compilers would then reload the filter's own fields for each key: `set` returns the block in four
// registers that every x86-64 has, and plain code stores them. Whether a bit was clear is a separate
// piece of assembly, which the compiler drops if the answer is not used.
//
// It is not compiled under a sanitizer, which has to see every read, or if BLOOMERY_NO_ASSEMBLY is
// defined, which -masm=intel requires.
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
        "vpternlogd $0x50, %[block], %%zmm0, %%zmm0\n\t"  // the bits that are missing
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
    // The new block, in the four registers that BLOOMERY_FIRST_REGISTERS does not name.
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

// For programs that are compiled for AVX-512. Compilers could inline the intrinsics, but this look-up
// takes 0.93 of their time in cache, because its mask goes straight from memory to its register and from
// there to the flags. Loops that hash eight keys at once do not use it, because there it takes 1.08 of their time.
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
