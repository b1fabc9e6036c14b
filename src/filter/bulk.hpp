// Many keys at once: a ring of blocks in which each key's lines are on their way from memory
// while older keys are applied.
//
// Measured (docs/benchmarks.md): the depth of the window decides, and it must never drain,
// so a block is refilled and prefetched as soon as it has been applied. Blocks of sixteen let
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

constexpr std::size_t kBlock = 16;

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

// ---- layouts: where a block of keys is, and how it is applied -------------------------------

struct LineBlock {
  std::uint32_t* line[kBlock];
  std::uint64_t low[kBlock];
};
struct PairBlock {
  std::uint32_t* line[2][kBlock];
  std::uint64_t low[2][kBlock];
};

template <class Line>
struct LineLayout {
  using Block = LineBlock;
  static constexpr std::size_t kWindow = 8;  // blocks

  template <class Source>
  [[gnu::always_inline]] static void locate(const Shape& shape, const Source& source,
                                            std::size_t first, std::size_t count,
                                            Block& block) noexcept {
    if constexpr (requires { Line::locate(shape, source, first, block); }) {
      if (count == kBlock) return Line::locate(shape, source, first, block);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Hash128 hash = source(first + i);
      block.line[i] = line_of(shape, hash.high);
      block.low[i] = hash.low;
    }
  }
  [[gnu::always_inline]] static void prefetch(const Shape&, const Block& block,
                                              std::size_t i) noexcept {
    __builtin_prefetch(block.line[i]);
  }
  [[gnu::always_inline]] static bool set(const Shape& shape, const Block& block,
                                         std::size_t i) noexcept {
    return Line::set(block.line[i], block.low[i], *shape.masks);
  }
  [[gnu::always_inline]] static bool test(const Shape& shape, const Block& block,
                                          std::size_t i) noexcept {
    return test(shape, block, block, i);
  }
  // `same` is another filter's block of the same keys.
  [[gnu::always_inline]] static bool test(const Shape& shape, const Block& block, const Block& same,
                                          std::size_t i) noexcept {
    return Line::test(block.line[i], same.low[i], *shape.masks);
  }
  static bool insert_one(const Shape& shape, Hash128 hash) noexcept {
    return Line::set(line_of(shape, hash.high), hash.low, *shape.masks);
  }
  static bool contains_one(const Shape& shape, Hash128 hash) noexcept {
    return Line::test(line_of(shape, hash.high), hash.low, *shape.masks);
  }
};

template <class Line>
struct PairLayout {
  using Block = PairBlock;
  static constexpr std::size_t kWindow = 5;

  template <class Source>
  [[gnu::always_inline]] static void locate(const Shape& shape, const Source& source,
                                            std::size_t first, std::size_t count,
                                            Block& block) noexcept {
    if constexpr (requires { Line::locate(shape, source, first, block); }) {
      if (count == kBlock) return Line::locate(shape, source, first, block);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Hash128 hash = source(first + i);
      const Hash128 second = second_hash(hash);
      block.line[0][i] = line_of(shape, hash.high);
      block.low[0][i] = hash.low;
      block.line[1][i] = line_of(shape, second.high);
      block.low[1][i] = second.low;
    }
  }
  [[gnu::always_inline]] static void prefetch(const Shape&, const Block& block,
                                              std::size_t i) noexcept {
    __builtin_prefetch(block.line[0][i]);
    __builtin_prefetch(block.line[1][i]);
  }
  [[gnu::always_inline]] static bool set(const Shape& shape, const Block& block,
                                         std::size_t i) noexcept {
    const bool first = Line::set(block.line[0][i], block.low[0][i], *shape.masks);
    const bool second = Line::set(block.line[1][i], block.low[1][i], *shape.masks);
    return first | second;
  }
  [[gnu::always_inline]] static bool test(const Shape& shape, const Block& block,
                                          std::size_t i) noexcept {
    return test(shape, block, block, i);
  }
  [[gnu::always_inline]] static bool test(const Shape& shape, const Block& block, const Block& same,
                                          std::size_t i) noexcept {
    const bool first = Line::test(block.line[0][i], same.low[0][i], *shape.masks);
    const bool second = Line::test(block.line[1][i], same.low[1][i], *shape.masks);
    return first & second;
  }
  static bool insert_one(const Shape& shape, Hash128 hash) noexcept {
    const Hash128 second = second_hash(hash);
    const bool one = Line::set(line_of(shape, hash.high), hash.low, *shape.masks);
    const bool two = Line::set(line_of(shape, second.high), second.low, *shape.masks);
    return one | two;
  }
  static bool contains_one(const Shape& shape, Hash128 hash) noexcept {
    // Both lines are fetched at once; a look-up that waited for the first before it asked for
    // the second would cost two memory latencies for every key that is there.
    const Hash128 second = second_hash(hash);
    const bool one = Line::test(line_of(shape, hash.high), hash.low, *shape.masks);
    const bool two = Line::test(line_of(shape, second.high), second.low, *shape.masks);
    return one & two;
  }
};

