// Several threads take keys in parts.
#include <bloomery/detail/parts.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace bloomery::detail {

std::size_t sum_of_parts(std::size_t count, unsigned threads, const PartOfKeys& part) noexcept {
  std::atomic<std::size_t> next = 0, sum = 0;
  const auto work = [&]() noexcept {
    for (;;) {
      const std::size_t first = next.fetch_add(kKeysOfAPart, std::memory_order_relaxed);
      if (first >= count) return;
      sum += part.work(part.context, first, std::min(kKeysOfAPart, count - first));
    }
  };
  std::vector<std::jthread> others;
  try {
    const std::size_t parts = (count + kKeysOfAPart - 1) / kKeysOfAPart;
    if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t wanted = std::min<std::size_t>(threads, parts);
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
  } catch (const std::exception&) {
    // The threads that were started do all parts.
  }
  work();
  others.clear();
  return sum;
}

}  // namespace bloomery::detail
