// The plan of each kind in a header, its section as bytes, and the comparison of plans.
#include "format/kinds.hpp"

#include <bloomery/counting_view.hpp>
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include "base/zeros.hpp"
#include "format/fields.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace bloomery::detail {

namespace {

enum SectionPlace : std::size_t {
  counter_bits_at = kSectionAt,
  counting_end = kSectionAt + 4,
  sub_filter_count_at = kSectionAt + 4,
  sub_filters_at = kSectionAt + 24,
  sub_filter_zeros_at = 36,
  sub_filter_entry_bytes = 40,
  window_zeros_at = kSectionAt + 44,
  inserted_in_slices_at = kSectionAt + 48,
  has_delta_at = kSectionAt + 12,
  frozen_end = kSectionAt + 16,
  delta_zeros_at = kSectionAt + 45,  // the upper bytes of its layout
  delta_end = kSectionAt + 48,
};
static_assert(sub_filters_at + kMaxSubFilters * sub_filter_entry_bytes <= kSectionEnd);
static_assert(inserted_in_slices_at + std::size_t{8} * (kMaxSlices + 1) <= kSectionEnd);

// The other field of a section, which has an offset of its own: the counter bits.
template <class Field>
void visit_fields(Some<CountingPlan> auto&, Field) {}

template <class Field>
void visit_fields(Some<ScalablePlan> auto& plan, Field field) {
  field(kSectionAt, "growth", plan.growth);
  field(kSectionAt + 8, "tightening", plan.tightening);
  field(kSectionAt + 16, "fpr", plan.fpr);
}

template <class Field>
void visit_fields(Some<WindowPlan> auto& plan, Field field) {
  field(kSectionAt + 4, "a window of", plan.unit);
  field(kSectionAt + 8, "a window of", plan.window);
  field(kSectionAt, "slices", plan.slices);
  field(kSectionAt + 16, "capacity", plan.capacity);
  field(kSectionAt + 24, "fpr", plan.fpr);
}

template <class Field>
void visit_fields(Some<WindowState> auto& state, Field field) {
  field(kSectionAt + 32, "now", state.now);
  field(kSectionAt + 40, "newest", state.newest);
}

template <class Field>
void visit_fields(Some<FrozenPlan> auto& plan, Field field) {
  field(kSectionAt, "partitions", plan.partitions);
  field(kSectionAt + 4, "fingerprint bits", plan.fingerprint_bits);
  field(kSectionAt + 8, "narrow partitions", plan.narrow_partitions);
}

// The fields of a delta, both in the section and in the comparison of files.
constexpr auto visit_delta = [](auto& delta, auto field) {
  field(kSectionAt + 24, "a delta for", delta.capacity);
  field(kSectionAt + 16, "delta bits", delta.bits);
  field(kSectionAt + 32, "delta fpr", delta.fpr);
  field(kSectionAt + 40, "delta hashes", delta.hashes);
  field(kSectionAt + 44, "delta layout", delta.layout);
};

// Offsets are from the beginning of an entry in the table of sub-filters.
template <class Field>
void visit_fields(Some<SubFilterEntry> auto& entry, Field field) {
  field(0, "bits", entry.plan.bits);
  field(8, "capacity", entry.plan.capacity);
  field(16, "fpr", entry.plan.fpr);
  field(24, "inserted", entry.inserted);
  field(32, "hashes", entry.plan.hashes);
}

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

void validate(const CountingPlan& counting) { validate_counting(counting.plan); }

const Plan& bits_of(const Plan& plan) noexcept { return plan; }
const Plan& bits_of(const CountingPlan& counting) noexcept { return counting.plan; }
const Plan& bits_of(const ScalablePlan& scalable) noexcept { return scalable.first; }
const Plan& bits_of(const WindowPlan& window) noexcept { return window.slice; }
const Plan& bits_of(const FrozenPlan& frozen) noexcept { return frozen.array; }

void encode(const Plan&, const Header&, std::byte*) noexcept {}

void encode(const CountingPlan& counting, const Header&, std::byte* page) noexcept {
  store_le(page + counter_bits_at, counter_bits(counting.plan.layout));
}

void encode(const ScalablePlan& scalable, const Header& header, std::byte* page) noexcept {
  visit_fields(scalable, FieldWriter(page));
  store_le(page + sub_filter_count_at, static_cast<std::uint32_t>(header.sub_filters.size()));
  std::byte* entry = page + sub_filters_at;
  for (const SubFilterEntry& sub_filter : header.sub_filters) {
    visit_fields(sub_filter, FieldWriter(entry));
    entry += sub_filter_entry_bytes;
  }
}

void encode(const WindowPlan& window, const Header& header, std::byte* page) noexcept {
  visit_fields(window, FieldWriter(page));
  visit_fields(header.window_state, FieldWriter(page));
  for (std::uint32_t slice = 0; slice < window.ring_slices(); ++slice)
    store_le64(page + inserted_in_slices_at + std::size_t{8} * slice,
               header.window_state.inserted_in_slices[slice]);
}

void encode(const FrozenPlan& frozen, const Header&, std::byte* page) noexcept {
  visit_fields(frozen, FieldWriter(page));
  store_le(page + has_delta_at, std::uint32_t{frozen.delta ? 1U : 0U});
  if (frozen.delta) visit_delta(*frozen.delta, FieldWriter(page));
}

std::size_t decode_counting(const Plan& bits, const std::byte* page, Header& header) {
  const auto found = load_le<std::uint32_t>(page + counter_bits_at);
  if (found == 0 || found != counter_bits(bits.layout))
    refuse("counters of " + std::to_string(found) + " bits in layout " +
           std::string(to_string(bits.layout)));
  header.plan = CountingPlan{bits};
  return counting_end;
}

std::size_t decode_scalable(const Plan& first, const std::byte* page, Header& header) {
  ScalablePlan plan{.first = first};
  visit_fields(plan, FieldReader(page));
  bloomery::validate(plan);
  const auto count = load_le<std::uint32_t>(page + sub_filter_count_at);
  if (count == 0 || count > kMaxSubFilters) refuse(std::to_string(count) + " sub-filters");
  std::vector<SubFilterState> sub_filters;
  const std::byte* at = page + sub_filters_at;
  for (std::uint32_t i = 0; i < count; ++i, at += sub_filter_entry_bytes) {
    SubFilterEntry entry{.plan = {.layout = first.layout}};
    visit_fields(entry, FieldReader(at));
    if (load_le<std::uint32_t>(at + sub_filter_zeros_at) != 0)
      refuse("unknown fields of a sub-filter");
    header.sub_filters.push_back(entry);
    sub_filters.push_back({.plan = entry.plan, .inserted = entry.inserted, .bits = {}});
  }
  check_sub_filters(plan, sub_filters);
  if (header.sub_filters.front().plan != first) refuse("a first sub-filter of another plan");
  header.plan = plan;
  return static_cast<std::size_t>(at - page);
}

std::size_t decode_window(const Plan& slice, const std::byte* page, Header& header) {
  WindowPlan plan{.slice = slice};
  visit_fields(plan, FieldReader(page));
  bloomery::validate(plan);
  WindowState& state = header.window_state;
  visit_fields(state, FieldReader(page));
  state.inserted = header.inserted;
  for (std::uint32_t i = 0; i < plan.ring_slices(); ++i)
    state.inserted_in_slices[i] = load_le64(page + inserted_in_slices_at + std::size_t{8} * i);
  check_state(plan, state);
  if (load_le<std::uint32_t>(page + window_zeros_at) != 0) refuse("unknown fields of a window");
  header.plan = plan;
  return inserted_in_slices_at + std::size_t{8} * plan.ring_slices();
}

std::size_t decode_frozen(const Plan& array, const std::byte* page, Header& header) {
  FrozenPlan plan{.array = array};
  visit_fields(plan, FieldReader(page));
  const auto has = load_le<std::uint32_t>(page + has_delta_at);
  if (has > 1) refuse("unknown fields of a frozen filter");
  if (has == 1) {
    visit_delta(plan.delta.emplace(), FieldReader(page));
    if (!is_zeros({page + delta_zeros_at, page + delta_end})) refuse("a delta of unknown layout");
  }
  bloomery::validate(plan);
  header.plan = plan;
  return has == 1 ? delta_end : frozen_end;
}

std::uint64_t bytes_of(const auto& plan, const Header&) noexcept { return plan.bytes(); }
std::uint64_t bytes_of(const ScalablePlan&, const Header& header) noexcept {
  std::uint64_t sum = 0;
  for (const SubFilterEntry& sub_filter : header.sub_filters) sum += sub_filter.plan.bytes();
  return sum;
}

FieldTexts texts_of(const FilterPlan& plan) {
  FieldTexts texts = {{"kind", std::string(to_string(kind_of(plan)))}};
  const FieldLister lister(texts);
  std::visit(
      [&](const auto& of_kind) {
        if constexpr (!std::is_same_v<decltype(of_kind), const Plan&>)
          visit_fields(of_kind, lister);
      },
      plan);
  visit_fields(bits_plan(plan), lister);
  if (const auto* frozen = std::get_if<FrozenPlan>(&plan)) {
    const Plan delta = frozen->delta.value_or(Plan{.capacity = 0});
    visit_delta(delta, lister);
  }
  return texts;
}

// Rates that a request leaves to be computed (from keys and bits, or from hashes) are sums of logarithms, whose last
// digits depend on the CPU and its C library: those of aarch64 and s390x differ from those of x86-64 by up to 1e-8 of
// the rate. Nobody asks for two rates that are this close, and the bits of a key do not depend on the rate.
bool agree(const FieldText& one, const FieldText& other) {
  constexpr double kSameRate = 1e-6;
  return one.text == other.text ||
         std::abs(one.rate - other.rate) < kSameRate * std::min(one.rate, other.rate);
}

}  // namespace

