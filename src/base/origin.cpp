// Counts forks in the child. A file of its own so that the header needs nothing of <pthread.h>.
#include "base/origin.hpp"

#include <pthread.h>

namespace bloomery::detail {

constinit std::atomic<std::uint64_t> forks{0};

namespace {
void count_fork() noexcept { forks.fetch_add(1, std::memory_order_relaxed); }
// Before main(), so that no object is older.
[[maybe_unused]] const int kCounting = pthread_atfork(nullptr, nullptr, count_fork);
}  // namespace

}  // namespace bloomery::detail
