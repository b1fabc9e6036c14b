// How full a filter is, and the false-positive rate that follows.
#pragma once

#include <cstdint>

namespace bloomery {

// How statistics are taken. sampled: from 65,536 blocks in 8 evenly spread runs, at most 4 MiB, of an
// array or a sub-filter that is larger; blocks are chosen by a hash, so that any of them tell of all, but
// a few damaged ones may be missed. exact: all of the bits are counted.
enum class Precision : std::uint8_t { sampled, exact };

struct Stats {
  double fill = 0;             // the share of bits that are set
  double fill_error = 0;       // its standard error; 0 if all bits were counted
  bool sampled = false;        // only a part of the bits was counted
  double estimated_items = 0;  // distinct keys that give this fill; infinite if all bits are set
  double current_fpr = 0;      // the false-positive rate with so many keys
  // The filter holds more keys than it was planned for, or more than half of its bits are set:
  // time for a larger one.
  bool over_capacity = false;
};

}  // namespace bloomery