const char* why_not(Kind kind, Ability ability) noexcept {
  switch (ability) {
    case Ability::remove:
      return kind == Kind::counting
                 ? nullptr
                 : "only counting filters can remove keys; rebuild it without them";
    case Ability::advance:
      return kind == Kind::window ? nullptr : "only window filters forget as time goes on";
    case Ability::merge:
      break;
  }
  switch (kind) {
    case Kind::plain:
    case Kind::counting:
      return nullptr;
    case Kind::scalable:
      return "its sub-filters depend on the order of its keys, and no filter stores its keys; "
             "insert the keys themselves";
    case Kind::frozen:
      return "no key can be added to it; build it again from the keys of both";
    case Kind::window:
      break;
  }
  return "another filter does not say when its keys came; insert the keys themselves";
}

Header header_of(const FilterPlan& plan, const Hasher& hasher) {
  std::visit([](const auto& of_kind) { validate(of_kind); }, plan);
  Header header;
  header.plan = plan;
  header.hasher = hasher;
  if (const auto* scalable = std::get_if<ScalablePlan>(&plan))
    header.sub_filters = {{scalable->first, 0}};
  if (const auto* frozen = std::get_if<FrozenPlan>(&plan))
    header.plan = empty_frozen_plan(frozen->list_fpr());
  return header;
}

