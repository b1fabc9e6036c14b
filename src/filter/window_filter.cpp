// A window filter that owns or borrows its bits: how it is made and restored, and its ring
// (window_ring.hpp).
//
// The filter is a ring of plain filters and not an age-partitioned filter (Shtul, Baquero and Almeida,
// 2020), which can keep all ages of a key in one cache line. For the same window and slices an
// age-partitioned filter answered in a quarter of the time, but took 1.5 times the bits at 1 % and 1.6
// to 1.8 times at 0.1 % (docs/benchmarks.md). A filter is chosen for its small memory, and the ring
// keeps any rate with any number of slices.
#include <bloomery/detail/block.hpp>
#include <bloomery/error.hpp>
#include <bloomery/window_filter.hpp>

#include <algorithm>
#include <array>
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

WindowFilter WindowFilter::restore_for_reading(const WindowPlan& plan, const Hasher& hasher,
                                               const WindowState& state,
                                               std::span<const std::byte> bits) {
  WindowFilter result =
      restore(plan, hasher, state, {const_cast<std::byte*>(bits.data()), bits.size()});
  result.for_reading_ = true;
  return result;
}

WindowFilter::WindowFilter(WindowFilter&& other) noexcept
    : plan_(other.plan_),
      hasher_(other.hasher_),
      state_(other.state_),
      memory_(std::move(other.memory_)),
      bit_array_(other.bit_array_),
      kernel_(other.kernel_),
      for_reading_(other.for_reading_),
      left_out_(other.left_out_) {
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
  for_reading_ = other.for_reading_;
  left_out_ = other.left_out_;
  other.detach();
  return *this;
}

void WindowFilter::detach() noexcept {
  detail::detach(bit_array_);
  bit_array_.ring_slices = 1;
  plan_.slice.bits = 0;
  state_ = {};
  for_reading_ = false;
  left_out_ = 0;
}

WindowFilter WindowFilter::copy() const {
  WindowFilter result(plan_, hasher_);
  std::memcpy(result.bit_array_.words, bit_array_.words, plan_.bytes());
  result.state_ = state_;
  for (std::uint32_t slice = 0; slice < plan_.ring_slices(); ++slice)
    if (is_left_out(slice)) detail::clear_slice(result.bit_array_, slice);
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
    if (filter.for_reading_)
      filter.left_out_ = std::min(filter.left_out_ + count, filter.bit_array_.ring_slices);
    for (; count > 0; --count, first = (first + 1) % filter.bit_array_.ring_slices) {
      filter.state_.inserted_in_slices[first] = 0;
      if (!filter.for_reading_) detail::clear_slice(filter.bit_array_, first);
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
  state_.inserted_in_slices.fill(0);
  if (for_reading_) {
    left_out_ = bit_array_.ring_slices;
    return;
  }
  constexpr std::size_t kPageWords = 4096 / sizeof(std::uint32_t);
  const std::span<std::uint32_t> words(bit_array_.words, plan_.bytes() / sizeof(std::uint32_t));
  for (std::size_t done = 0; done < words.size(); done += kPageWords)
    clear_words(words.subspan(done, std::min(kPageWords, words.size() - done)));
}

// ---- keys ---------------------------------------------------------------------------------------

bool WindowFilter::insert_hash(Hash128 hash) noexcept { return ring().insert(hash); }

std::size_t WindowFilter::do_insert(std::span<const Hash128> hashes, bool* fresh) noexcept {
  return ring().insert(hashes, fresh);
}

namespace {

template <Layout kLayout>
bool in_slice(const detail::WindowBitArray& array, std::uint32_t slice, Hash128 hash) noexcept {
  return detail::LayoutOf<kLayout>::each_block(array, hash, [&](const detail::KeyBlock& at) {
    return detail::ScalarBlock::test(detail::block_at(array, at.block, slice), at.low,
                                     *array.masks);
  });
}

}  // namespace

// The kernels look at all slices. Only the keys that they find, in whatever slice, are looked up again here; so the
// kernels of other filters need no test of each slice.
bool WindowFilter::in_slice_of_now(Hash128 hash) const noexcept {
  const auto has = plan_.slice.layout == Layout::blocked ? in_slice<Layout::blocked>
                                                         : in_slice<Layout::blocked2>;
  for (std::uint32_t slice = 0; slice < bit_array_.ring_slices; ++slice)
    if (!is_left_out(slice) && has(bit_array_, slice, hash)) return true;
  return false;
}

std::size_t WindowFilter::contain_in_slices_of_now(std::span<const Hash128> hashes,
                                                   bool* found) const noexcept {
  std::array<bool, 1024> own;
  std::size_t yes = 0;
  for (std::size_t done = 0; done < hashes.size();) {
    const auto part = hashes.subspan(done, std::min(own.size(), hashes.size() - done));
    bool* answers = found == nullptr ? own.data() : found + done;
    kernel_->contains_hashes(bit_array_, part.data(), part.size(), answers);
    for (std::size_t i = 0; i < part.size(); ++i) {
      answers[i] = answers[i] && in_slice_of_now(part[i]);
      yes += answers[i] ? 1 : 0;
    }
    done += part.size();
  }
  return yes;
}

}  // namespace bloomery
