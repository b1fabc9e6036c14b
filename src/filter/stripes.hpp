// The locks of blocks: a block of 64 bytes, anywhere in memory, belongs to the stripe that its address says.
//
// There is one table for the process, so that every handle on the same bits takes the same locks. A holder
// does a few loads and stores and holds no other stripe; nothing can block or fail meanwhile. Who waits spins
// for a while and then yields the processor, so that a holder that was stopped can go on.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomery::detail {

// So many that two threads seldom meet in one, or take its cache line from each other between asking for it and
// using it; so few that the table, 256 KiB, stays in the cache of a core.
inline constexpr unsigned kStripes = 4096;

struct alignas(64) Stripe {
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  void unlock() noexcept { held.store(0, std::memory_order_release); }

  // A test holds one as a thread does that is stopped.
  [[nodiscard]] bool try_lock() noexcept {
    return held.exchange(1, std::memory_order_acquire) == 0;
  }

 private:
  void wait() noexcept;  // and takes it

  std::atomic<std::uint32_t> held{0};
};

extern Stripe stripes[kStripes];

[[nodiscard]] inline Stripe& stripe_of(const void* block) noexcept {
  return stripes[reinterpret_cast<std::uintptr_t>(block) / 64 % kStripes];
}

}  // namespace bloomery::detail