// ---- the ring --------------------------------------------------------------------------------

struct Insert {
  template <class Layout>
  [[gnu::always_inline]] static bool apply(const Shape& shape, const typename Layout::Block& block,
                                           std::size_t i) noexcept {
    return Layout::set(shape, block, i);
  }
};
struct Contains {
  template <class Layout>
  [[gnu::always_inline]] static bool apply(const Shape& shape, const typename Layout::Block& block,
                                           std::size_t i) noexcept {
    return Layout::test(shape, block, i);
  }
};

template <class Layout, class Operation, bool kAnswers>
[[gnu::always_inline]] inline std::size_t apply_block(const Shape& shape,
                                                      const typename Layout::Block& block,
                                                      std::size_t count, bool* answers,
                                                      std::size_t first) noexcept {
  std::size_t yes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool answer = Operation::template apply<Layout>(shape, block, i);
    if constexpr (kAnswers) answers[first + i] = answer;
    yes += answer;
  }
  return yes;
}

template <class Layout, class Operation, bool kAnswers, class Source>
std::size_t run_ring(const Shape& borrowed, const Source& source, std::size_t count,
                     bool* answers) noexcept {
  // A copy that no store through the bits can alias, so that it stays in registers.
  const Shape shape = borrowed;
  constexpr std::size_t kWindow = Layout::kWindow;
  // One block more than is in flight: it is filled while the oldest is applied, key by key, so
  // that the new prefetches are spread over that work. Sixteen at once would wait for each other.
  constexpr std::size_t kSlots = kWindow + 1;
  typename Layout::Block ring[kSlots];
  const std::size_t blocks = count / kBlock;
  const std::size_t ahead = std::min(kWindow, blocks);
  std::size_t yes = 0;
  for (std::size_t block = 0; block < ahead; ++block) {
    Layout::locate(shape, source, block * kBlock, kBlock, ring[block]);
    for (std::size_t i = 0; i < kBlock; ++i) Layout::prefetch(shape, ring[block], i);
  }
  std::size_t oldest = 0;
  std::size_t block = 0;
  for (std::size_t spare = ahead; block + ahead < blocks; ++block) {
    Layout::locate(shape, source, (block + ahead) * kBlock, kBlock, ring[spare]);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const bool answer = Operation::template apply<Layout>(shape, ring[oldest], i);
      if constexpr (kAnswers) answers[block * kBlock + i] = answer;
      yes += answer;
      Layout::prefetch(shape, ring[spare], i);
    }
    spare = oldest;
    if (++oldest == kSlots) oldest = 0;
  }
  for (; block < blocks; ++block) {
    yes += apply_block<Layout, Operation, kAnswers>(shape, ring[oldest], kBlock, answers,
                                                    block * kBlock);
    if (++oldest == kSlots) oldest = 0;
  }
  const std::size_t done = blocks * kBlock;
  Layout::locate(shape, source, done, count - done, ring[0]);
  return yes +
         apply_block<Layout, Operation, kAnswers>(shape, ring[0], count - done, answers, done);
}

template <class Layout, class Operation, class Source>
std::size_t run(const Shape& shape, const Source& source, std::size_t count,
                bool* answers) noexcept {
  if (answers != nullptr) return run_ring<Layout, Operation, true>(shape, source, count, answers);
  return run_ring<Layout, Operation, false>(shape, source, count, nullptr);
}

// ---- one key in several filters --------------------------------------------------------------

// Blocks in flight, of all filters together. More gain nothing: the memory has as many misses of a
// core as it takes, and lines that wait longer push each other out of the cache.
constexpr std::size_t kBlocksInFlight = 12;
constexpr std::size_t kLayerBlocks = std::max(kBlocksInFlight, kLayersAtOnce) + kLayersAtOnce;
inline std::size_t window_of(std::size_t layers, std::size_t most) noexcept {
  return std::clamp<std::size_t>(kBlocksInFlight / layers, 1, most);
}

// The ring with a block of each filter in a slot: fewer keys are in flight, but all their lines are.
// A key is not dropped when one filter has it, so that its time does not depend on the answer.
template <class Layout>
struct AnyOf {
  static bool one(const Shape* const* layers, std::size_t count, Hash128 hash) noexcept {
    bool found = false;
    for (std::size_t i = 0; i < count; ++i) found |= Layout::contains_one(*layers[i], hash);
    return found;
  }

  // What all filters have of a key is taken from the first one's block, so that the compiler sees
  // that its bits need to be worked out once.
  [[gnu::always_inline]] static bool test(const Shape& shape, const typename Layout::Block& block,
                                          const typename Layout::Block& first,
                                          std::size_t i) noexcept {
    if constexpr (requires { Layout::test(shape, block, first, i); })
      return Layout::test(shape, block, first, i);
    else
      return Layout::test(shape, block, i);
  }

