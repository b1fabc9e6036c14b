// The lower bounds: the best loops we know that fetch random 64-byte blocks and do nothing else, or store a word in
// each.
//
// The key itself chooses a block (keys are random, so there is no hash); the block is prefetched
// `InFlight` keys ahead, and one word of it is read. The address is computed twice, which is cheaper than
// storing it. A filter cannot be faster in the same memory; goals are ratios to this.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace bloomery::bench {

// A key whose block is unrelated to that of `key`.
inline std::uint64_t other_of(std::uint64_t key) { return key * 0x9E3779B97F4A7C15; }

// `BlocksPerKey` 2 fetches a second, unrelated block, as layout `blocked2` must.
template <std::size_t InFlight, unsigned BlocksPerKey>
std::uint64_t bare_loop(std::span<const std::byte> memory, std::span<const std::uint64_t> keys) {
  __extension__ using uint128 = unsigned __int128;
  const std::uint64_t blocks = memory.size() / 64;
  const auto block = [&](std::uint64_t key) {
    return memory.data() +
           static_cast<std::uint64_t>((static_cast<uint128>(key) * blocks) >> 64) * 64;
  };
  const auto ask = [&](std::uint64_t key) {
    __builtin_prefetch(block(key));
    if constexpr (BlocksPerKey == 2) __builtin_prefetch(block(other_of(key)));
  };
  const auto word = [](const std::byte* at) {
    return *reinterpret_cast<const volatile std::uint64_t*>(at);
  };
  const auto touch = [&](std::uint64_t key) {
    std::uint64_t value = word(block(key));
    if constexpr (BlocksPerKey == 2) value += word(block(other_of(key)));
    return value;
  };
  std::uint64_t sum = 0;
  const std::size_t count = keys.size();
  const std::size_t ahead = count < InFlight ? count : InFlight;
  for (std::size_t i = 0; i < ahead; ++i) ask(keys[i]);
  for (std::size_t i = ahead; i < count; ++i) {
    sum += touch(keys[i - ahead]);
    ask(keys[i]);
  }
  for (std::size_t i = count - ahead; i < count; ++i) sum += touch(keys[i]);
  return sum;
}

// Like bare_loop, with a store. Each block is asked for kInFlight keys ahead; 0: not before it is written, as by single
// inserts. kLocked: under the lock of the block's stripe, which is the least that a shared insert must do. kBlocks: as
// in `blocked2` a key can have two.
template <std::size_t kInFlight, bool kLocked, unsigned kBlocks = 1>
std::uint64_t bare_writes(std::span<std::byte> memory, std::span<const std::uint64_t> keys) {
  struct alignas(64) Lock {
    std::atomic<std::uint32_t> held{0};
  };
  static Lock locks[4096];
  __extension__ using uint128 = unsigned __int128;
  const std::uint64_t blocks = memory.size() / 64;
  const auto block_of = [&](std::uint64_t key) {
    return static_cast<std::uint64_t>((static_cast<uint128>(key) * blocks) >> 64);
  };
  const auto each_block = [&](std::uint64_t key, auto use) {
    use(block_of(key));
    if constexpr (kBlocks == 2) use(block_of(other_of(key)));
  };
  const auto ask_for = [&](std::uint64_t block) {
    __builtin_prefetch(memory.data() + block * 64, 1);
    if constexpr (kLocked) __builtin_prefetch(&locks[block % std::size(locks)], 1);
  };
  const auto set_in = [&](std::uint64_t block, std::uint64_t key) {
    const std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(memory.data() + block * 64));
    const auto set = [&] {
      word.store(word.load(std::memory_order_relaxed) | key, std::memory_order_relaxed);
    };
    if constexpr (kLocked) {
      (void)word.load(std::memory_order_relaxed);  // whether the key is there already
      Lock& lock = locks[block % std::size(locks)];
      while (lock.held.exchange(1, std::memory_order_acquire) != 0)
        ;
      set();
      lock.held.store(0, std::memory_order_release);
    } else {
      set();
    }
  };
  const auto ask = [&](std::uint64_t key) { each_block(key, ask_for); };
  const auto write = [&](std::uint64_t key) {
    each_block(key, [&](std::uint64_t block) { set_in(block, key); });
  };
  const std::size_t ahead = std::min(keys.size(), kInFlight);
  for (std::size_t i = 0; i < ahead; ++i) ask(keys[i]);
  for (std::size_t i = ahead; i < keys.size(); ++i) {
    write(keys[i - ahead]);
    if constexpr (kInFlight != 0) ask(keys[i]);
  }
  for (std::size_t i = keys.size() - ahead; i < keys.size(); ++i) write(keys[i]);
  return memory.empty() ? 0 : static_cast<std::uint64_t>(memory[0]);
}

}  // namespace bloomery::bench
