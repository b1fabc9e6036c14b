// How full a filter is, and the false-positive rate that follows.
#pragma once

#include <cstdint>

namespace bloomery {

// Which bits statistics are computed from. sampled: at most 65,536 blocks (4 MiB) of each array or
// sub-filter, in 8 evenly spread runs. A hash selects the block of each key, so a sample represents all
// blocks, but it may miss a few damaged ones. exact: all of the bits.
enum class Precision : std::uint8_t { sampled, exact };

struct Stats {
  double fill = 0;        // the share of bits that are set
  double fill_error = 0;  // its standard error; 0 if all bits were counted
  bool sampled = false;   // only a part of the bits was counted
  // Distinct keys that give this fill (Swamidass and Baldi 2007); infinite if all bits are set.
  double estimated_items = 0;
  // If sampled is true, this comes from a quarter of the sampled blocks.
  double current_fpr = 0;  // the false-positive rate of the bits as they are
  // The filter holds more keys than it was planned for, or, for PHP classes, more than half of its bits are set. Use a
  // larger filter.
  bool over_capacity = false;
};

}  // namespace bloomery