void require_created_from(const FilterPlan& plan, const Hasher& hasher, const Header& header,
                          const std::string& name) {
  std::string difference;
  // The size of a frozen filter depends on its keys, whatever size was requested.
  FilterPlan wanted = plan;
  const auto* made = std::get_if<FrozenPlan>(&header.plan);
  if (auto* frozen = std::get_if<FrozenPlan>(&wanted); made != nullptr && frozen != nullptr) {
    FrozenPlan same = *made;
    same.array.fpr = frozen->array.fpr;
    same.delta = frozen->delta;
    *frozen = same;
  }
  const FieldTexts there = texts_of(header.plan), asked = texts_of(wanted);
  for (std::size_t i = 0; difference.empty() && i < there.size(); ++i)
    if (!agree(there[i], asked[i]))
      difference = std::string(there[i].name) + " " + there[i].text + ", not " + asked[i].text;
  if (difference.empty() && header.hasher.family() != hasher.family())
    difference = "another hash family";
  // The message does not show the seeds: they may be secret.
  if (difference.empty() && header.hasher.seed() != hasher.seed()) difference = "another seed";
  if (!difference.empty())
    throw Error(ErrorCode::mismatch, name + ": it was created with " + difference +
                                         "; ask for the same, or use another path");
}

const Plan& bits_plan(const FilterPlan& plan) noexcept {
  return std::visit([](const auto& of_kind) -> const Plan& { return bits_of(of_kind); }, plan);
}

void encode_section(const Header& header, std::span<std::byte> page) noexcept {
  std::visit([&](const auto& of_kind) { encode(of_kind, header, page.data()); }, header.plan);
}

std::size_t decode_section(Kind kind, const Plan& bits, std::span<const std::byte> page,
                           Header& header) {
  switch (kind) {
    case Kind::plain:
      break;
    case Kind::counting:
      return decode_counting(bits, page.data(), header);
    case Kind::scalable:
      return decode_scalable(bits, page.data(), header);
    case Kind::window:
      return decode_window(bits, page.data(), header);
    case Kind::frozen:
      return decode_frozen(bits, page.data(), header);
  }
  header.plan = bits;
  return kSectionAt;
}

std::uint64_t payload_bytes(const Header& header) noexcept {
  return std::visit([&](const auto& of_kind) { return bytes_of(of_kind, header); }, header.plan);
}

}  // namespace bloomery::detail
