// What a window keeps behind its object: its key, the counts of its slots, what is still to be cleared.
#include <bloomery/detail/line.hpp>

#include <algorithm>
#include <cstring>

#include "window.hpp"

namespace bloomery::server {

namespace {

constexpr std::uint64_t kMostNarrow = UINT16_MAX;
constexpr std::size_t kPointer = sizeof(void*);

// How many lines each command clears, and how many more for each of its items: in a gigabyte some two
// thousand commands of one item, or two hundred of a thousand, have cleared all.
constexpr std::uint64_t kLinesACommand = 1024;
constexpr std::uint64_t kLinesAnItem = 8;

// At least a pointer's, for counts that have become wide.
std::size_t narrow_bytes(std::uint32_t slots) noexcept {
  return std::max(slots * sizeof(std::uint16_t), kPointer);
}

}  // namespace

std::size_t Window::bytes_behind(std::uint32_t slots, bool keyed, bool big) noexcept {
  return narrow_bytes(slots) + (keyed ? sizeof(Seed) : 0) + (big ? kPointer : 0);
}

void Window::begin_behind(const std::optional<Seed>& key) noexcept {
  if (key) std::memcpy(key_bytes(), &*key, sizeof *key);
  std::memset(count_bytes(), 0, narrow_bytes(slots()));
  if (big_) std::memset(stale_bytes(), 0, kPointer);
}

void Window::end_behind() noexcept {
  set_stale(nullptr);
  if (wide_) release(wide_counts());
}

void Window::defragment_behind(DefragContext* context) noexcept {
  const auto move = [&](void* there, std::byte* pointer) {
    if (void* const moved = server::defragment(context, there))
      std::memcpy(pointer, &moved, kPointer);
  };
  if (wide_) move(wide_counts(), count_bytes());
  if (StaleLines* const lines = stale()) move(lines, stale_bytes());
}

std::byte* Window::key_bytes() const noexcept {
  return reinterpret_cast<std::byte*>(const_cast<Window*>(this)) + sizeof *this;
}

std::byte* Window::count_bytes() const noexcept {
  return key_bytes() + (keyed_ ? sizeof(Seed) : 0);
}

std::byte* Window::stale_bytes() const noexcept { return count_bytes() + narrow_bytes(slots()); }

std::uint64_t* Window::wide_counts() const noexcept {
  std::uint64_t* counts = nullptr;
  std::memcpy(&counts, count_bytes(), sizeof counts);
  return counts;
}

std::uint64_t Window::count_of(std::uint32_t slot) const noexcept {
  if (wide_) return wide_counts()[slot];
  std::uint16_t count = 0;
  std::memcpy(&count, count_bytes() + slot * sizeof count, sizeof count);
  return count;
}

void Window::set_count(std::uint32_t slot, std::uint64_t count) noexcept {
  if (wide_) {
    wide_counts()[slot] = count;
    return;
  }
  const auto narrow = static_cast<std::uint16_t>(count);
  std::memcpy(count_bytes() + slot * sizeof narrow, &narrow, sizeof narrow);
}

bool Window::widen_counts() noexcept {
  auto* const counts = static_cast<std::uint64_t*>(allocate(slots() * sizeof(std::uint64_t)));
  if (counts == nullptr) return false;
  for (std::uint32_t slot = 0; slot < slots(); ++slot) counts[slot] = count_of(slot);
  std::memcpy(count_bytes(), &counts, sizeof counts);
  wide_ = true;
  return true;
}

bool Window::has_room_for_counts(std::uint64_t calls) noexcept {
  if (wide_ || (!is_of_time() && slice_length_ <= kMostNarrow)) return true;
  return count_of(newest_) + calls <= kMostNarrow || widen_counts();
}

// ---- what is still to be cleared -----------------------------------------------------------------

StaleLines* Window::stale() const noexcept {
  StaleLines* lines = nullptr;
  if (big_) std::memcpy(&lines, stale_bytes(), kPointer);
  return lines;
}

// Look-ups may, too: what they and everyone else see stays the same.
void Window::set_stale(OwnedStaleLines lines) const noexcept {
  if (!big_) return;
  const OwnedStaleLines before(stale());
  StaleLines* const now = lines.release();
  std::memcpy(stale_bytes(), &now, kPointer);
}

void Window::begin(std::uint32_t first, std::uint32_t count) noexcept {
  const detail::WindowShape whole = shape();
  // A line is stale for all of them or for none: the slices before, which may have taken keys in some,
  // come to an end first.
  if (StaleLines* const lines = stale()) (void)lines->go_on(whole, whole.lines);
  set_stale(big_ ? StaleLines::of(whole, first, count) : nullptr);
  const bool at_once = stale() == nullptr;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slot = (first + i) % slots();
    set_count(slot, 0);
    if (at_once) detail::clear_slot(whole, slot);
  }
}

void Window::settle(std::span<const Hash128> hashes) const noexcept {
  StaleLines* const lines = stale();
  if (lines == nullptr) return;
  const detail::WindowShape whole = shape();
  for (const Hash128 hash : hashes) {
    lines->settle(whole, detail::scale(hash.high, whole.lines));
    if (pair_) lines->settle(whole, detail::scale(detail::second_hash(hash).high, whole.lines));
  }
}

void Window::settle_some(std::size_t items) const noexcept {
  StaleLines* const lines = stale();
  if (lines != nullptr && lines->go_on(shape(), kLinesACommand + kLinesAnItem * items))
    set_stale(nullptr);
}

std::span<std::byte> Window::part_at(std::uint64_t offset, std::uint64_t most) const noexcept {
  const auto part = array_.part_at(offset, most);
  if (StaleLines* const lines = stale(); lines != nullptr && !part.empty()) {
    const std::uint64_t stretch = slots() * (kLineBits / 8);
    lines->settle(shape(), offset / stretch, (offset + part.size() - 1) / stretch + 1);
  }
  return part;
}

}  // namespace bloomery::server
