// Kernels of plain filters, for one filter or several: whole blocks with vectors, other layouts bit by bit.
//
// Included by the file of each instruction set, as ring.hpp is.
#pragma once

#include "filter/kernels/ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bloomery::detail {
namespace {

// ---- layouts of whole blocks -----------------------------------------------------------------------

template <class L, class Set, class Block>
struct WholeBlocks : LocatedBlocks<L, Set> {
  using Batch = typename LocatedBlocks<L, Set>::Batch;

  [[gnu::always_inline]] static bool insert(const BitArray& array, const Batch& batch,
                                            std::size_t i) noexcept {
    bool fresh = false;
    for (unsigned j = 0; j < L::kKeyBlocks; ++j)
      fresh |= Block::set(batch.block[j][i], batch.low[j][i], *array.masks);
    return fresh;
  }
  [[gnu::always_inline]] static bool contains(const BitArray& array, const Batch& batch,
                                              std::size_t i) noexcept {
    return contains(array, batch, batch, i);
  }
  // `same` is another filter's batch of the same keys.
  [[gnu::always_inline]] static bool contains(const BitArray& array, const Batch& batch,
                                              const Batch& same, std::size_t i) noexcept {
    bool found = true;
    for (unsigned j = 0; j < L::kKeyBlocks; ++j)
      found &= Block::test(batch.block[j][i], same.low[j][i], *array.masks);
    return found;
  }
  [[gnu::always_inline]] static bool insert_one(const BitArray& array, Hash128 hash) noexcept {
    bool fresh = false;
    for (const KeyBlock& at : L::blocks(array, hash))
      fresh |= Block::set(words_of(array, at), at.low, *array.masks);
    return fresh;
  }
  // It reads all blocks at once; if it waited for the first block before it read the second, every
  // present key would cost two memory latencies. It is inlined into the loop of AnyOf::one, which
  // computes the bits of a key once.
  [[gnu::always_inline]] static bool contains_one(const BitArray& array, Hash128 hash) noexcept {
    bool found = true;
    for (const KeyBlock& at : L::blocks(array, hash))
      found &= Block::test(words_of(array, at), at.low, *array.masks);
    return found;
  }
};

// ---- other layouts ---------------------------------------------------------------------------------
// They need no vector unit: memory accesses take nearly all of their time.

// A bit of the array: bit i is bit i % 32 of little-endian word i / 32, which is bit i % 8 of byte i / 8.
struct PlainBit {
  [[gnu::always_inline]] static bool test(const BitArray& array, std::uint64_t position) noexcept {
    return (load_word(array.words + position / 32) >> (position % 32) & 1) != 0;
  }
  // Returns a number other than zero if the bit was clear.
  [[gnu::always_inline]] static std::uint32_t set(const BitArray& array,
                                                  std::uint64_t position) noexcept {
    std::uint32_t* word = array.words + position / 32;
    const std::uint32_t wanted = std::uint32_t{1} << (position % 32);
    const std::uint32_t old = load_word(word);
    store_word(word, old | wanted);
    return wanted & ~old;
  }
};

template <class L, class Bit, bool kInCache = false>
struct SingleBits {
  using InCache = SingleBits<L, Bit, true>;  // for up to kCachedBits: no prefetch
  struct Batch {
    Hash128 hash[kBatch];
  };
  static constexpr std::size_t kBatchesAhead = L::kBatchesAhead;
  static constexpr bool kOneRing = true;
  // Up to this size prefetching k bits costs more than it saves. Measured with standard at k = 10, in ns per
  // key with and without prefetches, for filters of 0.5 MiB: 24 and 19; 1.8 MiB: 27 and 28; 3.6 MiB: 33 and
  // 42; 7.2 MiB: 26 and 105; 36 MiB: 109 and 134.
  static constexpr std::uint64_t kCachedBits = std::uint64_t{2} << 23;  // 2 MiB