  template <bool kAnswers, class Source>
  static std::size_t many(const Shape* const* layers, std::size_t layer_count, const Source& source,
                          std::size_t count, bool* answers) noexcept {
    typename Layout::Block ring[kLayerBlocks];
    Shape shapes[kLayersAtOnce];
    for (std::size_t j = 0; j < layer_count; ++j) shapes[j] = *layers[j];
    const std::size_t blocks = count / kBlock;
    const std::size_t ahead = std::min(window_of(layer_count, Layout::kWindow), blocks);
    std::size_t yes = 0;
    const auto locate = [&](std::size_t slot, std::size_t block, std::size_t keys) {
      Hash128 hashes[kBlock];
      for (std::size_t i = 0; i < keys; ++i) hashes[i] = source(block * kBlock + i);
      for (std::size_t j = 0; j < layer_count; ++j)
        Layout::locate(shapes[j], FromHashes{hashes}, 0, keys, ring[slot * layer_count + j]);
    };
    const auto prefetch = [&](std::size_t slot, std::size_t i) {
      for (std::size_t j = 0; j < layer_count; ++j)
        Layout::prefetch(shapes[j], ring[slot * layer_count + j], i);
    };
    const auto apply = [&](std::size_t slot, std::size_t block, std::size_t i) {
      bool found = false;
      for (std::size_t j = 0; j < layer_count; ++j)
        found |= test(shapes[j], ring[slot * layer_count + j], ring[slot * layer_count], i);
      if constexpr (kAnswers) answers[block * kBlock + i] = found;
      yes += found;
    };
    for (std::size_t block = 0; block < ahead; ++block) {
      locate(block, block, kBlock);
      for (std::size_t i = 0; i < kBlock; ++i) prefetch(block, i);
    }
    std::size_t oldest = 0;
    std::size_t spare = ahead;
    for (std::size_t block = 0; block < blocks; ++block) {
      const bool more = block + ahead < blocks;
      if (more) locate(spare, block + ahead, kBlock);
      for (std::size_t i = 0; i < kBlock; ++i) {
        apply(oldest, block, i);
        if (more) prefetch(spare, i);
      }
      spare = oldest;
      oldest = oldest == ahead ? 0 : oldest + 1;
    }
    const std::size_t rest = count - blocks * kBlock;
    locate(0, blocks, rest);
    for (std::size_t i = 0; i < rest; ++i) apply(0, blocks, i);
    return yes;
  }
};

template <class Layout, class Source>
std::size_t run_any(const Shape* const* layers, std::size_t layer_count, const Source& source,
                    std::size_t count, bool* answers) noexcept {
  return answers != nullptr
             ? AnyOf<Layout>::template many<true>(layers, layer_count, source, count, answers)
             : AnyOf<Layout>::template many<false>(layers, layer_count, source, count, nullptr);
}

template <class Layout>
constexpr Kernel make_kernel(const char* name, const Kernel* shared = nullptr) {
  return {
      name,
      [](const Shape& shape, Hash128 hash) noexcept { return Layout::insert_one(shape, hash); },
      [](const Shape& shape, Hash128 hash) noexcept { return Layout::contains_one(shape, hash); },
      [](const Shape& shape, const Hash128* hashes, std::size_t count, bool* answers) noexcept {
        return run<Layout, Insert>(shape, FromHashes{hashes}, count, answers);
      },
      [](const Shape& shape, const Hash128* hashes, std::size_t count, bool* answers) noexcept {
        return run<Layout, Contains>(shape, FromHashes{hashes}, count, answers);
      },
      [](const Shape& shape, std::uint64_t seed_multiplier, const std::uint64_t* keys,
         std::size_t count, bool* answers) noexcept {
        return run<Layout, Insert>(shape, FromIntegers{keys, seed_multiplier}, count, answers);
      },
      [](const Shape& shape, std::uint64_t seed_multiplier, const std::uint64_t* keys,
         std::size_t count, bool* answers) noexcept {
        return run<Layout, Contains>(shape, FromIntegers{keys, seed_multiplier}, count, answers);
      },
      [](const Shape* const* layers, std::size_t layer_count, Hash128 hash) noexcept {
        return AnyOf<Layout>::one(layers, layer_count, hash);
      },
      [](const Shape* const* layers, std::size_t layer_count, const Hash128* hashes,
         std::size_t count, bool* answers) noexcept {
        return run_any<Layout>(layers, layer_count, FromHashes{hashes}, count, answers);
      },
      [](const Shape* const* layers, std::size_t layer_count, std::uint64_t seed_multiplier,
         const std::uint64_t* keys, std::size_t count, bool* answers) noexcept {
        return run_any<Layout>(layers, layer_count, FromIntegers{keys, seed_multiplier}, count,
                               answers);
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
