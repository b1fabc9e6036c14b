// The table that textbooks print: m/n down, k across.
#include "output/plots.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace bloomery::cli {

namespace {

constexpr int kLeastBits = 2, kMostBits = 32, kMostHashes = 8;

std::optional<double> fpr_of(std::optional<Layout> layout, int bits_per_key, int hashes) {
  if (!layout) return textbook_fpr(bits_per_key, hashes);
  if (*layout == Layout::blocked2 && hashes % 2 != 0) return std::nullopt;
  constexpr std::uint64_t kBits = std::uint64_t{1} << 30;  // so many that rounding does not matter
  return predicted_fpr(*layout, kBits, static_cast<std::uint32_t>(hashes),
                       static_cast<double>(kBits) / bits_per_key);
}

}  // namespace

std::string table_text(std::optional<Layout> layout) {
  std::string out =
      fmt::format("False-positive rates, {}: bits per key down, hashes across\n      ",
                  layout ? fmt::format("layout {}", to_string(*layout)) : "the textbook's formula");
  for (int k = 1; k <= kMostHashes; ++k) out += fmt::format(" {:>9}", k);
  out += "\n";
  for (int bits = kLeastBits; bits <= kMostBits; ++bits) {
    out += fmt::format("{:>6}", bits);
    for (int k = 1; k <= kMostHashes; ++k) {
      const auto fpr = fpr_of(layout, bits, k);
      out += fpr ? fmt::format(" {:>9.3g}", *fpr) : fmt::format(" {:>9}", "-");
    }
    out += "\n";
  }
  return out;
}

Json table_json(std::optional<Layout> layout) {
  Json rows = Json::array();
  for (int bits = kLeastBits; bits <= kMostBits; ++bits)
    for (int k = 1; k <= kMostHashes; ++k)
      if (const auto fpr = fpr_of(layout, bits, k))
        rows.push_back({{"bits_per_key", bits}, {"hashes", k}, {"fpr", *fpr}});
  return {{"formula", layout ? to_string(*layout) : "textbook"}, {"fprs", rows}};
}

}  // namespace bloomery::cli
