// The lower bound: the best loop we know that fetches random 64-byte blocks and does nothing else.
//
// The key itself chooses a block (keys are random, so there is no hash); the block is prefetched
// `InFlight` keys ahead, and one word of it is read. The address is computed twice, which is cheaper than
// storing it. A filter cannot be faster in the same memory; goals are ratios to this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::bench {

// `blocks_per_key` 2 fetches a second, unrelated block, as layout `blocked2` must.
template <std::size_t InFlight, unsigned BlocksPerKey>
std::uint64_t bare_loop(std::span<const std::byte> memory, std::span<const std::uint64_t> keys) {
  __extension__ using uint128 = unsigned __int128;
  const std::uint64_t blocks = memory.size() / 64;
  const auto block = [&](std::uint64_t key) {
    return memory.data() +
           static_cast<std::uint64_t>((static_cast<uint128>(key) * blocks) >> 64) * 64;
  };
  const auto other = [](std::uint64_t key) { return key * 0x9E3779B97F4A7C15; };
  const auto ask = [&](std::uint64_t key) {
    __builtin_prefetch(block(key));
    if constexpr (BlocksPerKey == 2) __builtin_prefetch(block(other(key)));
  };
  const auto word = [](const std::byte* at) {
    return *reinterpret_cast<const volatile std::uint64_t*>(at);
  };
  const auto touch = [&](std::uint64_t key) {
    std::uint64_t value = word(block(key));
    if constexpr (BlocksPerKey == 2) value += word(block(other(key)));
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

}  // namespace bloomery::bench