  template <class Source>
  static void locate(const BitArray&, const Source& source, std::size_t first, std::size_t count,
                     Batch& batch) noexcept {
    for (std::size_t i = 0; i < count; ++i) batch.hash[i] = source(first + i);
  }
  // Inlined, because GCC treats a call whose only effect is a prefetch as one without effect.
  [[gnu::always_inline]] static void prefetch(const BitArray& array, const Batch& batch,
                                              std::size_t i) noexcept {
    if (kInCache || array.bits <= kCachedBits) return;
    L::each_block(array, batch.hash[i], [&](const KeyBlock& at) BLOOMERY_INLINE {
      __builtin_prefetch(words_of(array, at));
      return true;
    });
  }
  static bool insert_one(const BitArray& array, Hash128 hash) noexcept {
    std::uint32_t missing = 0;
    L::each_position(array, hash, [&](std::uint64_t position) BLOOMERY_INLINE {
      missing |= Bit::set(array, position);
      return true;
    });
    return missing != 0;
  }
  static bool contains_one(const BitArray& array, Hash128 hash) noexcept {
    return L::each_position(array, hash, [&](std::uint64_t position) BLOOMERY_INLINE {
      return Bit::test(array, position);
    });
  }
  static bool insert(const BitArray& array, const Batch& batch, std::size_t i) noexcept {
    return insert_one(array, batch.hash[i]);
  }
  static bool contains(const BitArray& array, const Batch& batch, std::size_t i) noexcept {
    return contains_one(array, batch.hash[i]);
  }
};

// ---- one key in several filters --------------------------------------------------------------------

// The number of batches in flight, for all filters together. More gain nothing: a core already has as
// many misses outstanding as it can, and blocks that wait longer evict each other from the cache.
constexpr std::size_t kBatchesInFlight = 12;
constexpr std::size_t kSubFilterBatches =
    std::max(kBatchesInFlight, kSubFiltersAtOnce) + kSubFiltersAtOnce;
inline std::size_t batches_ahead(std::size_t sub_filters, std::size_t most) noexcept {
  return std::clamp<std::size_t>(kBatchesInFlight / sub_filters, 1, most);
}

// The ring with a batch of each filter in one place: fewer keys are in flight, but with all of their
// blocks. A key is not dropped when one filter has it, so that its time does not depend on the answer.
template <class Keys>
struct AnyOf {
  static bool one(const BitArray* const* sub_filters, std::size_t count, Hash128 hash) noexcept {
    bool found = false;
    for (std::size_t i = 0; i < count; ++i) found |= Keys::contains_one(*sub_filters[i], hash);
    return found;
  }

  // The data of a key that is the same in all filters comes from the batch of the first one, so that
  // the compiler sees that the key's bits need to be computed only once.
  [[gnu::always_inline]] static bool test(const BitArray& array, const typename Keys::Batch& batch,
                                          const typename Keys::Batch& first,
                                          std::size_t i) noexcept {
    if constexpr (requires { Keys::contains(array, batch, first, i); })
      return Keys::contains(array, batch, first, i);
    else
      return Keys::contains(array, batch, i);
  }

