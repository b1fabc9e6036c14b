// A window filter that owns or borrows its bits: how it is made and restored, and its ring
// (window_ring.hpp).
//
// The filter is a ring of plain filters and not an age-partitioned filter (Shtul, Baquero and Almeida,
// 2020), which can keep all ages of a key in one cache line. For the same window and slices an
// age-partitioned filter answered in a quarter of the time, but took 1.5 times the bits at 1 % and 1.6
// to 1.8 times at 0.1 % (docs/benchmarks.md). A filter is chosen for its small memory, and the ring
// keeps any rate with any number of slices.
#include <bloomery/error.hpp>
#include <bloomery/window_filter.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "filter/window_ring.hpp"

namespace bloomery {

namespace {

const WindowPlan& validated(const WindowPlan& plan) {
  validate(plan);
  return plan;
}

}  // namespace

void detail::check_state(const WindowPlan& plan, const WindowState& state) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::mismatch, "the state of the window does not fit its plan: " + what);
  };
  if (state.newest >= plan.ring_slices())
    refuse("slice " + std::to_string(state.newest) + " is the newest of " +
           std::to_string(plan.ring_slices()));
  std::uint64_t left = state.inserted;
  for (std::size_t slice = 0; slice < state.inserted_in_slices.size(); ++slice) {
    const std::uint64_t taken = state.inserted_in_slices[slice];
    if (taken != 0 && slice >= plan.ring_slices())
      refuse("slice " + std::to_string(slice) + " of " + std::to_string(plan.ring_slices()) +
             " took keys");
    // At the largest number the count has ended, and the slices may have taken more.
    if (taken > left && state.inserted != UINT64_MAX)
      refuse("the slices took more keys than were inserted");
    left -= std::min(left, taken);
    if (plan.unit == WindowUnit::insertions && taken > plan.slice_length())
      refuse("a slice took " + std::to_string(taken) + " keys where a slice has " +
             std::to_string(plan.slice_length()));
  }
}

WindowFilter::WindowFilter(const WindowPlan& plan, const Hasher& hasher, const WindowState& state,
                           std::span<std::byte> bits, detail::BitMemory memory)
    : plan_(plan),
      hasher_(hasher),
      state_(state),
      memory_(std::move(memory)),
      bit_array_{detail::bit_array_of(plan.slice, reinterpret_cast<std::uint32_t*>(bits.data())),
                 plan.ring_slices()},
      kernel_(&detail::kernel_for<detail::WindowKernel>(plan.slice.layout)) {}

WindowFilter::WindowFilter(const WindowPlan& plan, const Hasher& hasher)
    : WindowFilter(plan, hasher, {}, {}, detail::BitMemory(validated(plan).bytes())) {
  bit_array_.words = reinterpret_cast<std::uint32_t*>(memory_.bytes().data());
}

WindowFilter WindowFilter::restore(const WindowPlan& plan, const Hasher& hasher,
                                   const WindowState& state, std::span<std::byte> bits,
                                   detail::BitMemory memory) {
  validate(plan);
  if (bits.size() != plan.bytes())
    throw Error(ErrorCode::mismatch, "the plan has " + std::to_string(plan.bytes()) +
                                         " bytes of bits, but " + std::to_string(bits.size()) +
                                         " are given");
  if (reinterpret_cast<std::uintptr_t>(bits.data()) % 64 != 0)
    throw Error(ErrorCode::invalid_argument, "the bits are not 64-byte aligned");
  detail::check_state(plan, state);
  return {plan, hasher, state, bits, std::move(memory)};
}

WindowFilter::WindowFilter(WindowFilter&& other) noexcept
    : plan_(other.plan_),
      hasher_(other.hasher_),
      state_(other.state_),
      memory_(std::move(other.memory_)),
      bit_array_(other.bit_array_),
      kernel_(other.kernel_) {
  other.detach();
}

WindowFilter& WindowFilter::operator=(WindowFilter&& other) noexcept {
  if (this == &other) return *this;
  plan_ = other.plan_;
  hasher_ = other.hasher_;
  state_ = other.state_;
  memory_ = std::move(other.memory_);
  bit_array_ = other.bit_array_;
  kernel_ = other.kernel_;
  other.detach();
  return *this;
}

void WindowFilter::detach() noexcept {
  detail::detach(bit_array_);
  bit_array_.ring_slices = 1;
  plan_.slice.bits = 0;
  state_ = {};
}

WindowFilter WindowFilter::copy() const {
  WindowFilter result(plan_, hasher_);
  std::memcpy(result.bit_array_.words, bit_array_.words, plan_.bytes());
  result.state_ = state_;
  return result;
}

// ---- time ---------------------------------------------------------------------------------------

namespace {

// Writes only where there are ones: memory of zeros that was never written takes no room.
void clear_words(std::span<std::uint32_t> words) noexcept {
  if (std::ranges::any_of(words, [](std::uint32_t word) { return word != 0; }))
    std::ranges::fill(words, 0U);
}

}  // namespace

void detail::clear_slice(const WindowBitArray& bit_array, std::uint32_t slice) noexcept {
  for (std::uint64_t block = 0; block < bit_array.blocks; ++block)
    clear_words({block_at(bit_array, block, slice), kBlockBits / 32});
}

struct WindowFilter::RingSlices {
  WindowFilter& filter;
  [[nodiscard]] std::uint64_t inserted_in(std::uint32_t slice) const noexcept {
    return filter.state_.inserted_in_slices[slice];
  }
  void add_inserts(std::uint32_t slice, std::uint64_t calls) noexcept {
    std::uint64_t& count = filter.state_.inserted_in_slices[slice];
    count = detail::sum_of_counts(count, calls);
  }
  void begin(std::uint32_t first, std::uint32_t count) noexcept {
    for (; count > 0; --count, first = (first + 1) % filter.bit_array_.ring_slices) {
      filter.state_.inserted_in_slices[first] = 0;
      detail::clear_slice(filter.bit_array_, first);
    }
  }
  void begin_all() noexcept { filter.clear(); }
  void expect(std::span<const Hash128>) const noexcept {}
};

detail::WindowRing<WindowFilter::RingSlices, std::uint32_t> WindowFilter::ring() noexcept {
  return {bit_array_, *kernel_,        plan_.unit,    plan_.slice_length(),
          state_.now, state_.inserted, state_.newest, RingSlices{*this}};
}

void WindowFilter::advance(std::uint64_t now) noexcept { ring().advance(now); }

void WindowFilter::set_back(std::uint64_t now) noexcept { state_.now = std::min(state_.now, now); }

void WindowFilter::clear() noexcept {
  constexpr std::size_t kPageWords = 4096 / sizeof(std::uint32_t);
  const std::span<std::uint32_t> words(bit_array_.words, plan_.bytes() / sizeof(std::uint32_t));
  for (std::size_t done = 0; done < words.size(); done += kPageWords)
    clear_words(words.subspan(done, std::min(kPageWords, words.size() - done)));
  state_.inserted_in_slices.fill(0);
}

// ---- keys ---------------------------------------------------------------------------------------

bool WindowFilter::insert_hash(Hash128 hash) noexcept { return ring().insert(hash); }

std::size_t WindowFilter::do_insert(std::span<const Hash128> hashes, bool* fresh) noexcept {
  return ring().insert(hashes, fresh);
}

}  // namespace bloomery
