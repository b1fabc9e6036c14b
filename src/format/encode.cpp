// A filter as bytes and back: a clean filter file in memory.
#include <bloomery/encode.hpp>
#include <bloomery/error.hpp>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/header.hpp"
#include "format/sums.hpp"

#include <algorithm>
#include <new>
#include <string>

namespace bloomery {

namespace {
using namespace detail;
constexpr const char* kName = "these bytes";
}  // namespace

std::vector<std::byte> encode(const FilterView& filter) try {
  validate(filter.plan());
  const FileLayout layout(filter.plan());
  std::vector<std::byte> out(layout.clean_bytes);
  const auto bits = filter.bytes();
  std::copy(bits.begin(), bits.end(), out.begin() + kBitsAt);
  const Sums sums = sums_of(bits);
  const auto encoded = encode_sums(sums);
  std::copy(encoded.begin(), encoded.end(),
            out.begin() + static_cast<std::ptrdiff_t>(layout.sums_at));

  Header header;
  header.plan = filter.plan();
  header.hasher = filter.hasher();
  header.total = total_of(sums);
  // Made from the content, so that equal filters are equal bytes.
  store_le64(header.identity.data(), checksum(encoded));
  store_le64(header.identity.data() + 8, checksum(encoded, 1));
  for (const std::uint64_t at : {std::uint64_t{0}, kHeaderBytes})
    encode_header(header, std::span(out).subspan(at).first<kHeaderBytes>());
  return out;
} catch (const std::bad_alloc&) {
  throw Error(ErrorCode::no_memory, "no memory to encode a filter of " +
                                        std::to_string(filter.plan().bytes()) + " bytes");
}

Filter decode(std::span<const std::byte> bytes) try {
  const auto start = bytes.first(std::min<std::size_t>(bytes.size(), kBitsAt));
  const Header header = decode_headers(start, bytes.size(), kName).header;
  if (header.state != State::clean)
    throw Error(
        ErrorCode::unclean,
        std::string(kName) + " are of a file whose writer had not closed it; open the file itself");
  const FileLayout layout(header.plan);
  const auto bits = bytes.subspan(kBitsAt, layout.bits_bytes);
  std::uint64_t total = 0;
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk)
    total += chunk_sum(chunk, chunk_of(bits, chunk));
  if (total != header.total)
    throw Error(ErrorCode::corrupt,
                std::string(kName) + ": the bits are damaged; salvage the file they come from");
  Filter filter(header.plan, header.hasher);
  std::copy(bits.begin(), bits.end(), filter.mutable_bytes().begin());
  return filter;
} catch (const std::bad_alloc&) {
  throw Error(ErrorCode::no_memory,
              "no memory to decode a filter of " + std::to_string(bytes.size()) + " bytes");
}

}  // namespace bloomery