  template <Answers kAnswers, class Source>
  static std::size_t many(const BitArray* const* sub_filters, std::size_t sub_filter_count,
                          const Source& source, std::size_t count, bool* answers) noexcept {
    typename Keys::Batch ring[kSubFilterBatches];
    BitArray arrays[kSubFiltersAtOnce];
    for (std::size_t j = 0; j < sub_filter_count; ++j) arrays[j] = *sub_filters[j];
    const std::size_t batches = count / kBatch;
    const std::size_t ahead =
        std::min(batches_ahead(sub_filter_count, Keys::kBatchesAhead), batches);
    std::size_t yes = 0;
    const auto locate = [&](std::size_t place, std::size_t batch, std::size_t keys) {
      Hash128 hashes[kBatch];
      for (std::size_t i = 0; i < keys; ++i) hashes[i] = source(batch * kBatch + i);
      for (std::size_t j = 0; j < sub_filter_count; ++j)
        Keys::locate(arrays[j], FromHashes{hashes}, 0, keys, ring[place * sub_filter_count + j]);
    };
    const auto prefetch = [&](std::size_t place, std::size_t i) {
      for (std::size_t j = 0; j < sub_filter_count; ++j)
        Keys::prefetch(arrays[j], ring[place * sub_filter_count + j], i);
    };
    const auto apply = [&](std::size_t place, std::size_t batch, std::size_t i) {
      bool found = false;
      for (std::size_t j = 0; j < sub_filter_count; ++j)
        found |=
            test(arrays[j], ring[place * sub_filter_count + j], ring[place * sub_filter_count], i);
      give<kAnswers>(answers, batch * kBatch + i, found);
      yes += found;
    };
    for (std::size_t batch = 0; batch < ahead; ++batch) {
      locate(batch, batch, kBatch);
      for (std::size_t i = 0; i < kBatch; ++i) prefetch(batch, i);
    }
    std::size_t oldest = 0;
    std::size_t spare = ahead;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      const bool more = batch + ahead < batches;
      if (more) locate(spare, batch + ahead, kBatch);
      for (std::size_t i = 0; i < kBatch; ++i) {
        apply(oldest, batch, i);
        if (more) prefetch(spare, i);
      }
      spare = oldest;
      oldest = oldest == ahead ? 0 : oldest + 1;
    }
    const std::size_t rest = count - batches * kBatch;
    locate(0, batches, rest);
    for (std::size_t i = 0; i < rest; ++i) apply(0, batches, i);
    return yes;
  }
};

template <class Keys, class Source>
std::size_t run_any(const BitArray* const* sub_filters, std::size_t sub_filter_count,
                    const Source& source, std::size_t count, bool* answers) noexcept {
  using Any = AnyOf<Keys>;
  if constexpr (kHasOneRing<Keys>)
    return Any::template many<Answers::either>(sub_filters, sub_filter_count, FromEither(source),
                                               count, answers);
  if (answers != nullptr)
    return Any::template many<Answers::all>(sub_filters, sub_filter_count, source, count, answers);
  return Any::template many<Answers::none>(sub_filters, sub_filter_count, source, count, nullptr);
}

// ---- the kernel ------------------------------------------------------------------------------------

template <class Inserts, class LookUps = Inserts>
constexpr BitKernel make_bit_kernel(const char* name) {
  return {
      name,
      Inserts::insert_one,
      LookUps::contains_one,
      kOfHashes<Inserts, Insert>,
      kOfHashes<LookUps, Contains>,
      kOfIntegers<Inserts, Insert>,
      kOfIntegers<LookUps, Contains>,
  };
}

template <class Keys>
constexpr Kernel make_kernel(const char* name, const BitKernel* atomic, const BitKernel* striped) {
  return {
      make_bit_kernel<Keys>(name),
      [](const BitArray* const* sub_filters, std::size_t sub_filter_count, Hash128 hash) noexcept {
        return AnyOf<Keys>::one(sub_filters, sub_filter_count, hash);
      },
      [](const BitArray* const* sub_filters, std::size_t sub_filter_count, const Hash128* hashes,
         std::size_t count, bool* answers) noexcept {
        return run_any<Keys>(sub_filters, sub_filter_count, FromHashes{hashes}, count, answers);
      },
      [](const BitArray* const* sub_filters, std::size_t sub_filter_count,
         std::uint64_t seed_multiplier, const std::uint64_t* keys, std::size_t count,
         bool* answers) noexcept {
        return run_any<Keys>(sub_filters, sub_filter_count, FromIntegers{keys, seed_multiplier},
                             count, answers);
      },
      [](const std::uint32_t* words, std::uint64_t bits) noexcept {
        std::uint64_t ones = 0;
        for (std::uint64_t i = 0; i < bits / 32; i += 2) {
          std::uint64_t two;
          std::memcpy(&two, words + i, sizeof two);
          ones += static_cast<std::uint64_t>(std::popcount(two));
        }
        return ones;
      },
      atomic,
      striped,
  };
}

}  // namespace
}  // namespace bloomery::detail
