// Window filters in the server's memory: making, the ring, look-ups, the whole.
#include "window.hpp"

#include <bloomery/detail/layout.hpp>

#include <algorithm>
#include <cstring>

#include "dump.hpp"
#include "kernels.hpp"
#include "pages.hpp"

namespace bloomery::server {

namespace {

// In smaller ones a slice begins in less time than a command of many items takes.
bool is_big(const WindowPlan& plan) noexcept { return plan.bytes() >= kManyPages; }

}  // namespace

// ---- making --------------------------------------------------------------------------------------

ValuePointer<Window> Window::make(const WindowPlan& plan, const std::optional<Seed>& key) {
  return restore(plan, key, {}, OwnedMemory(allocate_aligned(plan.bytes())));
}

ValuePointer<Window> Window::restore(const WindowPlan& plan, const std::optional<Seed>& key,
                                     const WindowState& state, OwnedMemory memory) {
  validate(plan);
  detail::check_state(plan, state);
  auto made = ValueAccess::make_with<Window>(
      bytes_behind(plan.ring_slices(), key.has_value(), is_big(plan)), plan, key, state,
      std::move(memory));
  const std::uint64_t most = *std::ranges::max_element(state.inserted_in_slices);
  if (!made->has_room_for_counts(most)) throw Error(ErrorCode::no_memory, "no memory for a filter");
  for (std::uint32_t slice = 0; slice < plan.ring_slices(); ++slice)
    made->set_count(slice, state.inserted_in_slices[slice]);
  return made;
}

Window::Window(const WindowPlan& plan, const std::optional<Seed>& key, const WindowState& state,
               OwnedMemory memory)
    : Value(Kind::window),
      slices_(plan.slices & 127),
      big_(is_big(plan)),
      newest_(static_cast<std::uint8_t>(state.newest)),
      hashes_(plan.slice.hashes & 63),
      blocked2_(plan.slice.layout == Layout::blocked2),
      of_time_(plan.unit == WindowUnit::seconds),
      blocks_((plan.slice.blocks() - 1) & 0x3FFFFFFF),
      keyed_(key.has_value()),
      wide_(false),
      array_(std::move(memory), plan.bytes()),
      slice_length_(plan.slice_length()),
      capacity_(plan.capacity),
      fpr_(plan.fpr),
      now_(state.now),
      inserted_(state.inserted) {
  begin_behind(key);
}

Window::~Window() { end_behind(); }

// ---- the ring ------------------------------------------------------------------------------------

struct Window::RingSlices {
  Window& window;
  [[nodiscard]] std::uint64_t taken(std::uint32_t slice) const noexcept {
    return window.count_of(slice);
  }
  void take(std::uint32_t slice, std::uint64_t calls) noexcept {
    window.set_count(slice, window.count_of(slice) + calls);
  }
  void begin(std::uint32_t first, std::uint32_t count) noexcept { window.begin(first, count); }
  void begin_all() noexcept { window.clear(); }
  void expect(std::span<const Hash128> hashes) const noexcept { window.settle(hashes); }
};

detail::WindowBitArray Window::bit_array() const noexcept {
  const std::uint64_t bits = (blocks_ + std::uint64_t{1}) * kBlockBits;
  return {detail::bit_array_of({layout(), bits, hashes_, 1, 1},
                               reinterpret_cast<std::uint32_t*>(array_.bytes().data())),
          ring_slices()};
}

detail::WindowRing<Window::RingSlices, std::uint8_t> Window::ring() noexcept {
  return {bit_array(),
          window_kernel_of(layout()),
          of_time_ ? WindowUnit::seconds : WindowUnit::insertions,
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

Added Window::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                     std::uint64_t) noexcept {
  if (!has_room_for_counts(hashes.size())) return {0, 0, false, Stop::no_room};
  const std::size_t added = ring().insert(hashes, fresh.data());
  settle_some(hashes.size());
  return {hashes.size(), added, !hashes.empty(), Stop::none};
}

void Window::clear() noexcept {
  set_stale(nullptr);
  server::clear(array_.bytes().data(), array_.bytes().size());
  for (std::uint32_t slice = 0; slice < ring_slices(); ++slice) set_count(slice, 0);
}

// ---- look-ups ------------------------------------------------------------------------------------

Hash128 Window::hash(std::string_view item) const noexcept {
  if (const auto own = key()) return detail::siphash_bytes(item.data(), item.size(), *own);
  return detail::xxh3_bytes(item.data(), item.size(), 0);
}

void Window::prefetch(Hash128 hash) const noexcept {
  // Nearly no slice has the first block of an item that is absent, so the second of blocked2 is left out.
  const detail::WindowBitArray ring = bit_array();
  const detail::KeyBlock at = detail::LayoutOf<Layout::blocked>::block<0>(ring, hash);
  for (std::uint32_t slice = 0; slice < ring.ring_slices; ++slice)
    __builtin_prefetch(detail::block_at(ring, at.block, slice));
}

std::uint64_t Window::behind(std::uint64_t now) const noexcept {
  return is_of_time() ? detail::slices_between(now_, now, slice_length_) : 0;
}

bool Window::is_in_young(Hash128 hash, std::uint64_t behind) const noexcept {
  const detail::WindowBitArray ring = bit_array();
  // The ring turns onto the ring_slices after the newest: the first `behind` of them are outrun.
  for (std::uint64_t i = behind + 1; i <= ring.ring_slices; ++i) {
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

bool Window::may_contain(Hash128 hash, std::uint64_t now) const noexcept {
  settle(std::span(&hash, 1));
  settle_some(1);
  const std::uint64_t outrun = behind(now);
  return outrun == 0 ? window_kernel_of(layout()).contains(bit_array(), hash)
                     : is_in_young(hash, outrun);
}

void Window::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                         std::uint64_t now) const noexcept {
  settle(hashes);
  settle_some(hashes.size());
  const std::uint64_t outrun = behind(now);
  if (outrun == 0) {
    (void)window_kernel_of(layout()).contains_hashes(bit_array(), hashes.data(), hashes.size(),
                                                     found.data());
    return;
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) found[i] = is_in_young(hashes[i], outrun);
}

// ---- the whole -----------------------------------------------------------------------------------

std::uint64_t Window::footprint() const noexcept {
  return sizeof *this + bytes_behind(ring_slices(), keyed_, big_) +
         (wide_ ? ring_slices() * sizeof(std::uint64_t) : 0) + bit_bytes();
}

std::uint32_t Window::live_slices() const noexcept {
  std::uint32_t live = 0;
  for (std::uint32_t slice = 0; slice < ring_slices(); ++slice) live += count_of(slice) != 0;
  return live;
}

// A slice's share of capacity and rate is what the plan's invariant says.
WindowPlan Window::plan() const noexcept {
  const std::uint64_t capacity = capacity_ / slices_ + (capacity_ % slices_ != 0 ? 1 : 0);
  const Plan slice{layout(), (blocks_ + std::uint64_t{1}) * kBlockBits, hashes_, capacity,
                   fpr_ / ring_slices()};
  const WindowUnit unit = of_time_ ? WindowUnit::seconds : WindowUnit::insertions;
  return {slice, slices_, unit, slice_length_ * slices_, capacity_, fpr_};
}

WindowState Window::state() const noexcept {
  WindowState state{
      .now = now_, .inserted = inserted_, .newest = newest_, .inserted_in_slices = {}};
  for (std::uint32_t slice = 0; slice < ring_slices(); ++slice)
    state.inserted_in_slices[slice] = count_of(slice);
  return state;
}

std::optional<Seed> Window::key() const noexcept {
  if (!keyed_) return std::nullopt;
  Seed own;
  std::memcpy(&own, key_bytes(), sizeof own);
  return own;
}

std::vector<std::byte> Window::header() const {
  Header header;
  header.kind = Kind::window;
  header.size = size();
  header.key = key();
  header.window = plan();
  header.sub_filters = {sizes_of(header.window.slice)};
  header.sub_filters[0].size = size();
  header.state = state();
  return encode_header(header);
}

AnyValue Window::copy() const {
  auto copied = restore(plan(), key(), state(), OwnedMemory(allocate_aligned(bit_bytes())));
  copy_used(part_at(0, bit_bytes()), copied->array_.bytes().data());
  return AnyValue(copied.release());
}

void Window::defragment(DefragContext* context) noexcept {
  array_.defragment(context);
  defragment_behind(context);
}

std::size_t Window::memory() const noexcept {
  return allocated_size(this) + array_.memory() + (wide_ ? allocated_size(wide_counts()) : 0) +
         (stale() != nullptr ? allocated_size(stale()) : 0);
}

}  // namespace bloomery::server
