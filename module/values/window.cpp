// Window filters in the server's memory.
#include "values/window.hpp"

#include <bloomery/detail/layout.hpp>

#include <algorithm>
#include <cstring>

#include "base/counts.hpp"
#include "server/pages.hpp"
#include "values/kernels.hpp"

namespace bloomery::server {

namespace {

constexpr std::uint64_t kMaxNarrowCount = UINT16_MAX;

// How many blocks each command clears, and how many more per item: a whole gigabyte takes about two
// thousand commands of one item, or two hundred of a thousand items.
constexpr std::uint64_t kBlocksPerCommand = 1024;
constexpr std::uint64_t kBlocksPerItem = 8;

// In a smaller window, beginning a slice takes less time than a command of many items.
bool is_big(const WindowPlan& plan) noexcept { return plan.bytes() >= kManyPages; }

}  // namespace

// ---- making -------------------------------------------------------------------------------------

ValuePointer<Window> Window::make(const Header& header, OwnedMemory memory) {
  const std::size_t tail = tail_bytes(header.window.ring_slices(), is_big(header.window));
  auto made = new_value<Window>(header, tail, std::move(memory));
  const auto& counts = header.state.inserted_in_slices;
  require_memory(made->has_room_for_counts(*std::ranges::max_element(counts)));
  for (std::uint32_t slice = 0; slice < made->ring_slices(); ++slice)
    made->set_count(slice, counts[slice]);
  return made;
}

Window::Window(const Header& header, OwnedMemory memory) noexcept
    : Value(header),
      slices_(header.window.slices & 127),
      big_(is_big(header.window)),
      newest_(static_cast<std::uint8_t>(header.state.newest)),
      hashes_(header.window.slice.hashes & 63),
      blocked2_(header.window.slice.layout == Layout::blocked2),
      wide_(false),
      blocks_((header.window.slice.blocks() - 1) & 0x3FFFFFFF),
      memory_(memory.release()),
      slice_length_(header.window.slice_length()),
      capacity_(header.window.capacity),
      fpr_(header.window.fpr),
      now_(header.state.now),
      inserted_(header.size) {
  std::memset(tail(), 0, tail_bytes(ring_slices(), big_));
  items_came(0, inserted_, aligned(memory_), bytes());
}

// ---- the tail -----------------------------------------------------------------------------------

std::size_t Window::tail_bytes(std::uint32_t ring_slices, bool big) noexcept {
  // There must be enough room for a pointer to wide counts.
  return (big ? sizeof(void*) : 0) + std::max(ring_slices * sizeof(std::uint16_t), sizeof(void*));
}

std::byte* Window::tail() const noexcept {
  return reinterpret_cast<std::byte*>(const_cast<Window*>(this)) + own_bytes();
}

std::uint64_t Window::count_of(std::uint32_t slice) const noexcept {
  if (wide_) return static_cast<const std::uint64_t*>(pointer_at(counts()))[slice];
  return reinterpret_cast<const std::uint16_t*>(counts())[slice];
}

void Window::set_count(std::uint32_t slice, std::uint64_t count) noexcept {
  if (wide_)
    static_cast<std::uint64_t*>(pointer_at(counts()))[slice] = count;
  else
    reinterpret_cast<std::uint16_t*>(counts())[slice] = static_cast<std::uint16_t>(count);
}

bool Window::has_room_for_counts(std::uint64_t calls) noexcept {
  if (wide_ || (!needs_time() && slice_length_ <= kMaxNarrowCount) ||
      count_of(newest_) + calls <= kMaxNarrowCount)
    return true;
  auto* const wide = static_cast<std::uint64_t*>(allocate(ring_slices() * sizeof(std::uint64_t)));
  if (wide == nullptr) return false;
  for (std::uint32_t slice = 0; slice < ring_slices(); ++slice) wide[slice] = count_of(slice);
  pointer_at(counts()) = wide;
  wide_ = true;
  return true;
}

// ---- the ring -----------------------------------------------------------------------------------

// The counts and the bits of the slices, for the library's ring.
struct Window::RingSlices {
  Window& window;
  [[nodiscard]] std::uint64_t inserted_in(std::uint32_t slice) const noexcept {
    return window.count_of(slice);
  }
  void add_inserts(std::uint32_t slice, std::uint64_t calls) noexcept {
    window.set_count(slice, detail::sum_of_counts(window.count_of(slice), calls));
  }
  void begin(std::uint32_t first, std::uint32_t count) noexcept {
    window.begin_slices(first, count);
  }
  void begin_all() noexcept { window.clear(); }
  void expect(std::span<const Hash128> hashes) const noexcept { window.clear_blocks_of(hashes); }
};

detail::WindowBitArray Window::bit_array() const noexcept {
  const std::uint64_t bits = (blocks_ + std::uint64_t{1}) * kBlockBits;
  return {detail::bit_array_of({layout(), bits, hashes_, 1, 1},
                               reinterpret_cast<std::uint32_t*>(aligned(memory_))),
          ring_slices()};
}

detail::WindowRing<Window::RingSlices, std::uint8_t> Window::ring() noexcept {
  return {bit_array(),
          window_kernel_of(layout()),
          needs_time() ? WindowUnit::seconds : WindowUnit::insertions,
          slice_length_,
          now_,
          inserted_,
          newest_,
          RingSlices{*this}};
}

bool Window::advance(std::uint64_t now) noexcept {
  const std::uint64_t before = now_;
  ring().advance(now);
  return now_ != before;
}

bool Window::set_back(std::uint64_t now) noexcept {
  if (now >= now_) return false;
  now_ = now;
  return true;
}

void Window::begin_slices(std::uint32_t first, std::uint32_t count) noexcept {
  const detail::WindowBitArray whole = bit_array();
  // First finishes clearing the previous slices: some of their blocks may have new keys already,
  // and a block is cleared either in all the slices of a LazyClear or in none.
  if (LazyClear* const blocks = lazy_clear()) (void)blocks->clear_some(whole, whole.blocks);
  set_lazy_clear(big_ ? LazyClear::make(whole, first, count) : nullptr);
  const bool at_once = lazy_clear() == nullptr;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slice = (first + i) % ring_slices();
    set_count(slice, 0);
    if (at_once) detail::clear_slice(whole, slice);
  }
}

