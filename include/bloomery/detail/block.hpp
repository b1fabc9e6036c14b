// The operations on one block of 64 bytes and one key: `test` (are all of the key's bits set?) and `set`
// (sets them; was any clear?).
//
// layout.hpp says which bits those are. ScalarBlock is the reference implementation, on any byte
// order; VectorBlock is the same over the vectors of an instruction set. A Pattern holds a key's bits,
// computed once for many blocks: `in` tests them in a block, `add_to` sets them in a block, `write`
// stores them alone.
#pragma once

#include <bloomery/detail/layout.hpp>
#include <bloomery/detail/vectors.hpp>

#include <array>
#include <cstdint>

namespace bloomery::detail {

// A key's bits in a block, in the byte order of memory. Words that the key does not use are zero.
struct alignas(64) BlockBits {
  std::uint32_t words[16];
};

struct PlainWords {
  static std::uint32_t load(const std::uint32_t* word) noexcept { return load_word(word); }
  static void store(std::uint32_t* word, std::uint32_t value) noexcept { store_word(word, value); }
};

// `Words` says how the words of a block are loaded and stored.
template <class Words>
struct ScalarBlockIn {
  static std::uint32_t bit(std::uint32_t product) noexcept {
    return std::uint32_t{1} << (product >> 27);
  }
  static bool test(const std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    return each_word(low, masks, [&](unsigned word, std::uint32_t product) BLOOMERY_INLINE {
      return (Words::load(block + word) & bit(product)) != 0;
    });
  }
  static bool set(std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    std::uint32_t missing = 0;
    each_word(low, masks, [&](unsigned word, std::uint32_t product) BLOOMERY_INLINE {
      const std::uint32_t old = Words::load(block + word);
      missing |= bit(product) & ~old;
      Words::store(block + word, old | bit(product));
      return true;
    });
    return missing != 0;
  }

  class Pattern {
   public:
    Pattern(std::uint64_t low, const WordMasks& masks) noexcept {
      each_word(low, masks, [&](unsigned word, std::uint32_t product) BLOOMERY_INLINE {
        word_[count_] = word;
        bit_[count_++] = bit(product);
        return true;
      });
    }
    [[nodiscard]] bool in(const std::uint32_t* block) const noexcept {
      for (unsigned i = 0; i < count_; ++i)
        if ((Words::load(block + word_[i]) & bit_[i]) == 0) return false;
      return true;
    }
    void add_to(std::uint32_t* block) const noexcept {
      for (unsigned i = 0; i < count_; ++i)
        Words::store(block + word_[i], Words::load(block + word_[i]) | bit_[i]);
    }
    void write(BlockBits& bits) const noexcept {
      bits = {};
      add_to(bits.words);
    }

   private:
    unsigned count_ = 0;
    std::array<unsigned, 16> word_;
    std::array<std::uint32_t, 16> bit_;
  };
};
using ScalarBlock = ScalarBlockIn<PlainWords>;

template <class Isa>
struct VectorBlock {
  class Pattern {
   public:
    [[gnu::always_inline]] Pattern(std::uint64_t low, const WordMasks& masks) noexcept
        : words_(Isa::chosen(low, masks)), bits_(Isa::at(words_, 1, Isa::shifts(low))) {}
    [[gnu::always_inline]] [[nodiscard]] bool in(const std::uint32_t* block) const noexcept {
      return !Isa::any(Isa::missing(words_, bits_, Isa::load(block)));
    }
    [[gnu::always_inline]] void add_to(std::uint32_t* block) const noexcept {
      Isa::store(block, Isa::unite(Isa::load(block), bits_));
    }
    [[gnu::always_inline]] void write(BlockBits& bits) const noexcept {
      Isa::store(bits.words, bits_);
    }

   private:
    typename Isa::Chosen words_;
    typename Isa::Words bits_;
  };
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    return Pattern(low, masks).in(block);
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    const typename Isa::Chosen words = Isa::chosen(low, masks);
    const typename Isa::Words bits = Isa::at(words, 1, Isa::shifts(low));
    const typename Isa::Words old = Isa::load(block);
    Isa::store(block, Isa::unite(old, bits));
    return Isa::any(Isa::missing(words, bits, old));
  }
};

}  // namespace bloomery::detail
