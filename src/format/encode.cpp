// A filter as bytes and back: the bytes are those of a clean filter file.
#include <bloomery/encode.hpp>
#include <bloomery/error.hpp>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/header_bytes.hpp"
#include "format/kinds.hpp"
#include "format/make_contents.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace bloomery {

namespace {

using namespace detail;
constexpr const char* kName = "these bytes";

// `header` describes a filter; `pieces` are its bits.
std::vector<std::byte> encode_pieces(Header header, const Pieces& pieces) {
  const FileLayout layout = layout_of(header);
  std::vector<std::byte> out(layout.clean_bytes);
  auto at = out.begin() + kBitsAt;
  for (const auto piece : pieces) at = std::ranges::copy(piece, at).out;
  const Sums sums = sums_of(pieces);
  const auto encoded = encode_sums(sums);
  std::ranges::copy(encoded, at);
  seal(header, sums, encoded);
  const std::span<std::byte> pages(out);
  encode_header(header, pages.first<kHeaderBytes>());
  encode_header(header, pages.subspan<kHeaderBytes, kHeaderBytes>());
  return out;
}

template <class Filter>
std::vector<std::byte> encode_filter(const Filter& filter) {
  return at_edge("the filter", [&] {
    Header header;
    describe(filter, header);
    return encode_pieces(std::move(header), pieces_of(filter));
  });
}

Header header_in(std::span<const std::byte> bytes) {
  const auto start = bytes.first(std::min<std::size_t>(bytes.size(), kBitsAt));
  return decode_headers(start, bytes.size(), kName).header;
}

// The content of encoded bytes, after all of it was checked.
struct Decoded {
  Header header;
  std::span<const std::byte> bits;

  Decoded(Header found, std::span<const std::byte> bytes) : header(std::move(found)) {
    if (header.state != State::clean)
      throw Error(ErrorCode::unclean, std::string(kName) +
                                          " are of a file whose writer had not closed it; open "
                                          "the file itself");
    const FileLayout layout = layout_of(header);
    bits = bytes.subspan(kBitsAt, layout.bits_bytes);
    std::uint64_t total = 0;
    for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk)
      total += chunk_sum(chunk, chunk_of(bits, chunk));
    if (total != header.total)
      throw Error(ErrorCode::corrupt,
                  std::string(kName) + ": the bits are damaged; salvage the file they come from");
  }
  // Copies the next bytes of the bits into memory of their own.
  [[nodiscard]] BitMemory take(std::uint64_t size) {
    BitMemory memory(static_cast<std::size_t>(size));
    std::ranges::copy(bits.first(memory.bytes().size()), memory.bytes().begin());
    bits = bits.subspan(memory.bytes().size());
    return memory;
  }
};

// Decodes a filter of that kind; make(decoded) makes it.
template <class Make>
auto decode_as(Kind kind, std::span<const std::byte> bytes, Make make) {
  return at_edge(kName, [&] {
    Header header = header_in(bytes);
    if (header.kind() != kind)
      throw Error(ErrorCode::wrong_kind, std::string(kName) + " are a " +
                                             std::string(to_string(header.kind())) +
                                             " filter, not a " + std::string(to_string(kind)) +
                                             " one; decode them as what they are");
    return make(Decoded(std::move(header), bytes));
  });
}

template <class Filter>
Filter decode_view(Kind kind, std::span<const std::byte> bytes) {
  return decode_as(kind, bytes, [](const Decoded& from) {
    Filter filter(bits_plan(from.header.plan), from.header.hasher);
    std::ranges::copy(from.bits, filter.mutable_bytes().begin());
    return filter;
  });
}

}  // namespace

std::vector<std::byte> encode(const FilterView& filter) { return encode_filter(filter); }
std::vector<std::byte> encode(const CountingView& filter) { return encode_filter(filter); }
std::vector<std::byte> encode(const ScalableFilter& filter) { return encode_filter(filter); }
std::vector<std::byte> encode(const WindowFilter& filter) { return encode_filter(filter); }
std::vector<std::byte> encode(const FrozenFilter& filter) { return encode_filter(filter); }

Filter decode(std::span<const std::byte> bytes) { return decode_view<Filter>(Kind::plain, bytes); }

CountingFilter decode_counting(std::span<const std::byte> bytes) {
  return decode_view<CountingFilter>(Kind::counting, bytes);
}

ScalableFilter decode_scalable(std::span<const std::byte> bytes) {
  return decode_as(Kind::scalable, bytes, [](Decoded from) {
    std::vector<SubFilterState> sub_filters;
    for (const SubFilterEntry& entry : from.header.sub_filters) {
      BitMemory memory = from.take(entry.plan.bytes());
      const auto bits = memory.bytes();
      sub_filters.push_back({entry.plan, entry.inserted, bits, std::move(memory)});
    }
    return ScalableFilter::restore(std::get<ScalablePlan>(from.header.plan), from.header.hasher,
                                   std::move(sub_filters));
  });
}

WindowFilter decode_window(std::span<const std::byte> bytes) {
  return decode_as(Kind::window, bytes, [](Decoded from) {
    BitMemory memory = from.take(from.bits.size());
    const auto bits = memory.bytes();
    return WindowFilter::restore(std::get<WindowPlan>(from.header.plan), from.header.hasher,
                                 from.header.window_state, bits, std::move(memory));
  });
}

FrozenFilter decode_frozen(std::span<const std::byte> bytes) {
  return decode_as(Kind::frozen, bytes, [](Decoded from) {
    if (has_delta(from.header.plan))
      throw Error(ErrorCode::wrong_kind,
                  std::string(kName) +
                      " are a frozen filter with a delta; decode them with AnyFilter::decode");
    return FrozenFilter::over(std::get<FrozenPlan>(from.header.plan), from.header.inserted,
                              from.header.hasher, from.take(from.bits.size()));
  });
}

Kind kind_of(std::span<const std::byte> bytes) {
  return at_edge(kName, [&] { return header_in(bytes).kind(); });
}

namespace detail {

void seal(Header& header, const Sums& sums, std::span<const std::byte> encoded) noexcept {
  header.total = total_of(sums);
  store_le64(header.identity.data(), checksum(encoded));
  store_le64(header.identity.data() + 8, checksum(encoded, 1));
}

std::vector<std::byte> encode_contents(const Contents& contents) {
  return at_edge("the filter", [&] {
    Header header;
    contents.describe(header);
    return encode_pieces(std::move(header), contents.pieces());
  });
}

std::unique_ptr<Contents> decode_contents(std::span<const std::byte> bytes) {
  return at_edge(kName, [&] {
    const Decoded from(header_in(bytes), bytes);
    Payload payload(from.bits.size());
    std::ranges::copy(from.bits, payload.bytes().begin());
    return make_contents(from.header, std::move(payload));
  });
}

}  // namespace detail
}  // namespace bloomery