// ---- what is still to be cleared ----------------------------------------------------------------

LazyClear* Window::lazy_clear() const noexcept {
  return big_ ? static_cast<LazyClear*>(pointer_at(tail())) : nullptr;
}

// It is const, like the next two: look-ups clear too, and no caller sees a difference.
void Window::set_lazy_clear(OwnedLazyClear blocks) const noexcept {
  if (!big_) return;
  const OwnedLazyClear before(lazy_clear());
  pointer_at(tail()) = blocks.release();
}

void Window::clear_blocks_of(std::span<const Hash128> hashes) const noexcept {
  LazyClear* const blocks = lazy_clear();
  if (blocks == nullptr) return;
  const detail::WindowBitArray whole = bit_array();
  for (const Hash128 hash : hashes) {
    detail::for_each_block(layout(), whole, hash,
                           [&](std::uint64_t block) { blocks->clear(whole, block); });
  }
}

void Window::clear_some(std::size_t items) const noexcept {
  LazyClear* const blocks = lazy_clear();
  if (blocks != nullptr &&
      blocks->clear_some(bit_array(), kBlocksPerCommand + kBlocksPerItem * items))
    set_lazy_clear(nullptr);
}

void Window::expect_access(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  LazyClear* const blocks = lazy_clear();
  if (blocks == nullptr) return;
  const std::uint64_t row = ring_slices() * (kBlockBits / 8);
  blocks->clear(bit_array(), offset / row, (offset + bytes - 1) / row + 1);
}

// ---- items --------------------------------------------------------------------------------------

void Window::prefetch(Hash128 hash) const noexcept {
  // For an absent item almost no slice has the bits of the first block, so blocked2's second block is not prefetched.
  const detail::WindowBitArray ring = bit_array();
  const detail::KeyBlock at = detail::LayoutOf<Layout::blocked>::block<0>(ring, hash);
  for (std::uint32_t slice = 0; slice < ring.ring_slices; ++slice)
    detail::prefetch(detail::block_at(ring, at.block, slice));
}

