// The locks of blocks. The address of a block of 64 bytes, anywhere in memory, selects its stripe; each
// stripe has one lock.
//
// Every copy of the library in a process has one table of locks. A view keeps the table of the copy that made it, so
// that every handle on it takes the same locks, also where another shared object with a copy of its own inlined the
// call.
//
// A thread that holds a lock does a few loads and stores and takes no other lock, so it cannot block or fail while it
// holds it. A thread that waits spins for a while and then yields the processor, so that a holder that was stopped can
// continue.
#pragma once

#include <atomic>
#include <cstdint>

namespace bloomery::detail {

// There are so many stripes that two threads rarely need the same one, or take its cache line from each other
// between prefetch and use; and so few that the table, 256 KiB, stays in the cache of a core.
inline constexpr unsigned kStripes = 4096;

struct alignas(64) Stripe {
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  void unlock() noexcept { held.store(0, std::memory_order_release); }

  // Public because a test holds a lock in place of a thread that was stopped.
  [[nodiscard]] bool try_lock() noexcept {
    return held.exchange(1, std::memory_order_acquire) == 0;
  }

 private:
  void wait() noexcept;  // until the lock is free, and takes it

  std::atomic<std::uint32_t> held{0};
};

extern Stripe stripes[kStripes];

[[nodiscard]] inline Stripe& stripe_of(const void* block, Stripe* table = stripes) noexcept {
  return table[reinterpret_cast<std::uintptr_t>(block) / 64 % kStripes];
}

}  // namespace bloomery::detail
