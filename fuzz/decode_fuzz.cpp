// Decodes any bytes as every kind: an Error, or a filter that encodes to the same bits.
#include "forged.hpp"

#include <cstdlib>

namespace {

using namespace bloomery;

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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size != 0) try_decode(fuzz::forged({data, size}));
  return 0;
}
