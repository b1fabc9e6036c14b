// Two pictures: the false-positive rate against the load, and where in a filter the ones are.
#include "output/plots.hpp"

#include "output/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

namespace bloomery::cli {

namespace {

constexpr std::size_t kColumns = 64, kHeight = 9;
constexpr int kMostLoad = 4;

// Counters of `counter_bits` bits in the bytes that are not zero. Counters do not cross bytes.
std::uint64_t counters_set(std::span<const std::byte> bytes, std::uint32_t counter_bits) {
  std::uint64_t set = 0;
  std::uint64_t word = 0;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), sizeof word))) {
    word = 0;
    std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
    // Every bit of a counter onto its lowest.
    if (counter_bits == 8) word |= word >> 4;
    if (counter_bits >= 4) {
      word |= word >> 2;
      word |= word >> 1;
      word &= counter_bits == 8 ? 0x0101'0101'0101'0101 : 0x1111'1111'1111'1111;
    }
    set += static_cast<std::uint64_t>(std::popcount(word));
  }
  return set;
}

// The share of counters that are not zero. Of many bytes it reads the first 2 million bits: keys fall anywhere, so the
// share is then off by less than a thousandth, and the height of a column by less than can be drawn.
double share_of(std::span<const std::byte> bytes, std::uint32_t counter_bits) {
  constexpr std::size_t kEnough = std::size_t{256} << 10;
  bytes = bytes.first(std::min(bytes.size(), kEnough));
  const std::size_t counters = bytes.size() * 8 / counter_bits;
  return static_cast<double>(counters_set(bytes, counter_bits)) / static_cast<double>(counters);
}

std::vector<double> shares_of(const AnyFilter::Array& array) {
  const std::span<const std::byte> bytes = array.bytes;
  const std::size_t columns = std::min(kColumns, bytes.size());
  std::vector<double> shares;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t begin = bytes.size() * i / columns, end = bytes.size() * (i + 1) / columns;
    shares.push_back(share_of(bytes.subspan(begin, end - begin), array.counter_bits));
  }
  return shares;
}

std::string sub_filters_plot(std::span<const AnyFilter::Array> arrays) {
  std::string out = fmt::format("Share of ones in {} parts of each sub-filter's bits\n", kColumns);
  std::size_t number = 0;
  for (const AnyFilter::Array& array : arrays) {
    const std::vector<double> shares = shares_of(array);
    out += fmt::format(
        "{:>10} │{} {}\n", fmt::format("sub-filter {}", ++number), strip_chart(shares, 1),
        share_text(std::reduce(shares.begin(), shares.end()) / static_cast<double>(shares.size())));
  }
  return out;
}

}  // namespace

std::string fpr_plot(const FilterPlan& plan) {
  const PlanTotals all = totals(plan);
  std::vector<double> fprs;
  for (std::size_t i = 1; i <= kColumns; ++i)
    fprs.push_back(predicted_fpr(
        plan, static_cast<double>(all.capacity) * kMostLoad * static_cast<double>(i) / kColumns));
  const std::string what =
      all.kind == Kind::plain
          ? std::string(to_string(all.layout))
          : fmt::format("a {} filter ({})", to_string(all.kind), to_string(all.layout));
  std::string out = fmt::format("False-positive rate of {} as it {}\n", what,
                                all.kind == Kind::scalable ? "grows" : "fills") +
                    column_chart(fprs, fprs.back(), kHeight, kColumns / kMostLoad, fpr_text) +
                    fmt::format("{:>12}", "0");
  for (int load = 1; load <= kMostLoad; ++load)
    out += fmt::format("{:>{}}", fmt::format("{}x", load), kColumns / kMostLoad);
  return out + fmt::format("   1x: {} keys\n", group_digits(all.capacity));
}

std::string fill_plot(std::span<const AnyFilter::Array> arrays) {
  if (arrays.size() != 1) return sub_filters_plot(arrays);
  const std::vector<double> shares = shares_of(arrays.front());
  return fmt::format("Share of {} in {} parts of the filter, first to last\n",
                     arrays.front().counter_bits == 1 ? "ones" : "counters that are not zero",
                     shares.size()) +
         column_chart(shares, 1, kHeight - 1, shares.size(), share_text);
}

}  // namespace bloomery::cli
