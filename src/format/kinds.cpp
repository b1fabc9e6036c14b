// Each kind's plan as a header, and its section as bytes.
#include "format/kinds.hpp"

#include <bloomery/counting_view.hpp>
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include "base/endian.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <type_traits>

namespace bloomery::detail {

namespace {

enum CountingField : std::size_t { counter_bits_at = kSectionAt, counting_end = kSectionAt + 4 };

enum ScalableField : std::size_t {
  growth_at = kSectionAt,
  sub_filter_count_at = kSectionAt + 4,
  tightening_at = kSectionAt + 8,
  total_fpr_at = kSectionAt + 16,
  sub_filters_at = kSectionAt + 24,
};
// Of an entry of its table of sub-filters.
enum SubFilterField : std::size_t {
  sub_filter_bits_at = 0,
  sub_filter_capacity_at = 8,
  sub_filter_fpr_at = 16,
  sub_filter_inserted_at = 24,
  sub_filter_hashes_at = 32,
  sub_filter_zeros_at = 36,
  sub_filter_entry_bytes = 40,
};
static_assert(sub_filters_at + kMaxSubFilters * sub_filter_entry_bytes <= kSectionEnd);

enum WindowField : std::size_t {
  slices_at = kSectionAt,
  unit_at = kSectionAt + 4,
  window_at = kSectionAt + 8,
  window_capacity_at = kSectionAt + 16,
  window_fpr_at = kSectionAt + 24,
  now_at = kSectionAt + 32,
  newest_at = kSectionAt + 40,
  window_zeros_at = kSectionAt + 44,
  inserted_in_slices_at = kSectionAt + 48,
};
static_assert(inserted_in_slices_at + std::size_t{8} * (kMaxSlices + 1) <= kSectionEnd);

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

double load_double(const std::byte* p) noexcept { return std::bit_cast<double>(load_le64(p)); }
void store_double(std::byte* p, double value) noexcept {
  store_le64(p, std::bit_cast<std::uint64_t>(value));
}

std::size_t decode_counting(const std::byte* p, const Header& header) {
  const auto stored = load_le<std::uint32_t>(p + counter_bits_at);
  if (stored == 0 || stored != counter_bits(header.plan.layout))
    refuse("counters of " + std::to_string(stored) + " bits in layout " +
           std::string(to_string(header.plan.layout)));
  return counting_end;
}

void encode_scalable(const Header& header, std::byte* p) noexcept {
  store_le(p + growth_at, header.scalable.growth);
  store_le(p + sub_filter_count_at, static_cast<std::uint32_t>(header.sub_filters.size()));
  store_double(p + tightening_at, header.scalable.tightening);
  store_double(p + total_fpr_at, header.scalable.fpr);
  std::byte* entry = p + sub_filters_at;
  for (const SubFilterEntry& sub_filter : header.sub_filters) {
    store_le64(entry + sub_filter_bits_at, sub_filter.plan.bits);
    store_le64(entry + sub_filter_capacity_at, sub_filter.plan.capacity);
    store_double(entry + sub_filter_fpr_at, sub_filter.plan.fpr);
    store_le64(entry + sub_filter_inserted_at, sub_filter.inserted);
    store_le(entry + sub_filter_hashes_at, sub_filter.plan.hashes);
    entry += sub_filter_entry_bytes;
  }
}

std::size_t decode_scalable(const std::byte* p, Header& header) {
  header.scalable = {header.plan, load_le<std::uint32_t>(p + growth_at),
                     load_double(p + tightening_at), load_double(p + total_fpr_at)};
  validate(header.scalable);
  const auto count = load_le<std::uint32_t>(p + sub_filter_count_at);
  if (count == 0 || count > kMaxSubFilters) refuse(std::to_string(count) + " sub-filters");
  std::vector<SubFilterState> sub_filters;
  const std::byte* entry = p + sub_filters_at;
  for (std::uint32_t i = 0; i < count; ++i, entry += sub_filter_entry_bytes) {
    SubFilterState sub_filter;
    sub_filter.plan.layout = header.plan.layout;
    sub_filter.plan.bits = load_le64(entry + sub_filter_bits_at);
    sub_filter.plan.capacity = load_le64(entry + sub_filter_capacity_at);
    sub_filter.plan.fpr = load_double(entry + sub_filter_fpr_at);
    sub_filter.inserted = load_le64(entry + sub_filter_inserted_at);
    sub_filter.plan.hashes = load_le<std::uint32_t>(entry + sub_filter_hashes_at);
    if (load_le<std::uint32_t>(entry + sub_filter_zeros_at) != 0)
      refuse("unknown fields of a sub-filter");
    header.sub_filters.push_back({sub_filter.plan, sub_filter.inserted});
    sub_filters.push_back(std::move(sub_filter));
  }
  check_sub_filters(header.scalable, sub_filters);
  if (header.sub_filters.front().plan != header.plan) refuse("a first sub-filter of another plan");
  return static_cast<std::size_t>(entry - p);
}

void encode_window(const Header& header, std::byte* p) noexcept {
  store_le(p + slices_at, header.window.slices);
  store_le(p + unit_at, static_cast<std::uint32_t>(header.window.unit));
  store_le64(p + window_at, header.window.window);
  store_le64(p + window_capacity_at, header.window.capacity);
  store_double(p + window_fpr_at, header.window.fpr);
  store_le64(p + now_at, header.window_state.now);
  store_le(p + newest_at, header.window_state.newest);
  for (std::uint32_t slice = 0; slice < header.window.ring_slices(); ++slice)
    store_le64(p + inserted_in_slices_at + std::size_t{8} * slice,
               header.window_state.inserted_in_slices[slice]);
}

std::size_t decode_window(const std::byte* p, Header& header) {
  const auto unit = load_le<std::uint32_t>(p + unit_at);
  if (unit > static_cast<std::uint32_t>(WindowUnit::seconds))
    refuse("a window in unit " + std::to_string(unit));
  header.window = {header.plan,
                   load_le<std::uint32_t>(p + slices_at),
                   static_cast<WindowUnit>(unit),
                   load_le64(p + window_at),
                   load_le64(p + window_capacity_at),
                   load_double(p + window_fpr_at)};
  validate(header.window);
  header.window_state.now = load_le64(p + now_at);
  header.window_state.inserted = header.inserted;
  header.window_state.newest = load_le<std::uint32_t>(p + newest_at);
  for (std::uint32_t slice = 0; slice < header.window.ring_slices(); ++slice)
    header.window_state.inserted_in_slices[slice] =
        load_le64(p + inserted_in_slices_at + std::size_t{8} * slice);
  check_state(header.window, header.window_state);
  if (load_le<std::uint32_t>(p + window_zeros_at) != 0) refuse("unknown fields of a window");
  return inserted_in_slices_at + std::size_t{8} * header.window.ring_slices();
}

Header empty_filter(const Plan& plan) {
  Header header;
  header.plan = plan;
  return header;
}

Header empty_filter(const CountingPlan& counting) {
  if (counter_bits(counting.plan.layout) == 0)
    refuse("layout " + std::string(to_string(counting.plan.layout)) +
           " cannot count; plan with counting_layout(4) or (8)");
  Header header = empty_filter(counting.plan);
  header.kind = Kind::counting;
  return header;
}

Header empty_filter(const ScalablePlan& scalable) {
  validate(scalable);
  Header header = empty_filter(scalable.first);
  header.kind = Kind::scalable;
  header.scalable = scalable;
  header.sub_filters = {{scalable.first, 0}};
  return header;
}

Header empty_filter(const WindowPlan& window) {
  validate(window);
  Header header = empty_filter(window.slice);
  header.kind = Kind::window;
  header.window = window;
  return header;
}

std::string text(std::string_view value) { return std::string(value); }
template <class Number>
requires std::is_arithmetic_v<Number> std::string text(Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

// Compares what two filters were made from, value by value.
class Comparison {
 public:
  explicit Comparison(const std::string& name) : name_(name) {}

  // `what` completes "it was created with ...".
  template <class T>
  void same(const char* what, const T& there, const T& asked) const {
    if (there != asked) refuse(std::string(what) + " " + text(there) + ", not " + text(asked));
  }
  void same_plan(const Plan& there, const Plan& asked) const {
    same("capacity", there.capacity, asked.capacity);
    same("fpr", there.fpr, asked.fpr);
    same("layout", to_string(there.layout), to_string(asked.layout));
    same("bits", there.bits, asked.bits);
    same("hashes", there.hashes, asked.hashes);
  }
  void same_plan(const CountingPlan& there, const CountingPlan& asked) const {
    same_plan(there.plan, asked.plan);
  }
  void same_plan(const ScalablePlan& there, const ScalablePlan& asked) const {
    same("fpr", there.fpr, asked.fpr);
    same("growth", there.growth, asked.growth);
    same("tightening", there.tightening, asked.tightening);
    same_plan(there.first, asked.first);
  }
  void same_plan(const WindowPlan& there, const WindowPlan& asked) const {
    same("a window of", to_string(there.unit), to_string(asked.unit));
    same("a window of", there.window, asked.window);
    same("slices", there.slices, asked.slices);
    same("capacity", there.capacity, asked.capacity);
    same("fpr", there.fpr, asked.fpr);
    same_plan(there.slice, asked.slice);
  }
  // A seed may be a secret.
  void same_hasher(const Hasher& there, const Hasher& asked) const {
    if (there.family() != asked.family()) refuse("another hash family");
    if (there.seed() != asked.seed()) refuse("another seed");
  }

 private:
  [[noreturn]] void refuse(const std::string& difference) const {
    throw Error(ErrorCode::mismatch, name_ + ": it was created with " + difference +
                                         "; ask for the same, or use another path");
  }
  const std::string& name_;
};

}  // namespace

Header header_of(const FilePlan& plan, const Hasher& hasher) {
  Header header = std::visit([](const auto& of_kind) { return empty_filter(of_kind); }, plan);
  validate(header.plan);
  header.hasher = hasher;
  return header;
}

FilePlan plan_of(const Header& header) {
  switch (header.kind) {
    case Kind::plain:
      break;
    case Kind::counting:
      return CountingPlan{header.plan};
    case Kind::scalable:
      return header.scalable;
    case Kind::window:
      return header.window;
  }
  return header.plan;
}

void require_created_from(const FilePlan& plan, const Hasher& hasher, const Header& header,
                          const std::string& name) {
  const Comparison comparison(name);
  comparison.same("kind", to_string(header.kind), to_string(header_of(plan, hasher).kind));
  std::visit(
      [&](const auto& asked) {
        comparison.same_plan(std::get<std::decay_t<decltype(asked)>>(plan_of(header)), asked);
      },
      plan);
  comparison.same_hasher(header.hasher, hasher);
}

void encode_section(const Header& header, std::span<std::byte> page) noexcept {
  switch (header.kind) {
    case Kind::plain:
      return;
    case Kind::counting:
      store_le(page.data() + counter_bits_at, counter_bits(header.plan.layout));
      return;
    case Kind::scalable:
      encode_scalable(header, page.data());
      return;
    case Kind::window:
      encode_window(header, page.data());
      return;
  }
}

std::size_t decode_section(std::span<const std::byte> page, Header& header) {
  switch (header.kind) {
    case Kind::plain:
      return kSectionAt;
    case Kind::counting:
      return decode_counting(page.data(), header);
    case Kind::scalable:
      return decode_scalable(page.data(), header);
    case Kind::window:
      return decode_window(page.data(), header);
  }
  refuse("kind " + std::to_string(static_cast<unsigned>(header.kind)));
}

std::uint64_t payload_bytes(const Header& header) noexcept {
  switch (header.kind) {
    case Kind::plain:
      return header.plan.bytes();
    case Kind::counting:
      return counting_bytes(header.plan);
    case Kind::window:
      return header.window.bytes();
    case Kind::scalable:
      break;
  }
  std::uint64_t sum = 0;
  for (const SubFilterEntry& sub_filter : header.sub_filters) sum += sub_filter.plan.bytes();
  return sum;
}

}  // namespace bloomery::detail
