// Many keys at once: a ring of batches in which each key's blocks are on their way from memory
// while older keys are applied.
//
// Measured (docs/benchmarks.md): the depth of the window decides, and it must never drain,
// so a batch is refilled and prefetched as soon as it has been applied. Batches of sixteen let
// a kernel hash eight keys at a time; with that the ring costs nothing in cache either, and
// there is one path for every size.
//
// Included by each kernel_*.cpp, which compiles it for its instruction set; everything here is
// in an unnamed namespace so that no linker mixes those copies up. The inline helpers that it
// calls are not: these files are always optimized, which leaves none of them standing alone
// (tests/filter/kernel_symbols.py).
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {
namespace {

constexpr std::size_t kBatch = 16;

// ---- where keys come from ----------------------------------------------------------------

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

// ---- layouts: where a batch of keys is, and how it is applied -------------------------------

struct BlockedBatch {
  std::uint32_t* block[kBatch];
  std::uint64_t low[kBatch];
};
struct Blocked2Batch {
  std::uint32_t* block[2][kBatch];
  std::uint64_t low[2][kBatch];
};

template <class Block>
struct BlockedLayout {
  using Batch = BlockedBatch;
  static constexpr std::size_t kDepth = 8;  // batches

  template <class Source>
  [[gnu::always_inline]] static void locate(const BitArray& bit_array, const Source& source,
                                            std::size_t first, std::size_t count,
                                            Batch& batch) noexcept {
    if constexpr (requires { Block::locate(bit_array, source, first, batch); }) {
      if (count == kBatch) return Block::locate(bit_array, source, first, batch);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Hash128 hash = source(first + i);
      batch.block[i] = block_of(bit_array, hash.high);
      batch.low[i] = hash.low;
    }
  }
  [[gnu::always_inline]] static void prefetch(const BitArray&, const Batch& batch,
                                              std::size_t i) noexcept {
    __builtin_prefetch(batch.block[i]);
  }
  [[gnu::always_inline]] static bool set(const BitArray& bit_array, const Batch& batch,
                                         std::size_t i) noexcept {
    return Block::set(batch.block[i], batch.low[i], *bit_array.masks);
  }
  [[gnu::always_inline]] static bool test(const BitArray& bit_array, const Batch& batch,
                                          std::size_t i) noexcept {
    return test(bit_array, batch, batch, i);
  }
  // `same` is another filter's batch of the same keys.
  [[gnu::always_inline]] static bool test(const BitArray& bit_array, const Batch& batch,
                                          const Batch& same, std::size_t i) noexcept {
    return Block::test(batch.block[i], same.low[i], *bit_array.masks);
  }
  static bool insert_one(const BitArray& bit_array, Hash128 hash) noexcept {
    return Block::set(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
  }
  static bool contains_one(const BitArray& bit_array, Hash128 hash) noexcept {
    return Block::test(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
  }
};

template <class Block>
struct Blocked2Layout {
  using Batch = Blocked2Batch;
  static constexpr std::size_t kDepth = 5;

  template <class Source>
  [[gnu::always_inline]] static void locate(const BitArray& bit_array, const Source& source,
                                            std::size_t first, std::size_t count,
                                            Batch& batch) noexcept {
    if constexpr (requires { Block::locate(bit_array, source, first, batch); }) {
      if (count == kBatch) return Block::locate(bit_array, source, first, batch);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Hash128 hash = source(first + i);
      const Hash128 second = second_hash(hash);
      batch.block[0][i] = block_of(bit_array, hash.high);
      batch.low[0][i] = hash.low;
      batch.block[1][i] = block_of(bit_array, second.high);
      batch.low[1][i] = second.low;
    }
  }
  [[gnu::always_inline]] static void prefetch(const BitArray&, const Batch& batch,
                                              std::size_t i) noexcept {
    __builtin_prefetch(batch.block[0][i]);
    __builtin_prefetch(batch.block[1][i]);
  }
  [[gnu::always_inline]] static bool set(const BitArray& bit_array, const Batch& batch,
                                         std::size_t i) noexcept {
    const bool first = Block::set(batch.block[0][i], batch.low[0][i], *bit_array.masks);
    const bool second = Block::set(batch.block[1][i], batch.low[1][i], *bit_array.masks);
    return first | second;
  }
  [[gnu::always_inline]] static bool test(const BitArray& bit_array, const Batch& batch,
                                          std::size_t i) noexcept {
    return test(bit_array, batch, batch, i);
  }
  [[gnu::always_inline]] static bool test(const BitArray& bit_array, const Batch& batch,
                                          const Batch& same, std::size_t i) noexcept {
    const bool first = Block::test(batch.block[0][i], same.low[0][i], *bit_array.masks);
    const bool second = Block::test(batch.block[1][i], same.low[1][i], *bit_array.masks);
    return first & second;
  }
  static bool insert_one(const BitArray& bit_array, Hash128 hash) noexcept {
    const Hash128 second = second_hash(hash);
    const bool one = Block::set(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
    const bool two = Block::set(block_of(bit_array, second.high), second.low, *bit_array.masks);
    return one | two;
  }
  static bool contains_one(const BitArray& bit_array, Hash128 hash) noexcept {
    // Both blocks are fetched at once; a look-up that waited for the first before it asked for
    // the second would cost two memory latencies for every key that is there.
    const Hash128 second = second_hash(hash);
    const bool one = Block::test(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
    const bool two = Block::test(block_of(bit_array, second.high), second.low, *bit_array.masks);
    return one & two;
  }
};

// ---- the ring --------------------------------------------------------------------------------

struct Insert {
  template <class Layout>
  [[gnu::always_inline]] static bool apply(const BitArray& bit_array,
                                           const typename Layout::Batch& batch,
                                           std::size_t i) noexcept {
    return Layout::set(bit_array, batch, i);
  }
};
struct Contains {
  template <class Layout>
  [[gnu::always_inline]] static bool apply(const BitArray& bit_array,
                                           const typename Layout::Batch& batch,
                                           std::size_t i) noexcept {
    return Layout::test(bit_array, batch, i);
  }
};

template <class Layout, class Operation, bool kAnswers>
[[gnu::always_inline]] inline std::size_t apply_batch(const BitArray& bit_array,
                                                      const typename Layout::Batch& batch,
                                                      std::size_t count, bool* answers,
                                                      std::size_t first) noexcept {
  std::size_t yes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool answer = Operation::template apply<Layout>(bit_array, batch, i);
    if constexpr (kAnswers) answers[first + i] = answer;
    yes += answer;
  }
  return yes;
}

template <class Layout, class Operation, bool kAnswers, class Source>
std::size_t run_ring(const BitArray& borrowed, const Source& source, std::size_t count,
                     bool* answers) noexcept {
  // A copy that no store through the bits can alias, so that it stays in registers.
  const BitArray bit_array = borrowed;
  constexpr std::size_t kDepth = Layout::kDepth;
  // One batch more than is in flight: it is filled while the oldest is applied, key by key, so
  // that the new prefetches are spread over that work. Sixteen at once would wait for each other.
  constexpr std::size_t kRing = kDepth + 1;
  typename Layout::Batch ring[kRing];
  const std::size_t batches = count / kBatch;
  const std::size_t ahead = std::min(kDepth, batches);
  std::size_t yes = 0;
  for (std::size_t batch = 0; batch < ahead; ++batch) {
    Layout::locate(bit_array, source, batch * kBatch, kBatch, ring[batch]);
    for (std::size_t i = 0; i < kBatch; ++i) Layout::prefetch(bit_array, ring[batch], i);
  }
  std::size_t oldest = 0;
  std::size_t batch = 0;
  for (std::size_t spare = ahead; batch + ahead < batches; ++batch) {
    Layout::locate(bit_array, source, (batch + ahead) * kBatch, kBatch, ring[spare]);
    for (std::size_t i = 0; i < kBatch; ++i) {
      const bool answer = Operation::template apply<Layout>(bit_array, ring[oldest], i);
      if constexpr (kAnswers) answers[batch * kBatch + i] = answer;
      yes += answer;
      Layout::prefetch(bit_array, ring[spare], i);
    }
    spare = oldest;
    if (++oldest == kRing) oldest = 0;
  }
  for (; batch < batches; ++batch) {
    yes += apply_batch<Layout, Operation, kAnswers>(bit_array, ring[oldest], kBatch, answers,
                                                    batch * kBatch);
    if (++oldest == kRing) oldest = 0;
  }
  const std::size_t done = batches * kBatch;
  Layout::locate(bit_array, source, done, count - done, ring[0]);
  return yes +
         apply_batch<Layout, Operation, kAnswers>(bit_array, ring[0], count - done, answers, done);
}

template <class Layout, class Operation, class Source>
std::size_t run(const BitArray& bit_array, const Source& source, std::size_t count,
                bool* answers) noexcept {
  if (answers != nullptr)
    return run_ring<Layout, Operation, true>(bit_array, source, count, answers);
  return run_ring<Layout, Operation, false>(bit_array, source, count, nullptr);
}

// ---- one key in several filters --------------------------------------------------------------

// Batches in flight, of all filters together. More gain nothing: the memory has as many misses of a
// core as it takes, and blocks that wait longer push each other out of the cache.
constexpr std::size_t kBatchesInFlight = 12;
constexpr std::size_t kSubFilterBatches =
    std::max(kBatchesInFlight, kSubFiltersAtOnce) + kSubFiltersAtOnce;
inline std::size_t depth_of(std::size_t sub_filters, std::size_t most) noexcept {
  return std::clamp<std::size_t>(kBatchesInFlight / sub_filters, 1, most);
}

// The ring with a batch of each filter in a slot: fewer keys are in flight, but all their blocks are.
// A key is not dropped when one filter has it, so that its time does not depend on the answer.
template <class Layout>
struct AnyOf {
  static bool one(const BitArray* const* sub_filters, std::size_t count, Hash128 hash) noexcept {
    bool found = false;
    for (std::size_t i = 0; i < count; ++i) found |= Layout::contains_one(*sub_filters[i], hash);
    return found;
  }

  // What all filters have of a key is taken from the first one's batch, so that the compiler sees
  // that its bits need to be worked out once.
  [[gnu::always_inline]] static bool test(const BitArray& bit_array,
                                          const typename Layout::Batch& batch,
                                          const typename Layout::Batch& first,
                                          std::size_t i) noexcept {
    if constexpr (requires { Layout::test(bit_array, batch, first, i); })
      return Layout::test(bit_array, batch, first, i);
    else
      return Layout::test(bit_array, batch, i);
  }

  template <bool kAnswers, class Source>
  static std::size_t many(const BitArray* const* sub_filters, std::size_t sub_filter_count,
                          const Source& source, std::size_t count, bool* answers) noexcept {
    typename Layout::Batch ring[kSubFilterBatches];
    BitArray bit_arrays[kSubFiltersAtOnce];
    for (std::size_t j = 0; j < sub_filter_count; ++j) bit_arrays[j] = *sub_filters[j];
    const std::size_t batches = count / kBatch;
    const std::size_t ahead = std::min(depth_of(sub_filter_count, Layout::kDepth), batches);
    std::size_t yes = 0;
    const auto locate = [&](std::size_t slot, std::size_t batch, std::size_t keys) {
      Hash128 hashes[kBatch];
      for (std::size_t i = 0; i < keys; ++i) hashes[i] = source(batch * kBatch + i);
      for (std::size_t j = 0; j < sub_filter_count; ++j)
        Layout::locate(bit_arrays[j], FromHashes{hashes}, 0, keys,
                       ring[slot * sub_filter_count + j]);
    };
    const auto prefetch = [&](std::size_t slot, std::size_t i) {
      for (std::size_t j = 0; j < sub_filter_count; ++j)
        Layout::prefetch(bit_arrays[j], ring[slot * sub_filter_count + j], i);
    };
    const auto apply = [&](std::size_t slot, std::size_t batch, std::size_t i) {
      bool found = false;
      for (std::size_t j = 0; j < sub_filter_count; ++j)
        found |= test(bit_arrays[j], ring[slot * sub_filter_count + j],
                      ring[slot * sub_filter_count], i);
      if constexpr (kAnswers) answers[batch * kBatch + i] = found;
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

template <class Layout, class Source>
std::size_t run_any(const BitArray* const* sub_filters, std::size_t sub_filter_count,
                    const Source& source, std::size_t count, bool* answers) noexcept {
  return answers != nullptr ? AnyOf<Layout>::template many<true>(sub_filters, sub_filter_count,
                                                                 source, count, answers)
                            : AnyOf<Layout>::template many<false>(sub_filters, sub_filter_count,
                                                                  source, count, nullptr);
}

template <class Layout>
constexpr Kernel make_kernel(const char* name, const Kernel* shared = nullptr) {
  return {
      name,
      [](const BitArray& bit_array, Hash128 hash) noexcept {
        return Layout::insert_one(bit_array, hash);
      },
      [](const BitArray& bit_array, Hash128 hash) noexcept {
        return Layout::contains_one(bit_array, hash);
      },
      [](const BitArray& bit_array, const Hash128* hashes, std::size_t count,
         bool* answers) noexcept {
        return run<Layout, Insert>(bit_array, FromHashes{hashes}, count, answers);
      },
      [](const BitArray& bit_array, const Hash128* hashes, std::size_t count,
         bool* answers) noexcept {
        return run<Layout, Contains>(bit_array, FromHashes{hashes}, count, answers);
      },
      [](const BitArray& bit_array, std::uint64_t seed_multiplier, const std::uint64_t* keys,
         std::size_t count, bool* answers) noexcept {
        return run<Layout, Insert>(bit_array, FromIntegers{keys, seed_multiplier}, count, answers);
      },
      [](const BitArray& bit_array, std::uint64_t seed_multiplier, const std::uint64_t* keys,
         std::size_t count, bool* answers) noexcept {
        return run<Layout, Contains>(bit_array, FromIntegers{keys, seed_multiplier}, count,
                                     answers);
      },
      [](const BitArray* const* sub_filters, std::size_t sub_filter_count, Hash128 hash) noexcept {
        return AnyOf<Layout>::one(sub_filters, sub_filter_count, hash);
      },
      [](const BitArray* const* sub_filters, std::size_t sub_filter_count, const Hash128* hashes,
         std::size_t count, bool* answers) noexcept {
        return run_any<Layout>(sub_filters, sub_filter_count, FromHashes{hashes}, count, answers);
      },
      [](const BitArray* const* sub_filters, std::size_t sub_filter_count,
         std::uint64_t seed_multiplier, const std::uint64_t* keys, std::size_t count,
         bool* answers) noexcept {
        return run_any<Layout>(sub_filters, sub_filter_count, FromIntegers{keys, seed_multiplier},
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
      shared,
  };
}

}  // namespace
}  // namespace bloomery::detail
