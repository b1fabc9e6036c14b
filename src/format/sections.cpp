// Encoding and distrustful decoding of what a header says of a kind.
#include "format/sections.hpp"

#include <bloomery/counting_view.hpp>
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include "base/endian.hpp"
#include "format/header.hpp"

#include <bit>

namespace bloomery::detail {

namespace {

enum CountingField : std::size_t { cell_bits_at = kSectionAt, counting_end = kSectionAt + 4 };

enum ScalableField : std::size_t {
  growth_at = kSectionAt,
  layer_count_at = kSectionAt + 4,
  tightening_at = kSectionAt + 8,
  total_rate_at = kSectionAt + 16,
  layers_at = kSectionAt + 24,
};
// Of an entry of its table of layers.
enum LayerField : std::size_t {
  layer_bits_at = 0,
  layer_capacity_at = 8,
  layer_rate_at = 16,
  layer_inserted_at = 24,
  layer_hashes_at = 32,
  layer_zeros_at = 36,
  layer_entry_bytes = 40,
};
static_assert(layers_at + kMaxLayers * layer_entry_bytes <= kSectionEnd);

enum WindowField : std::size_t {
  slices_at = kSectionAt,
  unit_at = kSectionAt + 4,
  window_at = kSectionAt + 8,
  window_capacity_at = kSectionAt + 16,
  window_rate_at = kSectionAt + 24,
  now_at = kSectionAt + 32,
  newest_at = kSectionAt + 40,
  window_zeros_at = kSectionAt + 44,
  in_slots_at = kSectionAt + 48,
};
static_assert(in_slots_at + std::size_t{8} * (kMaxSlices + 1) <= kSectionEnd);

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

double load_double(const std::byte* p) noexcept { return std::bit_cast<double>(load_le64(p)); }
void store_double(std::byte* p, double value) noexcept {
  store_le64(p, std::bit_cast<std::uint64_t>(value));
}

std::size_t decode_counting(const std::byte* p, const Header& header) {
  const auto stored = load_le<std::uint32_t>(p + cell_bits_at);
  if (stored == 0 || stored != cell_bits(header.plan.layout))
    refuse("cells of " + std::to_string(stored) + " bits in layout " +
           std::string(to_string(header.plan.layout)));
  return counting_end;
}

void encode_scalable(const Header& header, std::byte* p) noexcept {
  store_le(p + growth_at, header.scalable.growth);
  store_le(p + layer_count_at, static_cast<std::uint32_t>(header.layers.size()));
  store_double(p + tightening_at, header.scalable.tightening);
  store_double(p + total_rate_at, header.scalable.rate);
  std::byte* entry = p + layers_at;
  for (const LayerEntry& layer : header.layers) {
    store_le64(entry + layer_bits_at, layer.plan.bits);
    store_le64(entry + layer_capacity_at, layer.plan.capacity);
    store_double(entry + layer_rate_at, layer.plan.rate);
    store_le64(entry + layer_inserted_at, layer.inserted);
    store_le(entry + layer_hashes_at, layer.plan.hashes);
    entry += layer_entry_bytes;
  }
}

std::size_t decode_scalable(const std::byte* p, Header& header) {
  header.scalable = {header.plan, load_le<std::uint32_t>(p + growth_at),
                     load_double(p + tightening_at), load_double(p + total_rate_at)};
  validate(header.scalable);
  const auto count = load_le<std::uint32_t>(p + layer_count_at);
  if (count == 0 || count > kMaxLayers) refuse(std::to_string(count) + " layers");
  std::vector<LayerState> layers;
  const std::byte* entry = p + layers_at;
  for (std::uint32_t i = 0; i < count; ++i, entry += layer_entry_bytes) {
    LayerState layer;
    layer.plan.layout = header.plan.layout;
    layer.plan.bits = load_le64(entry + layer_bits_at);
    layer.plan.capacity = load_le64(entry + layer_capacity_at);
    layer.plan.rate = load_double(entry + layer_rate_at);
    layer.inserted = load_le64(entry + layer_inserted_at);
    layer.plan.hashes = load_le<std::uint32_t>(entry + layer_hashes_at);
    if (load_le<std::uint32_t>(entry + layer_zeros_at) != 0) refuse("unknown fields of a layer");
    header.layers.push_back({layer.plan, layer.inserted});
    layers.push_back(std::move(layer));
  }
  check_layers(header.scalable, layers);
  if (header.layers.front().plan != header.plan) refuse("a first layer of another plan");
  return static_cast<std::size_t>(entry - p);
}

void encode_window(const Header& header, std::byte* p) noexcept {
  store_le(p + slices_at, header.window.slices);
  store_le(p + unit_at, static_cast<std::uint32_t>(header.window.unit));
  store_le64(p + window_at, header.window.window);
  store_le64(p + window_capacity_at, header.window.capacity);
  store_double(p + window_rate_at, header.window.rate);
  store_le64(p + now_at, header.window_state.now);
  store_le(p + newest_at, header.window_state.newest);
  for (std::uint32_t slot = 0; slot < header.window.slots(); ++slot)
    store_le64(p + in_slots_at + std::size_t{8} * slot, header.window_state.in_slots[slot]);
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
                   load_double(p + window_rate_at)};
  validate(header.window);
  header.window_state.now = load_le64(p + now_at);
  header.window_state.inserted = header.inserted;
  header.window_state.newest = load_le<std::uint32_t>(p + newest_at);
  for (std::uint32_t slot = 0; slot < header.window.slots(); ++slot)
    header.window_state.in_slots[slot] = load_le64(p + in_slots_at + std::size_t{8} * slot);
  check_state(header.window, header.window_state);
  if (load_le<std::uint32_t>(p + window_zeros_at) != 0) refuse("unknown fields of a window");
  return in_slots_at + std::size_t{8} * header.window.slots();
}

}  // namespace

void encode_section(const Header& header, std::span<std::byte> page) noexcept {
  switch (header.kind) {
    case Kind::plain:
      return;
    case Kind::counting:
      store_le(page.data() + cell_bits_at, cell_bits(header.plan.layout));
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
  for (const LayerEntry& layer : header.layers) sum += layer.plan.bytes();
  return sum;
}

}  // namespace bloomery::detail
