// What a window keeps behind its object: its key, the counts of its ring_slices, what is still to be cleared.
#include <bloomery/detail/layout.hpp>

#include <algorithm>
#include <cstring>

#include "window.hpp"

namespace bloomery::server {

namespace {

constexpr std::uint64_t kMostNarrow = UINT16_MAX;
constexpr std::size_t kPointer = sizeof(void*);

// How many blocks each command clears, and how many more for each of its items: in a gigabyte some two
// thousand commands of one item, or two hundred of a thousand, have cleared all.
constexpr std::uint64_t kBlocksPerCommand = 1024;
constexpr std::uint64_t kBlocksPerItem = 8;

// At least a pointer's, for counts that have become wide.
std::size_t narrow_bytes(std::uint32_t ring_slices) noexcept {
  return std::max(ring_slices * sizeof(std::uint16_t), kPointer);
}

}  // namespace

std::size_t Window::bytes_behind(std::uint32_t ring_slices, bool keyed, bool big) noexcept {
  return narrow_bytes(ring_slices) + (keyed ? sizeof(Seed) : 0) + (big ? kPointer : 0);
}

void Window::begin_behind(const std::optional<Seed>& key) noexcept {
  if (key) std::memcpy(key_bytes(), &*key, sizeof *key);
  std::memset(count_bytes(), 0, narrow_bytes(ring_slices()));
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
  if (StaleBlocks* const blocks = stale()) move(blocks, stale_bytes());
}

std::byte* Window::key_bytes() const noexcept {
  return reinterpret_cast<std::byte*>(const_cast<Window*>(this)) + sizeof *this;
}

std::byte* Window::count_bytes() const noexcept {
  return key_bytes() + (keyed_ ? sizeof(Seed) : 0);
}

std::byte* Window::stale_bytes() const noexcept {
  return count_bytes() + narrow_bytes(ring_slices());
}

std::uint64_t* Window::wide_counts() const noexcept {
  std::uint64_t* counts = nullptr;
  std::memcpy(&counts, count_bytes(), sizeof counts);
  return counts;
}

std::uint64_t Window::count_of(std::uint32_t slice) const noexcept {
  if (wide_) return wide_counts()[slice];
  std::uint16_t count = 0;
  std::memcpy(&count, count_bytes() + slice * sizeof count, sizeof count);
  return count;
}

void Window::set_count(std::uint32_t slice, std::uint64_t count) noexcept {
  if (wide_) {
    wide_counts()[slice] = count;
    return;
  }
  const auto narrow = static_cast<std::uint16_t>(count);
  std::memcpy(count_bytes() + slice * sizeof narrow, &narrow, sizeof narrow);
}

bool Window::widen_counts() noexcept {
  auto* const counts = static_cast<std::uint64_t*>(allocate(ring_slices() * sizeof(std::uint64_t)));
  if (counts == nullptr) return false;
  for (std::uint32_t slice = 0; slice < ring_slices(); ++slice) counts[slice] = count_of(slice);
  std::memcpy(count_bytes(), &counts, sizeof counts);
  wide_ = true;
  return true;
}

bool Window::has_room_for_counts(std::uint64_t calls) noexcept {
  if (wide_ || (!is_of_time() && slice_length_ <= kMostNarrow)) return true;
  return count_of(newest_) + calls <= kMostNarrow || widen_counts();
}

// ---- what is still to be cleared -----------------------------------------------------------------

StaleBlocks* Window::stale() const noexcept {
  StaleBlocks* blocks = nullptr;
  if (big_) std::memcpy(&blocks, stale_bytes(), kPointer);
  return blocks;
}

// Look-ups may, too: what they and everyone else see stays the same.
void Window::set_stale(OwnedStaleBlocks blocks) const noexcept {
  if (!big_) return;
  const OwnedStaleBlocks before(stale());
  StaleBlocks* const now = blocks.release();
  std::memcpy(stale_bytes(), &now, kPointer);
}

void Window::begin(std::uint32_t first, std::uint32_t count) noexcept {
  const detail::WindowBitArray whole = bit_array();
  // A block is stale for all of them or for none: the slices before, which may have taken keys in some,
  // come to an end first.
  if (StaleBlocks* const blocks = stale()) (void)blocks->go_on(whole, whole.blocks);
  set_stale(big_ ? StaleBlocks::of(whole, first, count) : nullptr);
  const bool at_once = stale() == nullptr;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slice = (first + i) % ring_slices();
    set_count(slice, 0);
    if (at_once) detail::clear_slice(whole, slice);
  }
}

void Window::settle(std::span<const Hash128> hashes) const noexcept {
  StaleBlocks* const blocks = stale();
  if (blocks == nullptr) return;
  const detail::WindowBitArray whole = bit_array();
  for (const Hash128 hash : hashes)
    detail::for_each_block(layout(), whole, hash,
                           [&](std::uint64_t block) { blocks->settle(whole, block); });
}

void Window::settle_some(std::size_t items) const noexcept {
  StaleBlocks* const blocks = stale();
  if (blocks != nullptr && blocks->go_on(bit_array(), kBlocksPerCommand + kBlocksPerItem * items))
    set_stale(nullptr);
}

std::span<std::byte> Window::part_at(std::uint64_t offset, std::uint64_t most) const noexcept {
  const auto part = array_.part_at(offset, most);
  if (StaleBlocks* const blocks = stale(); blocks != nullptr && !part.empty()) {
    const std::uint64_t row = ring_slices() * (kBlockBits / 8);
    blocks->settle(bit_array(), offset / row, (offset + part.size() - 1) / row + 1);
  }
  return part;
}

}  // namespace bloomery::server
