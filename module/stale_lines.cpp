// Clearing lines one by one.
#include "stale_lines.hpp"

#include <bloomery/plan.hpp>

#include <algorithm>
#include <new>

#include "filter/window_ring.hpp"

namespace bloomery::server {

OwnedStaleLines StaleLines::of(const detail::WindowShape& shape, std::uint32_t first,
                               std::uint32_t count) noexcept {
  const std::uint64_t words = (shape.lines + 63) / 64;
  void* const memory = allocate(sizeof(StaleLines) + words * sizeof(std::uint64_t));
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) StaleLines(first, count);
  std::fill_n(made->bits(), words, ~std::uint64_t{0});
  return OwnedStaleLines(made);
}

void StaleLines::clear(const detail::WindowShape& shape, std::uint64_t line) noexcept {
  constexpr std::size_t kWords = kLineBits / 32;
  for (std::uint32_t i = 0; i < count_; ++i) {
    std::uint32_t* const words = detail::line_at(shape, line, (first_ + i) % shape.slots);
    // Pages that nobody has used are only read.
    if (std::any_of(words, words + kWords, [](std::uint32_t word) { return word != 0; }))
      std::fill_n(words, kWords, 0U);
  }
  bits()[line / 64] &= ~(std::uint64_t{1} << line % 64);
}

void StaleLines::settle(const detail::WindowShape& shape, std::uint64_t from,
                        std::uint64_t to) noexcept {
  // The lines of a slot lie too far apart for the CPU to ask for them ahead by itself.
  constexpr std::uint64_t kAhead = 24;
  for (std::uint64_t line = std::max(from, next_); line < to; ++line) {
    if (line + kAhead < to) __builtin_prefetch(detail::line_at(shape, line + kAhead, first_), 1);
    settle(shape, line);
  }
}

bool StaleLines::go_on(const detail::WindowShape& shape, std::uint64_t most) noexcept {
  const std::uint64_t end = next_ + std::min(most, shape.lines - next_);
  settle(shape, next_, end);
  next_ = end;
  return next_ == shape.lines;
}

}  // namespace bloomery::server
