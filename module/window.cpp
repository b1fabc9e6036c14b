// Window filters in the server's memory.
#include "window.hpp"

#include <bloomery/detail/line.hpp>

#include <algorithm>

#include "dump.hpp"

namespace bloomery::server {

ValuePointer<Window> Window::make(const WindowPlan& plan, const Hasher& hasher) {
  return restore(plan, hasher, {}, OwnedMemory(allocate_aligned(plan.bytes())));
}

ValuePointer<Window> Window::restore(const WindowPlan& plan, const Hasher& hasher,
                                     const WindowState& state, OwnedMemory memory) {
  return ValueAccess::make<Window>(plan, hasher, state, std::move(memory));
}

Window::Window(const WindowPlan& plan, const Hasher& hasher, const WindowState& state,
               OwnedMemory memory)
    : Value(Kind::window),
      array_(std::move(memory), plan.bytes()),
      filter_(WindowFilter::restore(plan, hasher, state, array_.bytes())) {}

Hash128 Window::hash(std::string_view item) const noexcept { return filter_.hash(item); }

void Window::prefetch(Hash128 hash) const noexcept {
  const Plan& slice = filter_.plan().slice;
  const std::size_t stretch = filter_.plan().slots() * (kLineBits / 8);
  const std::byte* first =
      array_.bytes().data() + detail::scale(hash.high, slice.lines()) * stretch;
  for (std::size_t at = 0; at < stretch; at += kLineBits / 8) __builtin_prefetch(first + at);
}

std::uint64_t Window::behind(std::uint64_t now) const noexcept {
  const std::uint64_t then = filter_.now();
  if (!is_of_time() || then == 0 || now <= then) return 0;
  const std::uint64_t length = filter_.plan().slice_length();
  return now / length - then / length;
}

bool Window::is_in_young(Hash128 hash, std::uint64_t behind) const noexcept {
  const WindowPlan& plan = filter_.plan();
  const std::uint32_t slots = plan.slots();
  const bool pair = plan.slice.layout == Layout::pair;
  const auto& masks =
      detail::word_masks(pair ? plan.slice.hashes / 2 : std::min(plan.slice.hashes, 16U));
  const auto* words = reinterpret_cast<const std::uint32_t*>(array_.bytes().data());
  const auto is_in = [&](std::uint32_t slot, Hash128 part) {
    const std::uint64_t line = detail::scale(part.high, plan.slice.lines()) * slots + slot;
    return detail::ScalarLine::test(words + line * (kLineBits / 32), part.low, masks);
  };
  // The ring turns onto the slots after the newest: the first `behind` of them are outrun.
  for (std::uint64_t i = behind + 1; i <= slots; ++i) {
    const auto slot = static_cast<std::uint32_t>((filter_.state().newest + i) % slots);
    if (is_in(slot, hash) && (!pair || is_in(slot, detail::second_hash(hash)))) return true;
  }
  return false;
}

bool Window::may_contain(Hash128 hash, std::uint64_t now) const noexcept {
  const std::uint64_t outrun = behind(now);
  return outrun == 0 ? filter_.may_contain_hash(hash) : is_in_young(hash, outrun);
}

void Window::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                         std::uint64_t now) const noexcept {
  const std::uint64_t outrun = behind(now);
  if (outrun == 0) {
    (void)filter_.may_contain_hashes(hashes, found);
    return;
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) found[i] = is_in_young(hashes[i], outrun);
}

Added Window::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                     std::uint64_t) noexcept {
  return {hashes.size(), filter_.insert_hashes(hashes, fresh), !hashes.empty(), Stop::none};
}

bool Window::advance(std::uint64_t now) noexcept {
  const std::uint64_t before = filter_.now();
  filter_.advance(now);
  return filter_.now() != before;
}

std::vector<std::byte> Window::header() const {
  Header header;
  header.kind = Kind::window;
  header.size = size();
  header.key = key_of(filter_.hasher());
  header.links = {sizes_of(filter_.plan().slice)};
  header.links[0].size = size();
  header.window = filter_.plan();
  header.state = filter_.state();
  return encode_header(header);
}

AnyValue Window::copy() const {
  auto copied = restore(filter_.plan(), filter_.hasher(), filter_.state(),
                        OwnedMemory(allocate_aligned(bit_bytes())));
  std::ranges::copy(array_.bytes(), copied->array_.bytes().begin());
  return AnyValue(copied.release());
}

void Window::clear() noexcept {
  WindowState empty = filter_.state();
  empty.in_slots.fill(0);
  server::clear(array_.bytes().data(), array_.bytes().size());
  // The plan and the state were valid: nothing throws.
  filter_ = WindowFilter::restore(filter_.plan(), filter_.hasher(), empty, array_.bytes());
}

void Window::defragment(DefragContext* context) noexcept {
  // The plan and the state were valid and the array is aligned: nothing throws.
  if (!array_.defragment(context)) return;
  filter_ =
      WindowFilter::restore(filter_.plan(), filter_.hasher(), filter_.state(), array_.bytes());
}

}  // namespace bloomery::server
