// Decodes any bytes as every kind: an Error, or a filter that encodes to the same bits.
#include <bloomery/bloomery.hpp>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/layout.hpp"
#include "format/sums.hpp"
#include "patches.hpp"

#include <cstdlib>

namespace {

using namespace bloomery;

template <class F>
std::vector<std::byte> with_keys(F filter) {
  for (std::uint64_t key = 0; key < 90; ++key) filter.insert(key);
  return encode(filter);
}

constexpr unsigned kFrozen = 7;
std::vector<std::byte> frozen() {
  FrozenBuilder builder(0.01);
  for (std::uint64_t key = 0; key < 90; ++key) builder.insert(key);
  return encode(builder.build());
}

constexpr unsigned kDelta = 8;
std::vector<std::byte> with_delta() {
  AnyFilter filter(plan({.kind = Kind::frozen, .fpr = 0.01, .delta = 50}));
  for (std::uint64_t key = 0; key < 90; ++key) filter.insert(key);
  filter.sync();
  for (std::uint64_t key = 90; key < 120; ++key) filter.insert(key);
  return filter.encode();
}

std::vector<std::byte> well_formed(unsigned choice) {
  switch (choice) {
    case 0:
      return with_keys(CountingFilter(Plan{Layout::blocked128, 512 * 2, 6, 100, 0.01}));
    case 1:
      return with_keys(CountingFilter(Plan{Layout::blocked64, 512, 6, 100, 0.01}));
    case 2:
      return with_keys(
          ScalableFilter(ScalablePlan{{Layout::blocked, 512, 6, 30, 0.001}, 2, 0.5, 0.01}));
    case 3:
      return with_keys(WindowFilter(WindowPlan{
          {Layout::blocked, 512, 6, 10, 0.01 / 4}, 3, WindowUnit::insertions, 30, 30, 0.01}));
    case kFrozen:
      return frozen();
    case kDelta:
      return with_delta();
    default:
      return with_keys(Filter(Plan{static_cast<Layout>(1 + choice % 3), 512 * 4, 6, 100, 0.01}));
  }
}

void repair_checksums(std::vector<std::byte>& bytes) {
  for (const std::size_t copy : {std::size_t{0}, std::size_t{detail::kHeaderBytes}}) {
    const auto page = std::span(bytes).subspan(copy, detail::kHeaderBytes);
    detail::store_le64(page.data() + detail::kHeaderBytes - 8,
                       detail::checksum(page.first(detail::kHeaderBytes - 8)));
  }
}

// For a frozen filter: corrects the checksums, so that errors in its table get past them.
void repair_total(std::vector<std::byte>& bytes) {
  const auto bits = std::span<const std::byte>(bytes).subspan(detail::kBitsAt);
  const std::uint64_t delta =
      bytes[148] == std::byte{1} ? detail::load_le64(bytes.data() + 152) : 0;
  const std::uint64_t payload = (detail::load_le64(bytes.data() + 32) + delta) / 8;
  if (payload > bits.size() || payload % 64 != 0) return;
  const std::uint64_t total = detail::total_of(detail::sums_of(bits.first(payload)));
  for (const std::size_t copy : {std::size_t{0}, std::size_t{detail::kHeaderBytes}})
    detail::store_le64(bytes.data() + copy + 96, total);
}

// Decoding is stable after the first time: an encoded filter, unlike arbitrary bytes, has no unused bytes.
template <class Decode>
void try_as(std::span<const std::byte> bytes, Decode decode_it) {
  try {
    const auto first = encode(decode_it(bytes));
    if (encode(decode_it(first)) != first) std::abort();
    if (first.size() > bytes.size()) std::abort();
  } catch (const Error&) {
  }
}

void try_decode(std::span<const std::byte> bytes) {
  try_as(bytes, [](auto all) { return decode(all); });
  try_as(bytes, [](auto all) { return decode_counting(all); });
  try_as(bytes, [](auto all) { return decode_scalable(all); });
  try_as(bytes, [](auto all) { return decode_window(all); });
  try_as(bytes, [](auto all) {
    FrozenFilter filter = decode_frozen(all);
    for (std::uint64_t key = 0; key < 90; ++key) (void)filter.may_contain(key);
    return filter;
  });
  try {
    AnyFilter any = AnyFilter::decode(bytes);
    for (std::uint64_t key = 0; key < 90; ++key) (void)any.may_contain(key);
    const auto first = any.encode();
    if (AnyFilter::decode(first).encode() != first) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace

// The first byte says what the others are: a whole filter, or changes to a valid one, with or
// without a corrected checksum.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span input(data + 1, size - 1);
  if (data[0] % 8 == 0) {
    try_decode(std::as_bytes(input));
    return 0;
  }
  const unsigned choice = data[0] / 8 % 16;
  auto bytes = well_formed(choice);
  bloomery::fuzz::patch(bytes, input);
  if (choice == kFrozen || choice == kDelta) repair_total(bytes);
  if (data[0] % 8 > 2) repair_checksums(bytes);
  try_decode(bytes);
  return 0;
}
