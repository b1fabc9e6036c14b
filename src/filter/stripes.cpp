// The table of locks, and waiting for one.
//
// A file of its own because it is compiled for every CPU, and each file of kernels, which includes the header, for one
// instruction set.
#include <bloomery/detail/stripes.hpp>

#include <thread>

namespace bloomery::detail {

Stripe stripes[kStripes];

void Stripe::wait() noexcept {
  constexpr unsigned kSpins = 200;  // some microseconds: hundreds of times what a holder needs
  for (unsigned spins = 0; held.load(std::memory_order_relaxed) != 0 || !try_lock(); ++spins) {
    if (spins >= kSpins) std::this_thread::yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

}  // namespace bloomery::detail