void Window::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                         std::uint64_t now) const noexcept {
  clear_blocks_of(hashes);
  clear_some(hashes.size());
  const std::uint64_t expired = needs_time() ? detail::slices_between(now_, now, slice_length_) : 0;
  const detail::WindowKernel& kernel = window_kernel_of(layout());
  if (expired == 0)
    (void)run_batch(kernel.contains, kernel.contains_hashes, hashes, found.data(), bit_array());
  else
    for (std::size_t i = 0; i < hashes.size(); ++i) found[i] = is_in_live_slice(hashes[i], expired);
}

bool Window::is_in_live_slice(Hash128 hash, std::uint64_t expired) const noexcept {
  const detail::WindowBitArray ring = bit_array();
  // The ring turns to the ring_slices after the newest one next: the first `expired` of them are no longer valid.
  for (std::uint64_t i = expired + 1; i <= ring.ring_slices; ++i) {
    const auto slice = static_cast<std::uint32_t>((newest_ + i) % ring.ring_slices);
    const bool found = detail::visit_layout(layout(), [&](auto of) {
      return of.each_block(ring, hash, [&](const detail::KeyBlock& at) {
        return detail::test_block(of, ring, at, detail::block_at(ring, at.block, slice));
      });
    });
    if (found) return true;
  }
  return false;
}

Added Window::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                     const MemoryLimit&) noexcept {
  const bool was_wide = wide_;
  if (!has_room_for_counts(hashes.size())) return {.stop = Stop::no_room};
  const std::uint64_t before = inserted_;
  const std::size_t added = ring().insert(hashes, fresh.data());
  items_came(before, inserted_, aligned(memory_), bytes());
  clear_some(hashes.size());
  const auto count = static_cast<std::uint32_t>(hashes.size());
  return {.answered = count,
          .fresh = static_cast<std::uint32_t>(added),
          .bytes = was_wide ? 0 : wide_bytes(),
          .counted = count};
}

// ---- the whole ----------------------------------------------------------------------------------

void Window::clear() noexcept {
  set_lazy_clear(nullptr);
  server::clear(aligned(memory_), bytes());
  for (std::uint32_t slice = 0; slice < ring_slices(); ++slice) set_count(slice, 0);
}

Totals Window::totals() const noexcept {
  return {.items = inserted_,
          .capacity = capacity_,
          .bytes = own_bytes() + tail_bytes(ring_slices(), big_) + wide_bytes() + bytes()};
}

// The capacity and the fpr of a slice follow from the plan's invariant.
WindowPlan Window::plan() const noexcept {
  const std::uint64_t capacity = capacity_ / slices_ + (capacity_ % slices_ != 0 ? 1 : 0);
  const Plan slice{layout(), (blocks_ + std::uint64_t{1}) * kBlockBits, hashes_, capacity,
                   fpr_ / ring_slices()};
  const WindowUnit unit = needs_time() ? WindowUnit::seconds : WindowUnit::insertions;
  return {slice, slices_, unit, slice_length_ * slices_, capacity_, fpr_};
}

void Window::describe(Header& header) const {
  header.window = plan();
  header.sub_filters = {sizes_of(header.window.slice)};
  header.sub_filters[0].size = inserted_;
  header.sub_filters[0].bytes = bytes();
  header.state = {.now = now_, .inserted = inserted_, .newest = newest_, .inserted_in_slices = {}};
  for (std::uint32_t slice = 0; slice < ring_slices(); ++slice)
    header.state.inserted_in_slices[slice] = count_of(slice);
}

Allocation Window::allocation(std::size_t number) const noexcept {
  if (number == 0) return {&memory_, bytes()};
  if (number == 1 && wide_) return {&pointer_at(counts()), 0};
  if (number == 1U + wide_ && lazy_clear() != nullptr) return {&pointer_at(tail()), 0};
  return {};
}

}  // namespace bloomery::server
