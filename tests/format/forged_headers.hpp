// Both copies of the header of a file, made as no writer makes them, under checksums that are right.
#pragma once

#include <cstddef>
#include <span>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/header_bytes.hpp"

namespace bloomery::test {

// change(page): writes into one copy.
template <class Change>
void change_headers(std::span<std::byte> file, Change change) {
  constexpr std::size_t kSumAt = detail::kHeaderBytes - 8;
  for (const std::size_t at : {std::size_t{0}, std::size_t{detail::kHeaderBytes}}) {
    const auto page = file.subspan(at).first<detail::kHeaderBytes>();
    change(page.data());
    detail::store_le64(page.data() + kSumAt, detail::checksum(page.first<kSumAt>()));
  }
}

inline void put_headers(std::span<std::byte> file, const detail::Header& header) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{detail::kHeaderBytes}})
    detail::encode_header(header, file.subspan(at).first<detail::kHeaderBytes>());
}

}  // namespace bloomery::test
