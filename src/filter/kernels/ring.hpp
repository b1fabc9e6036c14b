// Many keys at once: a ring of batches in which each key's blocks are on their way from memory while
// older keys are applied.
//
// Measured (docs/benchmarks.md): the number of keys in flight decides the speed, and it must never fall,
// so a batch is refilled and prefetched as soon as it has been applied. Batches of sixteen let a kernel
// hash eight keys at a time; with that the ring costs nothing in cache either, and there is one path for every size.
//
// Included by the file of each instruction set, which compiles it with its flags; everything here is in an
// unnamed namespace so that no linker mixes those copies up. The inline helpers that this code calls are
// not in it: these files are always optimized, so that no out-of-line copy of a helper remains
// (tests/filter/kernel_symbols.py).
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace bloomery::detail {
namespace {

constexpr std::size_t kBatch = 16;

// ---- where keys come from ----------------------------------------------------------------------

struct FromHashes {
  const Hash128* hashes;
  Hash128 operator()(std::size_t i) const noexcept { return hashes[i]; }
};

struct FromIntegers {
  const std::uint64_t* keys;
  std::uint64_t seed_multiplier;
  Hash128 operator()(std::size_t i) const noexcept {
    return hash_integer(keys[i], seed_multiplier);
  }
};

// Either source; each key checks which one it is.
struct FromEither {
  FromHashes hashes;
  FromIntegers integers;
  explicit FromEither(const FromHashes& from) noexcept : hashes(from), integers{} {}
  explicit FromEither(const FromIntegers& from) noexcept : hashes{}, integers(from) {}
  Hash128 operator()(std::size_t i) const noexcept {
    return hashes.hashes != nullptr ? hashes(i) : integers(i);
  }
};

// ---- where answers go --------------------------------------------------------------------------

// Whether there is room for answers; with `either` each key checks it.
enum class Answers : std::uint8_t { none, all, either };

template <Answers kAnswers>
[[gnu::always_inline]] inline void give(bool* answers, std::size_t i, bool answer) noexcept {
  if constexpr (kAnswers == Answers::all) answers[i] = answer;
  if constexpr (kAnswers == Answers::either)
    if (answers != nullptr) answers[i] = answer;
}

// ---- the ring ----------------------------------------------------------------------------------
// `Keys` says how keys are located, prefetched and applied to an array, which is a BitArray or another structure:
//   Batch, kBatchesAhead
//   locate(array, source, first, count, batch)
//   prefetch(array, batch, i)
//   insert(array, batch, i), contains(array, batch, i), and with counters remove(array, batch, i)
//   InCache, kCachedBits: optional; the Keys for filters of up to kCachedBits bits
//   kOneRing: if true, one ring is compiled for all sources and answers, because a key takes long in any case

struct Insert {
  template <class Keys>
  [[gnu::always_inline]] static bool apply(const auto& array, const typename Keys::Batch& batch,
                                           std::size_t i) noexcept {
    return Keys::insert(array, batch, i);
  }
};
struct Contains {
  template <class Keys>
  [[gnu::always_inline]] static bool apply(const auto& array, const typename Keys::Batch& batch,
                                           std::size_t i) noexcept {
    return Keys::contains(array, batch, i);
  }
};
struct Remove {
  template <class Keys>
  [[gnu::always_inline]] static bool apply(const auto& array, const typename Keys::Batch& batch,
                                           std::size_t i) noexcept {
    return Keys::remove(array, batch, i);
  }
};

template <class Keys, class Operation, Answers kAnswers, class Array>
[[gnu::always_inline]] inline std::size_t apply_batch(const Array& array,
                                                      const typename Keys::Batch& batch,
                                                      std::size_t count, bool* answers,
                                                      std::size_t first) noexcept {
  std::size_t yes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool answer = Operation::template apply<Keys>(array, batch, i);
    give<kAnswers>(answers, first + i, answer);
    yes += answer;
  }
  return yes;
}

template <class Keys, class Operation, Answers kAnswers, class Array, class Source>
std::size_t run_ring(const Array& borrowed, const Source& source, std::size_t count,
                     bool* answers) noexcept {
  // A copy, which no store into the bits can alias, so that it stays in registers.
  const Array array = borrowed;
  constexpr std::size_t kAhead = Keys::kBatchesAhead;
  // The ring has one batch more than are in flight. That batch is filled while the oldest one is
  // applied, key by key, so that the new prefetches are spread over that work. Sixteen prefetches at
  // once would wait for each other.
  constexpr std::size_t kRing = kAhead + 1;
  typename Keys::Batch ring[kRing];
  const std::size_t batches = count / kBatch;
  const std::size_t ahead = std::min(kAhead, batches);
  std::size_t yes = 0;
  for (std::size_t batch = 0; batch < ahead; ++batch) {
    Keys::locate(array, source, batch * kBatch, kBatch, ring[batch]);
    for (std::size_t i = 0; i < kBatch; ++i) Keys::prefetch(array, ring[batch], i);
  }
  std::size_t oldest = 0;
  std::size_t batch = 0;
  for (std::size_t spare = ahead; batch + ahead < batches; ++batch) {
    Keys::locate(array, source, (batch + ahead) * kBatch, kBatch, ring[spare]);
    for (std::size_t i = 0; i < kBatch; ++i) {
      const bool answer = Operation::template apply<Keys>(array, ring[oldest], i);
      give<kAnswers>(answers, batch * kBatch + i, answer);
      yes += answer;
      Keys::prefetch(array, ring[spare], i);
    }
    spare = oldest;
    if (++oldest == kRing) oldest = 0;
  }
  for (; batch < batches; ++batch) {
    yes += apply_batch<Keys, Operation, kAnswers>(array, ring[oldest], kBatch, answers,
                                                  batch * kBatch);
    if (++oldest == kRing) oldest = 0;
  }
  const std::size_t done = batches * kBatch;
  Keys::locate(array, source, done, count - done, ring[0]);
  return yes + apply_batch<Keys, Operation, kAnswers>(array, ring[0], count - done, answers, done);
}

template <class Keys>
constexpr bool kHasOneRing = requires {
  requires Keys::kOneRing;
};

template <class Keys, class Operation, class Array, class Source>
std::size_t run(const Array& array, const Source& source, std::size_t count,
                bool* answers) noexcept {
  if constexpr (requires { typename Keys::InCache; }) {
    if constexpr (!std::same_as<Keys, typename Keys::InCache>)
      if (array.bits <= Keys::kCachedBits)
        return run<typename Keys::InCache, Operation>(array, source, count, answers);
  }
  if constexpr (kHasOneRing<Keys>)
    return run_ring<Keys, Operation, Answers::either>(array, FromEither(source), count, answers);
  if (answers != nullptr)
    return run_ring<Keys, Operation, Answers::all>(array, source, count, answers);
  return run_ring<Keys, Operation, Answers::none>(array, source, count, nullptr);
}

template <class Keys, class Operation>
constexpr OfHashes kOfHashes =
    [](const BitArray& array, const Hash128* hashes, std::size_t count, bool* answers) noexcept {
      return run<Keys, Operation>(array, FromHashes{hashes}, count, answers);
    };
template <class Keys, class Operation>
constexpr OfIntegers kOfIntegers = [](const BitArray& array, std::uint64_t seed_multiplier,
                                      const std::uint64_t* keys, std::size_t count,
                                      bool* answers) noexcept {
  return run<Keys, Operation>(array, FromIntegers{keys, seed_multiplier}, count, answers);
};

// ---- keys of layouts with whole blocks -----------------------------------------------------------

template <unsigned kBlocks>
struct BlocksOfBatch {
  std::uint32_t* block[kBlocks][kBatch];
  std::uint64_t low[kBlocks][kBatch];
};

// L is a layout of whole blocks, Set the instruction set's struct of kernel_set.hpp.
template <class L, class Set>
struct LocatedBlocks {
  static constexpr std::size_t kBatchesAhead = L::kBatchesAhead;
  static constexpr unsigned kBlocks = L::kKeyBlocks;
  static constexpr bool kOneRing = Set::kOneRing;
  using Batch = BlocksOfBatch<kBlocks>;

  template <class Source>
  [[gnu::always_inline]] static void locate(const BitArray& array, const Source& source,
                                            std::size_t first, std::size_t count,
                                            Batch& batch) noexcept {
    if constexpr (requires { Set::locate(array, source, first, batch); }) {
      if (count == kBatch) return Set::locate(array, source, first, batch);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto blocks = L::blocks(array, source(first + i));
      for (unsigned j = 0; j < kBlocks; ++j) {
        batch.block[j][i] = words_of(array, blocks[j]);
        batch.low[j][i] = blocks[j].low;
      }
    }
  }
  [[gnu::always_inline]] static void prefetch(const BitArray&, const Batch& batch,
                                              std::size_t i) noexcept {
    for (unsigned j = 0; j < kBlocks; ++j) __builtin_prefetch(batch.block[j][i]);
  }
};

}  // namespace
}  // namespace bloomery::detail
