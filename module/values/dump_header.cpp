// Encoding headers, and decoding them: every field is checked before it is used.
#include "values/dump_header.hpp"

#include <bloomery/counting_view.hpp>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/layout.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>

#include "base/endian.hpp"

namespace bloomery::server {

namespace {

namespace redisbloom = legacy::redisbloom;

constexpr char kMagic[8] = {'B', 'L', 'O', 'O', 'M', 'E', 'R', 'Y'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kSubFilterBytes = 40;
// The first is number 1 of a header. The numbers never change.
constexpr std::array kKindsInDumps = {Kind::scalable, Kind::counting, Kind::window, Kind::frozen};
// Options that RedisBloom does not have.
constexpr std::uint32_t kKeyed = 16;
constexpr std::uint32_t kLoading = 32;
constexpr std::uint32_t kTightened = 64;
// The bound for the expansion, in RedisBloom and here.
constexpr std::uint32_t kMaxGrowth = 32768;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::corrupt, what); }

// Parameters that the library refuses are damage here, since they came with the bytes.
template <class Check>
void checked(Check check) {
  try {
    check();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::no_memory) throw;
    refuse(error.what());
  }
}

// ---- fields in order, to and from bytes ---------------------------------------------------------

class Writer {
 public:
  template <class T>
  void put(T value) {
    bytes_.resize(bytes_.size() + sizeof value);
    detail::store_le(bytes_.data() + bytes_.size() - sizeof value, value);
  }
  void put(double value) { put(std::bit_cast<std::uint64_t>(value)); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  template <class T>
  [[nodiscard]] T get() {
    if (bytes_.size() < sizeof(T)) refuse("the header is cut off");
    const T value = detail::load_le<T>(bytes_.data());
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  [[nodiscard]] double real() { return std::bit_cast<double>(get<std::uint64_t>()); }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

void write_sub_filter(Writer& writer, const redisbloom::SubFilter& sub_filter) {
  writer.put(sub_filter.bits);
  writer.put(sub_filter.entries);
  writer.put(sub_filter.size);
  writer.put(sub_filter.error);
  writer.put(sub_filter.hashes);
  writer.put(std::uint32_t{sub_filter.exponent});
}

bool takes_layout(Kind kind, std::uint32_t number) noexcept {
  if (number == 0 || number > detail::kAllLayouts.size()) return false;
  const auto layout = static_cast<Layout>(number);
  switch (kind) {
    case Kind::counting:
      return counter_bits(layout) != 0;
    case Kind::window:
      return !detail::kernels_of<detail::WindowKernel>(layout).empty();
    case Kind::frozen:
      return layout == Layout::standard;
    default:
      return counter_bits(layout) == 0;
  }
}

redisbloom::SubFilter read_sub_filter(Reader& reader, Kind kind) {
  Plan plan;
  plan.bits = reader.get<std::uint64_t>();
  plan.capacity = reader.get<std::uint64_t>();
  const auto size = reader.get<std::uint64_t>();
  plan.fpr = reader.real();
  plan.hashes = reader.get<std::uint32_t>();
  const auto layout = reader.get<std::uint32_t>();
  if (!takes_layout(kind, layout)) refuse("a filter has an unknown layout");
  plan.layout = static_cast<Layout>(layout);
  checked([&] { kind == Kind::counting ? validate_counting(plan) : validate(plan); });
  redisbloom::SubFilter sub_filter = sizes_of(plan);
  sub_filter.size = size;
  return sub_filter;
}

void write_window(Writer& writer, const WindowPlan& plan, const WindowState& state) {
  writer.put(plan.slices);
  writer.put(static_cast<std::uint32_t>(plan.unit));
  writer.put(plan.window);
  writer.put(plan.capacity);
  writer.put(plan.fpr);
  writer.put(state.now);
  writer.put(state.newest);
  writer.put(std::uint32_t{0});
  for (std::uint32_t slice = 0; slice < plan.ring_slices(); ++slice)
    writer.put(state.inserted_in_slices[slice]);
}

void read_window(Reader& reader, Header& header) {
  WindowPlan& plan = header.window;
  plan.slice = plan_of(header.sub_filters[0]);
  plan.slices = reader.get<std::uint32_t>();
  const auto unit = reader.get<std::uint32_t>();
  if (unit != 1 && unit != 2) refuse("a window is of an unknown unit");
  plan.unit = static_cast<WindowUnit>(unit);
  plan.window = reader.get<std::uint64_t>();
  plan.capacity = reader.get<std::uint64_t>();
  plan.fpr = reader.real();
  checked([&] { validate(plan); });
  header.sub_filters[0].bytes = plan.bytes();
  header.state.now = reader.get<std::uint64_t>();
  header.state.inserted = header.size;
  header.state.newest = reader.get<std::uint32_t>();
  if (reader.get<std::uint32_t>() != 0) refuse("a field that is not used is not 0");
  for (std::uint32_t slice = 0; slice < plan.ring_slices(); ++slice)
    header.state.inserted_in_slices[slice] = reader.get<std::uint64_t>();
  checked([&] { detail::check_state(plan, header.state); });
}

void write_frozen(Writer& writer, const Header& header) {
  writer.put(header.frozen.partitions);
  writer.put(header.frozen.fingerprint_bits);
  writer.put(header.frozen.narrow_partitions);
  writer.put(std::uint32_t{0});
  if (header.loading) writer.put(header.come);
}

void read_frozen(Reader& reader, Header& header) {
  FrozenPlan& plan = header.frozen;
  plan.array = plan_of(header.sub_filters[0]);
  plan.partitions = reader.get<std::uint32_t>();
  plan.fingerprint_bits = reader.get<std::uint32_t>();
  plan.narrow_partitions = reader.get<std::uint32_t>();
  if (reader.get<std::uint32_t>() != 0) refuse("a field that is not used is not 0");
  checked([&] { validate(plan); });
  if (header.size != plan.array.capacity && (header.size != 0 || plan.array.capacity != 1))
    refuse("a frozen filter does not have the number of items that it was made for");
  if (header.loading) header.come = reader.get<std::uint64_t>();
  if (header.come > plan.bytes()) refuse("more of a frozen filter has come than there is");
}

Header decode_native(std::span<const std::byte> bytes) {
  Reader reader(bytes.subspan(sizeof kMagic));
  if (const auto version = reader.get<std::uint32_t>(); version != kVersion)
    throw Error(ErrorCode::newer_format, "the dump has version " + std::to_string(version) +
                                             "; this module reads version 1");
  const auto kind = reader.get<std::uint32_t>();
  if (kind < 1 || kind > kKindsInDumps.size()) refuse("the header is of an unknown kind of filter");
  Header header;
  header.kind = kKindsInDumps[kind - 1];
  header.size = reader.get<std::uint64_t>();
  header.growth = reader.get<std::uint32_t>();
  const auto options = reader.get<std::uint32_t>();
  header.options = options & ~(kKeyed | kLoading | kTightened);
  header.loading = (options & kLoading) != 0;
  const auto sub_filters = reader.get<std::uint32_t>();
  if ((header.options & ~std::uint32_t{redisbloom::kNoScaling}) != 0)
    refuse("the header has unknown options");
  if (header.growth > kMaxGrowth) refuse("the header has an expansion out of range");
  if (sub_filters == 0 || sub_filters > reader.left() / kSubFilterBytes ||
      (header.kind != Kind::scalable && sub_filters != 1))
    refuse("the header does not have the length of its sub-filters");
  for (std::uint32_t i = 0; i < sub_filters; ++i)
    header.sub_filters.push_back(read_sub_filter(reader, header.kind));
  if (!header.add_up()) refuse("the sub-filters do not hold the items that the header counts");
  if (header.kind == Kind::window) read_window(reader, header);
  if (header.kind == Kind::frozen) read_frozen(reader, header);
  if ((options & kTightened) != 0) {
    const auto tightening = Tightening::of(reader.get<std::uint32_t>());
    if (!tightening || *tightening == Tightening() || !header.grows())
      refuse("the header has a tightening ratio that no filter has");
    header.tightening = *tightening;
  }
  if ((options & kKeyed) != 0) {
    header.key.emplace();
    header.key->low = reader.get<std::uint64_t>();
    header.key->high = reader.get<std::uint64_t>();
  }
  if (reader.left() != 0) refuse("the header continues where it should end");
  return header;
}

}  // namespace

std::vector<std::byte> encode_header(const Header& header) {
  if (header.family == Family::redisbloom) return redisbloom::encode(header);
  Writer writer;
  for (const char letter : kMagic) writer.put(static_cast<std::uint8_t>(letter));
  writer.put(kVersion);
  writer.put(static_cast<std::uint32_t>(std::ranges::find(kKindsInDumps, header.kind) -
                                        kKindsInDumps.begin() + 1));
  writer.put(header.size);
  writer.put(header.growth);
  const bool tightened = header.tightening != Tightening();
  writer.put(header.options | (header.key ? kKeyed : 0) | (header.loading ? kLoading : 0) |
             (tightened ? kTightened : 0));
  writer.put(static_cast<std::uint32_t>(header.sub_filters.size()));
  for (const redisbloom::SubFilter& sub_filter : header.sub_filters)
    write_sub_filter(writer, sub_filter);
  if (header.kind == Kind::window) write_window(writer, header.window, header.state);
  if (header.kind == Kind::frozen) write_frozen(writer, header);
  if (tightened) writer.put(std::uint32_t{header.tightening.units()});
  if (header.key) {
    writer.put(header.key->low);
    writer.put(header.key->high);
  }
  return writer.take();
}

std::uint64_t Header::bit_bytes() const noexcept {
  std::uint64_t total = 0;
  for (const redisbloom::SubFilter& sub_filter : sub_filters) total += sub_filter.bytes;
  return total;
}

double Header::asked_fpr() const {
  if (kind == Kind::window) return window.fpr;
  if (!grows()) return sub_filters[0].error;
  // Removes the error of the division after the fifteenth digit.
  std::array<char, 32> text;
  const auto* const end =
      std::to_chars(text.data(), text.data() + text.size(),
                    sub_filters[0].error / tightening.first_share(), std::chars_format::general, 15)
          .ptr;
  double fpr = 0;
  std::from_chars(text.data(), end, fpr);
  return fpr;
}

Header decode_header(std::span<const std::byte> bytes) {
  const bool native =
      bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
  if (native) return decode_native(bytes);
  Header header;
  header.family = Family::redisbloom;
  static_cast<redisbloom::Header&>(header) = redisbloom::decode(bytes);
  return header;
}

legacy::redisbloom::SubFilter sizes_of(const Plan& plan) {
  legacy::redisbloom::SubFilter sizes;
  sizes.bytes = plan.bytes() * std::max(1U, counter_bits(plan.layout));
  sizes.bits = plan.bits;
  sizes.entries = plan.capacity;
  sizes.error = plan.fpr;
  sizes.bits_per_entry = plan.bits_per_key();
  sizes.hashes = plan.hashes;
  sizes.exponent = static_cast<std::uint8_t>(plan.layout);
  return sizes;
}

Plan plan_of(const legacy::redisbloom::SubFilter& sizes) {
  return {static_cast<Layout>(sizes.exponent), sizes.bits, sizes.hashes, sizes.entries,
          sizes.error};
}

legacy::redisbloom::SubFilter plan_native(std::uint64_t capacity, double fpr) {
  return sizes_of(plan(capacity, std::clamp(fpr, kMinFpr, kMaxFpr)));
}

}  // namespace bloomery::server
