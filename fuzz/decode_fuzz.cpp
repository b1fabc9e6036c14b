// Any bytes to decode: an Error, or a filter that encodes to the same bits again.
#include <bloomery/bloomery.hpp>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/layout.hpp"
#include "patches.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace bloomery;

std::vector<std::byte> well_formed(Layout layout) {
  Filter filter(Plan{layout, 512 * 4, 6, 100, 0.01});
  for (std::uint64_t key = 0; key < 20; ++key) filter.insert(key);
  return encode(filter);
}

void repair_checksums(std::vector<std::byte>& bytes) {
  for (const std::size_t copy : {std::size_t{0}, std::size_t{detail::kHeaderBytes}}) {
    const auto page = std::span(bytes).subspan(copy, detail::kHeaderBytes);
    detail::store_le64(page.data() + detail::kHeaderBytes - 8,
                       detail::checksum(page.first(detail::kHeaderBytes - 8)));
  }
}

void try_decode(std::span<const std::byte> bytes) {
  try {
    const Filter filter = decode(bytes);
    const Filter again = decode(encode(filter));
    if (!std::ranges::equal(filter.bytes(), again.bytes())) std::abort();
    if (filter.bytes().size() > bytes.size()) std::abort();
  } catch (const Error&) {
  }
}

}  // namespace

// The first byte says what the others are: all of the bytes, or changes to a whole filter,
// with or without a checksum that is right again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span input(data + 1, size - 1);
  if (data[0] % 8 == 0) {
    try_decode(std::as_bytes(input));
    return 0;
  }
  auto bytes = well_formed(static_cast<Layout>(1 + data[0] % 3));
  bloomery::fuzz::patch(bytes, input);
  if (data[0] % 8 > 2) repair_checksums(bytes);
  try_decode(bytes);
  return 0;
}
