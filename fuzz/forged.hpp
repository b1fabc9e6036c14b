// Any bytes as a forged filter: a valid one of each kind, with changes, and with right checksums or not.
#pragma once

#include <bloomery/bloomery.hpp>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "format/layout.hpp"
#include "format/sums.hpp"
#include "patches.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::fuzz {

template <class F>
std::vector<std::byte> with_keys(F filter) {
  for (std::uint64_t key = 0; key < 90; ++key) filter.insert(key);
  return encode(filter);
}

constexpr unsigned kFrozen = 7;
inline std::vector<std::byte> frozen() {
  FrozenBuilder builder(0.01);
  for (std::uint64_t key = 0; key < 90; ++key) builder.insert(key);
  return encode(builder.build());
}

constexpr unsigned kDelta = 8;
inline std::vector<std::byte> with_delta() {
  AnyFilter filter(plan({.kind = Kind::frozen, .fpr = 0.01, .delta = 50}));
  for (std::uint64_t key = 0; key < 90; ++key) filter.insert(key);
  filter.sync();
  for (std::uint64_t key = 90; key < 120; ++key) filter.insert(key);
  return filter.encode();
}

inline std::vector<std::byte> well_formed(unsigned choice) {
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

inline void repair_checksums(std::vector<std::byte>& bytes) {
  for (const std::size_t copy : {std::size_t{0}, std::size_t{detail::kHeaderBytes}}) {
    const auto page = std::span(bytes).subspan(copy, detail::kHeaderBytes);
    detail::store_le64(page.data() + detail::kHeaderBytes - 8,
                       detail::checksum(page.first(detail::kHeaderBytes - 8)));
  }
}

// For a frozen filter: corrects the checksums, so that errors in its table get past them.
inline void repair_total(std::vector<std::byte>& bytes) {
  const auto bits = std::span<const std::byte>(bytes).subspan(detail::kBitsAt);
  const std::uint64_t delta =
      bytes[148] == std::byte{1} ? detail::load_le64(bytes.data() + 152) : 0;
  const std::uint64_t payload = (detail::load_le64(bytes.data() + 32) + delta) / 8;
  if (payload > bits.size() || payload % 64 != 0) return;
  const std::uint64_t total = detail::total_of(detail::sums_of(bits.first(payload)));
  for (const std::size_t copy : {std::size_t{0}, std::size_t{detail::kHeaderBytes}})
    detail::store_le64(bytes.data() + copy + 96, total);
}

// The first byte says what the others are: a whole filter, or changes to a valid one, with or without a corrected
// checksum.
inline std::vector<std::byte> forged(std::span<const std::uint8_t> input) {
  const std::uint8_t first = input.front();
  input = input.subspan(1);
  if (first % 8 == 0) {
    const auto all = std::as_bytes(input);
    return {all.begin(), all.end()};
  }
  const unsigned choice = first / 8 % 16;
  auto bytes = well_formed(choice);
  patch(bytes, input);
  if (choice == kFrozen || choice == kDelta) repair_total(bytes);
  if (first % 8 > 2) repair_checksums(bytes);
  return bytes;
}

}  // namespace bloomery::fuzz
