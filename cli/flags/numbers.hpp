// Parses numbers as people write them, in English and in Chinese, to the numbers that a plan takes.
//
//   count   100M  1.5G  2.5 billion  1e6  1,000,000  1亿   K M G T are powers of 1000; must be whole
//   fpr     0.001  0.1%  1/1000  1 in 1000  1e-3  千分之一  between 0 and 1
//   size    8G  1.6 Gbit       bits
//           1GiB  512KiB       bytes, in powers of 1024
//           200 MB             bytes, in powers of 1000; never as 200 Mb, which may be bits
//           16 bits/key        for each key
//   window  7d  12h  30min  90s  2 weeks  7天              a time
//           10M  5000 lines    insertions, but never with a small m: a minute or a million
//
// The flags of the tool and, compiled to WebAssembly, the fields of the planner page are read here,
// so that both accept the same. The result is nullopt if the text is not a number of that type.
#pragma once

#include <bloomery/window_plan.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace bloomery::cli {

[[nodiscard]] std::optional<std::uint64_t> read_count(std::string_view text);
// A count that need not be whole.
[[nodiscard]] std::optional<double> read_amount(std::string_view text);
[[nodiscard]] std::optional<double> read_fpr(std::string_view text);

struct Size {
  std::uint64_t bits = 0;
  double bits_per_key = 0;  // above 0: used instead of `bits`
  // The bits for so many keys.
  [[nodiscard]] std::uint64_t bits_for(std::uint64_t keys) const noexcept;
};
[[nodiscard]] std::optional<Size> read_size(std::string_view text);

[[nodiscard]] std::optional<Window> read_window(std::string_view text);

}  // namespace bloomery::cli
